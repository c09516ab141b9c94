"""Headless episodes: the nodes' algorithms, stepped by the simulator's clock, without ROS."""

from __future__ import annotations

import gc
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from lodestar.agent.errands.commands import (
    CancelGoal,
    Command,
    DirectiveResult,
    EmbedPhrases,
    Finish,
    NavigationEvent,
    NavigationKind,
    RecordDecision,
    RecordOutcome,
    RecordTrace,
    RequestProposals,
    SendGoal,
)
from lodestar.agent.facts.errors import ErrorCode
from lodestar.assembly import parts
from lodestar.assembly.local_map import LocalMap
from lodestar.assembly.memory_handover import Keeper
from lodestar.experts.protocol import Proposal, ProposalRequest, Rejection, Thinking
from lodestar.language.directive import Directive, StepKind, main_kind
from lodestar.mapping.movers.right_of_way import permitted
from lodestar.models.phrases import PhraseBook
from lodestar.selection.decisions import Decision
from lodestar.selection.policy import Policy
from lodestar.storage.saved_map import SavedMap
from lodestar.worldmodel.outcomes import ActionOutcome
from lodestar.worldmodel.records import Trace
from lodestar_eval.coverage import CELL, known_share, marked_share, reachable_floor
from lodestar_eval.episode_run import EpisodeRun
from lodestar_eval.epochs import EpochTimes
from lodestar_eval.listed_things import listed_things
from lodestar_eval.looks import looks_of
from lodestar_eval.outcomes import EpisodeOutcome, failure_of
from lodestar_eval.path_split import WaySplit, WayWatcher
from lodestar_eval.settings import EpisodeSettings
from lodestar_eval.simulated_robot import SimulatedRobot
from lodestar_eval.stages import StageClock
from lodestar_eval.time_split import TimeWatcher, quickest
from lodestar_sim.judge import Verdict, judge_find, shortest_path_length
from lodestar_sim.navigator import Navigator, NavigatorStatus
from lodestar_sim.simulator import Simulator
from lodestar_sim.step_judge import judge_steps
from lodestar_sim.tasks import Task
from lodestar_sim.worlds.world import World

PolicyFactory = Callable[[np.random.Generator], Policy]

_DEFAULTS = EpisodeSettings()


def selector_of(settings: EpisodeSettings) -> PolicyFactory:
    """Return a factory of policies as in the goal_selector node, with the settings of `selection`."""
    return lambda rng: parts.policy(settings.robot.goal_selector, rng)


class EpisodeRunner:
    """Runs episodes in sequence; they share only the phrase book, which is a cache.

    policy: creates the selector of each episode, by default that of the settings; to learn across episodes, it
    returns the same policy every time. observer: called with the episode after every control step.
    """

    def __init__(
        self,
        phrases: PhraseBook,
        settings: EpisodeSettings = _DEFAULTS,
        policy: PolicyFactory | None = None,
        observer: Callable[[Episode], None] | None = None,
    ) -> None:
        self.settings = settings
        self.phrases = phrases
        self.policy = policy or selector_of(settings)
        self._observer = observer

    def run(
        self, world: World, task: Task, seed: int, saved: SavedMap | None = None, memory: Keeper | None = None
    ) -> EpisodeRun:
        """Run one task from its start; the same seed gives the same run if `thinking` is set.

        saved: map that the robot continues; none by default. memory: the robot's memory store; none by default.
        """
        # worlds and values computed from them form reference cycles: 60 buildings would take 6 GB
        gc.collect()
        began = time.process_time()
        episode = Episode(world, task, seed, self.settings, self.phrases, self.policy, saved, memory=memory)
        return self.follow(episode, time.process_time() - began)

    def follow(self, episode: Episode, setup: float = 0.0) -> EpisodeRun:
        """Run the episode's current task to its end."""
        began = time.process_time()
        watcher, times = WayWatcher(episode), TimeWatcher(episode.simulator.time)
        place = episode.simulator.true_pose
        shortest = shortest_path_length(episode.world_now, place, episode.task.target_ids)
        began, setup = time.process_time(), setup + time.process_time() - began
        while episode.result is None:
            episode.step()
            watcher.observe(episode)
            times.observe(episode.simulator.time, episode.simulator.velocity, episode.loop.state.name)
            if self._observer is not None:
                self._observer(episode)
        run = episode.finish(shortest, time.process_time() - began, setup, watcher.split(episode))
        seconds, seen_after = dict(times.seconds), watcher.seen_at - episode.began
        return replace(run, outcome=replace(run.outcome, seconds=seconds, seen_after=seen_after))


