"""Fake world of one square room with scripted experts, scene and navigator."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from lodestar.agent.errands.commands import (
    AskMemory,
    CancelGoal,
    Command,
    Finish,
    NavigationEvent,
    NavigationKind,
    RecordDecision,
    RequestProposals,
    SendGoal,
)
from lodestar.agent.errands.context import make_context
from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.loop.machine import OWN_PARTS, DecisionLoop, PartKinds
from lodestar.experts.protocol import Proposal, ProposalRequest, Rejection, RejectionReason
from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import Directive, Item, Step, StepKind
from lodestar.language.query_graph import QueryGraph, QueryVariable
from lodestar.language.question import Question
from lodestar.memory.answer import AnswerCode, AnswerOutcome
from lodestar.query.targets import TargetView
from lodestar.query.verdict import Candidate
from lodestar.scene.records import Entity, Region
from lodestar.scene.regions import RegionMap
from lodestar.selection.context import FEATURES
from lodestar.selection.linucb import LinUcb, LinUcbConfig
from lodestar.worldmodel.advice import Adviser

EXPERTS = ("frontier", "semantic_map", "ego_vlm")
ACCEPT = 0.6


def room(side: float = 10.0, resolution: float = 0.1) -> OccupancyGrid2D:
    """Return a free square grid from (0, 0) to (side, side), with walls around it."""
    n = round(side / resolution)
    cells = np.zeros((n, n), np.int8)
    cells[0], cells[-1], cells[:, 0], cells[:, -1] = 100, 100, 100, 100
    return OccupancyGrid2D(cells, resolution, (0.0, 0.0))


def camera_at(pose: np.ndarray) -> np.ndarray:
    """Return the pose (4, 4) in map of a camera's optical frame, for the robot's pose (3,)."""
    return planar_transform(*pose) @ planar_transform(0.3, 0.0, 0.0, z=0.45) @ BODY_FROM_OPTICAL


def entity(identity: int, x: float, y: float, caption: str = "red chair", **changes) -> Entity:
    """Return an entity: a cube of 0.4 m on the floor at (x, y)."""
    half = np.array([0.2, 0.2, 0.0])
    middle = np.array([x, y, 0.2])
    base = Entity(
        id=identity,
        label=caption.split()[-1],
        caption=caption,
        mean=middle,
        covariance=np.eye(3) * 0.01,
        box_min=middle - half - (0, 0, 0.2),
        box_max=middle + half + (0, 0, 0.2),
    )
    return replace(base, **changes)


def find(target: str = "red chair", *more: str, **changes) -> Directive:
    """Return a directive to find the target, then the others."""
    steps = tuple(Step(StepKind.FIND, thing(t)) for t in (target, *more))
    return Directive(f"find the {target}", steps, **changes)


def thing(words: str, **changes) -> Item:
    """Return the item for a phrase whose last word is the category."""
    return Item(((QueryGraph((QueryVariable(words, words.split()[-1]),)),),), **changes)


def find_many(directive: Directive, count: int) -> Directive:
    """Return the same directive with `count` objects to find in its first step."""
    step = directive.steps[0]
    assert step.item is not None
    return directive.with_steps((replace(step, item=replace(step.item, count=count)),))


def explore() -> Directive:
    """Return a directive to explore everything."""
    return Directive("explore", (Step(StepKind.EXPLORE),))


@dataclass
class FakeMirror:
    """Scene mirror whose entities the test changes."""

    entities: dict[int, Entity] = field(default_factory=dict)
    regions: dict[int, Region] = field(default_factory=dict)
    revision: int = 0
    merged: dict[int, int] = field(default_factory=dict)
    rooms: RegionMap | None = None
    session_id: str = "test"
    map_id: int = 1

    def get(self, identity: int) -> Entity | None:
        return self.entities.get(self.resolve(identity))

    def near(self, low, high) -> list[Entity]:
        """Return the entities whose boxes touch the given box, as `SceneMirror.near` does."""
        low, high = np.asarray(low)[:2], np.asarray(high)[:2]
        return [
            one
            for _, one in sorted(self.entities.items())
            if (one.box_min[:2] <= high).all() and (one.box_max[:2] >= low).all()
        ]

    def region_at(self, point) -> int:
        return 0 if self.rooms is None else int(self.rooms.at(np.asarray(point, float)[None])[0])

    def put(self, *entities: Entity) -> None:
        for one in entities:
            self.entities[one.id] = one
        self.revision += 1

    def remove(self, identity: int) -> None:
        self.entities.pop(identity, None)
        self.revision += 1

    def resolve(self, identity: int) -> int:
        return self.merged.get(identity, identity)


@dataclass
class FakeTargets:
    """Target matcher with scores by entity id; every scored entity in the mirror is a candidate."""

    scores: dict[int, float] = field(default_factory=dict)
    avoid: tuple[tuple[Entity, float], ...] = ()
    missing: tuple[str, ...] = ()

    def look(self, mirror, step) -> TargetView:
        if self.missing:
            return TargetView(missing=self.missing)
        candidates = sorted(
            (
                Candidate(i, self.scores.get(i, 0.0), self.scores.get(i, 0.0), explanation="by the test")
                for i, e in mirror.entities.items()
                if self.scores.get(i, 0.0) > 0.0 and e.label in {g.target.category for g in step.graphs}
            ),
            key=lambda c: -c.score,
        )
        return TargetView(tuple(candidates), tuple(c for c in candidates if c.score >= ACCEPT))

    def constraints(self, mirror, constraints) -> tuple[tuple[Entity, float], ...]:
        return self.avoid


@dataclass
class World:
    """Steps a loop through simulated time; `answers` maps an expert to its answer to a request."""

    config: LoopConfig = field(default_factory=LoopConfig)
    seed: int = 0
    mixing: float = 0.0
    answers: dict = field(default_factory=dict)
    speed: float = 1.0
    now: float = 0.0
    step: float = 0.1
    navigates: bool = True  # False: the navigator sends no events
    accepts: bool = True
    maps: bool = True  # the grid is published at every step
    sees: bool = True  # entities within 3 m are re-observed at each step
    looks: bool = True  # the camera's images enter the map
    experts: tuple[str, ...] = EXPERTS
    stall: float = 0.0  # s by which the loop's time is ahead of the stamps
    adviser: Adviser | None = None  # adviser for undiagnosed failures
    # the memory's answer to a question; None = no answer
    memory: Callable[[Question], AnswerOutcome | None] | None = None
    grid: OccupancyGrid2D | None = None  # initial grid; None = an empty room
    kinds: PartKinds = OWN_PARTS  # kinds of the loop's parts

    def __post_init__(self) -> None:
        self.mirror = FakeMirror()
        self.targets = FakeTargets()
        config = LinUcbConfig(mixing=self.mixing)
        policy = LinUcb(config, self.experts, FEATURES, np.random.default_rng(self.seed))
        self.policy = policy
        context = make_context(
            self.config, policy, None, self.experts, targets=self.targets, adviser=self.adviser
        )
        self.loop = DecisionLoop(context, self.kinds)
        self.pose = np.array([2.0, 2.0, 0.0])
        self.goal: np.ndarray | None = None
        self.commands: list[Command] = []
        self.abort_with: tuple[int, str] | None = None
        self.loop.on_grid(room() if self.grid is None else self.grid)
        self.loop.on_scene(self.mirror)
        self.loop.on_pose(self.pose, 0.0)

    def of(self, kind) -> list:
        """Return every command of a kind so far."""
        return [c for c in self.commands if isinstance(c, kind)]

    @property
    def result(self):
        """Return the directive's result, None before its end."""
        finished = self.of(Finish)
        return finished[-1].result if finished else None

    @property
    def decisions(self) -> list:
        """Return the final record of every decision."""
        return [c.decision for c in self.of(RecordDecision) if c.decision.reward]

    def advance(self) -> None:
        """Advance one time step: robot, camera and loop, whose commands are executed."""
        self.now += self.step
        self._drive()
        self.loop.on_pose(self.pose.copy(), self.now)
        if self.looks:
            self.loop.on_look(camera_at(self.pose), self.now)
        if self.maps and self.loop._context.facts.grid is not None:
            self.loop.on_grid(self.loop._context.facts.grid)
        if self.sees:
            for one in list(self.mirror.entities.values()):
                if np.hypot(*(one.mean[:2] - self.pose[:2])) < 3.0:
                    self.mirror.put(replace(one, last_seen=self.now))
        for command in self.loop.tick(self.now + self.stall):
            self.commands.append(command)
            self._carry_out(command)

    def run(self, seconds: float = 300.0, until=None) -> None:
        """Advance until the directive ends, `until()` holds, or `seconds` have passed."""
        end = self.now + seconds
        while self.now < end and self.result is None and not (until is not None and until()):
            self.advance()

    def _carry_out(self, command: Command) -> None:
        if isinstance(command, RequestProposals):
            for name in command.experts:
                answer = self._answer(name, command.request)
                if answer is not None:
                    self.loop.on_answer(answer)
        elif isinstance(command, SendGoal):
            self.goal = command.goal
            if self.navigates and self.accepts:
                self.loop.on_navigation(NavigationEvent(NavigationKind.ACCEPTED, epoch=command.epoch))
        elif isinstance(command, AskMemory):
            outcome = AnswerOutcome(AnswerCode.UNKNOWN, why="the memory node is not up")
            said = outcome if self.memory is None else self.memory(command.question)
            if said is not None:
                self.loop.on_memory(command.ticket, said)
        elif isinstance(command, CancelGoal):
            self.goal = None

    def _answer(self, name: str, request: ProposalRequest):
        answer = self.answers.get(name)
        if callable(answer):
            answer = answer(request)
        if answer == "silent":
            return None
        if answer is None:
            reason = RejectionReason.EXPLORED if name == "frontier" else RejectionReason.NO_PROPOSAL
            return Rejection(name, request.epoch, reason, "nothing")
        return replace(answer, epoch=request.epoch, expert=name)

    def _drive(self) -> None:
        if self.goal is None or not self.navigates:
            return
        if self.abort_with is not None:
            code, message = self.abort_with
            self.goal = None
            self.loop.on_navigation(NavigationEvent(NavigationKind.ABORTED, code, message))
            return
        offset = self.goal[:2] - self.pose[:2]
        distance = float(np.hypot(*offset))
        if distance <= self.speed * self.step:
            self.pose = self.goal.copy()
            self.goal = None
            self.loop.on_navigation(NavigationEvent(NavigationKind.SUCCEEDED))
        else:
            self.pose = np.array(
                [*(self.pose[:2] + offset / distance * self.speed * self.step), self.pose[2]]
            )
            self.loop.on_navigation(NavigationEvent(NavigationKind.FEEDBACK, distance_remaining=distance))


