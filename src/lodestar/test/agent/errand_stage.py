"""A stage for the decision loop: a building, a navigator, experts, a memory, a battery and a clock that a test bends.

It uses the loop's public interface alone (constructor, requests, facts, `tick`, properties), so that it runs on any
version of the loop. After every tick it judges what the loop did by `RULES`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from agent_fakes import ACCEPT, EXPERTS, FakeMirror, FakeTargets, entity, room

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
    State,
)
from lodestar.agent.errands.context import make_context
from lodestar.agent.facts.config import LoopConfig, RecoveryConfig
from lodestar.agent.facts.errors import DirectiveRefused, ErrorCode
from lodestar.agent.loop.machine import DecisionLoop
from lodestar.experts.frontier import FrontierExpert
from lodestar.experts.protocol import Proposal, ProposalRequest, Rejection, RejectionReason
from lodestar.geometry.poses import planar_transform
from lodestar.grid.energy import EnergyBudget
from lodestar.grid.footprint import footprint_free
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.paths import NoPath, path_lengths, plan_path
from lodestar.language.directive import Directive, StepKind
from lodestar.memory.answer import AnswerCode, AnswerOutcome
from lodestar.scene.records import Region
from lodestar.scene.regions import RegionMap
from lodestar.selection.context import FEATURES
from lodestar.selection.linucb import LinUcb, LinUcbConfig
from lodestar_sim.sensors import CameraConfig

STEP = 0.25  # s between two ticks
SPEED = 0.8  # m/s of the robot
SIDE = 8.0  # m of the building
LATE = 4.0  # s that an ending may come after the limit, and a standing robot may keep its goal too long
LOOKED_AT = 0.6  # share of the floor that a search must have looked at before it says that nothing is there

#: What must hold, and in which words a break is told.
RULES = (
    "it never fails",
    "nothing moves that must stand",
    "every directive ends within its limit",
    "no goal is sent for ever",
    "no goal lies in a wall or a zone",
    "no goal is for the target of another errand",
    "what is claimed was seen",
    "no answer without a look",
    "every stop of a patrol is tried",
    "the battery lasts for the way back",
    "a goal under way is watched",
)

#: Short times, so that an example of a minute tells what a directive of an hour would.
CONFIG = LoopConfig(
    time_limit=90.0,
    expert_deadline=1.0,
    thinking_patience=8.0,
    late_answer_age=30.0,
    no_expert_timeout=20.0,
    navigator_timeout=4.0,
    accept_timeout=2.0,
    stuck_time=4.0,
    goal_time_base=12.0,
    memory_patience=4.0,
    recovery=RecoveryConfig(
        wait=1.0,
        person_patience=3.0,
        shut_patience=3.0,
        localisation_patience=4.0,
        sensor_patience=5.0,
        search_time=20.0,
    ),
)


class Broken(AssertionError):
    """A rule does not hold."""


class FixedPolicy(LinUcb):
    """A policy that learns nothing, so that what it chooses depends on the context alone."""

    def update(self, *args, **kwargs) -> None:
        """Learn nothing."""


@dataclass
class Navigator:
    """Has at most one goal. manner: how it treats goals; one that is under way keeps the manner it was taken with."""

    manner: str = "drives"
    goal: np.ndarray | None = None
    epoch: int = 0
    taken: str = "drives"
    stood: float = 0.0  # s since the robot moved, with a goal that was accepted
    way: list[np.ndarray] | None = None  # that is left, (2,) each; None = not planned yet


#: Manners of the navigator.
MANNERS = ("drives", "short", "fails", "at once", "never ends", "mute", "absent", "echoes")


# Accepted goals in a row to a place that the robot did not come to: arrivals that fall short, failed drives of which
# the last ends the errand, and recoveries that send the goal again once the way is free.
EQUAL_GOALS = CONFIG.place_tries + CONFIG.max_navigation_failures - 1 + CONFIG.recovery.max_recoveries


def building(wall: bool = False, side: float = SIDE) -> OccupancyGrid2D:
    """A room, or two rooms whose door is far from where the robot begins."""
    grid = room(side)
    if wall:
        grid.cells[: int((side - 1.2) / grid.resolution), 38:42] = 100
    return grid


@dataclass
class Stage:
    """One robot in one building. judged: the rules that are judged."""

    wall: bool = False
    real_explorer: bool = False
    judged: tuple[str, ...] = RULES
    now: float = 0.0
    pose: np.ndarray = field(default_factory=lambda: np.array([2.0, 2.0, 0.0]))
    mirror: FakeMirror | None = None
    config: LoopConfig = CONFIG
    side: float = SIDE  # m

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
        self.navigator = Navigator()
        self.commands: list[Command] = []
        self.results: list = []
        self.manners = dict.fromkeys(EXPERTS, "prompt")
        self.memory = "prompt"
        self.camera = True
        self.held_back: list[tuple[float, Callable[[], None]]] = []  # answers on their way
        self.explorer = FrontierExpert() if self.real_explorer else None
        self._lens = CameraConfig()
        self._offered: list[np.ndarray] = []  # what the scripted explorer has left for the errand
        self._offered_to: object = None
        self.request: ProposalRequest | None = None
        self.battery: float | None = None  # m that are left, None = without end
        self.charger: tuple[float, float] = (2.0, 2.0)
        # of the directive that runs:
        self.directive: Directive | None = None
        self.begun = 0.0
        self.paused = False
        self.stood_still = 0.0  # s of pauses
        self.calm = True  # nothing went wrong since it began
        self.seen_at: dict[int, float] = {}
        self.meant: dict[int, str] = {}  # label that a thing had when an expert last answered with it
        self._row_errand: int | None = None
        self.asked: list = []
        self.goals: list[SendGoal] = []
        self.row: list[SendGoal] = []
        self._row_reached = True
        self._tell_facts()

    # --- what a test does ---------------------------------------------------------------------------------------

    def start(self, directive: Directive, limit: float = 0.0) -> bool:
        """Give a directive; whether it is taken."""
        try:
            self.loop.start(directive, self.now, limit)
        except DirectiveRefused:
            return False
        except Exception as error:
            raise self._failure("start", error) from error
        self.directive, self.begun, self.stood_still = directive, self.now, 0.0
        self.calm = self.navigator.manner == "drives" and all(m == "prompt" for m in self.manners.values())
        self.calm = self.calm and self.camera
        self.limit = limit or (math.inf if directive.is_endless else self.config.time_limit)
        self.seen_at, self.asked, self.goals, self.row, self.request = {}, [], [], [], None
        return True

    def know_rooms(self, known: bool) -> None:
        """The halves of the building go by names, or nobody knows of rooms."""
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
        """A thing stands here from now on, or is found to be another one."""
        assert self.mirror is not None
        self.mirror.put(entity(identity, x, y, words, last_seen=self.stamp))

    def set_grid(self, grid: OccupancyGrid2D) -> None:
        """The map changes."""
        self.grid, self.battery, self.navigator.way = grid, None, None
        self.loop.on_energy(EnergyBudget())

    def charge(self, metres: float) -> None:
        """The battery lasts for so many metres, of which 2 are a reserve."""
        self.battery = metres
        self.loop.on_energy(EnergyBudget(range_left=metres, charger=self.charger, reserve=2.0))

    def jump(self, x: float, y: float) -> None:
        """The robot is carried, or localised anew."""
        self.battery = None
        self.loop.on_energy(EnergyBudget())
        self.pose, self.navigator.way = np.array([x, y, self.pose[2]]), None

    def restart_clock(self) -> None:
        """The simulator starts again."""
        self._call("restart_clock", lambda: self.loop.restart_clock(0.0))
        self.stamp = 0.0
        self.now = 0.0
        self.begun = 0.0
        self._ended()

    def cancel(self) -> None:
        """The operator withdraws the directive."""
        self._call("cancel", lambda: self.loop.cancel(self.now))
        self._stands_at_once()

    def hold(self, held: bool) -> None:
        """The operator stops everything, or lets go."""
        self._call("hold", lambda: self.loop.hold(held, self.now))
        self._stands_at_once()

    def pause(self, paused: bool) -> None:
        """The operator interrupts the directive, or lets it go on."""
        self.paused = paused and self.loop.directive is not None
        self._call("pause", lambda: self.loop.pause(paused, self.now))
        self._stands_at_once()

    def run(self, seconds: float, until: Callable[[], bool] | None = None) -> None:
        """Let time pass."""
        for _ in range(max(round(seconds / STEP), 1)):
            self.advance()
            if until is not None and until():
                return

    @property
    def over(self) -> bool:
        """Whether no directive runs."""
        return self.loop.directive is None

    # --- one step of time ---------------------------------------------------------------------------------------

    def advance(self) -> None:
        """The robot drives, the camera sees, answers come, the loop ticks, and what it commands is done."""
        self.now += STEP
        self.stamp += STEP
        if self.paused:
            self.stood_still += STEP
        self._drive()
        self._tell_facts()
        due = [tell for at, tell in self.held_back if at <= self.now]
        self.held_back = [one for one in self.held_back if one[0] > self.now]
        for tell in due:
            self._call("a late answer", tell)
        commands: list[Command] = []
        self._call("tick", lambda: commands.extend(self.loop.tick(self.now)))
        for command in commands:
            self._carry_out(command)
        self._judge()

    def _tell_facts(self) -> None:
        self.loop.on_pose(self.pose.copy(), self.stamp)
        self.loop.on_grid(self.grid)
        self.loop.on_scene(self.mirror)
        if self.camera:
            self.loop.on_sight(self.stamp)
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

    # --- the navigator ------------------------------------------------------------------------------------------

    def _news(self, kind: NavigationKind, **more) -> None:
        event = NavigationEvent(kind, epoch=self.navigator.epoch, **more)
        self._call("news of the navigator", lambda: self.loop.on_navigation(event))

    def _take_goal(self, command: SendGoal) -> None:
        navigator = self.navigator
        navigator.taken = navigator.manner
        navigator.goal, navigator.epoch = np.array(command.goal, float), command.epoch
        navigator.stood, navigator.way = 0.0, None
        if navigator.taken == "absent":
            navigator.goal = None
            self._news(NavigationKind.UNAVAILABLE, error_msg="not up")
        elif navigator.taken != "mute":
            self._news(NavigationKind.ACCEPTED)

    def _drive(self) -> None:
        navigator, pose = self.navigator, self.pose.copy()
        if navigator.goal is None:
            return
        if not self.loop.motion_allowed:  # the gate is shut: the robot stands
            return
        taken = navigator.taken
        if taken == "fails":
            navigator.goal = None
            self._news(NavigationKind.ABORTED, error_code=208, error_msg="no valid path")
            return
        if taken == "at once":
            navigator.goal = None
            self._news(NavigationKind.SUCCEEDED)
            return
        if taken == "echoes":
            old = NavigationEvent(NavigationKind.SUCCEEDED, epoch=max(navigator.epoch - 1, 1))
            if navigator.epoch > 1:
                self._call("news of the goal before", lambda: self.loop.on_navigation(old))
        if taken in ("never ends", "mute"):
            navigator.stood += STEP
            return
        left = self._along(navigator.goal, SPEED * STEP)
        if taken == "short" and left <= 0.9:
            navigator.goal = None
            self._news(NavigationKind.SUCCEEDED)
            return
        moved = math.dist(pose[:2], self.pose[:2])
        if self.battery is not None:
            self.battery -= moved
        if left <= 0.02:
            self.pose[2] = navigator.goal[2]
            navigator.goal = None
            self._row_reached = True
            self._news(NavigationKind.SUCCEEDED)
        elif moved < 0.01:
            navigator.goal = None
            self._news(NavigationKind.ABORTED, error_code=208, error_msg="no valid path")
        else:
            self._news(NavigationKind.FEEDBACK, distance_remaining=left)

    def _along(self, goal: np.ndarray, metres: float) -> float:
        """Drive along the way to the goal; return the metres that are left."""
        navigator = self.navigator
        if navigator.way is None:
            try:
                navigator.way = list(np.asarray(plan_path(self.grid, self.pose[:2], goal[:2]))[1:])
            except NoPath:
                navigator.way = []
            if navigator.way and math.dist(navigator.way[-1], goal[:2]) < 0.3:
                navigator.way.append(np.array(goal[:2]))
        here, way = self.pose[:2].copy(), navigator.way
        while way:
            step = math.dist(here, way[0])
            if step > metres:
                here = here + (way[0] - here) * (metres / step)
                break
            metres -= step
            here = np.array(way.pop(0), float)
        self.pose[:2] = here
        rest = np.vstack([here, *way, goal[:2]])
        return float(np.hypot(*np.diff(rest, axis=0).T).sum())

    # --- experts and memory -------------------------------------------------------------------------------------

    def _answer(self, name: str, request: ProposalRequest) -> None:
        manner = self.manners[name]
        answer = self._said(name, request)
        thing = (
            self.mirror.get(answer.entity_id)
            if self.mirror is not None and isinstance(answer, Proposal)
            else None
        )
        if thing is not None:
            self.meant[thing.id] = thing.label

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
            self._call("an answer", tell)
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
        """A scripted explorer: four corners, each once per errand, and then nothing is left."""
        errand = (id(self.directive), request.step_index, request.step.target, request.step.kind)
        if errand != self._offered_to:
            self._offered_to = errand
            corners = ((6.5, 6.5), (1.5, 6.5), (6.5, 1.5), (1.5, 1.5))
            self._offered = [np.array([x, y, 0.0]) for x, y in corners]
        self._offered = [
            goal for goal in self._offered if math.dist(goal[:2], self.pose[:2]) > 2.2
        ]  # seen from afar
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
            self._call("the memory", tell)
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
            self._judge_goal(command)
            self._take_goal(command)
        elif isinstance(command, CancelGoal):
            self.navigator.goal = None
        elif isinstance(command, AskMemory):
            self._remember(command.ticket)
        elif isinstance(command, Finish):
            self.results.append(command.result)
            self._judge_result(command.result)
            self._ended()

    def _ended(self) -> None:
        self.paused = False
        self.directive = None

    @property
    def contexts(self) -> list[dict[str, float]]:
        """Return what the policy was told at each decision."""
        decisions = [c.decision for c in self.commands if isinstance(c, RecordDecision)]
        return [d.context for d in decisions if not d.reward]

    # --- the judge ----------------------------------------------------------------------------------------------

    def _broken(self, rule: str, words: str) -> None:
        assert rule in RULES, rule
        if rule in self.judged:
            raise Broken(f"{rule}: {words}")

    def _failure(self, what: str, error: Exception) -> Broken:
        return Broken(f"{RULES[0]}: {what} raised {type(error).__name__}: {error}")

    def _call(self, what: str, call: Callable[[], object]) -> None:
        try:
            call()
        except Broken:
            raise
        except Exception as error:
            raise self._failure(what, error) from error

    def _stands_at_once(self) -> None:
        held = self.loop.held or self.loop.directive is None or self.paused
        if held and self.loop.motion_allowed:
            self._broken("nothing moves that must stand", "motion is allowed after it was forbidden")

    def _judge(self) -> None:
        self._stands_at_once()
        navigator = self.navigator
        if navigator.goal is not None and not self.loop.motion_allowed:
            text = f"{self.loop.state.name} with the goal {np.round(navigator.goal, 1).tolist()}"
            self._broken("nothing moves that must stand", text)
        directive = self.directive
        if directive is not None and self.loop.directive is not None:
            lasted = self.now - self.begun - self.stood_still
            waits = sum(step.seconds or 0.0 for step in directive.steps) * directive.times  # are added to it
            if lasted > self.limit + waits + LATE:
                text = f"{directive.text!r} lasts for {lasted:.0f} s of {self.limit:.0f} s"
                self._broken("every directive ends within its limit", text)
        if navigator.goal is not None and navigator.stood > self.config.stuck_time + LATE:
            self._broken("a goal under way is watched", f"the robot stands for {navigator.stood:.0f} s")
        if self.battery is not None and self.battery < -0.1:
            away = math.dist(self.pose[:2], self.charger)
            if away > 1.0:
                self._broken("the battery lasts for the way back", f"it is empty, {away:.1f} m away")

    def _judge_goal(self, goal: SendGoal) -> None:
        here = math.dist(goal.goal[:2], self.pose[:2]) < 0.1
        if not here and not footprint_free(self.grid, np.asarray(goal.goal, float)):
            text = f"{goal.expert} sends {np.round(goal.goal, 2).tolist()}"
            self._broken("no goal lies in a wall or a zone", text)
        self.goals.append(goal)
        if self.navigator.manner not in ("absent", "mute") and goal.expert not in ("look", "retreat"):
            # A directive that is repeated until it is cancelled goes there again in each round, an errand anew.
            errand = getattr(self.request, "errand", None)
            same = bool(self.row) and errand == self._row_errand
            same = same and math.dist(self.row[-1].goal[:2], goal.goal[:2]) < 0.1
            self._row_errand = errand
            self.row = [*self.row, goal] if same and not self._row_reached else [goal]
            self._row_reached = False
            if len(self.row) > EQUAL_GOALS:
                text = f"{goal.expert} sends {np.round(goal.goal, 2).tolist()} {len(self.row)} times"
                self._broken("no goal is sent for ever", text)
        if goal.entity_id and self.request is not None:
            assert self.mirror is not None
            target = self.mirror.get(goal.entity_id)
            wanted = {graph.target.category for graph in self.request.step.graphs}
            # What turned out to be another thing after its expert had answered is of this errand all the same.
            meant = self.meant.get(goal.entity_id, "")
            if target is not None and target.label not in wanted and meant not in wanted:
                text = f"{goal.expert} goes to a {target.label} where {wanted or 'nothing'} is asked for"
                self._broken("no goal is for the target of another errand", text)

    def _judge_result(self, result) -> None:
        directive = self.directive
        if result.error_code is ErrorCode.UNKNOWN:
            self._broken("it never fails", result.error_msg)
        if directive is None:
            return
        kinds = {step.kind for step in directive.steps}
        if result.success and kinds == {StepKind.FIND}:
            for identity in result.entity_ids:
                if self.seen_at.get(identity, -math.inf) < self.begun:
                    self._broken("what is claimed was seen", f"{result.report!r}: {identity} was not seen")
        self._judge_answer(directive, result)
        if result.error_code is ErrorCode.NAVIGATION_FAILED and self.request is not None:
            index = self.request.step_index
            asked = {request.step.target for request in self.asked if request.step_index == index}
            missing = [item.phrase for item in directive.steps[index].stops if item.phrase not in asked]
            if missing:
                self._broken("every stop of a patrol is tried", f"{missing} was never gone to")

    def _judge_answer(self, directive: Directive, result) -> None:
        """A search through the whole building that found nothing has looked at most of it, or says since when."""
        search = (StepKind.FIND, StepKind.COUNT, StepKind.LIST)
        if (
            len(directive.steps) != 1
            or directive.steps[0].kind not in search
            or directive.steps[0].scope.rooms
        ):
            return
        nothing = result.error_code is ErrorCode.TARGET_NOT_FOUND or "here are no " in result.report
        if self.explorer is None or not self.calm or not nothing or " ago" in result.report:
            return
        share = result.searched_share
        if not share >= LOOKED_AT:
            self._broken("no answer without a look", f"{share:.0%} of the floor: {result.report!r}")


def affords(stage: Stage, metres: float) -> bool:
    """Return whether a battery of so many metres lasts for the way back from where the robot is, and some more."""
    lengths = path_lengths(stage.grid, stage.pose[:2])
    row, column = stage.grid.cells_of(np.array([stage.charger]))[0]
    return bool(float(lengths[row, column]) + 6.0 < metres)


__all__ = ["ACCEPT", "CONFIG", "MANNERS", "RULES", "Broken", "Stage", "State", "affords", "building"]
