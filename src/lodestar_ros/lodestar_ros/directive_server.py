"""The `follow_directive` action server: one directive at a time, and an error code for every rejection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse

from lodestar.agent.commands import DirectiveResult, Feedback
from lodestar.agent.errors import DirectiveRefused, ErrorCode
from lodestar.agent.loop import DecisionLoop
from lodestar.agent.open_questions import Choice
from lodestar.assembly.picture_parts import PicturesConfig
from lodestar.language.checks import check_directive
from lodestar.language.directive import (
    AmbiguousDirective,
    CannotObey,
    Directive,
    DirectiveError,
    EmptyDirective,
    Item,
    StopRequested,
)
from lodestar.language.halts import is_halt
from lodestar.language.picture_goals import parse_beside_picture
from lodestar.perception.pictures import BadPicture
from lodestar_interfaces import msg
from lodestar_interfaces.action import FollowDirective
from lodestar_ros import qos
from lodestar_ros.client_watch import ClientWatch
from lodestar_ros.conversions import BadMessage
from lodestar_ros.conversions_agent import feedback_to_msg, result_to_msg
from lodestar_ros.conversions_directive import directive_from_msg, directive_to_msg
from lodestar_ros.conversions_items import AVOID
from lodestar_ros.conversions_news import begun_to_msg, ended_to_msg
from lodestar_ros.directive_reading import Reading, ReadingDesk, VectorDesk
from lodestar_ros.loop_thread import LoopThread
from lodestar_ros.node import LodestarNode
from lodestar_ros.pictures import PictureDesk, pictures_of


@dataclass(frozen=True)
class _Outcome:
    """Outcome of starting a directive: it runs, waits for its pictures (both None), or has a result."""

    directive: Directive | None = None
    result: FollowDirective.Result | None = None
    stops: bool = False  # the directive was "stop"


class DirectiveServer:
    """Start, cancel and conclude directives; parsing and starting happen on the loop's thread.

    Publishes ``~/directive``: the current directive, and after its end an empty one; ``~/report``: each directive that
    begins, and how it ends.
    parse(text) returns the directive at once. desk: reads texts without pictures in its place, and may take seconds; a
    halt never waits for it, and withdraws what does. now: the loop's time. on_started(directive) and on_stop() let the
    node act at once. pictures: describes a directive's pictures. watch: tells when its client is gone; None = the
    directive continues without a client.
    """

    def __init__(
        self,
        node: LodestarNode,
        loop: DecisionLoop,
        thread: LoopThread,
        parse: Callable[[str], Directive],
        now: Callable[[], float],
        on_started: Callable[[Directive], None],
        on_stop: Callable[[], None],
        pictures: PictureDesk | None = None,
        watch: ClientWatch | None = None,
        desk: ReadingDesk | VectorDesk | None = None,
    ) -> None:
        self._watch, self._desk = watch, desk
        self._pictures = pictures or PictureDesk(PicturesConfig())
        self._node, self._loop, self._thread, self._parse, self._now = node, loop, thread, parse, now
        self._on_started, self._on_stop = on_started, on_stop
        self._said = node.create_publisher(msg.Directive, "~/directive", qos.LATCHED)
        self._reports = node.create_publisher(msg.DirectiveReport, "~/report", qos.EVENT)
        self._report: msg.DirectiveReport | None = None  # of the current directive's begin
        self._current: Any = None
        self._begun: Any = None  # handle of the directive that the loop follows; used on the loop's thread
        self._attempts = 0  # starts in progress on the thread
        self._early: list[
            Any
        ] = []  # goals before the clock's first message, whose time cannot be measured yet
        self._server = ActionServer(
            node,
            FollowDirective,
            "follow_directive",
            execute_callback=lambda handle: FollowDirective.Result(),
            goal_callback=lambda request: GoalResponse.ACCEPT,  # a rejection's error code needs a result
            handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel,
        )

    def finish(self, result: DirectiveResult) -> None:
        """Conclude the current directive."""
        handle, self._current = self._current, None
        report, self._report = self._report, None
        self._said.publish(msg.Directive())
        if report is not None:
            self._reports.publish(ended_to_msg(report, result, self._stamp()))
        if handle is not None:
            self._conclude(handle, result_to_msg(result, self._stamp()))

    def say(self, directive: Directive) -> None:
        """Tell everybody what is followed, with the constraints that hold now."""
        self._said.publish(directive_to_msg(directive))

    def feedback(self, feedback: Feedback) -> None:
        """Send the loop's feedback to the client."""
        if self._current is not None:
            self._current.publish_feedback(feedback_to_msg(feedback, self._stamp()))

    def _stamp(self) -> float:
        """Return seconds of the node's clock, for headers; the loop's time may be ahead of it."""
        return self._node.get_clock().now().nanoseconds * 1e-9

    def check(self) -> None:
        """Start goals that waited for the clock or for their pictures; end a directive without a client.

        Call this a few times a second.
        """
        gone = self._watch.gone_for() if self._watch is not None and self._current is not None else 0.0
        if gone:
            handle = self._current
            self._node.get_logger().warning(f"the client of the directive is gone for {gone:.1f} s: stopping")
            self._stop(lambda: self._cancel(handle))
        if self._early and self._now() > 0.0:
            early, self._early = self._early, []
            for handle in early:
                self._admit(handle)
        for handle, reading in self._desk.take() if self._desk is not None else ():
            self._attempt(handle, partial(self._start_read, reading=reading))
        for handle, outcome in self._pictures.take():
            self._attempt(handle, partial(self._begin_described, outcome=outcome))

    def _on_accepted(self, handle: Any) -> None:
        if self._now() > 0.0:
            self._admit(handle)
        else:
            self._early.append(handle)

    def _admit(self, handle: Any) -> None:
        """Start a goal, or have its text read first."""
        request = handle.request
        plain = request.text.strip() and not request.images and not request.question_id
        if self._desk is not None and plain and not is_halt(request.text):
            self._desk.submit(handle, request.text)
        else:
            self._attempt(handle, self._read_and_start)

    def _attempt(self, handle: Any, begin: Callable[[Any], Directive | None]) -> None:
        """Try to start a directive on the thread; a failure becomes its result."""
        self._attempts += 1
        self._thread.ask(lambda: self._try(handle, begin), lambda outcome: self._tried(handle, outcome))

    def _try(self, handle: Any, begin: Callable[[Any], Directive | None]) -> _Outcome:
        """On the thread."""
        if handle.is_cancel_requested:
            return _refusal(ErrorCode.CANCELLED, "Cancelled before it had begun.")
        try:
            return _Outcome(begin(handle))
        except DirectiveRefused as refusal:
            return _refusal(refusal.code, str(refusal))
        except AmbiguousDirective as doubt:
            return self._asked_back(doubt)
        except StopRequested:
            text = "Stopped. To keep the robot standing, hold it: python -m lodestar_ros.hold on"
            return _Outcome(result=FollowDirective.Result(success=True, report=text), stops=True)
        except EmptyDirective as error:
            return _refusal(ErrorCode.EMPTY_DIRECTIVE, str(error))
        except BadPicture as error:
            return _refusal(ErrorCode.BAD_IMAGE, str(error))
        except CannotObey as error:
            return _refusal(ErrorCode.CONSTRAINT_VIOLATED, str(error))
        except (DirectiveError, BadMessage) as error:
            return _refusal(ErrorCode.NOT_UNDERSTOOD, str(error))
        except Exception as error:
            return _refusal(ErrorCode.UNKNOWN, f"{error.__class__.__name__}: {error}")

    def _tried(self, handle: Any, outcome: _Outcome) -> None:
        self._attempts -= 1
        if outcome.stops:
            self.withdraw()
            self._stop(lambda: self._loop.cancel(self._now()))
        if outcome.result is not None:
            self._refuse(handle, outcome.result)
        elif outcome.directive is not None:
            self._announce(handle, outcome.directive)

    def withdraw(self) -> None:
        """Refuse the goals whose texts are being read, as the robot is to stand."""
        for handle in self._desk.withdraw() if self._desk is not None else ():
            text = "The robot was stopped or held before this goal had begun."
            self._refuse(handle, FollowDirective.Result(error_code=int(ErrorCode.CANCELLED), error_msg=text))

    def _announce(self, handle: Any, directive: Directive) -> None:
        """Publish a directive that the loop has started; end it if it cannot be published."""
        try:
            self._said.publish(directive_to_msg(directive))
        except Exception as error:
            self._stop(lambda: self._loop.cancel(self._now()))
            text = f"it cannot be told: {error.__class__.__name__}: {error}"
            self._refuse(handle, FollowDirective.Result(error_code=int(ErrorCode.UNKNOWN), error_msg=text))
            return
        self._current = handle
        self._report = begun_to_msg(directive, self._stamp())
        self._reports.publish(self._report)
        if self._watch is not None:
            self._watch.begin()
        self._on_started(directive)

    def _asked_back(self, doubt: AmbiguousDirective) -> _Outcome:
        """The readings as a question."""
        choices = tuple(Choice(words, directive) for words, directive in doubt.readings)
        question = self._loop.ask(str(doubt), choices, self._now())
        refused = DirectiveResult(ErrorCode.AMBIGUOUS, str(doubt), success=False, question=question)
        return _Outcome(result=result_to_msg(refused, self._stamp()))

    def _answer(self, handle: Any) -> Directive:
        """Begin what the answer to an open question means. Raises DirectiveRefused."""
        request = handle.request
        directive = self._loop.answer(request.question_id, int(request.choice), self._now(), _limit(request))
        self._begun = handle
        return directive

    def _read_and_start(self, handle: Any) -> Directive | None:
        """Return the started directive; None if its pictures must be described first."""
        request = handle.request
        if request.question_id:
            return self._answer(handle)
        images = tuple(bytes(image.data) for image in request.images)
        message = request.directive
        wordless = not request.text.strip() and not message.subtasks
        directive = None if images and wordless else self._read(request)
        if images or (directive is not None and pictures_of(directive)):
            self._pictures.submit(handle, directive, images)
            return None
        assert directive is not None
        return self._start(handle, directive)

    def _start_read(self, handle: Any, reading: Reading) -> Directive:
        return self._start(handle, reading())

    def _begin_described(self, handle: Any, outcome: Directive | BadPicture) -> Directive:
        if isinstance(outcome, BadPicture):
            raise outcome
        return self._start(handle, outcome)

    def _start(self, handle: Any, directive: Directive) -> Directive:
        check_directive(directive)
        self._loop.start(directive, self._now(), _limit(handle.request))
        self._begun = handle
        return directive

    def _read(self, request: Any) -> Directive:
        """Return the directive of the text, or else of the structure; its targets without a graph are parsed from
        words.
        """
        message = request.directive
        if request.text.strip() or not message.subtasks:
            return (
                parse_beside_picture(request.text, self._parse)
                if request.images
                else self._parse(request.text)
            )
        return directive_from_msg(message, self._read_item)

    def _read_item(self, text: str, verb: str) -> Item:
        """Return what words of a structure name. Raises DirectiveError."""
        if verb == AVOID:
            return self._parse(f"explore; keep away from {text}").constraints[0].item
        return self._parse(f"{verb} {text}").steps[0].item_in_scope or Item()

    def _refuse(self, handle: Any, result: FollowDirective.Result) -> None:
        if result.error_code:
            name = ErrorCode(result.error_code).name
            self._node.get_logger().warning(f"directive refused ({name}): {result.error_msg}")
        self._conclude(handle, result)

    def _on_cancel(self, handle: Any) -> CancelResponse:
        """Accept every cancel request."""
        if self._desk is not None:
            self._desk.hurry(handle)  # what it reads is not begun
        if self._attempts or (self._current is not None and handle == self._current):
            self._stop(lambda: self._cancel(handle))
        return CancelResponse.ACCEPT

    def _cancel(self, handle: Any) -> None:
        """End the directive of this handle only. On the thread."""
        if self._begun is not None and handle == self._begun:
            self._loop.cancel(self._now())

    def _stop(self, work: Callable[[], None]) -> None:
        self._thread.stop(work)
        self._on_stop()

    def _conclude(self, handle: Any, result: FollowDirective.Result) -> None:
        def conclude(handle: Any) -> FollowDirective.Result:
            if handle.is_cancel_requested:
                handle.canceled()
            elif result.error_code == 0:
                handle.succeed()
            else:
                handle.abort()
            return result

        handle.execute(conclude)


def _limit(request: Any) -> float:
    """Seconds that a directive may take, 0 = the default."""
    return float(request.time_limit.sec + request.time_limit.nanosec * 1e-9)


def _refusal(code: ErrorCode, message: str) -> _Outcome:
    return _Outcome(result=FollowDirective.Result(error_code=int(code), error_msg=message))
