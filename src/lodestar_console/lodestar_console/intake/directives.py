"""Directives of pages and agents: sends them and shows their progress."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
from sensor_msgs.msg import CompressedImage

from lodestar_console import protocol
from lodestar_console.access.sessions import Session
from lodestar_console.board.board import Board
from lodestar_console.intake.calls import Caller
from lodestar_console.intake.convert import brief, number
from lodestar_console.web.stack_port import Outcome, Upload
from lodestar_interfaces import msg
from lodestar_interfaces.action import FollowDirective
from lodestar_ros import qos
from lodestar_ros.conversions import BadMessage, planar_from_msg
from lodestar_ros.directive_goals import rest_after_stop
from lodestar_ros.directive_sender import DirectiveSender, GoalEars
from lodestar_ros.node import LodestarNode

FIRST_WORD = 30.0  # s within which a goal must start or be refused; a language model may parse it
MOST_PROGRESS = 200  # largest number of progress sentences
NAMES = {
    value: name
    for name, value in vars(FollowDirective.Result).items()
    if name.isupper() and isinstance(value, int)
}


class DirectiveDesk:
    """Send directives as goals, and show the page's part ``directive``.

    Subscribes: ``directive_report``, ``decision``.

    The topics are needed for directives of other clients, whose goal feedback the console does not receive.
    All methods but `run` and `cancel_of` run on the executor.
    """

    def __init__(self, node: LodestarNode, board: Board, caller: Caller) -> None:
        self._node, self._board, self._caller = node, board, caller
        self._sender = DirectiveSender(node)
        self._shown = protocol.Directive()
        self._mine: str = ""  # id of the session whose directive runs, "" = none
        self._count = 0  # number of goals sent
        self._under_way: dict[_Run, str] = {}  # unfinished goals, started or not -> session id
        board.set("directive", self._shown)
        node.listen(msg.DirectiveReport, "directive_report", self._on_report, qos.HISTORY)
        node.listen(msg.Decision, "decision", self._on_decision, qos.EVENT)

    # --- on the web server's loop ---------------------------------------------------------------------

    async def run(self, goal: FollowDirective.Goal, text: str, who: Session) -> Outcome:
        """Send a goal; return its outcome as soon as it has started, was refused or has ended."""
        loop = asyncio.get_running_loop()
        first: asyncio.Future[Outcome] = loop.create_future()

        def tell(outcome: Outcome) -> None:
            loop.call_soon_threadsafe(lambda: None if first.done() else first.set_result(outcome))

        self._caller.post(lambda: self._send(goal, text, who, tell))
        try:
            return await asyncio.wait_for(first, FIRST_WORD)
        except asyncio.TimeoutError:
            return Outcome(False, f"The goal selector said nothing within {FIRST_WORD:.0f} s.", "timeout")

    def cancel_of(self, session: str) -> None:
        """Cancel the directive of a session; callable from any thread."""
        self._caller.post(lambda: self.cancel() if session in self._under_way.values() else None)

    # --- on the executor ------------------------------------------------------------------------------

    def cancel(self) -> None:
        """Cancel all goals of the console; if there are none, send the directive "stop"."""
        if not self._sender.cancel():
            stop = FollowDirective.Goal(text="stop")
            self._sender.send(stop, GoalEars(lambda _: None, lambda _: None, lambda _: None))

    def _send(
        self, goal: FollowDirective.Goal, text: str, who: Session, tell: Callable[[Outcome], None]
    ) -> None:
        run = _Run(self, goal, text, who, tell)
        if not goal.dry_run:
            self._count += 1
            run.number = self._count
            self._under_way[run] = who.id
        self._sender.send(goal, GoalEars(run.hear, run.end, run.fail))

    def over(self, run: _Run) -> bool:
        """Register the end of a goal; return whether to show it: no other started goal is running."""
        self._under_way.pop(run, None)
        return not any(one.begun for one in self._under_way)

    def begin(self, text: str, who: Session, number: int = 0) -> None:
        """Show a directive that has started."""
        self._mine = who.id
        self._show(protocol.Directive(text=text, running=True, by=who.name, number=number))

    def hear(self, feedback: FollowDirective.Feedback) -> None:
        """Show feedback of the running directive."""
        self._show(
            msgspec.structs.replace(
                self._shown,
                understood=feedback.understood,
                unseen=feedback.unseen,
                phase=feedback.phase,
                expert=feedback.expert,
                progress=self._progress(feedback.text),
                goal=_goal(feedback.goal),
                remaining=_rounded(feedback.distance_remaining),
                travelled=_rounded(feedback.distance_travelled),
            )
        )

    def end(self, result: FollowDirective.Result) -> None:
        """Show the result of the directive."""
        question = None
        if result.question:
            question = protocol.RobotQuestion(
                id=result.question_id,
                text=brief(result.question),
                choices=[brief(words) for words in result.choices],
            )
        self._mine = ""
        self._show(
            msgspec.structs.replace(
                self._shown, running=False, phase="", goal=None, result=result_of(result), question=question
            )
        )

    def fail(self, text: str) -> None:
        """Show that the directive failed and that no result will arrive."""
        self._mine = ""
        told = protocol.DirectiveResult(success=False, code=int(FollowDirective.Result.UNKNOWN), text=text)
        self._show(msgspec.structs.replace(self._shown, running=False, phase="", goal=None, result=told))

    def _on_report(self, message: msg.DirectiveReport) -> None:
        """Show a directive of another client."""
        if self._mine:
            return
        if not message.ended:
            self._show(
                protocol.Directive(
                    text=brief(message.text), understood=brief(message.understood), running=True
                )
            )
        elif self._shown.running:
            told = protocol.DirectiveResult(
                success=bool(message.success),
                code=int(message.error_code),
                text=brief(message.report),
                entities=[int(i) for i in message.entity_ids][:50],
            )
            self._show(msgspec.structs.replace(self._shown, running=False, phase="", result=told))

    def _on_decision(self, message: msg.Decision) -> None:
        """Show the progress of another client's directive; the console's own directives have feedback."""
        if not self._mine and self._shown.running:
            progress = self._progress(message.explanation)
            self._show(msgspec.structs.replace(self._shown, expert=message.chosen, progress=progress))

    def _progress(self, text: str) -> list[protocol.Progress]:
        """Return the progress with a sentence appended, unless it equals the last sentence."""
        progress = self._shown.progress
        if not text or (progress and progress[-1].text == brief(text)):
            return progress
        return [*progress[-MOST_PROGRESS:], protocol.Progress(at=round(self._node.now, 1), text=brief(text))]

    def _show(self, directive: protocol.Directive) -> None:
        self._shown = directive
        self._board.set("directive", directive)


class _Run:
    """One running goal. tell(outcome): called with its first outcome, when it starts, fails or ends."""

    def __init__(
        self,
        desk: DirectiveDesk,
        goal: FollowDirective.Goal,
        text: str,
        who: Session,
        tell: Callable[[Outcome], None],
    ) -> None:
        self._desk, self._goal, self._text, self._who, self._tell = desk, goal, text, who, tell
        self.begun = False
        self.number = 0  # number of the directive; 0 = dry run

    def hear(self, feedback: FollowDirective.Feedback) -> None:
        if not feedback.understood:  # the selector does not follow this directive yet
            return
        self._begin()
        self._desk.hear(feedback)
        meaning = meaning_of(feedback.understood)
        self._tell(Outcome(True, feedback.understood, value=meaning, directive=self.number))

    def _begin(self) -> None:
        if not self.begun:
            self.begun = True
            self._desk.begin(self._text, self._who, self.number)

    def end(self, result: FollowDirective.Result) -> None:
        ok = result.error_code == 0
        if self._goal.dry_run:
            text = result.report or result.error_msg
            problem = "" if ok else result.error_msg
            meaning = meaning_of(result.report if ok else "", problem)
            self._tell(Outcome(ok, text, "" if ok else NAMES.get(result.error_code, "UNKNOWN"), meaning))
            return
        is_shown = self._desk.over(self)
        if is_shown and (self.begun or ok or result.question):
            self._begin()
            self._desk.end(result)
        code = "" if ok else NAMES.get(result.error_code, "UNKNOWN")
        self._tell(Outcome(ok, result.report or result.error_msg or "Done.", code, directive=self.number))

    def fail(self, text: str) -> None:
        if self._desk.over(self) and self.begun:
            self._desk.fail(text)
        self._tell(Outcome(False, text, "failed"))


def goal_of(text: str, *, dry_run: bool = False, picture: Upload | None = None) -> FollowDirective.Goal:
    """Return the goal for a directive text, with an optional picture of its target."""
    goal = FollowDirective.Goal(text=text, dry_run=dry_run)
    if picture is not None:
        form = picture.media_type.removeprefix("image/")
        goal.images = [CompressedImage(format=form, data=picture.data)]
    return goal


def result_of(result: FollowDirective.Result) -> protocol.DirectiveResult:
    """Return the record of a directive's result."""
    return protocol.DirectiveResult(
        success=bool(result.success),
        code=int(result.error_code),
        text=brief(result.report or result.error_msg),
        entities=[int(i) for i in result.entity_ids][:50],
    )


def meaning_of(understood: str, problem: str = "") -> protocol.MeaningValue:
    """Return the record of a directive's interpretation: its steps, or "stop" and the text after it.

    problem: reason why the directive was refused, "" = not refused.
    """
    rest = rest_after_stop(understood)
    if rest is not None:
        return protocol.MeaningValue(understood=understood, steps=[], problem=problem, stops=True, rest=rest)
    steps = [part.strip() for part in understood.split(";") if part.strip()]
    return protocol.MeaningValue(understood=understood, steps=steps, problem=problem)


def _goal(stamped: Any) -> tuple[float, float, float] | None:
    if not stamped.header.frame_id:
        return None
    try:
        x, y, yaw = (round(float(v), 2) for v in planar_from_msg(stamped.pose))
    except BadMessage:
        return None
    return x, y, yaw


def _rounded(value: float) -> float | None:
    return number(round(float(value), 1)) if value == value and abs(value) < 1e9 else None
