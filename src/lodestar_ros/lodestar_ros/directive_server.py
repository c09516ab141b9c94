"""The `follow_directive` action server: one directive at a time, and an error code for every rejection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse

from lodestar.agent.errands.commands import Choice, DirectiveResult, Feedback
from lodestar.agent.errands.words import directive_in_words
from lodestar.agent.facts.errors import DirectiveRefused, ErrorCode
from lodestar.agent.loop.machine import DecisionLoop
from lodestar.assembly.memory_news import directive_begun, directive_outcome
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
from lodestar.memory.events import DirectiveNews
from lodestar.perception.picture_config import PicturesConfig
from lodestar.perception.pictures import BadPicture
from lodestar_interfaces import msg
from lodestar_interfaces.action import FollowDirective
from lodestar_ros import qos
from lodestar_ros.client_watch import ClientWatch, owner_topic
from lodestar_ros.conversions import BadMessage
from lodestar_ros.conversions_agent import feedback_to_msg, result_to_msg
from lodestar_ros.conversions_language import AVOID, directive_from_msg, directive_to_msg
from lodestar_ros.conversions_news import directive_news_to_msg
from lodestar_ros.directive_goals import DirectiveGoal, DirectiveGoals, Phase
from lodestar_ros.directive_reading import Reading, ReadingDesk
from lodestar_ros.loop_thread import LoopThread
from lodestar_ros.node import LodestarNode
from lodestar_ros.pictures import PictureDesk, pictures_of

CANCELLED_EARLY = "Cancelled before it had begun."
STOPPED_EARLY = "The robot was stopped or held before this goal had begun."


@dataclass(frozen=True)
class _Outcome:
    """Outcome of starting a directive: it runs, waits for its pictures (both None), or has a result."""

    directive: Directive | None = None
    result: FollowDirective.Result | None = None
    stops: bool = False  # the directive was "stop"


class _OnlyRead(Exception):
    """A goal was only to be read, and is understood; the message says how."""


class _Withdrawn(DirectiveRefused):
    """The robot was stopped or held, or the goal cancelled, before it had begun."""

    code = ErrorCode.CANCELLED


class DirectiveServer:
    """Start, cancel and conclude directives; parsing and starting happen on the loop's thread.

    Publishes ``~/directive``: the current directive, and after its end an empty one; ``~/report``: each directive that
    begins, and how it ends. A halt waits for nothing, and withdraws every goal that has not begun.
    parse(text) returns the directive at once. desk: reads texts without pictures in its place, and may take seconds.
    now: the loop's time. on_started(directive) and on_stop() let the
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
        desk: ReadingDesk | None = None,
    ) -> None:
        self._watch, self._desk = watch, desk
        self._pictures = pictures or PictureDesk(PicturesConfig())
        self._node, self._loop, self._thread, self._parse, self._now = node, loop, thread, parse, now
        self._on_started, self._on_stop = on_started, on_stop
        self._said = node.create_publisher(msg.Directive, "~/directive", qos.LATCHED)
        self._reports = node.create_publisher(msg.DirectiveReport, "~/report", qos.HISTORY)
        self._goals = DirectiveGoals()
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
        """Conclude the directive that the loop follows."""
        goal = self._goals.followed
        self._said.publish(msg.Directive())
        if goal is not None:
            self._goals.remove(goal)
            if goal.begun is not None:
                self._report(directive_outcome(goal.begun, result, self._stamp()))
            self._conclude(goal.handle, result_to_msg(result, self._stamp()))

    def _report(self, news: DirectiveNews) -> None:
        self._reports.publish(directive_news_to_msg(news))

    def say(self, directive: Directive) -> None:
        """Tell everybody what is followed, with the constraints that hold now."""
        self._said.publish(directive_to_msg(directive))

    def feedback(self, feedback: Feedback) -> None:
        """Send the loop's feedback to the client."""
        goal = self._goals.followed
        if goal is not None:
            goal.handle.publish_feedback(feedback_to_msg(feedback, self._stamp()))

    def _stamp(self) -> float:
        """Return seconds of the node's clock, for headers; the loop's time may be ahead of it."""
        return self._node.get_clock().now().nanoseconds * 1e-9

    def check(self) -> None:
        """Start goals that waited for the clock or for a model; end a directive without a client, and goals that were
        cancelled before they had begun.

        Call this a few times a second.
        """
        followed = self._goals.followed
        gone = self._watch.gone_for() if self._watch is not None and followed is not None else 0.0
        if gone:
            self._node.get_logger().warning(f"the client of the directive is gone for {gone:.1f} s: stopping")
            self._stop(lambda: self._cancel(followed))
        for goal in self._goals.waiting():
            if not goal.is_wanted:
                self._end_unbegun(goal, CANCELLED_EARLY)
            elif goal.phase is Phase.EARLY and self._now() > 0.0:
                self._admit(goal)
        for goal, reading in self._desk.take() if self._desk is not None else ():
            if goal in self._goals:
                self._attempt(goal, partial(self._start_read, reading=reading))
        for goal, outcome in self._pictures.take():
            if goal in self._goals:
                self._attempt(goal, partial(self._begin_described, outcome=outcome))

    def _on_accepted(self, handle: Any) -> None:
        if _is_halt(handle.request) and not handle.request.dry_run:
            self._halt()
            self._conclude(handle, _stopped().result)
            return
        if handle.request.owner:
            try:
                owner_topic(handle.request.owner)
            except ValueError as error:
                self._refuse(handle, _refusal(ErrorCode.NOT_UNDERSTOOD, str(error)).result)
                return
        goal = self._goals.add(handle, Phase.EARLY)
        if self._now() > 0.0:
            self._admit(goal)

    def _halt(self) -> None:
        """End what the loop follows, and withdraw what has not begun."""
        self.withdraw()
        self._stop(lambda: self._loop.cancel(self._now()))

    def withdraw(self) -> None:
        """Refuse every goal that has not begun, as the robot is to stand."""
        for goal in self._goals.withdraw():
            self._end_unbegun(goal, STOPPED_EARLY)

    def _end_unbegun(self, goal: DirectiveGoal, why: str) -> None:
        """Conclude a goal that the loop has not heard of."""
        goal.withdrawn = True
        if self._desk is not None:
            self._desk.hurry(goal)
        if self._goals.remove(goal):
            self._refuse(goal.handle, _refusal(ErrorCode.CANCELLED, why).result)

    def _admit(self, goal: DirectiveGoal) -> None:
        """Start a goal, or have its text read first."""
        request = goal.handle.request
        if self._desk is not None and request.text.strip() and not request.images and not request.question_id:
            goal.phase = Phase.READING
            self._desk.submit(goal, request.text)
        else:
            self._attempt(goal, self._read_and_start)

    def _attempt(self, goal: DirectiveGoal, begin: Callable[[DirectiveGoal], Directive | None]) -> None:
        """Try to start a directive on the thread; a failure becomes its result."""
        goal.phase = Phase.STARTING
        self._thread.ask(lambda: self._try(goal, begin), lambda outcome: self._tried(goal, outcome))

    def _try(self, goal: DirectiveGoal, begin: Callable[[DirectiveGoal], Directive | None]) -> _Outcome:
        """On the thread."""
        try:
            self._check_wanted(goal)
            return _Outcome(begin(goal))
        except DirectiveRefused as refusal:
            return _refusal(refusal.code, str(refusal))
        except AmbiguousDirective as doubt:
            if goal.handle.request.dry_run:
                return _refusal(ErrorCode.AMBIGUOUS, str(doubt))
            return self._asked_back(doubt)
        except _OnlyRead as read:
            return _Outcome(result=FollowDirective.Result(success=True, report=str(read)))
        except StopRequested:
            return _stopped(stops=not goal.handle.request.dry_run)
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

    @staticmethod
    def _check_wanted(goal: DirectiveGoal) -> None:
        """Raise _Withdrawn where the goal is not to be begun any more."""
        if not goal.is_wanted:
            raise _Withdrawn(CANCELLED_EARLY if goal.handle.is_cancel_requested else STOPPED_EARLY)

    def _tried(self, goal: DirectiveGoal, outcome: _Outcome) -> None:
        if outcome.result is not None:
            self._goals.remove(goal)
            if outcome.stops:
                self._halt()
            self._refuse(goal.handle, outcome.result)
        elif outcome.directive is not None:
            self._announce(goal, outcome.directive)
        elif (
            goal.withdrawn and goal.phase is Phase.DESCRIBING
        ):  # withdrawn just before its pictures were submitted
            self._end_unbegun(goal, STOPPED_EARLY)

    def _announce(self, goal: DirectiveGoal, directive: Directive) -> None:
        """Publish a directive that the loop has started; end it if it cannot be published."""
        try:
            self._said.publish(directive_to_msg(directive))
        except Exception as error:
            self._stop(lambda: self._loop.cancel(self._now()))
            text = f"it cannot be told: {error.__class__.__name__}: {error}"
            self._goals.remove(goal)
            self._refuse(goal.handle, _refusal(ErrorCode.UNKNOWN, text).result)
            return
        goal.phase = Phase.FOLLOWED
        goal.begun = directive_begun(directive, self._stamp())
        self._report(goal.begun)
        if self._watch is not None:
            self._watch.begin(goal.handle.request.owner)
        self._on_started(directive)

    def _asked_back(self, doubt: AmbiguousDirective) -> _Outcome:
        """The readings as a question."""
        choices = tuple(Choice(words, directive) for words, directive in doubt.readings)
        question = self._loop.ask(str(doubt), choices, self._now())
        refused = DirectiveResult(ErrorCode.AMBIGUOUS, str(doubt), success=False, question=question)
        return _Outcome(result=result_to_msg(refused, self._stamp()))

    def _answer(self, goal: DirectiveGoal) -> Directive:
        """Begin what the answer to an open question means. Raises DirectiveRefused."""
        request = goal.handle.request
        if request.dry_run:
            raise DirectiveError(
                "an answer begins what it means; only a directive can be read without beginning it"
            )
        directive = self._loop.answer(request.question_id, int(request.choice), self._now(), _limit(request))
        self._goals.begun = goal
        return directive

    def _read_and_start(self, goal: DirectiveGoal) -> Directive | None:
        """Return the started directive; None if its pictures must be described first."""
        request = goal.handle.request
        if request.question_id:
            return self._answer(goal)
        images = tuple(bytes(image.data) for image in request.images)
        message = request.directive
        wordless = not request.text.strip() and not message.subtasks
        directive = None if images and wordless else self._read(request)
        if images or (directive is not None and pictures_of(directive)):
            goal.phase = Phase.DESCRIBING
            self._pictures.submit(goal, directive, images)
            return None
        assert directive is not None
        return self._start(goal, directive)

    def _start_read(self, goal: DirectiveGoal, reading: Reading) -> Directive:
        return self._start(goal, reading())

    def _begin_described(self, goal: DirectiveGoal, outcome: Directive | BadPicture) -> Directive:
        if isinstance(outcome, BadPicture):
            raise outcome
        return self._start(goal, outcome)

    def _start(self, goal: DirectiveGoal, directive: Directive) -> Directive:
        check_directive(directive)
        self._check_wanted(goal)  # it may have been read for a second
        if goal.handle.request.dry_run:
            raise _OnlyRead(directive_in_words(directive))
        self._loop.start(directive, self._now(), _limit(goal.handle.request))
        self._goals.begun = goal
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
        """Accept every cancel request. A goal that waits is concluded by `check`, when rclpy knows of the request."""
        goal = self._goals.of(handle)
        if goal is not None:
            goal.withdrawn = True
            if self._desk is not None:
                self._desk.hurry(goal)
            if goal.phase in (Phase.STARTING, Phase.FOLLOWED):
                self._stop(lambda: self._cancel(goal))
        return CancelResponse.ACCEPT

    def _cancel(self, goal: DirectiveGoal | None) -> None:
        """End the directive of this goal only. On the thread."""
        if goal is not None and goal is self._goals.begun:
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


def _is_halt(request: Any) -> bool:
    """Return whether a goal asks to stand still and for nothing else, in words or as a structure."""
    steps = request.directive.subtasks
    stops = bool(steps) and all(step.kind == msg.Subtask.KIND_STOP for step in steps)
    return is_halt(request.text) if request.text.strip() else stops and not request.question_id


def _limit(request: Any) -> float:
    """Seconds that a directive may take, 0 = the default."""
    return float(request.time_limit.sec + request.time_limit.nanosec * 1e-9)


def _refusal(code: ErrorCode, message: str) -> _Outcome:
    return _Outcome(result=FollowDirective.Result(error_code=int(code), error_msg=message))


def _stopped(*, stops: bool = True) -> _Outcome:
    text = (
        "Stopped. To keep the robot standing, hold it: python -m lodestar_ros.hold on" if stops else "Stop."
    )
    return _Outcome(result=FollowDirective.Result(success=True, report=text), stops=stops)
