"""The server of directives around a loop of its own, without DDS: what is begun, refused, or waits for a clock."""

from __future__ import annotations

import io
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from sensor_msgs.msg import CompressedImage

import lodestar_ros.directive_server as module
from lodestar.agent.commands import DirectiveResult
from lodestar.agent.errors import Busy, ErrorCode, QuestionUnknown
from lodestar.agent.open_questions import OpenQuestion
from lodestar.assembly.config import GoalSelectorConfig
from lodestar.assembly.shared import SharedConfig
from lodestar.language.directive import AmbiguousDirective, NotUnderstood, StepKind
from lodestar.language.grammar import parse_directive
from lodestar.language.parsers import ParserConfig
from lodestar.language.picture_goals import Described, item_of
from lodestar.models.chat import ChatUnavailable
from lodestar_interfaces.action import FollowDirective
from lodestar_interfaces.msg import Constraint, Directive, Item, Subtask
from lodestar_ros.conversions_directive import directive_to_msg
from lodestar_ros.directive_reading import ReadingDesk, make_reading_desk
from lodestar_ros.pictures import PictureDesk, PicturesConfig


class Handle:
    """What rclpy hands to the server."""

    def __init__(self, text, *images):
        pictures = [CompressedImage(format="png", data=image) for image in images]
        self.request = FollowDirective.Goal(text=text, images=pictures)
        self.is_cancel_requested = False
        self.ending = ""
        self.result = None

    def execute(self, conclude):
        self.result = conclude(self)

    def succeed(self):
        self.ending = "succeeded"

    def abort(self):
        self.ending = "aborted"

    def canceled(self):
        self.ending = "canceled"


class Loop:
    def __init__(self):
        self.started = []
        self.cancelled = 0

    def cancel(self, now):
        self.cancelled += 1

    def ask(self, text, choices, now):
        self.asked = OpenQuestion("q-1", text, choices, now)
        return self.asked

    def answer(self, question, choice, now, limit):
        if question != "q-1":
            raise QuestionUnknown(f'no question "{question}" is open')
        directive = parse_directive("find the red chair")
        self.start(directive, now, limit)
        self.answered = choice
        return directive

    def start(self, directive, now, limit):
        if self.started:
            raise Busy("another directive runs")
        self.directive = directive
        self.started.append((directive.text, now, limit))


class Thread:
    """The loop's thread, inline."""

    def ask(self, work, then):
        then(work())

    def stop(self, work):
        work()


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.setattr(module, "ActionServer", lambda *args, **options: None)
    logger = SimpleNamespace(warning=lambda text: None)
    said = []
    publisher = SimpleNamespace(publish=said.append)
    node = SimpleNamespace(
        get_logger=lambda: logger,
        get_clock=lambda: SimpleNamespace(now=lambda: SimpleNamespace(nanoseconds=0)),
        create_publisher=lambda *args: publisher,
        shared=SharedConfig(),
    )
    bench = SimpleNamespace(clock=0.0, loop=Loop(), node=node, said=said)
    bench.server = module.DirectiveServer(
        bench.node,
        bench.loop,
        Thread(),
        parse_directive,
        lambda: bench.clock,
        lambda directive: None,
        lambda: None,
    )
    return bench


def test_a_directive_that_comes_before_the_clock_begins_with_it(bench):
    handle = Handle("find the red chair")
    bench.server._on_accepted(handle)
    bench.server.check()
    assert bench.loop.started == []
    bench.clock = 61.5
    bench.server.check()
    assert bench.loop.started == [("find the red chair", 61.5, 0.0)]


def test_what_is_followed_is_said_and_its_end_too(bench):
    bench.clock = 5.0
    bench.server._on_accepted(Handle("find the red chair; keep 1 m away from the wet floor"))
    bench.server._on_accepted(Handle("find the desk"))  # refused: one runs
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

    monkeypatch.setattr(bench.node.create_publisher(), "publish", unserializable)
    handle = Handle("find the red chair")
    bench.server._on_accepted(handle)
    assert handle.ending == "aborted" and handle.result.error_code == FollowDirective.Result.UNKNOWN
    assert bench.loop.cancelled == 1
    monkeypatch.undo()
    bench.loop.started.clear()
    bench.server._on_accepted(Handle("find the red chair"))
    assert [message.text for message in bench.said] == ["find the red chair"]


