"""Tests of the directive server with a fake loop, without DDS: started, refused and waiting directives."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")


from directive_bench import Handle, avoiding, finding, make_bench, structured

from lodestar.agent.errands.commands import DirectiveResult
from lodestar.agent.facts.errors import ErrorCode
from lodestar.language.directive import AmbiguousDirective, StepKind
from lodestar.language.grammar import parse_directive
from lodestar_interfaces.action import FollowDirective
from lodestar_interfaces.msg import Constraint, Item, Subtask
from lodestar_ros.conversions_language import directive_to_msg


@pytest.fixture
def bench(monkeypatch):
    return make_bench(monkeypatch)


def test_a_directive_that_comes_before_the_clock_begins_with_it(bench):
    handle = Handle("find the red chair")
    bench.server._on_accepted(handle)
    bench.server.check()
    assert bench.loop.started == []
    bench.clock = 61.5
    bench.server.check()
    assert bench.loop.started == [("find the red chair", 61.5, 0.0)]


def test_a_directive_that_comes_before_the_gates_first_word_waits_for_it(bench, monkeypatch):
    bench.clock = 5.0
    monkeypatch.setattr(bench.server._thread, "knows_holds", False, raising=False)
    bench.server._on_accepted(Handle("find the red chair"))
    bench.server.check()
    assert bench.loop.started == []
    bench.server._thread.knows_holds = True
    bench.server.check()
    assert [text for text, *_ in bench.loop.started] == ["find the red chair"]


def test_what_is_followed_is_said_and_its_end_too(bench):
    bench.clock = 5.0
    bench.server._on_accepted(Handle("find the red chair; keep 1 m away from the wet floor"))
    bench.server._on_accepted(Handle("find the desk"))  # refused: another one runs
    assert [[c.item.text for c in d.constraints] for d in bench.said] == [["wet floor"]]
    bench.server.finish(DirectiveResult(ErrorCode.NONE, "", True))
    assert len(bench.said) == 2 and not bench.said[-1].subtasks and not bench.said[-1].text


def test_one_that_is_cancelled_before_the_clock_never_begins(bench):
    handle = Handle("find the red chair")
    bench.server._on_accepted(handle)
    handle.is_cancel_requested = True
    bench.clock = 1.0
    bench.server.check()
    assert (bench.loop.started, handle.ending) == ([], "canceled")
    assert handle.result.error_code == FollowDirective.Result.CANCELLED


def test_a_second_one_is_aborted_as_busy(bench):
    bench.clock = 5.0
    bench.server._on_accepted(Handle("find the red chair"))
    second = Handle("find the desk")
    bench.server._on_accepted(second)
    assert (second.ending, second.result.error_code) == ("aborted", FollowDirective.Result.BUSY)


def test_what_breaks_unexpectedly_has_a_code_too(bench, monkeypatch):
    bench.clock = 5.0
    monkeypatch.setattr(bench.server, "_parse", lambda text: 1 / 0)
    handle = Handle("find the red chair")
    bench.server._on_accepted(handle)
    assert handle.result.error_code == FollowDirective.Result.UNKNOWN
    assert "ZeroDivisionError" in handle.result.error_msg


def test_what_cannot_be_told_to_others_is_not_followed(bench, monkeypatch):
    bench.clock = 5.0

    def unserializable(message):
        raise SystemError("error return without exception set")

    monkeypatch.setattr(bench.publisher, "publish", unserializable)
    handle = Handle("find the red chair")
    bench.server._on_accepted(handle)
    assert handle.ending == "aborted" and handle.result.error_code == FollowDirective.Result.UNKNOWN
    assert bench.loop.cancelled == 1
    monkeypatch.undo()
    bench.loop.started.clear()
    bench.server._on_accepted(Handle("find the red chair"))
    assert [message.text for message in bench.said] == ["find the red chair"]


def test_a_structure_without_graphs_is_read_as_its_words_are(bench):
    bench.clock = 1.0
    bench.server._on_accepted(structured(subtasks=[finding("red chair next to the desk")]))
    (step,) = bench.loop.directive.steps
    assert step.graphs == parse_directive("find the red chair next to the desk").steps[0].graphs


def test_a_list_may_be_of_everything(bench):
    bench.clock = 1.0
    step = Subtask(kind=Subtask.KIND_LIST, item=[Item(text="objects")])
    bench.server._on_accepted(structured(subtasks=[step]))
    (step,) = bench.loop.directive.steps
    assert step.kind is StepKind.LIST and step.item is None and bench.loop.started


def test_what_was_said_may_be_sent_again_as_a_structure(bench):
    bench.clock = 1.0
    message = directive_to_msg(parse_directive("find the mug and come back"))
    message.subtasks[0].item[0].text = message.text = ""  # the graph contains the same
    handle = Handle("")
    handle.request = FollowDirective.Goal(directive=message)
    bench.server._on_accepted(handle)
    assert [step.kind for step in bench.loop.directive.steps] == [StepKind.FIND, StepKind.RETURN]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"subtasks": [finding("mug")], "constraints": [avoiding("mug")]}, "find and to keep away"),
        (
            {
                "subtasks": [finding("mug in the kitchen")],
                "constraints": [avoiding("kitchen", kind=Constraint.KIND_STAY_OUT)],
            },
            "find and to keep away",
        ),
        ({"subtasks": [finding("the thing")]}, "say what kind of thing"),
        ({"subtasks": [finding("mug", count=5000)]}, "more than 100"),
        ({"subtasks": [finding("mug")], "constraints": [avoiding("dog", distance=200.0)]}, "no distance"),
    ],
)
def test_a_structure_is_refused_as_its_words_are(bench, fields, why):
    bench.clock = 1.0
    handle = structured(**fields)
    bench.server._on_accepted(handle)
    assert handle.result.error_code == FollowDirective.Result.NOT_UNDERSTOOD
    assert why in handle.result.error_msg and bench.loop.started == []


@pytest.mark.parametrize(
    "handle",
    [
        Handle("explore the building but do not move"),
        Handle("find the mug slowly"),
        structured(text="find the mug but stand still", subtasks=[finding("mug")]),
        structured(subtasks=[finding("mug, do not move")]),
    ],
)
def test_what_forbids_motion_has_a_code_of_its_own_and_begins_nothing(bench, handle):
    bench.clock = 1.0
    bench.server._on_accepted(handle)
    assert handle.result.error_code == FollowDirective.Result.CONSTRAINT_VIOLATED
    assert "cannot be obeyed" in handle.result.error_msg and bench.loop.started == []


def answering(question, choice):
    handle = Handle("")
    handle.request = FollowDirective.Goal(question_id=question, choice=choice)
    handle.request.time_limit.sec = 30
    return handle


def test_an_answer_begins_what_was_chosen(bench):
    bench.clock = 1.0
    bench.server._on_accepted(answering("q-1", 2))
    assert bench.loop.answered == 2 and bench.loop.started == [("find the red chair", 1.0, 30.0)]
    assert [message.text for message in bench.said] == ["find the red chair"]


def test_an_answer_to_no_question_is_refused_with_its_code(bench):
    bench.clock = 1.0
    handle = answering("old", 1)
    bench.server._on_accepted(handle)
    assert handle.result.error_code == FollowDirective.Result.QUESTION_UNKNOWN
    assert "old" in handle.result.error_msg and bench.loop.started == []


def test_what_can_be_read_in_two_ways_is_asked_back(bench, monkeypatch):
    def doubtful(text):
        readings = [(f"keep away from the {word}", parse_directive("explore")) for word in ("dog", "hot dog")]
        raise AmbiguousDirective("What is to be kept away from?", readings)

    bench.clock = 1.0
    monkeypatch.setattr(bench.server, "_parse", doubtful)
    handle = Handle("explore, no dogs")
    bench.server._on_accepted(handle)
    result = handle.result
    assert result.error_code == FollowDirective.Result.AMBIGUOUS and result.question_id == "q-1"
    assert result.question == "What is to be kept away from?"
    assert list(result.choices) == ["keep away from the dog", "keep away from the hot dog"]
    assert bench.loop.started == []


def test_constraints_that_have_changed_are_said(bench):
    bench.clock = 1.0
    directive = parse_directive("find the mug; keep away from the dog")
    bench.server.say(directive.with_steps(directive.steps))
    assert [c.item.text for c in bench.said[-1].constraints] == ["dog"]


def test_words_for_a_picture_without_one_are_refused(bench):
    bench.clock = 1.0
    handle = Handle("find this thing")
    bench.server._on_accepted(handle)
    assert handle.result.error_code == FollowDirective.Result.NOT_UNDERSTOOD and bench.loop.started == []


def test_kinds_without_a_target_need_no_item(bench):
    bench.clock = 1.0
    bench.server._on_accepted(structured(subtasks=[Subtask(kind=Subtask.KIND_EXPLORE)]))
    assert bench.loop.directive.steps[0].kind is StepKind.EXPLORE


def test_a_search_for_nothing_is_refused(bench):
    bench.clock = 1.0
    handle = structured()
    bench.server._on_accepted(handle)
    assert (handle.ending, handle.result.error_code) == ("aborted", FollowDirective.Result.EMPTY_DIRECTIVE)


@pytest.mark.parametrize("text", ["stop", "STOP!", "please stop now", "don't move", "cancel that"])
def test_whoever_says_stop_is_not_told_to_say_it_better(bench, text):
    bench.clock = 1.0
    bench.server._on_accepted(Handle("find the red chair"))
    handle = Handle(text)
    bench.server._on_accepted(handle)
    assert bench.loop.cancelled == 1
    assert (handle.ending, handle.result.error_code, handle.result.success) == ("succeeded", 0, True)
    assert "hold on" in handle.result.report


def follow(bench):
    """Start a directive; its stop ends it at once, as the loop's next tick does."""
    bench.clock = 1.0
    bench.server._on_accepted(Handle("find the red chair"))

    def cancel(now):
        bench.loop.cancelled += 1
        bench.loop.started.clear()
        bench.server.finish(DirectiveResult(ErrorCode.CANCELLED, "Cancelled on request.", False))

    bench.loop.cancel = cancel


