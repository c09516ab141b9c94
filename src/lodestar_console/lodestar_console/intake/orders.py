"""Implementation of the interface `Stack` over ROS: carries out requests of pages and agents."""

from __future__ import annotations

import asyncio
import math
import subprocess
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from geometry_msgs.msg import Point
from sensor_msgs.msg import CompressedImage

from lodestar.memory.keyframe_contours import annotated_jpeg
from lodestar_console import protocol
from lodestar_console.access.sessions import Session
from lodestar_console.board import past
from lodestar_console.board.board import Board
from lodestar_console.intake import knowledge
from lodestar_console.intake.calls import Answer, Caller, NotThere, refused
from lodestar_console.intake.convert import brief
from lodestar_console.intake.directives import DirectiveDesk, goal_of
from lodestar_console.intake.health import examine, log_tail
from lodestar_console.intake.remembered import MemoryWatch
from lodestar_console.intake.robot_state import RobotState
from lodestar_console.intake.views import Views
from lodestar_console.web.stack_port import Outcome, Picture, Upload, Wishes
from lodestar_interfaces import msg
from lodestar_interfaces.action import AnswerQuestion, CorrectBelief, FollowDirective
from lodestar_interfaces.srv import GetKeyframe, ManageMemory, NameRegion, PlaceHold, PointOut, ReleaseHold
from lodestar_ros.conversions import box_from_msg, stamp_to_msg
from lodestar_ros.node import LodestarNode

MOST_CORNERS = 64  # largest number of corners of a zone
RELEASE_PATIENCE = 2.0  # s within which the motion gate must confirm a release, and tell what stands after it
RELEASE_LOOK = 0.02  # s between two checks of its newest message
MOST_ASKED = 50  # largest number of pending hold requests
_MEMORY = ManageMemory.Request
Handler = Callable[[Any, Session, "Upload | None"], Awaitable[Outcome]]