def structured(**fields):
    handle = Handle("")
    handle.request = FollowDirective.Goal(directive=Directive(**fields))
    return handle


def finding(target, **changes):
    """A step that finds what these words say."""
    return Subtask(item=[Item(text=target, **changes)])


def avoiding(what, **changes):
    return Constraint(item=Item(text=what), **changes)


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
    message.subtasks[0].item[0].text = message.text = ""  # its graph says it
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


# --- pictures ------------------------------------------------------------------------------------------


def picture():
    out = io.BytesIO()
    Image.fromarray(np.full((40, 60, 3), 90, np.uint8)).save(out, "PNG")
    return out.getvalue()


def with_reader(bench, read):
    bench.clock = 1.0
    bench.server._pictures = PictureDesk(PicturesConfig(), read)
    return bench.server


def until_described(bench, handle):
    end = time.monotonic() + 5.0
    while handle.result is None and not bench.loop.started:
        bench.server.check()
        assert time.monotonic() < end, "it was never described"
        time.sleep(0.005)


def chair(image):
    return item_of(Described("chair", "red chair", ("desk",)))


def test_a_picture_alone_is_a_directive(bench):
    server, handle = with_reader(bench, chair), Handle("", picture())
    server._on_accepted(handle)
    until_described(bench, handle)
    (step,) = bench.loop.directive.steps
    assert step.kind is StepKind.FIND and step.target == "red chair"


def test_words_beside_a_picture_keep_their_constraints(bench):
    server, handle = (
        with_reader(bench, chair),
        Handle("find this thing, keep away from the stairs", picture()),
    )
    server._on_accepted(handle)
    until_described(bench, handle)
    (step,) = bench.loop.directive.steps
    (constraint,) = bench.loop.directive.constraints
    assert step.target == "red chair" and constraint.item.phrase == "stairs"


def test_a_picture_of_what_is_kept_away_from_is_refused(bench):
    server, handle = with_reader(bench, chair), Handle("find this, keep away from chairs", picture())
    server._on_accepted(handle)
    until_described(bench, handle)
    assert handle.result.error_code == FollowDirective.Result.NOT_UNDERSTOOD
    assert 'keep away from "chair"' in handle.result.error_msg and bench.loop.started == []


def unsure(image):
    raise ChatUnavailable("the endpoint answered 503")


def broken(image):
    raise RuntimeError("a bug")


@pytest.mark.parametrize(
    ("read", "images", "why"),
    [
        (None, [b"find the chair"], "cannot be read"), (None, [b""], "empty"),
        (None, [picture()], "describe the target"),
        (unsure, [picture()], "503"), (broken, [picture()], "RuntimeError"), (chair, [picture()] * 9, "at most 5"),
    ],
)  # fmt: skip
def test_a_picture_that_cannot_be_used_has_its_code_and_a_reason(bench, read, images, why):
    server, handle = with_reader(bench, read), Handle("", *images)
    server._on_accepted(handle)
    until_described(bench, handle)
    assert handle.ending == "aborted" and handle.result.error_code == FollowDirective.Result.BAD_IMAGE
    assert why in handle.result.error_msg and bench.loop.started == []


def test_a_directive_that_is_cancelled_while_its_picture_is_read_never_begins(bench):
    release = threading.Event()

    def slow(image):
        release.wait(5.0)
        return chair(image)

    server, handle = with_reader(bench, slow), Handle("", picture())
    server._on_accepted(handle)
    server.check()
    assert handle.result is None and bench.loop.started == []  # nobody waits for the model
    handle.is_cancel_requested = True
    release.set()
    until_described(bench, handle)
    assert handle.ending == "canceled" and bench.loop.started == []


