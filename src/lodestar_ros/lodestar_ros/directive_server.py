"""The `follow_directive` server around a decision loop: one directive at a time, every refusal has its code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node

from lodestar.agent.commands import DirectiveResult, Feedback
from lodestar.agent.errors import DirectiveRefused, ErrorCode
from lodestar.agent.loop import DecisionLoop
from lodestar.language.checks import check_directive
from lodestar.language.directive import (
    Directive,
    DirectiveError,
    DirectiveKind,
    EmptyDirective,
    StopRequested,
    Subtask,
)
from lodestar.language.picture_goals import parse_beside_picture
from lodestar.perception.pictures import BadPicture
from lodestar_interfaces import msg
from lodestar_interfaces.action import FollowDirective
from lodestar_ros import qos
from lodestar_ros.conversions import BadMessage
from lodestar_ros.conversions_agent import (
    directive_from_msg,
    directive_to_msg,
    feedback_to_msg,
    result_to_msg,
)
from lodestar_ros.pictures import PictureDesk, PicturesConfig


class DirectiveServer:
    """Starts, cancels and concludes directives; everything happens on the executor.

    Publishes ``~/directive``: what is followed, and one without text and steps from its end on.
    parse(text) returns the directive. on_started(directive) and on_cancelled() let the node act at once. pictures:
    describes the pictures that come with a directive, off the executor.
    """

    def __init__(
        self,
        node: Node,
        loop: DecisionLoop,
        parse: Callable[[str], Directive],
        now: Callable[[], float],
        on_started: Callable[[Directive], None],
        on_cancelled: Callable[[], None],
        pictures: PictureDesk | None = None,
    ) -> None:
        self._pictures = pictures or PictureDesk(PicturesConfig())
        self._node, self._loop, self._parse, self._now = node, loop, parse, now
        self._on_started, self._on_cancelled = on_started, on_cancelled
        self._said = node.create_publisher(msg.Directive, "~/directive", qos.LATCHED)
        self._current: Any = None
        self._early: list[Any] = []  # came before the clock's first second: their time could not be counted
        self._server = ActionServer(
            node,
            FollowDirective,
            "follow_directive",
            execute_callback=lambda handle: FollowDirective.Result(),
            goal_callback=lambda request: GoalResponse.ACCEPT,  # a refusal needs a result to carry its code
            handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel,
        )

    def finish(self, result: DirectiveResult) -> None:
        """The current directive is over."""
        handle, self._current = self._current, None
        self._said.publish(msg.Directive())
        if handle is not None:
            self._conclude(handle, result_to_msg(result, self._stamp()))

    def feedback(self, feedback: Feedback) -> None:
        """Tell the client how it goes."""
        if self._current is not None:
            self._current.publish_feedback(feedback_to_msg(feedback, self._stamp()))

    def _stamp(self) -> float:
        """Seconds of the node's clock, for headers; the loop's time is ahead of it once the clock has stood."""
        return self._node.get_clock().now().nanoseconds * 1e-9

    def begin_early(self) -> None:
        """Begin what came before there was a clock, and what has been described; to be called with every tick."""
        if self._early and self._now() > 0.0:
            early, self._early = self._early, []
            for handle in early:
                self._begin(handle)
        for handle, outcome in self._pictures.take():
            self._attempt(handle, partial(self._begin_described, outcome=outcome))

    def _on_accepted(self, handle: Any) -> None:
        if self._now() > 0.0:
            self._begin(handle)
        else:
            self._early.append(handle)

    def _begin(self, handle: Any) -> None:
        self._attempt(handle, self._read_and_start)

    def _attempt(self, handle: Any, begin: Callable[[Any], Directive | None]) -> None:
        """Do what may begin a directive; whatever keeps it from that is its result."""
        if handle.is_cancel_requested:
            self._refuse(handle, ErrorCode.CANCELLED, "Cancelled before it had begun.")
            return
        try:
            directive = begin(handle)
        except DirectiveRefused as refusal:
            self._refuse(handle, refusal.code, str(refusal))
        except StopRequested:
            self._halt(handle)
        except EmptyDirective as error:
            self._refuse(handle, ErrorCode.EMPTY_DIRECTIVE, str(error))
        except BadPicture as error:
            self._refuse(handle, ErrorCode.BAD_IMAGE, str(error))
        except (DirectiveError, BadMessage) as error:
            self._refuse(handle, ErrorCode.NOT_UNDERSTOOD, str(error))
        except Exception as error:
            self._refuse(handle, ErrorCode.UNKNOWN, f"{error.__class__.__name__}: {error}")
        else:
            if directive is not None:
                self._announce(handle, directive)

    def _announce(self, handle: Any, directive: Directive) -> None:
        """The loop has begun it: everybody is told; what cannot be told is not followed."""
        try:
            self._said.publish(directive_to_msg(directive))
        except Exception as error:
            self._loop.cancel(self._now())
            self._refuse(handle, ErrorCode.UNKNOWN, f"it cannot be told: {error.__class__.__name__}: {error}")
            return
        self._current = handle
        self._on_started(directive)

    def _read_and_start(self, handle: Any) -> Directive | None:
        """The directive that has begun; None where its pictures have to be described first."""
        request = handle.request
        images = tuple(bytes(image.data) for image in request.images)
        message = request.directive
        wordless = not request.text.strip() and not message.subtasks and message.kind == message.KIND_FIND
        directive = None if images and wordless else self._read(request)
        if images or (directive is not None and any(s.images for s in directive.subtasks)):
            self._pictures.submit(handle, directive, images)
            return None
        assert directive is not None
        return self._start(handle, directive)

    def _begin_described(self, handle: Any, outcome: Directive | BadPicture) -> Directive:
        if isinstance(outcome, BadPicture):
            raise outcome
        return self._start(handle, outcome)

    def _start(self, handle: Any, directive: Directive) -> Directive:
        check_directive(directive)
        limit = handle.request.time_limit
        self._loop.start(directive, self._now(), limit.sec + limit.nanosec * 1e-9)
        return directive

    def _halt(self, handle: Any) -> None:
        """Somebody said "stop": the directive that runs is over, and this one has done what it asked for."""
        self._loop.cancel(self._now())
        self._on_cancelled()
        text = "Stopped. To keep the robot standing, hold it: python -m lodestar_ros.hold on"
        self._conclude(handle, FollowDirective.Result(success=True, report=text))

    def _read(self, request: Any) -> Directive:
        """The text where there is one; else the structure, whose targets are words where they bring no graph."""
        message = request.directive
        if request.text.strip() or not (message.subtasks or message.kind != message.KIND_FIND):
            return (
                parse_beside_picture(request.text, self._parse)
                if request.images
                else self._parse(request.text)
            )
        directive = directive_from_msg(message)
        verb = "list all" if directive.kind is DirectiveKind.INVENTORY else "find"
        subtasks = tuple(
            s if s.graphs or not s.target else self._compiled(s, verb) for s in directive.subtasks
        )
        return replace(directive, subtasks=subtasks)

    def _compiled(self, subtask: Subtask, verb: str) -> Subtask:
        """The subtask with the graphs that its target has in words."""
        parsed = self._parse(f"{verb} {subtask.target}").subtasks
        return replace(subtask, graphs=parsed[0].graphs) if parsed else subtask

    def _refuse(self, handle: Any, code: ErrorCode, message: str) -> None:
        self._node.get_logger().warning(f"directive refused ({code.name}): {message}")
        self._conclude(handle, FollowDirective.Result(error_code=int(code), error_msg=message))

    def _on_cancel(self, handle: Any) -> CancelResponse:
        """Nothing may refuse the halt."""
        if handle is self._current or (self._current is not None and handle == self._current):
            self._loop.cancel(self._now())
            self._on_cancelled()
        return CancelResponse.ACCEPT

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