@pytest.mark.parametrize(
    "text", ["stop, find the desk", "um okay stop find the desk", "no no, find the desk"]
)
def test_after_a_stop_the_rest_of_the_text_is_a_directive(bench, text):
    follow(bench)
    handle = Handle(text)
    bench.server._on_accepted(handle)
    assert (bench.loop.cancelled, handle.ending) == (1, "")
    assert [text for text, *_ in bench.loop.started] == ["find the desk"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("stop and frobnicate the frobnicator", FollowDirective.Result.NOT_UNDERSTOOD),
        ("don't move, find the desk", FollowDirective.Result.CONSTRAINT_VIOLATED),
    ],
)
def test_a_stop_whose_rest_is_refused_stops_and_says_so(bench, text, code):
    follow(bench)
    handle = Handle(text)
    bench.server._on_accepted(handle)
    assert (bench.loop.cancelled, handle.result.error_code) == (1, code)
    assert handle.result.error_msg.startswith("Stopped. ") and "goes on" not in handle.result.error_msg


def test_a_stop_comes_before_an_invalid_owner_is_refused(bench):
    follow(bench)
    handle = Handle("stop, find the desk")
    handle.request.owner = "no name!"
    bench.server._on_accepted(handle)
    assert (bench.loop.cancelled, handle.ending) == (1, "aborted") and bench.loop.started == []
    assert "goes on" not in handle.result.error_msg


