"""Simulated surroundings of the decision loop: building, navigator, experts, memory, battery and clock.

It uses only the loop's public interface (constructor, requests, facts, `tick`, properties), so that it runs on any
version of the loop. After every tick an `errand_judge` checks the loop's commands.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from agent_fakes import EXPERTS, FakeMirror, FakeTargets, entity, room
from errand_judge import Judge
from errand_navigator import Navigator
from errand_rules import CONFIG, RULES, STEP, TIME_LIMIT

from lodestar.agent.errands.commands import (
    AskMemory,
    CancelGoal,
    Command,
    Finish,
    RecordDecision,
    RequestProposals,
    SendGoal,
)
from lodestar.agent.errands.context import make_context
from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.errors import DirectiveRefused
from lodestar.agent.loop.machine import DecisionLoop
from lodestar.experts.frontier import FrontierExpert
from lodestar.experts.protocol import Proposal, ProposalRequest, Rejection, RejectionReason
from lodestar.geometry.poses import planar_transform
from lodestar.grid.energy import EnergyBudget
from lodestar.grid.footprint import footprint_free
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.paths import path_lengths
from lodestar.language.directive import Directive, StepKind
from lodestar.memory.answer import AnswerCode, AnswerOutcome
from lodestar.scene.records import Region
from lodestar.scene.regions import RegionMap
from lodestar.selection.context import FEATURES
from lodestar.selection.linucb import LinUcb, LinUcbConfig
from lodestar_sim.sensors import CameraConfig

SIDE = 8.0  # m, side of the building


class FixedPolicy(LinUcb):
    """Policy that learns nothing, so that its choice depends on the context alone."""

    def update(self, *args, **kwargs) -> None:
        """Learn nothing."""


def building(wall: bool = False, side: float = SIDE) -> OccupancyGrid2D:
    """Return a room, or two rooms whose door is far from the robot's start."""
    grid = room(side)
    if wall:
        grid.cells[: int((side - 1.2) / grid.resolution), 38:42] = 100
    return grid


