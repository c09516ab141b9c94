"""The whole robot in one process: sensor records in, commands out. It has no thread, no clock and no ROS."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

import numpy as np

from lodestar.agent.commands import (
    AskMemory,
    Command,
    Finish,
    FollowConstraints,
    RecordDecision,
    RecordOutcome,
    RecordTrace,
)
from lodestar.agent.words import directive_in_words
from lodestar.assembly import parts
from lodestar.assembly.config import RobotConfig
from lodestar.assembly.local_scene import LocalScene
from lodestar.assembly.map_chain import MapChain, Stages, unmeasured
from lodestar.assembly.memory_chain import MemoryChain
from lodestar.assembly.memory_news import decision_news, directive_outcome
from lodestar.assembly.periods import Periodic, Phased
from lodestar.experts.protocol import Expert, Proposal, ProposalRequest, Rejection
from lodestar.geometry.poses import planar_transform
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.checks import check_directive
from lodestar.language.config import ReasonerConfig
from lodestar.language.directive import Directive
from lodestar.language.question import Question
from lodestar.language.reasoner import Reasoner
from lodestar.memory.answer import AnswerCode, AnswerOutcome
from lodestar.memory.answering.answerer import memory_state
from lodestar.memory.answering.outcomes import outcome_of
from lodestar.memory.errors import StoreError
from lodestar.memory.events import DirectiveNews
from lodestar.models.phrases import PhraseBook
from lodestar.perception.frames import RgbdFrame, SegmentedFrame
from lodestar.selection.policy import Policy
from lodestar.worldmodel.events import WorldEvent


class HeadlessRobot:
    """All parts that the nodes run, made of the same configuration and fed at the same rates.

    The records of one moment come in any order: `map.take_turn`, `take_view`, `take_pose`; then `tick`.
    Whoever owns it carries out the commands; `propose` answers those that ask an expert.

    reasoner(): makes a reasoner for each expert that asks one; by default the configured one. remembers: it carries a
    `MemoryChain`, whose store its owner gives it (`memory.use_store`).
    """

    def __init__(
        self,
        config: RobotConfig,
        phrases: PhraseBook,
        policy: Policy | None = None,
        *,
        reasoner: Callable[[], Reasoner] | None = None,
        stages: Stages = unmeasured,
        remembers: bool = False,
    ) -> None:
        self.config, self.phrases, self._stages = config, phrases, stages
        self._remembers = remembers
        self._reasoner = reasoner
        model = parts.directive_model(config.goal_selector)
        self._parse = parts.directive_parser() if model is None else model[0]
        self._closing = ExitStack()
        adviser = parts.adviser(config.goal_selector)
        if adviser is not None:
            self._closing.callback(adviser.close)
        chooser = policy or parts.policy(config.goal_selector)
        self.loop = parts.decision_loop(
            config.goal_selector, config.shared, phrases, chooser, advises=adviser
        )
        self.forget()

    def forget(self) -> None:
        """Forget the map and the entities; the policy keeps what it has learned, and a directive continues."""
        config, phrases = self.config, self.phrases
        self.map = MapChain(config, phrases, stages=self._stages)
        self.memory: MemoryChain | None = None
        if self._remembers:
            self.memory = MemoryChain(config.memory, self.map.mirror)
            self.map.followers.append(self.memory.take_delta)
        self.world = parts.world_model(
            config.world_model,
            LocalScene(self.map.scene, self.map.tell),
            self._hear_event,
            self.map.mirror,
        )
        self._directive = DirectiveNews(0.0, "")
        self._turn = Periodic(config.memory.tick_period)
        self.frontier = parts.frontier_expert(config.frontier_expert, phrases)
        self.semantic_map = parts.semantic_map_expert(
            config.semantic_map_expert, phrases, self._mind(config.semantic_map_expert.reasoner)
        )
        self.semantic_map.use_memory(self.memory)
        self.egocentric = parts.ego_vlm_expert(
            config.ego_vlm_expert, phrases, self._mind(config.ego_vlm_expert.reasoner)
        )
        self.experts: dict[str, Expert] = {
            expert.name: expert for expert in (self.frontier, self.semantic_map, self.egocentric)
        }
        self._frontier_view = Phased(config.frontier_expert.view_period)
        self._ego_view = Phased(config.ego_vlm_expert.view_period)
        self._description = Periodic(config.ego_vlm_expert.description_period)
        self._given: OccupancyGrid2D | None = None
        self._pose: np.ndarray | None = None

    def _hear_event(self, event: WorldEvent) -> None:
        if self.memory is not None:
            self.memory.take_event(event)

    def _mind(self, config: ReasonerConfig) -> Reasoner:
        if self._reasoner is not None:
            return self._reasoner()
        handle = parts.reasoner(config)
        self._closing.callback(handle.close)
        return handle.reasoner

    def close(self) -> None:
        """Cancel the pending requests of the reasoners."""
        self._closing.close()

    @property
    def grid(self) -> OccupancyGrid2D:
        """Return the grid with the keep-out zones."""
        return self.map.grid

    # --- facts ------------------------------------------------------------------------------------------------

    def take_view(
        self, frame: RgbdFrame, segmented: SegmentedFrame, odom_from_base: np.ndarray | None = None
    ) -> None:
        """Give an image and its segments to map, scene and experts. odom_from_base: (4, 4) at its stamp."""
        self.world.take_correction(frame.map_from_odom, frame.odom_from_camera)
        self.map.take_depth(frame, odom_from_base)
        fused = self.map.take_segments(frame, segmented)
        self.map.work(frame.stamp)
        self._give_grid()
        with self._stages("experts_listen"):
            for reader in (self.frontier, self.semantic_map, self.egocentric):
                reader.set_scene(self.map.mirror)
            if self._frontier_view.due(frame.stamp):
                self.frontier.set_view(frame, segmented)
            if self._ego_view.due(frame.stamp):
                self.egocentric.set_view(frame, segmented)
                if self._description.due(frame.stamp):
                    self._describe()
        with self._stages("loop"):
            self.loop.on_scene(self.map.mirror)
            self.loop.on_sight(frame.stamp)
        if self.memory is not None:
            with self._stages("memory"):
                self._remember(frame, fused)

    def _remember(self, frame: RgbdFrame, fused: bool) -> None:
        assert self.memory is not None
        self.memory.take_correction(frame.map_from_odom, frame.odom_from_camera)
        self.memory.take_look(frame.stamp, frame.map_from_camera)
        if fused and self.map.seen is not None:
            self.memory.take_instances(self.map.seen)
        if self._turn.due(frame.stamp):
            self.memory.tick(frame.stamp)

    def _describe(self) -> None:
        """Pass the egocentric expert's description of the view to the semantic-map expert."""
        description = self.egocentric.describe()
        if description is not None:
            self.semantic_map.hear(description)

    def _give_grid(self) -> None:
        grid = self.map.grid
        if grid is self._given:
            return
        self._given = grid
        self.world.take_grid(self.map.plan.grid, self._pose)
        with self._stages("experts_listen"):
            for planner in (self.frontier, self.semantic_map, self.egocentric):
                planner.set_grid(grid)
            if self.memory is not None:
                self.memory.take_grid(grid)
        with self._stages("loop"):
            self.loop.on_grid(grid)

    def take_pose(self, pose: np.ndarray, now: float) -> None:
        """Give the robot's pose (3,) x, y, yaw in map to the loop."""
        self._pose = pose
        self.loop.on_pose(pose, now)
        if self.memory is not None:
            self.memory.take_pose(now, planar_transform(*pose))

    # --- directives and decisions -----------------------------------------------------------------------------

    def start(self, directive: Directive | str, now: float, time_limit: float = 0.0) -> Directive:
        """Start a directive, given as text or as a record. Raises DirectiveError, DirectiveRefused."""
        parsed = self._parse(directive) if isinstance(directive, str) else directive
        check_directive(parsed)
        self.loop.start(parsed, now, time_limit)
        self.map.follow(parsed)
        if self.memory is not None:
            self._directive = DirectiveNews(now, parsed.text, directive_in_words(parsed), now)
            self.memory.take_directive(self._directive)
        return parsed

    def tick(self, now: float) -> list[Command]:
        """Advance the decision loop and return its commands."""
        self.world.tick(now)
        self.map.follow_ways(self.world.ways)
        self._give_grid()
        with self._stages("loop"):
            commands = self.loop.tick(now)
        for command in commands:
            if isinstance(command, RecordTrace):
                self.world.take_trace(command.trace)
            elif isinstance(command, RecordOutcome):
                self.world.take_outcome(command.outcome)
            elif isinstance(command, FollowConstraints):
                self.map.follow(command.directive)
            elif isinstance(command, AskMemory):
                self.loop.on_memory(command.ticket, self._answered(command.question, now))
            elif isinstance(command, Finish):
                self.map.follow(None)  # nothing is kept away from any more
            if self.memory is not None and isinstance(command, (RecordDecision, Finish)):
                self._note(self.memory, command, now)
        return commands

    def _note(self, memory: MemoryChain, command: RecordDecision | Finish, now: float) -> None:
        if isinstance(command, RecordDecision):
            memory.take_decision(decision_news(command.decision))
        else:
            memory.take_directive(directive_outcome(self._directive, command.result, now))

    def _answered(self, question: Question, now: float) -> AnswerOutcome:
        """Return what the robot's own memory answers, at once."""
        memory = self.memory
        if memory is None or memory.store is None:
            why = (
                "this robot has no memory"
                if memory is None
                else memory.problem or "the memory has no store yet"
            )
            return AnswerOutcome(AnswerCode.STORE_UNAVAILABLE, why=why)
        answerer = parts.answerer(
            memory.store,
            self.phrases,
            memory.scene,
            self.config.memory.answering,
            grid=memory.grid,
            looks=memory.looks,
        )
        with self._stages("memory"):
            try:
                state = memory_state(memory.store.statistics())
            except StoreError as error:
                return AnswerOutcome(AnswerCode.STORE_UNAVAILABLE, why=str(error))
            return outcome_of(answerer, state, question, now, memory.pose)

    def propose(self, expert: str, request: ProposalRequest) -> Proposal | Rejection:
        """Return an expert's answer from the current state; the caller passes it to `loop.on_answer`."""
        with self._stages(f"expert_{expert}"):
            return self.experts[expert].propose(request)
