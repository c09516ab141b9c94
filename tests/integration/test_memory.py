"""Tests of the memory node as a process: it stores its inputs, answers questions, and survives a damaged store."""

from __future__ import annotations

import json
import math
import time

import pytest
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped

from integration.street import Manage, Street
from lodestar.memory.owner import StoreOwner
from lodestar_interfaces import msg
from lodestar_interfaces.action import AnswerQuestion
from lodestar_ros.ask import EXIT_NO, EXIT_USAGE
from lodestar_ros.conversions import header, stamp_to_msg

Result = AnswerQuestion.Result


@pytest.fixture(scope="module")
def street(bed, processes, tmp_path_factory):
    street = Street(bed, processes, tmp_path_factory.mktemp("home") / "memory")
    blocker = StoreOwner(street.folder)
    street.start()
    yield street, blocker
    blocker.close()


def test_a_locked_store_is_told_and_answered_with_a_code_and_memories_wait(street):
    street, blocker = street
    street.look_until(lambda: street.count("waiting") > 0, "memories wait")
    assert "cannot be used" in street.bed.diagnosis("memory")["message"]
    result = street.ask("where is the red mug?")
    assert result.error_code == Result.STORE_UNAVAILABLE
    assert "is open in process" in result.error_msg
    assert street.manage(Manage.Request.PIN, ids=[1]).error_code == Manage.Response.STORE_UNAVAILABLE
    blocker.close()
    street.look_until(
        lambda: street.count("store.records") > 0 and street.count("waiting") == 0,
        "the store is opened once it is free, and takes what has waited",
    )
    street.processes.assert_alive()


def test_an_answer_comes_with_its_proof_and_places(street):
    street, _ = street
    street.look_until(
        lambda: street.count("store.records") >= 2 and not street.count("store.unembedded"), "memories"
    )
    result = street.ask("where is the red mug?")
    assert result.error_code == Result.NONE, result.error_msg
    assert "mug" in result.answer
    place = result.places[0].pose.position
    assert (place.x, place.y) == pytest.approx((1.0, 0.5), abs=0.3)
    assert result.evidence and result.confidence > 0.3
    assert isinstance(result.places[0], PoseStamped) and result.places[0].header.frame_id == "map"


def test_a_question_in_other_words_is_answered_and_says_as_which(street):
    street, _ = street
    plain = street.ask("where is the red mug?").places[0].pose.position

    def answered():
        result = street.ask("any idea of the whereabouts of the red mug?")
        return result if result.error_code == Result.NONE else None

    result = street.bed.until(answered, "the embedder has told the examples' vectors")
    assert result.answer.startswith('I take this as "where')
    place = result.places[0].pose.position
    assert (place.x, place.y) == pytest.approx((plain.x, plain.y), abs=0.3)


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("", Result.EMPTY_QUESTION),
        ("   ", Result.EMPTY_QUESTION),
        ("x" * 20_000, Result.NOT_UNDERSTOOD),
        ("forget everything", Result.NOT_UNDERSTOOD),
        ("wo ist der rote Becher?", Result.NOT_UNDERSTOOD),
        ("when did you last see the unicorn?", Result.NO_EVIDENCE),
        ("where will the red mug be tomorrow?", Result.NO_EVIDENCE),
    ],
    ids=("empty", "blank", "20 kB", "order", "German", "never seen", "future"),
)
def test_what_cannot_be_answered_has_a_code_and_a_sentence(street, question, code):
    street, _ = street
    result = street.ask(question)
    assert (result.error_code, bool(result.error_msg)) == (code, True)


def test_a_window_that_ends_before_it_begins_is_refused(street):
    street, _ = street
    result = street.ask("where is the mug?", from_stamp=Time(sec=200), to_stamp=Time(sec=100))
    assert result.error_code == Result.NOT_UNDERSTOOD


def test_a_directive_and_its_outcome_are_remembered(street):
    street, _ = street
    reported = -math.inf

    def is_remembered():
        nonlocal reported
        if time.monotonic() > reported + 3.0:  # again: a message to a memory that was paused may be lost
            now = time.time()
            report = msg.DirectiveReport(
                header=header(now, "map"), text="find the red mug", understood="Find a red mug.", ended=True,
                began=stamp_to_msg(now - 5.0), success=True, report="Found it.", distance_travelled=3.0,
            )  # fmt: skip
            street.reports.publish(report)
            reported = time.monotonic()
        return "find the red mug" in street.ask("what did you do?").answer.casefold()

    street.look_until(is_remembered, "the directive")


