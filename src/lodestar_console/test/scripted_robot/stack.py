"""A scripted stack: one simulated robot in a small building."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable
from typing import Any, Literal

import msgspec
import numpy as np

from lodestar.experts.registry import expert_names
from lodestar.language.halts import heard_stop
from lodestar_console import protocol
from lodestar_console.access.sessions import Session
from lodestar_console.board import past
from lodestar_console.board.board import Board
from lodestar_console.web.stack_port import Outcome, Picture, Upload, Wishes
from scripted_robot.beliefs import ScriptedBeliefs
from scripted_robot.building import (
    FOOTPRINT,
    NODES,
    PERIOD,
    SPEED,
    THINGS,
    answer,
    camera_image,
    grid_cells,
    memories,
    near_cells,
    show_building,
    thing_image,
)

_FRONTIER, _MAP, _VIEW, *_ = expert_names()


class ScriptedStack:
    """Implement the stack port by a script; `step` moves the robot."""

    def __init__(self, board: Board, points: int = 4000, objects: int = len(THINGS)) -> None:
        self.board = board
        self.stops = 0
        self.pace = SPEED  # m/s on the way to a goal
        self.wishes = Wishes()
        self._lock = threading.Lock()
        self._pose = [1.0, 1.0, 0.0]
        self._goal: tuple[float, float] | None = None
        self._holds: list[protocol.Hold] = []
        self._number = 0
        self._speed = 0.0
        self._stood_at = -math.inf  # s, monotonic: last step at which the robot stood still
        self.gate_is_dead = False
        self._directive = protocol.Directive()
        self._asked, self._begun = "", 0
        self._beliefs = ScriptedBeliefs(board)
        self._driven: list[tuple[float, float]] = []
        self._decisions = self._ticks = 0
        self._seen = near_cells(1.0, 1.0)
        self._cloud = show_building(board, points, objects)
        board.set("directive", self._directive)

    @property
    def _held(self) -> bool:
        return bool(self._holds)

    def begin_anew(self, pace: float = SPEED) -> None:
        """Stand at the start without holds or directive; drive at `pace` (m/s) from now on."""
        self.cancel_of("")
        with self._lock:
            self._holds, self._pose, self.pace = [], [1.0, 1.0, 0.0], pace

    def place(self, kind: Literal["hold", "pause"], who: str) -> None:
        """Place a hold or pause; each keeps a record of its own."""
        self._number += 1
        hold = protocol.Hold(number=self._number, kind=kind, who=who, since=time.time())
        self._holds = [*self._holds, hold]

    def step(self) -> None:
        """Advance the simulation by one period."""
        with self._lock:
            self._ticks += 1
            self._drive()
            if not self._speed:
                self._stood_at = time.monotonic()
            self._show_robot()
            if self._ticks % 5 == 0:
                self._look()
            if self.wishes.camera and self._ticks % max(int(1 / PERIOD / self.wishes.camera), 1) == 0:
                self._shoot()
        if self.wishes.cloud and self._speed and self._ticks % 5 == 0:
            self._recolor()

    def _recolor(self) -> None:
        """Change the colour of every fiftieth voxel, as in a live map."""
        points, colors, instances = self._cloud
        colors[self._ticks % 50 :: 50] = self._ticks % 256
        self.board.cloud.show(points, colors, instances, 0.05, self.board.now())
        self.board.changed()

    def _drive(self) -> None:
        x, y, _ = self._pose
        self._speed = 0.0
        if self._goal is None or self._held:
            return
        dx, dy = self._goal[0] - x, self._goal[1] - y
        far = math.hypot(dx, dy)
        if far < 0.6:
            self._goal = None
            self._end(True, 0, f"Found: I face it after {self._directive.travelled or 0.0:.1f} m.")
            return
        step = min(self.pace * PERIOD, far)
        self._speed = self.pace
        self._pose = [x + dx / far * step, y + dy / far * step, math.atan2(dy, dx)]
        self._driven.append((round(self._pose[0], 2), round(self._pose[1], 2)))
        travelled = (self._directive.travelled or 0.0) + step
        self._show_directive(travelled=travelled, remaining=far)

    def _show_robot(self) -> None:
        x, y, yaw = self._pose
        if self._ticks % 5 == 0:
            self.board.poses.put(self.board.now(), (x, y, yaw))
            self.board.shots.put(self.board.now(), 1 + self._ticks // 5 % len(THINGS))
        planned = [(x, y), self._goal] if self._goal else []
        self.board.set("path", protocol.Path(driven=self._driven[-500:], planned=planned))
        self.board.set(
            "robot",
            protocol.Robot(
                pose=(x, y, 0.0, yaw),
                speed=self._speed,
                turn_rate=0.0,
                battery=protocol.Battery(share=0.8, volts=29.1),
                state="HELD" if self._held else "NAVIGATING" if self._goal else "IDLE",
                held=any(one.kind == "hold" for one in self._holds),
                holds=self._holds,
                motion_allowed=bool(self._goal) and not self._held,
                epoch=self._decisions,
                stands=self._speed == 0.0,
                footprint=FOOTPRINT,
                stamp=self.board.now(),
                heartbeat_age=0.05,
                gate_age=10.0 if self.gate_is_dead else 0.5,
            ),
        )

    def _look(self) -> None:
        """Mark the cells around the robot as seen, in grid and looks."""
        self._seen |= near_cells(self._pose[0], self._pose[1])
        cells = grid_cells(self._seen)
        self.board.grid.show(cells, 0.05, (0.0, 0.0, 0.0), self.board.now())
        looks = np.where(self._seen, 180, 0).astype(np.uint8)
        if self.board.looks.show(looks, 0.05, (0.0, 0.0, 0.0), self.board.now()):
            self.board.set("looks", protocol.Looks(revision=self.board.looks.revision))
        self.board.changed()

    def _shoot(self) -> None:
        self.board.camera.show(*camera_image(self._ticks, self.board.now()))
        self.board.changed()

    async def perform(
        self, request: protocol.PageMessage, who: Session, picture: Upload | None = None
    ) -> Outcome:
        """Carry out a request and return its outcome."""
        await asyncio.sleep(0.02)
        with self._lock:
            handlers: dict[type, Callable[[Any, Session], Outcome]] = {
                protocol.SendDirective: self._on_directive,
                protocol.AnswerRobot: self._on_answer,
                protocol.Cancel: self._on_cancel,
                protocol.Resume: self._on_resume,
                protocol.AskMemory: self._on_ask,
                protocol.Correct: self._beliefs.correct,
                protocol.Undo: self._beliefs.undo,
                protocol.At: self._on_at,
                protocol.NameRoom: self._on_name,
                protocol.SearchMemory: self._on_search,
                protocol.PointOut: self._on_point,
                protocol.Details: self._on_details,
                protocol.CloseWay: self._beliefs.close_way,
                protocol.LayZone: self._beliefs.lay_zone,
            }
            handler = handlers.get(type(request))
            if handler is None:
                return Outcome(True, "Done.")
            return handler(request, who)

    def stop(self, who: str) -> asyncio.Future[bool]:
        """Latch STOP and return the future of the answer; with `gate_is_dead` it never completes."""
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        if self.gate_is_dead:
            self.stops += 1
            return answer
        answer.set_result(True)
        with self._lock:
            self.stops += 1
            self.place("hold", who)
            if self._directive.running:
                self._goal = None
                self._end(False, 11006, "Held by the operator.")
        return answer

    def stands(self, since: float) -> bool:
        """Return whether the robot stood still at a step after `since` (s, monotonic)."""
        return self._stood_at > since

    def cancel_of(self, who: str) -> None:
        """Cancel the running directive."""
        with self._lock:
            self._goal = None
            if self._directive.running:
                self._end(False, 11005, "Cancelled: who sent it is gone.")

    async def keyframe(self, number: int, session: str, outlined: bool) -> Picture | None:
        """Return the picture of a numbered object."""
        return Picture(thing_image(number, outlined)) if 1 <= number <= 100 else None

    async def log(self, node: str, lines: int) -> str | None:
        """Return one line as the log of a known node."""
        return f"[INFO] {node}: ready\n" if node in NODES else None

    async def examine(self) -> list[dict[str, str]]:
        """Return one fixed finding of the doctor."""
        return [{"level": "WARNING", "what": "perception is slow", "do": "see its log"}]

    def want(self, wishes: Wishes) -> None:
        """Store the wishes of the pages; show memories if wanted."""
        self.wishes = wishes
        if wishes.memories:
            self.board.put("memories", *memories("", self.board.now()))

    def _on_directive(self, request: protocol.SendDirective, who: Session) -> Outcome:
        stop = heard_stop(request.text)
        if stop is not None and request.dry_run:
            said = "Stop at once."
            return Outcome(True, said, value=protocol.MeaningValue(said, [], [], stops=True, rest=stop.rest))
        if stop is not None and self._directive.running:
            self._goal = None
            self._end(False, 11005, "Cancelled on request.")
        if stop is not None and not stop.rest:
            return Outcome(True, "Stopped.")
        thing = next((t for t in THINGS if t[0] in request.text and t[1].split()[0] in request.text), None)
        thing = thing or next((t for t in THINGS if t[0] in request.text), None)
        if thing is None:
            return Outcome(False, "Not understood: say what to find, such as a red chair.", "NOT_UNDERSTOOD")
        understood = f"Find the {thing[1]}."
        meaning = protocol.MeaningValue(understood=understood, steps=[understood])
        if request.dry_run:
            return Outcome(True, understood, value=meaning)
        if self._held:
            return Outcome(False, "The robot is held: resume first.", "HELD")
        if "which" in request.text:
            self._asked = f"q{self._ticks}"
            question = protocol.RobotQuestion(
                id=self._asked, text="Which chair do you mean?", choices=["the red chair", "the blue chair"]
            )
            self._directive = protocol.Directive(
                text=request.text, understood=understood, question=question, by=who.name
            )
            self.board.set("directive", self._directive)
            return Outcome(True, question.text)
        return self._begin(request.text, understood, thing, who)

    def _begin(
        self, text: str, understood: str, thing: tuple[str, str, float, float], who: Session
    ) -> Outcome:
        self._goal = thing[2], thing[3]
        self._begun += 1
        self._directive = protocol.Directive(
            text=text,
            understood=understood,
            phase="APPROACHING",
            expert=_MAP,
            running=True,
            by=who.name,
            number=self._begun,
            goal=(*self._goal, 0.0),
            progress=[protocol.Progress(at=self.board.now(), text=f"I go to the {thing[1]}.")],
        )
        self.board.set("directive", self._directive)
        self._decide(text, thing)
        meaning = protocol.MeaningValue(understood=understood, steps=[understood])
        return Outcome(True, understood, value=meaning, directive=self._begun)

    def _decide(self, text: str, thing: tuple[str, str, float, float]) -> None:
        self._decisions += 1
        arms = [
            protocol.Arm(name=_MAP, admissible=True, value=0.9, bound=1.1, reason=f"the {thing[1]} fits"),
            protocol.Arm(name=_FRONTIER, admissible=True, value=0.4, bound=0.7, reason="6.5 m² may be seen"),
            protocol.Arm(name=_VIEW, admissible=False, value=None, bound=None, reason="no model"),
        ]
        now = self.board.now()
        key = f"script:{self._decisions}"
        self.board.put(
            "decisions",
            protocol.Decision(
                id=key,
                epoch=self._decisions,
                at=now,
                directive=text,
                chosen=_MAP,
                explanation=f"The map knows a {thing[1]}.",
                arms=arms,
                reward=None,
                outcome="pending",
                entities=[1],
                trace=protocol.DecisionTrace(
                    text=f"GoTo the {thing[1]}",
                    checks=[protocol.Check(kind="believed", text=f"the {thing[1]} is in the office")],
                ),
            ),
        )
        self._tell("DECISION", f"semantic_map was chosen: the {thing[1]} fits", decision=key)

    def _tell(self, kind: str, text: str, decision: str = "") -> None:
        x, y, yaw = self._pose
        count = len(self.board.tables["events"]) + 1
        self.board.put(
            "events",
            protocol.Event(
                id=f"s{count}",
                at=self.board.now(),
                kind=kind,
                text=text,
                pose=(x, y, yaw),
                keyframe=self.board.shots.at(self.board.now()) or 1,
                decision=decision,
            ),
        )

    def _end(self, success: bool, code: int, text: str) -> None:
        result = protocol.DirectiveResult(
            success=success, code=code, text=text, entities=[1] if success else []
        )
        self._show_directive(running=False, result=result, phase="", goal=None)
        self._tell("DIRECTIVE", text)

    def _show_directive(self, **changes: Any) -> None:
        self._directive = msgspec.structs.replace(self._directive, **changes)
        self.board.set("directive", self._directive)

    def _on_answer(self, request: protocol.AnswerRobot, who: Session) -> Outcome:
        if request.question != self._asked or not 1 <= request.choice <= 2:
            return Outcome(False, "This question is not open.", "QUESTION_UNKNOWN")
        thing = THINGS[request.choice - 1]
        return self._begin(self._directive.text, f"Find the {thing[1]}.", thing, who)

    def _on_cancel(self, _: protocol.Cancel, who: Session) -> Outcome:
        if not self._directive.running:
            return Outcome(False, "No directive runs.", "idle")
        self._goal = None
        self._end(False, 11005, f"Cancelled by {who.name}.")
        return Outcome(True, "Cancelled.")

    def _on_resume(self, request: protocol.Resume, _: Session) -> Outcome:
        self._holds = [one for one in self._holds if one.number not in request.numbers]
        if self._holds:
            return Outcome(False, f"Still held by {self._holds[0].who}.", "still_held")
        return Outcome(True, "Released.")

    def _on_ask(self, request: protocol.AskMemory, _: Session) -> Outcome:
        value = answer(request.text, self.board.now())
        return Outcome(True, value.text, value=value)

    def _on_at(self, request: protocol.At, _: Session) -> Outcome:
        return Outcome(True, value=past.at(self.board, request.time))

    def _on_name(self, request: protocol.NameRoom, _: Session) -> Outcome:
        rooms: Any = self.board.get("rooms")
        if not any(room.id == request.room for room in rooms):
            return Outcome(False, "There is no such room.", "UNKNOWN_REGION")
        self.board.set(
            "rooms",
            [
                msgspec.structs.replace(room, name=request.name, named=True)
                if room.id == request.room
                else room
                for room in rooms
            ],
        )
        return Outcome(True, f"It is called {request.name} now.")

    def _on_search(self, request: protocol.SearchMemory, _: Session) -> Outcome:
        found = memories(request.text, self.board.now())
        return Outcome(True, f"{len(found)} found.", value=protocol.FoundValue(memories=found))

    def _on_point(self, request: protocol.PointOut, _: Session) -> Outcome:
        far = [math.hypot(x - request.x, y - request.y) for _, _, x, y in THINGS]
        near = far.index(min(far))
        value = protocol.PointedValue(entity=near + 1, question="", choice=0, correction="")
        return Outcome(True, f"You mean the {THINGS[near][1]}.", value=value)

    def _on_details(self, request: protocol.Details, _: Session) -> Outcome:
        lines = ["Seen for a minute, sure by 90 %."]
        return Outcome(True, value=protocol.DetailsValue(title=request.of, lines=lines, keyframes=[1]))
