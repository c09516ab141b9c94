"""Tests of outcomes of questions: an error code per fault, an end on cancel, a directive that would find out."""

from __future__ import annotations

import threading
import time

import pytest
from chat_server import chat_server
from waiting import PATIENCE

from lodestar.language.directive import StepKind
from lodestar.language.grammar import parse_directive
from lodestar.language.question_reader import read_question
from lodestar.language.sentences import sentence
from lodestar.memory.answer import AnswerCode
from lodestar.memory.answering.agent import ModelAnswerer, make_answer_chat
from lodestar.memory.answering.answerer import MemoryState
from lodestar.memory.answering.config import AgentConfig
from lodestar.memory.answering.outcomes import outcome_of
from lodestar.memory.answering.tools import AnswerCancelled
from lodestar.memory.errors import StoreFull
from lodestar.models.chat_key import KEY_VARIABLE
from lodestar.models.config import ChatConfig
from lodestar.models.phrases import MissingPhrases
from lodestar.scene.mirror import SceneMirror


def outcome(office, text, state=MemoryState.READY, answerer=None, **changes):
    used = answerer or office.answerer(**changes)
    return outcome_of(used, state, read_question(text), office.now, office.pose)


def test_an_answer_has_no_error(office):
    found = outcome(office, "where is the red mug?")
    assert found.code is AnswerCode.NONE and found.is_known
    assert found.answer.value.places and found.sentence == found.answer.sentence and found.stamp == office.now


class Broken:
    """Store or phrase book that raises errors."""

    model, dimension = "broken", 64

    def __init__(self, error):
        self._error = error

    def search(self, request):
        raise self._error

    def vectors(self, phrases):
        raise self._error


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"memories": Broken(StoreFull("the disk is full: free some space"))}, AnswerCode.STORE_UNAVAILABLE),
        ({"phrases": Broken(MissingPhrases(("mug",))), "use_scene": False}, AnswerCode.MODEL_ERROR),
    ],
)
def test_what_fails_has_its_code_and_says_what_to_do(office, changes, code):
    found = outcome(office, "what happened to the brass teapot?", **changes)
    assert (found.code, found.answer) == (code, None) and found.sentence


@pytest.mark.parametrize(
    ("state", "code"),
    [(MemoryState.EMPTY, AnswerCode.NO_MEMORY), (MemoryState.OTHER_MAP, AnswerCode.WRONG_MAP)],
)
def test_nothing_remembered_and_another_map_have_codes(office, state, code):
    assert outcome(office, "where is the mug?", state, scene=SceneMirror()).code is code


def test_what_is_not_known_has_a_code_and_the_sentence_of_the_answer(office):
    found = outcome(office, "when did you last see the unicorn?")
    assert found.code is AnswerCode.NO_EVIDENCE and not found.is_known
    assert found.why == found.answer.sentence


# --- cancelled questions
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["where is the red mug?", "how many chairs are there?", "is there an elephant?", "what did you do?"],
)
def test_a_cancelled_answer_stops_before_its_next_piece_of_work(office, text):
    asked = []

    def cancelled():
        asked.append(True)
        return len(asked) > 1

    found = outcome(office, text, cancelled=cancelled)
    assert found.code is AnswerCode.CANCELLED
    assert len(asked) == 2, "nothing was done after the cancel"


def test_the_floor_is_not_looked_over_to_the_end_for_a_cancelled_answer(office):
    looks, calls = office.looks, []

    def check():
        calls.append(True)
        if len(calls) == 3:
            raise AnswerCancelled("cancelled")

    with pytest.raises(AnswerCancelled):
        looks.coverage(office.grid, office.grid.free, None, check)
    assert len(calls) == 3


def test_a_cancel_ends_the_models_request_and_its_rounds(office, monkeypatch):
    monkeypatch.setenv(KEY_VARIABLE, "secret")
    cancelled, found = threading.Event(), []
    with chat_server(("do", "silent")) as server:  # a model that does not answer before the test ends
        chat = ChatConfig(base_url=server.url, timeout=20.0, patience=30.0)
        config = AgentConfig(True, chat=chat)
        model = make_answer_chat(config)
        answerer = ModelAnswerer(
            model,
            office.answerer(cancelled=cancelled.is_set),
            config,
            begin=model.begin_task,
            cancel=model.cancel,
        )

        def work():
            found.append(outcome(office, "where is the gray chair?", answerer=answerer))

        worker = threading.Thread(target=work)
        worker.start()
        end = time.monotonic() + PATIENCE
        while not server.requests and time.monotonic() < end:
            time.sleep(0.01)
        assert server.requests, "the model was asked"
        cancelled.set()
        model.cancel()
        worker.join(PATIENCE)
        assert len(server.requests) == 1
    assert [one.code for one in found] == [AnswerCode.CANCELLED]


def test_without_a_model_nothing_is_asked():
    assert make_answer_chat(AgentConfig()) is None


# --- directives that would find out
# ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "directive", "kind"),
    [
        ("is there an elephant in the kitchen?", "find the elephant in the kitchen", StepKind.FIND),
        ("where is the blue kettle?", "find the blue kettle", StepKind.FIND),
        ("where did you last see the forklift?", "find the forklift", StepKind.FIND),
        (
            "when did you last see the unicorn next to the desk?",
            "find the unicorn next to the desk",
            StepKind.FIND,
        ),
        ("have you been in the garage?", "go to the garage", StepKind.GO),
        ("where is the bathroom?", "go to the bathroom", StepKind.GO),
        ("how many chairs are in the office?", "count all the chairs in the office", StepKind.COUNT),
        ("what is in the office on the shelf?", None, None),
    ],
)
def test_the_directive_that_would_find_out_reads_as_what_it_says(office, question, directive, kind):
    found = office.ask(question)
    if directive is None:
        assert not found.directive or parse_directive(found.directive).steps
        return
    assert found.directive == directive
    read = parse_directive(found.directive)
    assert [step.kind for step in read.steps] == [kind]
    assert sentence(read) == directive


def test_a_state_that_does_not_show_is_neither_affirmed_nor_denied(office):
    answer = office.ask("is the table locked?")
    assert not answer.is_known and "not whether it is locked" in answer.sentence
    assert office.ask("check whether the mug is red").value.yes is True
    assert office.ask("check whether the red mug is blue").value.yes is False