@pytest.mark.parametrize(("text", "then"), [("ah stop", ""), ("stop, take a picture", "take a picture")])
def test_a_dry_run_says_that_it_would_stop_and_does_not(bench, text, then):
    follow(bench)
    handle = Handle(text)
    handle.request.dry_run = True
    bench.server._on_accepted(handle)
    assert (bench.loop.cancelled, handle.ending) == (0, "succeeded") and bench.loop.started
    assert handle.result.report == "Stop at once." + (f' Then read "{then}".' if then else "")


@pytest.mark.parametrize("text", ["sing a song", "find the desk", "find the mug slowly", "don't stop", ""])
def test_a_refusal_says_what_goes_on_and_how_to_stop_it(bench, text):
    follow(bench)
    handle = Handle(text)
    bench.server._on_accepted(handle)
    assert (bench.loop.cancelled, handle.ending) == (0, "aborted")
    goes_on = 'The robot goes on with "find the red chair". Shall it stop? Then say "stop".'
    assert handle.result.error_msg.endswith(f" {goes_on}")


@pytest.mark.parametrize("text", ["sing a song", "find the mug slowly", ""])
def test_a_refused_dry_run_says_what_goes_on_too(bench, text):
    follow(bench)
    handle = Handle(text)
    handle.request.dry_run = True
    bench.server._on_accepted(handle)
    assert (bench.loop.cancelled, handle.ending) == (0, "aborted")
    assert 'goes on with "find the red chair"' in handle.result.error_msg