def test_words_are_told_corrected_pinned_and_forgotten_after_a_look_at_the_count(street):
    street, _ = street
    told = street.manage(Manage.Request.TELL, text="The blue box belongs to Anna")
    assert told.error_code == 0, told.error_msg
    assert street.manage(Manage.Request.PIN, ids=told.ids).count == 1
    corrected = street.manage(Manage.Request.CORRECT, ids=told.ids, text="The blue box belongs to Bert")
    assert corrected.error_code == 0
    looked = street.manage(Manage.Request.FORGET, text="belongs to Bert")
    assert (looked.count, looked.error_code) == (1, 0) and "Bert" in looked.texts[0]
    wrong = street.manage(Manage.Request.FORGET, text="belongs to Bert", expected=3)
    assert wrong.error_code == Manage.Response.NOT_CONFIRMED
    done = street.manage(Manage.Request.FORGET, text="belongs to Bert", expected=1)
    assert done.error_code == 0
    assert street.manage(Manage.Request.FORGET, text="belongs to").count == 0
    assert street.manage(Manage.Request.FORGET).error_code == Manage.Response.BAD_REQUEST
    assert street.manage(Manage.Request.PIN, ids=[10**6]).error_code == Manage.Response.NO_SUCH_MEMORY


def test_memories_are_exported_and_an_import_adds_none_twice(street, tmp_path):
    street, _ = street
    path = street.folder.parent / "exports" / "memories.jsonl"
    exported = street.manage(Manage.Request.EXPORT, path="memories.jsonl")
    assert exported.error_code == 0 and exported.count >= 2 and exported.texts == [str(path)]
    before = path.read_bytes()
    for bad in (str(path), "memories.jsonl", str(tmp_path / "elsewhere"), "../elsewhere", "/etc/passwd", ""):
        refused = street.manage(Manage.Request.EXPORT, path=bad)
        assert refused.error_code == Manage.Response.BAD_REQUEST and refused.error_msg, bad
    assert path.read_bytes() == before and not (tmp_path / "elsewhere").exists()
    assert json.loads(path.read_text().splitlines()[1])["memory"]
    assert street.manage(Manage.Request.IMPORT, path=str(path)).count == 0
    assert (
        street.manage(Manage.Request.IMPORT, path="memories.jsonl").error_code == Manage.Response.BAD_REQUEST
    )
    assert street.manage(Manage.Request.IMPORT, path="/no/such").error_code == Manage.Response.FILE_ERROR


def test_the_command_tells_the_answer_with_its_proof(street, ask):
    code, text = ask("where is the red mug?")
    assert code == 0, text
    assert "(1.0, 0.5" in text and "confidence" in text and "memory " in text
    code, text = ask("where is the unicorn?")
    assert code == EXIT_NO and "unicorn" in text and "To find out, send: find the unicorn" in text


def test_the_command_remembers_a_word_corrects_and_forgets_it(street, ask):
    code, text = ask("--tell", "the zebra\x1b[31m room is locked")
    assert code == 0 and "Remembered 1 memory" in text, text
    code, text = ask("--forget", "--words", "zebra")
    assert code == EXIT_NO and "zebra" in text and "\x1b" not in text and "add --yes" in text
    code, text = ask("--forget", "--words", "zebra", "--yes")
    assert code == 0 and "Forgot 1 memory" in text, text
    code, text = ask("--forget", "--words", "zebra", "--yes")
    assert code == EXIT_NO and "nothing was forgotten" in text


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), EXIT_USAGE, "ask a question, or use one of"),
        (("--correct", "many", "it is a cup"), EXIT_USAGE, "the id of a memory"),
        (("--correct", "4000000", "it is a cup"), EXIT_NO, "4000000"),
        (("--picture", "/no/such.jpg"), EXIT_USAGE, "cannot be read"),
        (("forget everything",), EXIT_NO, "is an order"),
        (("--import", "/no/such.jsonl"), EXIT_NO, "error"),
    ],
)
def test_what_the_command_cannot_do_is_said(street, ask, arguments, code, said):
    found, text = ask(*arguments)
    assert (found, said in text) == (code, True), text
    assert "Traceback" not in text


def test_nothing_is_remembered_while_the_robot_is_lost(street):
    street, _ = street
    street.robot.transforms = False
    try:
        before = street.count("segments.lost")
        street.look_until(lambda: street.count("segments.lost") > before, "a segment is dropped")
        told = street.manage(Manage.Request.TELL, text="I am here")
        assert told.error_code == Manage.Response.LOST
    finally:
        street.robot.transforms = True


def test_a_killed_memory_goes_on_with_all_that_it_had(street):
    street, _ = street
    street.look_until(lambda: not street.count("store.unembedded"), "every memory has its vector")
    path = street.folder.parent / "exports" / "before.jsonl"
    street.manage(Manage.Request.EXPORT, path=str(path))
    before = {json.loads(line).get("origin") for line in path.read_text().splitlines()[1:]}
    street.processes.kill("memory")
    street.bed.forget("/diagnostics")
    street.processes.starter.start_one("memory")
    street.look_until(lambda: street.count("store.records") > len(before), "it remembers more")
    after_path = street.folder.parent / "exports" / "after.jsonl"
    street.manage(Manage.Request.EXPORT, path=str(after_path))
    after = {json.loads(line).get("origin") for line in after_path.read_text().splitlines()[1:]}
    assert before <= after
    assert street.ask("where is the red mug?").error_code == Result.NONE
    street.processes.assert_alive(besides=("memory",))