def test_words_that_are_not_understood_are_refused_with_a_picture_too(bench):
    server, handle = with_reader(bench, chair), Handle("xyzzy !!", picture())
    server._on_accepted(handle)
    assert handle.result.error_code == FollowDirective.Result.NOT_UNDERSTOOD


class SlowModel:
    """Reads a text when it is let, or when its question is cancelled."""

    def __init__(self):
        self.asked, self.may, self.cancelled = [], threading.Event(), threading.Event()
        self.error = None

    def parse(self, text):
        self.asked.append(text)
        assert self.may.wait(10.0)
        if self.error is not None:
            raise self.error
        return parse_directive(f"{text} in the kitchen")

    def cancel(self):
        self.cancelled.set()
        self.may.set()


@pytest.fixture
def slow(bench):
    model = SlowModel()
    desk = bench.server._desk = ReadingDesk(model.parse, model.cancel)
    bench.clock = 5.0
    yield model
    desk.close()


def until(bench, condition):
    """Check as the node does, until something holds."""
    deadline = time.monotonic() + 10.0
    while not condition():
        assert time.monotonic() < deadline
        bench.server.check()
        time.sleep(0.005)


def test_a_text_begins_when_the_model_has_read_it(bench, slow):
    bench.server._on_accepted(Handle("find the mug"))
    bench.server.check()
    assert bench.loop.started == []
    slow.may.set()
    until(bench, lambda: bench.loop.started)
    assert bench.loop.directive.steps[0].scope.labels == ("kitchen",)


def test_what_the_model_makes_of_it_may_be_refused_with_a_code(bench, slow):
    slow.error = NotUnderstood("no task in it")
    slow.may.set()
    handle = Handle("the mug")
    bench.server._on_accepted(handle)
    until(bench, lambda: handle.ending)
    assert (handle.ending, handle.result.error_msg) == ("aborted", "no task in it")
    assert handle.result.error_code == FollowDirective.Result.NOT_UNDERSTOOD and bench.loop.started == []


def test_a_halt_never_waits_for_the_model_and_what_waits_never_begins(bench, slow):
    reading, waiting, halt = Handle("find the mug"), Handle("find the desk"), Handle("stop")
    for handle in (reading, waiting):
        bench.server._on_accepted(handle)
    until(bench, lambda: slow.asked)
    bench.server._on_accepted(halt)
    assert halt.ending == "succeeded" and bench.loop.cancelled == 1
    assert {h.result.error_code for h in (reading, waiting)} == {FollowDirective.Result.CANCELLED}
    assert slow.cancelled.is_set()
    last = Handle("find the lamp")
    bench.server._on_accepted(last)
    until(bench, lambda: bench.loop.started)
    assert [text for text, *_ in bench.loop.started] == ["find the lamp in the kitchen"]
    assert slow.asked == ["find the mug", "find the lamp"]


def test_a_hold_ends_what_is_being_read(bench, slow):
    handle = Handle("find the mug")
    bench.server._on_accepted(handle)
    until(bench, lambda: slow.asked)
    bench.server.withdraw()
    assert handle.result.error_code == FollowDirective.Result.CANCELLED and slow.cancelled.is_set()
    bench.server.check()
    assert bench.loop.started == []


def test_one_that_is_cancelled_while_it_is_read_ends_at_once(bench, slow):
    handle = Handle("find the mug")
    bench.server._on_accepted(handle)
    until(bench, lambda: slow.asked)
    bench.server._on_cancel(handle)
    handle.is_cancel_requested = True
    until(bench, lambda: handle.ending)
    assert (handle.ending, bench.loop.started) == ("canceled", [])


def test_a_structure_is_read_at_once(bench, slow):
    bench.server._on_accepted(structured(subtasks=[finding("mug")]))
    assert slow.asked == [] and len(bench.loop.started) == 1


@pytest.mark.parametrize(("parser", "made"), [("grammar", False), ("model", True)])
def test_the_configuration_says_whether_a_model_reads(bench, parser, made):
    closing = []
    bench.node.on_close = closing.append
    desk = make_reading_desk(bench.node, GoalSelectorConfig(parser=ParserConfig(parser)))
    assert (desk is not None) is made and len(closing) == made