def proposal(
    x: float, y: float, yaw: float = 0.0, confidence: float = 0.5, entity_id: int = 0, **more
) -> Proposal:
    """Return a proposal of a goal; the world fills in expert and epoch."""
    return Proposal("", 0, np.array([x, y, yaw]), confidence, f"towards ({x}, {y})", entity_id, **more)


TARGET = entity(7, 8.0, 5.0)  # visible from pose FACING
FACING = (7.2, 5.0, 0.0)


def towards_target(request: ProposalRequest) -> Proposal | Rejection:
    """Answer like a semantic map that knows TARGET: a pose that faces it and is not excluded."""
    goals = [FACING, (8.0, 4.2, math.pi / 2), (8.0, 5.8, -math.pi / 2), (8.8, 5.0, math.pi)]
    taken = [g for g in goals if not any(math.dist(g[:2], e[:2]) < 0.3 for e in request.excluded_goals)]
    if 7 in request.excluded_entities or not taken:
        return Rejection("semantic_map", request.epoch, RejectionReason.NO_VIEWPOINT, "none is free")
    return proposal(*taken[0], confidence=0.9, entity_id=7)


def exploring(*goals):
    """Return a frontier expert that offers these goals in order, each until it is excluded."""

    def answer(request):
        left = [g for g in goals if not any(math.dist(g[:2], e[:2]) < 0.3 for e in request.excluded_goals)]
        return proposal(*left[0]) if left else None

    return answer
