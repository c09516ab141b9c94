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
from lodestar.language.halts import Stop, heard_stop
from lodestar.language.picture_goals import parse_beside_picture
from lodestar.language.refusal_reasons import with_followed
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
from lodestar_ros.directive_goals import DirectiveGoal, DirectiveGoals, Phase, stop_report
from lodestar_ros.directive_reading import Reading, ReadingDesk
from lodestar_ros.loop_thread import LoopThread
from lodestar_ros.node import LodestarNode
from lodestar_ros.pictures import PictureDesk, pictures_of
from lodestar_ros.workers import end_goal

CANCELLED_EARLY = "Cancelled before it had begun."
STOPPED_EARLY = "The robot was stopped or held before this goal had begun."
GONE_EARLY = "Whoever sent this is gone: it has not begun (client.stop_without: false lets it begin)."


@dataclass(frozen=True)
class _Outcome:
    """Outcome of starting a directive: it runs, waits for its pictures (both None), or has a result."""

    directive: Directive | None = None
    result: FollowDirective.Result | None = None
    stops: bool = False  # the directive was "stop"


class _OnlyRead(Exception):
    """Raised for a dry run after the directive was understood; the message is the directive in words."""


class _Withdrawn(DirectiveRefused):
    """Raised if the robot was stopped or held, or the goal cancelled, before the directive was started."""

    code = ErrorCode.CANCELLED