class Episode:
    """Running episode: a robot in a building that follows one task, or several in sequence (`begin`)."""

    def __init__(
        self,
        world: World,
        task: Task,
        seed: int,
        settings: EpisodeSettings,
        phrases: PhraseBook,
        policy: PolicyFactory,
        saved: SavedMap | None = None,
        directive: Directive | None = None,
        memory: Keeper | None = None,
    ) -> None:
        self.world, self.seed, self.settings = world, seed, settings
        noise_rng, policy_rng = (np.random.default_rng(s) for s in np.random.SeedSequence((seed, 1)).spawn(2))
        self.clock = StageClock()
        self.simulator = Simulator(world, settings.simulator, seed, start=task.start, storey=task.storey)
        self.robot = SimulatedRobot(
            self.simulator, settings, phrases, noise_rng, self.clock, policy(policy_rng), memory
        )
        self.loop = self.robot.headless.loop
        if saved is not None:
            self.map.go_on_from(saved, self.simulator.time)
        self.navigator = Navigator(settings.navigator)
        # set by the caller: the navigator accepts no goals and drops the current one
        self.navigator_is_down = False
        self.is_empty = False  # set by the caller: the battery is empty and the robot stands
        self.phrases = phrases
        self._next_frame = 0.0
        self._commanded = np.zeros(3)  # velocity commanded in the last control interval
        self.begin(task, directive)

    def begin(self, task: Task, directive: Directive | None = None) -> None:
        """Start a task; `directive` replaces the task's text. Raises DirectiveError."""
        self.task = task
        self.result: DirectiveResult | None = None
        self.decisions: list[Decision] = []
        self.traces: list[Trace] = []
        self.outcomes: list[ActionOutcome] = []
        self.frames = 0
        self.driven: defaultdict[str, float] = defaultdict(float)  # metres driven, by the expert of the goal
        self.drivers: list[str] = []
        self.began = self.simulator.time
        self.driven_before = self.simulator.path_length
        self._collisions_before = self.simulator.collisions
        self._rejected_before = self.map.rejected
        self._goal_epoch = 0
        self._driver = ""
        self._pending: list[tuple[float, Proposal | Rejection]] = []
        self._thinking: list[tuple[str, ProposalRequest, float]] = []  # expert, request, time of the request
        self.epochs = EpochTimes()
        self._path: list[tuple[float, float, float, float]] = []
        if self.robot.eyes is not None:
            self.robot.eyes.target_ids = frozenset(task.target_ids)
        self._perceive()
        self.directive = self.robot.headless.start(
            task.directive if directive is None else directive, self.simulator.time, self.settings.time_limit
        )

    def forget(self, seed: int) -> None:
        """Clear the robot's map; the policy keeps its state."""
        self.robot.forget(np.random.default_rng((seed, self.seed, 2)))
        self._next_frame = self.simulator.time

    @property
    def path_length(self) -> float:
        """Return the metres driven for this task."""
        return self.simulator.path_length - self.driven_before

    @property
    def world_now(self) -> World:
        """Return the current world."""
        return self.world.at(self.simulator.time) if self.world.events else self.world

    @property
    def map(self) -> LocalMap:
        """Return the robot's map."""
        return self.robot.headless.map

    def step(self) -> None:
        """Advance one control interval: move the world, perceive if due, and let the loop decide."""
        settings, simulator = self.settings, self.simulator
        before = simulator.path_length
        with self._stage("physics"):
            simulator.step(settings.control_interval)
        now = simulator.time
        self._path.append((now, *simulator.true_pose))
        self.driven[self._driver] += simulator.path_length - before
        self.drivers.append(self._driver)
        if simulator.falls:
            self._end(DirectiveResult(ErrorCode.UNKNOWN, "the robot fell", success=False))
            return
        if now + 1e-9 >= self._next_frame:
            self._perceive()
        else:
            self.robot.turn()
        thinking, self._thinking = self._thinking, []
        for name, request, asked in thinking:
            self._propose(name, request, asked, now)
        due = [answer for at, answer in self._pending if at <= now]
        self._pending = [item for item in self._pending if item[0] > now]
        with self._stage("loop"):
            self.robot.headless.take_pose(self.robot.pose, now)
            for answer in due:
                self.loop.on_answer(answer)
        self._drive(now)
        with self.epochs.tick():
            commands = self.robot.headless.tick(now)
        for command in commands:
            self._carry_out(command, now)
        if self.result is None and now - self.began > settings.time_limit + settings.patience:
            raise RuntimeError(
                f"the loop did not end by its time limit; it is in state {self.loop.state.name}"
            )

    def _perceive(self) -> None:
        self._next_frame += self.settings.frame_interval
        self.frames += 1
        self.robot.look()

    def _drive(self, now: float) -> None:
        if self.navigator_is_down and self.navigator.active:
            self.navigator.cancel()
            self._say_unavailable()
        was_active = self.navigator.active
        with self._stage("navigate"):
            step = self.navigator.update(now, self.robot.grid, self.robot.pose, self.simulator.velocity)
        walked = self.robot.headless.walk_on(now, self.simulator.map_from_base)
        moves = self.loop.motion_allowed and not self.is_empty
        wanted = (step.command if walked is None else walked) if moves else np.zeros(3)
        tracks, body = self.map.plan.movers.tracks(), self.settings.robot.shared.body
        command = np.array(permitted(tuple(wanted), self.robot.pose, tracks, now, body)[0])  # as motion_gate
        self.loop.on_motion(self._commanded, self.simulator.velocity, now)
        self._commanded = command
        self.simulator.set_command(*command)
        if was_active:
            kind = _KINDS[step.status]
            self.loop.on_navigation(
                NavigationEvent(
                    kind, step.error_code, step.error_msg, step.distance_remaining, self._goal_epoch
                )
            )

    def _say_unavailable(self) -> None:
        self.loop.on_navigation(NavigationEvent(NavigationKind.UNAVAILABLE, epoch=self._goal_epoch))

    def _carry_out(self, command: Command, now: float) -> None:
        if isinstance(command, RequestProposals):
            self._ask(command, now)
        elif isinstance(command, SendGoal):
            self._goal_epoch, self._driver = command.epoch, command.expert
            if self.navigator_is_down:
                self._say_unavailable()
                return
            self.navigator.set_goal(command.goal)
            self.loop.on_navigation(NavigationEvent(NavigationKind.ACCEPTED, epoch=command.epoch))
        elif isinstance(command, CancelGoal):
            if self.navigator.active:
                self.navigator.cancel()
                self.loop.on_navigation(NavigationEvent(NavigationKind.CANCELED, epoch=self._goal_epoch))
        elif isinstance(command, RecordDecision):
            self.decisions.append(command.decision)
            self.epochs.decided(command.decision)
        elif isinstance(command, RecordTrace):
            self.traces.append(command.trace)
        elif isinstance(command, RecordOutcome):
            self.outcomes.append(command.outcome)
        elif isinstance(command, EmbedPhrases):
            with self._stage("embed"):
                self.phrases.vectors(command.phrases)
        elif isinstance(command, Finish):
            self.navigator.cancel()
            self._end(command.result)

    def _end(self, result: DirectiveResult) -> None:
        self.result = result

    def _ask(self, command: RequestProposals, now: float) -> None:
        """Ask the experts with the current facts; each answer arrives after the expert's thinking time."""
        for name in command.experts:
            self._propose(name, command.request, now, now)

    def _propose(self, name: str, request: ProposalRequest, asked: float, now: float) -> None:
        """Ask an expert; queue its answer, or the request if it still thinks. asked: first request's time."""
        began = time.thread_time()
        answer = self.robot.headless.propose(name, request)
        if isinstance(answer, Thinking) and now >= answer.until:
            answer = self.robot.headless.propose(name, replace(request, may_wait=False))
        measured = time.thread_time() - began
        self.epochs.thought(request.epoch, measured)
        if isinstance(answer, Thinking):
            self._thinking.append((name, request, asked))
            return
        thought = measured if self.settings.thinking is None else self.settings.thinking
        ready = now + thought
        if isinstance(answer, Proposal):
            answer = replace(answer, time_taken=ready - asked)
        self._pending.append((ready, answer))

    def finish(self, shortest: float, cpu: float, setup: float, way: WaySplit | None = None) -> EpisodeRun:
        """Return the run with its outcome, judged by ground truth."""
        assert self.result is not None
        result, simulator = self.result, self.simulator
        path = np.array(self._path, dtype=float).reshape(-1, 4)
        world_then = self.world_now
        verdict = self._verdict(world_then, path)
        success = bool(verdict.success) and result.success
        floor = reachable_floor(world_then, self.task.start)
        outcome = EpisodeOutcome(
            world=self.world.name, seed=self.seed, directive=self.task.directive, success=success,
            reached=bool(verdict.success), claimed=result.success,
            error_code=int(result.error_code), error_msg=result.error_msg,
            failure="" if success else failure_of(result, verdict), distance=float(verdict.distance_m),
            path_length=self.path_length, shortest=shortest, duration=simulator.time - self.began, cpu=cpu,
            setup_cpu=setup, collisions=simulator.collisions - self._collisions_before,
            coverage=known_share(floor, self.robot.grid), floor_m2=len(floor) * CELL**2,
            marked=marked_share(simulator.solid, path[:, 1:3], self.robot.grid),
            epochs=result.epochs, frames=self.frames,
            rejected=dict(self.map.rejected - self._rejected_before),
            decisions=_by_expert(self.decisions), stages=self.clock.totals(),
            driven={name: m for name, m in self.driven.items() if m > 0.0}, way=way.row() if way else {},
            looks=looks_of(self.decisions, path),
            quickest=quickest(shortest, self.settings.simulator.robot),
            epoch_seconds=tuple(self.epochs.seconds), falls=simulator.falls, target=self._target,
        )  # fmt: skip
        return EpisodeRun(
            self.world, self.task, outcome, verdict, result, path, tuple(self.decisions), self.map,
            tuple(self.drivers), tuple(self.traces), tuple(self.outcomes),
        )  # fmt: skip

    @property
    def _target(self) -> str:
        """Return the label of the target object, "" if the target is no object."""
        labels = self.world.labels()
        return next((labels[i]["class"] for i in self.task.target_ids if i in labels), "")

    def _verdict(self, world: World, path: np.ndarray) -> Verdict:
        """Return the verdict by ground truth: on a search's target, else on all steps of the directive."""
        kind = main_kind(self.directive)
        if kind is StepKind.FIND or kind is StepKind.EXPLORE or not len(path):
            return judge_find(world, self.simulator.true_pose, self.task.target_ids)
        assert self.result is not None
        listed = listed_things(world, self.map.mirror.entities, self.result.entity_ids)
        done = judge_steps(world, self.directive, path, listed)
        return Verdict(done.success, math.nan, 0.0, False, done.message)

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        with self.clock.stage(name):
            yield


_KINDS = {
    NavigatorStatus.ACTIVE: NavigationKind.FEEDBACK,
    NavigatorStatus.SUCCEEDED: NavigationKind.SUCCEEDED,
    NavigatorStatus.ABORTED: NavigationKind.ABORTED,
    NavigatorStatus.CANCELED: NavigationKind.CANCELED,
}


def _by_expert(decisions: list[Decision]) -> dict[str, int]:
    chosen = {decision.epoch: decision.chosen for decision in decisions}
    return {name: sum(one == name for one in chosen.values()) for name in sorted(set(chosen.values()))}