class RosStack:
    """Carry out requests by services and actions.

    Calls: ``place_hold``, ``release_hold``, ``name_region``, ``manage_memory``, ``get_keyframe``, ``point_out``.
    Client of ``answer``, ``correct`` and, while it has a goal, ``follow_directive``.
    """

    def __init__(
        self,
        node: LodestarNode,
        board: Board,
        caller: Caller,
        desk: DirectiveDesk,
        views: Views,
        robot: RobotState,
    ) -> None:
        self._node, self._board, self._caller, self._desk, self._views = node, board, caller, desk, views
        self._remembered, self._robot = MemoryWatch(node, board), robot
        self._examining: asyncio.Task[list[dict[str, str]]] | None = None
        self._asked: deque[Any] = deque()
        self._gate = node.create_client(PlaceHold, "place_hold")
        for kind, name in (
            (ReleaseHold, "release_hold"),
            (NameRegion, "name_region"),
            (ManageMemory, "manage_memory"),
            (GetKeyframe, "get_keyframe"),
            (PointOut, "point_out"),
        ):
            caller.offer_service(kind, name)
        caller.offer_action(AnswerQuestion, "answer")
        caller.offer_action(CorrectBelief, "correct")
        self._handlers: dict[type, Handler] = {
            protocol.SendDirective: self._directive,
            protocol.AnswerRobot: self._answer,
            protocol.Cancel: self._cancel,
            protocol.Resume: self._resume,
            protocol.AskMemory: self._ask,
            protocol.NameRoom: self._name_room,
            protocol.PointOut: self._point_out,
            protocol.CloseWay: self._close_way,
            protocol.LayZone: self._lay_zone,
            protocol.Correct: self._correct,
            protocol.Undo: self._undo,
            protocol.SearchMemory: self._search,
            protocol.PinMemory: self._pin,
            protocol.CorrectMemory: self._correct_memory,
            protocol.ForgetMemory: self._forget,
            protocol.Details: self._details,
            protocol.At: self._at,
        }

    async def perform(
        self, request: protocol.PageMessage, who: Session, picture: Upload | None = None
    ) -> Outcome:
        """Carry out a request and return its outcome."""
        handler = self._handlers.get(type(request))
        if handler is None:
            return Outcome(False, "The robot cannot do this.", "unknown")
        try:
            return await handler(request, who, picture)
        except NotThere as error:
            return Outcome(False, f"{str(error)[:1].upper()}{str(error)[1:]}.", "not_there")
        except asyncio.TimeoutError:
            return Outcome(False, "The robot did not answer in time.", "timeout")

    def stop(self, who: str) -> asyncio.Future[bool]:
        """Ask the motion gate, from the calling thread, to hold the robot. Never raises.

        Returns the future of its answer: whether it holds the robot.
        """
        answer = Answer()
        try:
            if not self._gate.service_is_ready():
                raise NotThere("the motion gate is not there")
            asked = self._gate.call_async(PlaceHold.Request(kind=msg.Hold.HOLD, who=who, why="STOP"))
        except Exception as error:
            self._node.diagnostics.error(error)
            answer.give(False)
            return answer.future
        self._asked.append(asked)
        while len(self._asked) > MOST_ASKED:  # a dead gate never answers
            self._gate.remove_pending_request(self._asked.popleft())
        asked.add_done_callback(
            lambda told: answer.give(told.exception() is None and told.result().number > 0)
        )
        return answer.future

    def stands(self, since: float) -> bool:
        """Return whether odometry received after `since` (s, monotonic) shows the robot standing still."""
        return self._robot.stands(since)

    def cancel_of(self, who: str) -> None:
        """Cancel the directive of a session."""
        self._desk.cancel_of(who)

    def want(self, wishes: Wishes) -> None:
        """Store which streams the pages want, for views and memories."""
        self._views.wishes = self._remembered.wishes = wishes

    async def log(self, node: str, lines: int) -> str | None:
        """Return the last lines of a node's log, None if there is no log."""
        return await asyncio.to_thread(log_tail, node, lines)

    async def examine(self) -> list[dict[str, str]]:
        """Run the doctor and return its findings; concurrent callers share one run. Raises RuntimeError."""
        if self._examining is None or self._examining.done():
            work = asyncio.to_thread(examine, self._node.get_namespace().rstrip("/"))
            self._examining = asyncio.ensure_future(work)
        try:
            return await asyncio.shield(self._examining)
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            raise RuntimeError(f"the doctor could not tell: {error}") from error

    async def keyframe(self, number: int, session: str, outlined: bool) -> Picture | None:
        """Return a keyframe's image, with instance outlines if `outlined`; None if it is not available."""
        try:
            found = await self._caller.service(
                "get_keyframe", GetKeyframe.Request(id=number, session_id=session)
            )
        except (NotThere, asyncio.TimeoutError):
            return None
        data = bytes(found.image.data)
        if found.error_code or not data:
            return None
        if outlined and found.keyframe.instances:
            boxes = {int(one.instance_id): box_from_msg(one.image_box) for one in found.keyframe.instances}
            outlined_jpeg: bytes | None = await asyncio.to_thread(annotated_jpeg, data, boxes)
            data = outlined_jpeg or data
        return Picture(data)

    # --- motion ----------------------------------------------------------------------------------------

    async def _directive(
        self, request: protocol.SendDirective, who: Session, picture: Upload | None
    ) -> Outcome:
        if not request.text.strip() and picture is None:
            return Outcome(False, 'Say what to do, such as "find the red chair".', "EMPTY_DIRECTIVE")
        goal = goal_of(request.text, dry_run=request.dry_run, picture=picture)
        return await self._desk.run(goal, request.text, who)

    async def _answer(self, request: protocol.AnswerRobot, who: Session, _: Upload | None) -> Outcome:
        shown = self._board.get("directive")
        text = shown.text if isinstance(shown, protocol.Directive) else ""
        if not 0 < request.choice < 1000:
            return Outcome(False, "Choices are counted from 1.", "QUESTION_UNKNOWN")
        goal = FollowDirective.Goal(question_id=request.question, choice=request.choice)
        return await self._desk.run(goal, text, who)

    async def _cancel(self, *_: object) -> Outcome:
        self._caller.post(self._desk.cancel)
        return Outcome(True, "Cancelled.")

    async def _resume(self, request: protocol.Resume, who: Session, _: Upload | None) -> Outcome:
        """Release only the holds and pauses with the requested numbers; the outcome tells which remain."""
        if not self._robot.standing.is_told:
            raise NotThere("the motion gate is not there")
        owners = {one.number: one.who for one in self._robot.holds}
        released, refusal = [], "no number was named"
        for number in dict.fromkeys(request.numbers):
            asked = ReleaseHold.Request(number=number, who=who.name)
            told = await self._caller.service("release_hold", asked, RELEASE_PATIENCE)
            if told.error_code:
                refusal = told.error_msg
            else:
                mine = owners.get(number) == who.name
                released.append("yours" if mine else f"that of {owners.get(number, 'somebody')}")
        left = await self._left_after(request.numbers)
        if left:
            said = f"Released {' and '.join(dict.fromkeys(released))}" if released else "Nothing was released"
            return Outcome(False, f"{said}; still {left}.", "still_held")
        if not released:
            return Outcome(False, f"Not released: {refusal}.", "not_held")
        return Outcome(True, "Released.")

    async def _left_after(self, numbers: list[int]) -> str:
        """Wait until the motion gate no longer reports holds with these numbers, at most `RELEASE_PATIENCE`.

        Returns a text on who holds or pauses the robot under other numbers, "" = nobody.
        """
        end = time.monotonic() + RELEASE_PATIENCE
        while any(one.number in numbers for one in self._robot.holds) and time.monotonic() < end:
            await asyncio.sleep(RELEASE_LOOK)
        return ", ".join(
            f"{'held' if one.kind == 'hold' else 'paused'} by {one.who} since "
            f"{time.strftime('%H:%M', time.localtime(one.since))}"
            for one in self._robot.holds
            if one.number not in numbers
        )

    async def _point_out(self, request: protocol.PointOut, who: Session, _: Upload | None) -> Outcome:
        point = Point(x=request.x, y=request.y, z=request.z)
        told = await self._caller.service("point_out", PointOut.Request(point=point))
        if told.error_code:
            return refused(told.error_code, told.error_msg)
        value = protocol.PointedValue(
            entity=int(told.entity_id),
            question=told.question_id,
            choice=int(told.choice),
            correction=brief(told.correction),
        )
        return Outcome(True, told.report, value=value)

    # --- beliefs -------------------------------------------------------------------------------------

    async def _correct(self, request: protocol.Correct, who: Session, _: Upload | None) -> Outcome:
        return await self._amend(CorrectBelief.Goal(text=request.text, entity_id=max(request.entity, 0)))

    async def _undo(self, request: protocol.Undo, *_: object) -> Outcome:
        if request.entry < 1:
            return Outcome(False, "Entries are counted from 1.", "NO_SUCH_ENTRY")
        return await self._amend(CorrectBelief.Goal(undo=request.entry))

    async def _close_way(self, request: protocol.CloseWay, who: Session, _: Upload | None) -> Outcome:
        way = msg.ClosedWay(
            start=Point(x=request.start[0], y=request.start[1]),
            end=Point(x=request.end[0], y=request.end[1]),
            cause="DOOR_CLOSED",
            seen_free_opens=False,
        )
        if request.minutes > 0.0 and not request.open:
            way.expires = self._until(request.minutes)
        change = msg.Amendment(
            change="OPEN_WAY" if request.open else "CLOSE_WAY",
            reason=f"{who.name} said so on the page",
            author="operator",
            way=[way],
        )
        return await self._amend(CorrectBelief.Goal(amendment=[change]))

    async def _lay_zone(self, request: protocol.LayZone, who: Session, _: Upload | None) -> Outcome:
        """Add or remove a keep-out area by an amendment of the beliefs, like a closed way.

        The amendment is journalled, kept over restarts and saved with the map.
        """
        if not 3 <= len(request.outline) <= MOST_CORNERS:
            return Outcome(False, f"A zone has 3 to {MOST_CORNERS} corners.", "BAD_REQUEST")
        corners = [Point(x=x, y=y) for x, y in request.outline]
        far = max(corners, key=lambda corner: math.dist(request.outline[0], (corner.x, corner.y)))
        area = msg.ClosedWay(
            start=corners[0], end=far, area=corners, cause=brief(request.text.strip()) or "keep out"
        )
        if request.minutes > 0.0 and not request.remove:
            area.expires = self._until(request.minutes)
        said = f"{who.name} {'removed' if request.remove else 'laid'} it on the page"
        named = request.text.strip()
        change = msg.Amendment(
            change="OPEN_WAY" if request.remove else "CLOSE_WAY",
            reason=f"{brief(named)}; {said}" if named else said,
            author="operator",
            way=[area],
        )
        return await self._amend(CorrectBelief.Goal(amendment=[change]))

    def _until(self, minutes: float) -> Any:
        return stamp_to_msg(self._node.now + 60.0 * min(minutes, 60.0 * 24 * 365))

    async def _amend(self, goal: CorrectBelief.Goal) -> Outcome:
        result = await self._caller.action("correct", goal, 20.0)
        if result.error_code:
            return refused(result.error_code, result.error_msg)
        return Outcome(True, result.report)

    async def _name_room(self, request: protocol.NameRoom, *_: object) -> Outcome:
        point = Point(x=request.x, y=request.y)
        told = await self._caller.service(
            "name_region", NameRegion.Request(region=max(request.room, 0), point=point, label=request.name)
        )
        if told.error_code:
            return refused(told.error_code, told.error_msg)
        return Outcome(
            True, f"It is called {told.named.label} now." if request.name else "The name is taken back."
        )

    # --- memories -------------------------------------------------------------------------------------

    async def _ask(self, request: protocol.AskMemory, _: Session, picture: Upload | None) -> Outcome:
        goal = AnswerQuestion.Goal(question=request.text)
        if picture is not None:
            form = picture.media_type.removeprefix("image/")
            goal.picture = [CompressedImage(format=form, data=picture.data)]
        result = await self._caller.action("answer", goal, 55.0)
        value = knowledge.answer(result)
        ok = result.error_code == AnswerQuestion.Result.NONE
        return Outcome(ok, value.text, "" if ok else str(result.error_code), value)

    async def _search(self, request: protocol.SearchMemory, *_: object) -> Outcome:
        if not request.text.strip():
            return Outcome(False, "Say which words to look for.", "BAD_REQUEST")
        told = await self._manage(_MEMORY(what=_MEMORY.LIST, text=request.text))
        if told.error_code:
            return refused(told.error_code, told.error_msg)
        found = knowledge.memories(told)
        return Outcome(
            True, f"{told.count} fit.", value=protocol.FoundValue(memories=found, count=int(told.count))
        )

    async def _pin(self, request: protocol.PinMemory, *_: object) -> Outcome:
        what = _MEMORY.PIN if request.pinned else _MEMORY.UNPIN
        said = "Kept." if request.pinned else "Not kept for good any more."
        outcome = await self._change(_MEMORY(what=what, ids=_ids([request.memory])), said)
        shown = self._board.tables["memories"].get(request.memory)
        if outcome.ok and shown is not None:
            self._board.put("memories", msgspec.structs.replace(shown, pinned=request.pinned))
        return outcome

    async def _correct_memory(self, request: protocol.CorrectMemory, *_: object) -> Outcome:
        wanted = _MEMORY(what=_MEMORY.CORRECT, ids=_ids([request.memory]), text=request.text)
        outcome = await self._change(wanted, "Corrected.")
        if outcome.ok:
            self._board.put("memories", removed=(request.memory,))
        return outcome

    async def _forget(self, request: protocol.ForgetMemory, *_: object) -> Outcome:
        wanted = _MEMORY(
            what=_MEMORY.FORGET,
            ids=_ids(request.memories),
            text=request.text,
            expected=max(request.expected, 0),
        )
        told = await self._manage(wanted)
        if told.error_code:
            return refused(told.error_code, told.error_msg)
        if request.expected:
            self._board.put("memories", removed=tuple(str(i) for i in told.ids))
        found = protocol.FoundValue(memories=[], count=int(told.count))
        said = f"{told.count} forgotten." if request.expected else f"{told.count} would be forgotten."
        return Outcome(True, said, value=found)

    async def _change(self, request: Any, said: str) -> Outcome:
        told = await self._manage(request)
        return refused(told.error_code, told.error_msg) if told.error_code else Outcome(True, said)

    async def _manage(self, request: Any) -> Any:
        return await self._caller.service("manage_memory", request, 30.0)

    # --- queries of the board -------------------------------------------------------------------------

    async def _details(self, request: protocol.Details, *_: object) -> Outcome:
        value = knowledge.details(self._board, request.kind, request.of)
        return Outcome(True, value=value) if value else Outcome(False, "Nothing is known of it.", "unknown")

    async def _at(self, request: protocol.At, *_: object) -> Outcome:
        return Outcome(True, value=past.at(self._board, request.time))


def _ids(texts: list[str]) -> list[int]:
    """Return the ids of memories as numbers. Raises NotThere for a text that is no id."""
    if not all(text.isdecimal() and len(text) < 19 for text in texts):
        raise NotThere("there is no such memory")
    return [int(text) for text in texts]