@dataclass
class Stage:
    """One robot in one building. judged: names of the rules that are checked."""

    wall: bool = False
    real_explorer: bool = False
    judged: tuple[str, ...] = RULES
    now: float = 0.0
    pose: np.ndarray = field(default_factory=lambda: np.array([2.0, 2.0, 0.0]))
    mirror: FakeMirror | None = None
    config: LoopConfig = CONFIG
    side: float = SIDE  # m, side of the building

    def __post_init__(self) -> None:
        self.stamp = self.now
        self.grid = building(self.wall, self.side)
        self.knows_rooms = True
        if self.mirror is None:
            self.mirror = FakeMirror()
            self.know_rooms(True)
        self.targets = FakeTargets(scores=dict.fromkeys(range(1, 30), 0.9))
        policy = FixedPolicy(LinUcbConfig(mixing=0.0), EXPERTS, FEATURES, np.random.default_rng(0))
        self.loop = DecisionLoop(make_context(self.config, policy, None, EXPERTS, targets=self.targets))
        self.judge = Judge(self)
        self.navigator = Navigator(self)
        self.commands: list[Command] = []
        self.results: list = []
        self.manners = dict.fromkeys(EXPERTS, "prompt")
        self.memory = "prompt"
        self.camera = True
        self.held_back: list[tuple[float, Callable[[], None]]] = []  # (time, call) of delayed answers
        self.explorer = FrontierExpert() if self.real_explorer else None
        self._lens = CameraConfig()
        # goals that the scripted explorer has not offered in this errand
        self._offered: list[np.ndarray] = []
        self._offered_to: object = None
        self.request: ProposalRequest | None = None
        self.battery: float | None = None  # remaining metres, None = unlimited
        self.charger: tuple[float, float] = (2.0, 2.0)
        # of the current directive:
        self.directive: Directive | None = None
        self.begun = 0.0
        self.paused = False
        self.stood_still = 0.0  # s spent in pauses
        self.calm = True  # no fault has been injected since it began
        self.seen_at: dict[int, float] = {}
        self.asked: list = []
        self.goals: list[SendGoal] = []
        self._tell_facts()

    # --- actions of a test --------------------------------------------------------------------------------------

    def start(self, directive: Directive, limit: float = 0.0) -> bool:
        """Start a directive; return whether the loop accepts it."""
        try:
            self.loop.start(directive, self.now, limit)
        except DirectiveRefused:
            return False
        except Exception as error:
            raise self.judge.failure("start", error) from error
        self.directive, self.begun, self.stood_still = directive, self.now, 0.0
        self.calm = self.navigator.manner == "drives" and all(m == "prompt" for m in self.manners.values())
        self.calm = self.calm and self.camera
        self.limit = limit or (math.inf if directive.is_endless else TIME_LIMIT)
        self.seen_at, self.asked, self.goals, self.request = {}, [], [], None
        self.judge.begin()
        return True

    def know_rooms(self, known: bool) -> None:
        """Name the halves of the building as rooms, or remove all rooms."""
        assert self.mirror is not None
        n = self.grid.cells.shape[0]
        cells = np.ones((n, n), np.uint16)
        cells[:, n // 2 :] = 2
        rooms = RegionMap(0.5)
        rooms.set_mask(cells, (0.0, 0.0), self.grid.resolution)
        names = ((1, "kitchen"), (2, "bedroom"))
        self.mirror.rooms = rooms if known else None
        self.mirror.regions = (
            {i: Region(i, label, 0.8, 30.0, np.zeros(2)) for i, label in names} if known else {}
        )
        self.mirror.revision += 1

    def put(self, identity: int, x: float, y: float, words: str) -> None:
        """Put an object here from now on, or change an existing one."""
        assert self.mirror is not None
        self.mirror.put(entity(identity, x, y, words, last_seen=self.stamp))

    def set_grid(self, grid: OccupancyGrid2D) -> None:
        """Replace the map's grid."""
        self.grid, self.battery, self.navigator.way = grid, None, None
        self.loop.on_energy(EnergyBudget())

    def charge(self, metres: float) -> None:
        """Charge the battery for this many metres, of which 2 are a reserve."""
        self.battery = metres
        self.loop.on_energy(EnergyBudget(range_left=metres, charger=self.charger, reserve=2.0))

    def jump(self, x: float, y: float) -> None:
        """Move the robot at once, as if carried or relocalised."""
        self.battery = None
        self.loop.on_energy(EnergyBudget())
        self.pose, self.navigator.way = np.array([x, y, self.pose[2]]), None

    def restart_clock(self) -> None:
        """Restart the simulator's clock."""
        self.judge.call("restart_clock", lambda: self.loop.restart_clock(0.0))
        self.stamp = 0.0
        self.now = 0.0
        self.begun = 0.0
        self._ended()

    def cancel(self) -> None:
        """Cancel the directive as the operator."""
        self.judge.call("cancel", lambda: self.loop.cancel(self.now))
        self.judge.stands_at_once()

    def hold(self, held: bool) -> None:
        """Hold or release all motion as the operator."""
        self.judge.call("hold", lambda: self.loop.hold(held, self.now))
        self.judge.stands_at_once()

    def pause(self, paused: bool) -> None:
        """Pause or resume the directive as the operator."""
        self.paused = paused and self.loop.directive is not None
        self.judge.call("pause", lambda: self.loop.pause(paused, self.now))
        self.judge.stands_at_once()

    def run(self, seconds: float, until: Callable[[], bool] | None = None) -> None:
        """Advance time until `until()` holds or `seconds` have passed."""
        for _ in range(max(round(seconds / STEP), 1)):
            self.advance()
            if until is not None and until():
                return

    @property
    def over(self) -> bool:
        """Return whether no directive runs."""
        return self.loop.directive is None

    # --- one step of time ---------------------------------------------------------------------------------------

    def advance(self) -> None:
        """Advance one step of robot, camera, answers and loop, and execute the loop's commands."""
        self.now += STEP
        self.stamp += STEP
        if self.paused:
            self.stood_still += STEP
        self.navigator.drive()
        self._tell_facts()
        due = [tell for at, tell in self.held_back if at <= self.now]
        self.held_back = [one for one in self.held_back if one[0] > self.now]
        for tell in due:
            self.judge.call("a late answer", tell)
        commands: list[Command] = []
        self.judge.call("tick", lambda: commands.extend(self.loop.tick(self.now)))
        for command in commands:
            self._carry_out(command)
        self._judge()

    def _judge(self) -> None:
        self.judge.tick()

    def _tell_facts(self) -> None:
        self.loop.on_pose(self.pose.copy(), self.stamp)
        self.loop.on_grid(self.grid)
        self.loop.on_scene(self.mirror)
        if self.camera:
            self.loop.on_sight(self.stamp)
            self.loop.on_look(planar_transform(*self.pose) @ self._lens.base_from_optical, self.stamp)
            self._see()

    def _see(self) -> None:
        assert self.mirror is not None
        for one in list(self.mirror.entities.values()):
            if math.dist(one.mean[:2], self.pose[:2]) < 2.5:
                self.mirror.put(replace(one, last_seen=self.stamp))
                self.seen_at[one.id] = self.now
        if self.explorer is not None:
            self.explorer.set_grid(self.grid)
            self.explorer.set_scene(self.mirror)
            self.explorer.add_view(
                planar_transform(*self.pose) @ self._lens.base_from_optical, self._lens.pinhole()
            )

    # --- experts and memory -------------------------------------------------------------------------------------

    def _answer(self, name: str, request: ProposalRequest) -> None:
        manner = self.manners[name]
        answer = self._said(name, request)

        def tell() -> None:
            self.loop.on_answer(answer)

        if manner == "nothing":
            answer = Rejection(name, request.epoch, RejectionReason.NO_PROPOSAL, "nothing to say")
        elif manner == "rubbish":
            answer = Proposal(name, request.epoch, np.array([math.nan, 1.0, 0.0]), 0.5, "rubbish")
        elif manner == "into walls":
            answer = Proposal(name, request.epoch, np.array([0.05, 0.05, 0.0]), 0.9, "into a wall")
        elif manner == "another errand":
            answer = replace(answer, epoch=max(request.epoch - 2, 1))
        if manner in ("prompt", "twice", "nothing", "rubbish", "into walls", "another errand"):
            self.judge.call("an answer", tell)
        if manner in ("late", "twice"):
            self.held_back.append((self.now + 3.0, tell))
        elif manner == "very late":
            self.held_back.append((self.now + 7.0, tell))

    def _said(self, name: str, request: ProposalRequest) -> Proposal | Rejection:
        if name == "frontier":
            if self.explorer is not None:
                return self.explorer.propose(request)
            return self._explored(request)
        if request.step.kind is not StepKind.FIND:
            return Rejection(name, request.epoch, RejectionReason.NO_PROPOSAL, "no search")
        assert self.mirror is not None
        wanted = {graph.target.category for graph in request.step.graphs}
        for one in self.mirror.entities.values():
            if one.label not in wanted or one.id in request.excluded_entities:
                continue
            for heading in np.arange(8) * math.pi / 4:
                at = one.mean[:2] - 0.8 * np.array([math.cos(heading), math.sin(heading)])
                pose = np.array([*at, heading])
                tried = any(math.dist(at, goal[:2]) < 0.4 for goal in request.excluded_goals)
                if not tried and footprint_free(self.grid, pose):
                    return Proposal(name, request.epoch, pose, 0.9, f"a {one.label}", one.id)
        return Rejection(name, request.epoch, RejectionReason.NO_VIEWPOINT, "none is free")

    def _explored(self, request: ProposalRequest) -> Proposal | Rejection:
        """Return a goal of the scripted explorer: each of four corners once per errand, then a rejection."""
        errand = (id(self.directive), request.step_index, request.step.target, request.step.kind)
        if errand != self._offered_to:
            self._offered_to = errand
            corners = ((6.5, 6.5), (1.5, 6.5), (6.5, 1.5), (1.5, 1.5))
            self._offered = [np.array([x, y, 0.0]) for x, y in corners]
        self._offered = [
            goal for goal in self._offered if math.dist(goal[:2], self.pose[:2]) > 2.2
        ]  # viewed from a distance
        for goal in self._offered:
            tried = any(math.dist(goal[:2], other[:2]) < 0.4 for other in request.excluded_goals)
            if not tried and footprint_free(self.grid, goal):
                return Proposal("frontier", request.epoch, goal.copy(), 0.5, "a corner")
        return Rejection("frontier", request.epoch, RejectionReason.EXPLORED, "no corner is left")

    def _remember(self, ticket: int) -> None:
        outcome = AnswerOutcome(AnswerCode.UNKNOWN, why="the memory knows nothing")

        def tell() -> None:
            self.loop.on_memory(ticket, outcome)

        if self.memory in ("prompt", "twice"):
            self.judge.call("the memory", tell)
        if self.memory in ("late", "twice"):
            self.held_back.append((self.now + 2.0, tell))

    def _carry_out(self, command: Command) -> None:
        self.commands.append(command)
        if isinstance(command, RequestProposals):
            self.request = command.request
            self.asked.append(command.request)
            for name in command.experts:
                self._answer(name, command.request)
        elif isinstance(command, SendGoal):
            self.judge.goal_sent(command)
            self.navigator.take(command)
        elif isinstance(command, CancelGoal):
            self.navigator.goal = None
        elif isinstance(command, AskMemory):
            self._remember(command.ticket)
        elif isinstance(command, Finish):
            self.results.append(command.result)
            self.judge.ended(command.result)
            self._ended()

    def _ended(self) -> None:
        self.paused = False
        self.directive = None

    @property
    def contexts(self) -> list[dict[str, float]]:
        """Return the contexts that the policy got, one per decision."""
        decisions = [c.decision for c in self.commands if isinstance(c, RecordDecision)]
        return [d.context for d in decisions if not d.reward]


def affords(stage: Stage, metres: float) -> bool:
    """Return whether a battery of this many metres lasts for the path back from the robot, with a margin."""
    lengths = path_lengths(stage.grid, stage.pose[:2])
    row, column = stage.grid.cells_of(np.array([stage.charger]))[0]
    return bool(float(lengths[row, column]) + 6.0 < metres)