def test_a_question_says_what_goes_on_too(bench, monkeypatch):
    follow(bench)
    chair = parse_directive("find the chair")

    def ambiguous(text):
        raise AmbiguousDirective("which chair?", [("the red one", chair), ("the blue one", chair)])

    monkeypatch.setattr(bench.server, "_parse", ambiguous)
    handle = Handle("find the chair")
    bench.server._on_accepted(handle)
    assert handle.result.question_id and 'goes on with "find the red chair"' in handle.result.error_msg


def test_a_refusal_while_nothing_runs_says_nothing_of_it(bench):
    bench.clock = 1.0
    handle = Handle("sing a song")
    bench.server._on_accepted(handle)
    assert handle.ending == "aborted" and "goes on" not in handle.result.error_msg


def test_a_directive_that_begins_and_its_end_are_reported(bench):
    bench.clock = 5.0
    bench.server._on_accepted(Handle("find the red chair"))
    bench.server._on_accepted(Handle("find the desk"))  # refused: another one runs
    (begun,) = bench.reports
    assert (begun.text, begun.understood, begun.ended) == ("find the red chair", "Find the red chair.", False)
    bench.server.finish(
        DirectiveResult(ErrorCode.NONE, "", True, (3,), distance_travelled=4.5, report="Found it.")
    )
    ended = bench.reports[-1]
    assert (ended.ended, ended.success, ended.report, list(ended.entity_ids)) == (
        True,
        True,
        "Found it.",
        [3],
    )
    assert (ended.text, ended.began, ended.distance_travelled) == (begun.text, begun.began, 4.5)
    bench.server.finish(DirectiveResult(ErrorCode.UNKNOWN, "", False))
    assert len(bench.reports) == 2, "there is nothing that could end"


@pytest.mark.parametrize("begun", [False, True])
def test_one_that_is_cancelled_while_it_is_started_stops_itself_and_no_other(bench, monkeypatch, begun):
    """begun: nothing else ran, and the cancellation came after the loop had looked for one."""
    bench.clock, stops = 5.0, []
    monkeypatch.setattr(bench.server, "_on_stop", lambda: stops.append("navigator and skills"))
    if not begun:
        bench.server._on_accepted(Handle("find the red chair"))
    late = []  # answers of the loop's thread
    answer = bench.server._thread.ask
    monkeypatch.setattr(
        bench.server._thread,
        "ask",
        lambda work, then, instead: (
            answer(work, lambda found: late.append((then, found)), instead)
            if begun
            else late.append((lambda _: answer(work, then, instead), None))
        ),
        raising=False,
    )
    second = Handle("find the desk")
    bench.server._on_accepted(second)
    bench.server._on_cancel(second)
    second.is_cancel_requested = True
    for then, found in late:
        then(found)
    assert (len(stops), bench.loop.cancelled) == (begun, begun)
    assert (second.ending, len(bench.loop.started)) == ("" if begun else "canceled", 1)