class DirectiveServer:
    """Starts, cancels and concludes directives; parsing and starting happen on the loop's thread.

    Publishes ``~/directive``: the current directive, and an empty one after its end; ``~/report``: begin and
    end of each directive. A stop in a text is executed at once, before the text is parsed, and withdraws
    every goal that was not started; the text after the stop is a new directive.

    parse(text): returns the directive at once. desk: parses texts without pictures in place of `parse`, and
    may take seconds. now: the loop's time. on_started(directive), on_stop(): called at once, so that the node
    can react. pictures: describes a directive's pictures. watch: detects that the client is gone; None = the
    directive continues without its client.
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
        heard_stop("load the tables")  # now, so that the first stop does not wait for them
        self._server = ActionServer(
            node,
            FollowDirective,
            "follow_directive",
            execute_callback=lambda handle: FollowDirective.Result(),
            # accept all: a rejection with an error code needs a result
            goal_callback=lambda request: GoalResponse.ACCEPT,
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
            end_goal(goal.handle, result_to_msg(result, self._stamp()))

    def _report(self, news: DirectiveNews) -> None:
        self._reports.publish(directive_news_to_msg(news))

    def say(self, directive: Directive) -> None:
        """Publish the current directive, with the constraints that hold now."""
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
        """Start goals that waited for clock, gate, owner or model; end those cancelled early or without a client.

        Call this a few times a second.
        """
        followed = self._goals.followed
        gone = self._watch.gone_for() if self._watch is not None and followed is not None else 0.0
        if gone:
            why = f"Whoever sent this is gone for {gone:.1f} s: stopped (client.stop_without: false lets it go on)."
            self._node.get_logger().warning(why)
            self._stop(lambda: self._cancel(followed, why))
        for goal, reading in self._desk.take() if self._desk is not None else ():
            self._prepare(goal, partial(self._start_read, reading=reading))
        for goal, outcome in self._pictures.take():
            self._prepare(goal, partial(self._begin_described, outcome=outcome))
        for goal in self._goals.waiting():
            if not goal.is_wanted:
                self._end_unbegun(goal, CANCELLED_EARLY)
            elif goal.owner is not None and goal.owner.gone_for():
                self._end_unbegun(goal, GONE_EARLY)
            elif goal.phase is Phase.EARLY and self._is_ready(goal):
                goal.start()

    def _on_accepted(self, handle: Any) -> None:
        stop = _stop_in(handle.request)
        if stop is not None and handle.request.dry_run:
            end_goal(handle, FollowDirective.Result(success=True, report=stop_report(stop.rest)))
            return
        if stop is not None:
            self._halt()
            if not stop.rest:
                end_goal(handle, _stopped().result)
                return
        if handle.request.owner:
            try:
                owner_topic(handle.request.owner)
            except ValueError as error:
                self._refuse(handle, _refusal(ErrorCode.NOT_UNDERSTOOD, str(error)).result)
                return
        goal = self._goals.add(handle, Phase.EARLY)
        if stop is not None:
            handle.request.text = stop.rest
            goal.before = "Stopped. "
        goal.start = partial(self._admit, goal)
        if self._watch is not None and not handle.request.dry_run:
            goal.owner = self._watch.owner(handle.request.owner)
        if self._is_ready(goal):
            goal.start()

    def _is_ready(self, goal: DirectiveGoal) -> bool:
        """Return whether a goal can start or be refused: clock and holds are known, its owner lives."""
        owned = goal.owner is None or goal.owner.is_alive()
        return owned and self._now() > 0.0 and self._thread.knows_holds

    def _prepare(self, goal: DirectiveGoal, begin: Callable[[DirectiveGoal], Directive | None]) -> None:
        """Let a goal start whose text was read or whose pictures were described, unless it has ended meanwhile."""
        if goal in self._goals:
            goal.phase, goal.start = Phase.EARLY, partial(self._attempt, goal, begin)

    def _halt(self) -> None:
        """Cancel the directive that the loop follows, and refuse every goal that was not started."""
        if self._goals.followed is not None:
            self._goals.followed.withdrawn = True
        self.withdraw()
        self._stop(lambda: self._loop.cancel(self._now()))

    def withdraw(self) -> None:
        """Refuse every goal that was not started, because the robot must stand."""
        for goal in self._goals.withdraw():
            self._end_unbegun(goal, STOPPED_EARLY)

    def _end_unbegun(self, goal: DirectiveGoal, why: str) -> None:
        """Conclude a goal that has not reached the loop."""
        goal.withdrawn = True
        if self._desk is not None:
            self._desk.hurry(goal)
        if self._goals.remove(goal):
            self._refuse(goal.handle, _refusal(ErrorCode.CANCELLED, why).result)

    def _admit(self, goal: DirectiveGoal) -> None:
        """Start a goal, or queue its text for the language model first."""
        request = goal.handle.request
        if self._desk is not None and request.text.strip() and not request.images and not request.question_id:
            goal.phase = Phase.READING
            self._desk.submit(goal, request.text)
        else:
            self._attempt(goal, self._read_and_start)

    def _attempt(self, goal: DirectiveGoal, begin: Callable[[DirectiveGoal], Directive | None]) -> None:
        """Start a directive on the loop's thread; an error becomes the goal's result."""
        goal.phase = Phase.STARTING
        self._thread.ask(lambda: self._try(goal, begin), lambda outcome: self._tried(goal, outcome), _late())

    def _try(self, goal: DirectiveGoal, begin: Callable[[DirectiveGoal], Directive | None]) -> _Outcome:
        """Call `begin` and return its outcome, or the result of its error. Runs on the loop's thread."""
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
        """Raise _Withdrawn if the goal must not be started any more."""
        if not goal.is_wanted:
            raise _Withdrawn(CANCELLED_EARLY if goal.handle.is_cancel_requested else STOPPED_EARLY)

    def _tried(self, goal: DirectiveGoal, outcome: _Outcome) -> None:
        if outcome.result is not None:
            self._goals.remove(goal)
            _begin_with(outcome.result, goal.before)
            if outcome.stops:
                self._halt()
            self._refuse(goal.handle, outcome.result)
        elif outcome.directive is not None:
            self._announce(goal, outcome.directive)
        elif goal.withdrawn and goal.phase is Phase.DESCRIBING:  # just before its pictures were submitted
            self._end_unbegun(goal, STOPPED_EARLY)

    def _announce(self, goal: DirectiveGoal, directive: Directive) -> None:
        """Publish a directive that the loop has started; cancel it if it cannot be published."""
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
            self._watch.begin(goal.owner)
        self._on_started(directive)
        if not goal.is_wanted:  # cancelled after the loop had looked: its goals are not sent
            self._stop(lambda: self._cancel(goal))

    def _asked_back(self, doubt: AmbiguousDirective) -> _Outcome:
        """Ask the user which of the possible readings is meant; return the AMBIGUOUS result with the question."""
        choices = tuple(Choice(words, directive) for words, directive in doubt.readings)
        question = self._loop.ask(str(doubt), choices, self._now())
        refused = DirectiveResult(ErrorCode.AMBIGUOUS, str(doubt), success=False, question=question)
        return _Outcome(result=result_to_msg(refused, self._stamp()))

    def _answer(self, goal: DirectiveGoal) -> Directive:
        """Start the directive of the chosen answer to an open question. Raises DirectiveRefused."""
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
        self._check_wanted(goal)  # reading may have taken a second
        if goal.handle.request.dry_run:
            raise _OnlyRead(directive_in_words(directive))
        self._loop.start(directive, self._now(), _limit(goal.handle.request))
        self._goals.begun = goal
        return directive

    def _read(self, request: Any) -> Directive:
        """Return the directive of the request's text, or else of its structure, whose items without a graph
        are parsed.
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
        """Return the item that a text in a structured directive names. Raises DirectiveError."""
        if verb == AVOID:
            return self._parse(f"explore; keep away from {text}").constraints[0].item
        return self._parse(f"{verb} {text}").steps[0].item_in_scope or Item()

    def _refuse(self, handle: Any, result: FollowDirective.Result) -> None:
        if result.error_code:
            self._add_followed(result)
            name = ErrorCode(result.error_code).name
            self._node.get_logger().warning(f"directive refused ({name}): {result.error_msg}")
        end_goal(handle, result)

    def _add_followed(self, result: FollowDirective.Result) -> None:
        """Name in a refusal or a question the directive that continues meanwhile, and how to stop it."""
        goal = self._goals.followed
        if goal is None or not goal.is_wanted or result.error_code == ErrorCode.CANCELLED:
            return
        if goal.begun is not None:
            said = goal.begun.text or goal.begun.understood
            result.error_msg = with_followed(result.error_msg, said)

    def _on_cancel(self, handle: Any) -> CancelResponse:
        """Accept every cancel request. `check` concludes a waiting goal, once rclpy knows of the request."""
        goal = self._goals.of(handle)
        if goal is not None:
            goal.withdrawn = True
            if self._desk is not None:
                self._desk.hurry(goal)
            if goal.phase is Phase.FOLLOWED:  # one that is just started is stopped when it is announced
                self._stop(lambda: self._cancel(goal))
        return CancelResponse.ACCEPT

    def _cancel(self, goal: DirectiveGoal | None, *why: str) -> None:
        """Cancel this goal's directive if it is the current one. why: a reason other than a request. Loop's
        thread only.
        """
        if goal is not None and goal is self._goals.begun:
            self._loop.cancel(self._now(), *why)

    def _stop(self, work: Callable[[], None]) -> None:
        self._thread.stop(work)
        self._on_stop()


def _stop_in(request: Any) -> Stop | None:
    """Return the stop that a goal asks for, as text or as a structure; None if it asks for none."""
    if request.text.strip():
        return heard_stop(request.text)
    steps = request.directive.subtasks
    stops = bool(steps) and all(step.kind == msg.Subtask.KIND_STOP for step in steps)
    return Stop() if stops and not request.question_id else None


def _begin_with(result: FollowDirective.Result, said: str) -> None:
    """Put a sentence before the report, or else before the error, of a result."""
    name = "report" if result.report else "error_msg"
    setattr(result, name, said + getattr(result, name))


def _limit(request: Any) -> float:
    """Return the time limit of a directive, seconds, 0 = the default."""
    return float(request.time_limit.sec + request.time_limit.nanosec * 1e-9)


def _refusal(code: ErrorCode, message: str) -> _Outcome:
    return _Outcome(result=FollowDirective.Result(error_code=int(code), error_msg=message))


def _late() -> _Outcome:
    return _refusal(
        ErrorCode.UNKNOWN, "too much work waits for the decision loop: ask again when it has caught up"
    )


def _stopped(*, stops: bool = True) -> _Outcome:
    text = (
        "Stopped. To keep the robot standing, hold it: python -m lodestar_ros.hold on" if stops else "Stop."
    )
    return _Outcome(result=FollowDirective.Result(success=True, report=text), stops=stops)
