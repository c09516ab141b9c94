"""The whole robot in one process, which takes sensor records and returns commands. It has no threads, no
clock and no ROS.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from lodestar.agent.errands.commands import (
    AskMemory,
    CancelSkill,
    Command,
    Finish,
    FollowConstraints,
    LookFor,
    PassageFailed,
    RecordDecision,
    RecordOutcome,
    RecordTrace,
    RunSkill,
    SkillEnd,
    TakePassage,
)
from lodestar.agent.loop.machine import OWN_PARTS, PartKinds
from lodestar.assembly import parts
from lodestar.assembly.config import MEMORY_TICK_PERIOD, RobotConfig
from lodestar.assembly.expert_panel import ExpertPanel
from lodestar.assembly.local_map import LocalMap, Stages, unmeasured
from lodestar.assembly.memory_chain import MemoryChain
from lodestar.assembly.memory_news import decision_news, directive_begun, directive_outcome
from lodestar.assembly.passage_driver import PassageDriver
from lodestar.assembly.search_pictures import SearchPictures
from lodestar.experts.protocol import Expert, Proposal, ProposalRequest, Rejection, Thinking
from lodestar.experts.registry import holder
from lodestar.experts.specs import Role
from lodestar.floors.per_floor import PerFloor
from lodestar.floors.records import Building
from lodestar.geometry.poses import planar_transform
from lodestar.grid.config import VIEWPOINT_CAMERA_FORWARD
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.checks import check_directive
from lodestar.language.config import ReasonerConfig
from lodestar.language.directive import Directive
from lodestar.language.question import Question
from lodestar.language.reasoner import Reasoner
from lodestar.language.reasoners import make_reasoner
from lodestar.memory.answer import AnswerCode, AnswerOutcome
from lodestar.memory.answering.agent import ModelAnswerer, make_answer_chat
from lodestar.memory.answering.agent_tools import Pictures
from lodestar.memory.answering.answerer import Answerer, memory_state
from lodestar.memory.answering.outcomes import Answers, outcome_of
from lodestar.memory.answering.shots import Shot
from lodestar.memory.answering.tools import Tools
from lodestar.memory.errors import StoreError
from lodestar.memory.events import DirectiveNews
from lodestar.models.chat import OpenAiChat
from lodestar.models.phrases import PhraseBook
from lodestar.perception.frames import CameraLook, Labeller, RgbdFrame, SegmentedFrame
from lodestar.perception.lookout import Lookout
from lodestar.selection.policy import Policy
from lodestar.timing.stamps import Periodic
from lodestar.worldmodel.advice import make_adviser
from lodestar.worldmodel.amendments import ClosedWay
from lodestar.worldmodel.events import WorldEvent
from lodestar.worldmodel.records import Trace


class HeadlessRobot:
    """All parts of the robot in one process, with the configuration and input rates of the nodes.

    The inputs of one moment (`map.take_turn`, `take_view`, `take_pose`) come in any order; then call `tick`.
    The owner carries out the returned commands; `propose` answers requests to experts.

    reasoner(): creates a reasoner for each expert that needs one; by default the configured one. remembers:
    whether to create a `MemoryChain`; the owner sets its store (`memory.use_store`). kinds: classes of the
    loop's parts, some of which a benchmark replaces. run_skill(trace): carries out a user-defined skill.
    pictures(name): returns a keyframe's image for the model that answers questions. answers_by: this model;
    by default the configured one.
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
        kinds: PartKinds = OWN_PARTS,
        run_skill: Callable[[Trace], SkillEnd] | None = None,
        pictures: Pictures | None = None,
        answers_by: OpenAiChat | None = None,
    ) -> None:
        self.config, self.phrases, self._stages = config, phrases, stages
        self._remembers, self._run_skill, self._pictures = remembers, run_skill, pictures
        self._reasoner = reasoner
        model = parts.directive_model(config.goal_selector)
        self._parse = parts.directive_parser() if model is None else model[0]
        self._closing = ExitStack()
        self._chat = answers_by or make_answer_chat(config.memory.agent)
        if self._chat is not None:
            self._closing.callback(self._chat.cancel)
        adviser = make_adviser(config.goal_selector.advice)
        if adviser is not None:
            self._closing.callback(adviser.close)
        chooser = policy or parts.policy(config.goal_selector)
        context = parts.loop_context(config.goal_selector, config.shared, phrases, chooser, advises=adviser)
        self.loop = parts.decision_loop(context, kinds)
        self._lookout: Lookout | None = None
        self.forget()

    def use_detector(self, detector: Labeller) -> None:
        """Let this detector search for the words of directives; the owner runs it on the images."""
        self._lookout = parts.lookout(self.config.perception, detector, self.phrases)
        self.loop.on_vocabulary(self._lookout.look_for(self.loop.words.wanted))

    def forget(self) -> None:
        """Discard the map and the entities; the policy keeps its learned state, and a directive continues."""
        config, phrases = self.config, self.phrases
        self.map = LocalMap(config, phrases, stages=self._stages, use_ways=self._use_ways)
        self.memory: MemoryChain | None = None
        if self._remembers:
            self.memory = MemoryChain(config.memory, self.map.mirror)
            self.map.followers.append(self.memory.take_delta)
        self.world = parts.world_model(config.world_model, self.map, self._hear_event, self.map.mirror)
        self._directive = DirectiveNews(0.0, "")
        self._turn = Periodic(MEMORY_TICK_PERIOD)
        self._pictures_from: SearchPictures | None = None
        self._panels = PerFloor(self._made_panel)  # experts' knowledge belongs to one floor
        self.passages = PassageDriver()
        self._told = Building()
        self._given: OccupancyGrid2D | None = None
        self._pose: np.ndarray | None = None

    def _made_panel(self) -> ExpertPanel:
        panel = ExpertPanel(self.config.experts, self.phrases, self._mind)
        panel.use_memory(self.memory)
        if self._pictures_from is not None:
            panel.use_pictures(self._pictures_from)
        return panel

    def _follow_building(self) -> None:
        """Pass a changed building to the loop, and switch to the experts of the robot's floor."""
        building, before = self.map.building, self._told
        if building is before:
            return
        self._told = building
        self._panels.follow(building)
        self.loop.on_building(building)
        if building.active != before.active:
            self.loop.on_scene(self.map.here, self.map.mirror)
            self._given = None

    def walk_on(self, now: float, map_from_base: np.ndarray, stamp: float | None = None) -> np.ndarray | None:
        """Return the command (3,) of a stair walk or lift ride for a base at (4, 4); None if there is none.

        stamp: of the pose, seconds; None = now. With an old or non-finite pose the robot stands.
        """
        step = self.passages.update(now, map_from_base, stamp)
        if step is None:
            return None
        if self.passages.asks:
            self.loop.on_asks(self.passages.asks)
        if step.level is not None:
            self.map.floors.arrive(now, step.level)
            self.map.follow_building()
        if step.end is not None:
            self.loop.on_skill(step.ticket, step.end)
        return step.command

    def _use_ways(self, ways: tuple[ClosedWay, ...]) -> Callable[[], None]:
        return self.world.replace_ways(ways, self.world.now)

    def _hear_event(self, event: WorldEvent) -> None:
        if self.memory is not None:
            self.memory.take_event(event)

    def _mind(self, config: ReasonerConfig) -> Reasoner:
        if self._reasoner is not None:
            return self._reasoner()
        handle = make_reasoner(config)
        self._closing.callback(handle.close)
        return handle.reasoner

    def close(self) -> None:
        """Cancel pending requests to language models, and close the reasoners and the adviser."""
        self._closing.close()

    @property
    def panel(self) -> ExpertPanel:
        """Return the experts of the robot's floor."""
        return self._panels.here

    @property
    def experts(self) -> dict[str, Expert]:
        """Return the experts by name."""
        return self.panel.experts

    @property
    def grid(self) -> OccupancyGrid2D:
        """Return the grid with the keep-out zones."""
        return self.map.grid

    def use_search_pictures(self, image: Callable[[int], bytes | None]) -> None:
        """Offer images of frontiers and of the memory to experts that choose by pictures, until `forget`.

        image(keyframe): returns a JPEG file without waiting, None if there is none.
        """
        memory, forward = self.memory, VIEWPOINT_CAMERA_FORWARD

        def frontiers() -> list[tuple[int, np.ndarray | None, float]]:
            explorer: Any = self.experts[holder(Role.EXPLORER)]
            return [(one.keyframe_id, one.viewpoint, one.gain) for one in explorer.frontiers()]

        def shots() -> Sequence[Shot]:
            return () if memory is None else memory.images.shots(memory.scene)

        self._pictures_from = SearchPictures(frontiers, shots, image, forward)
        for panel in self._panels.all:
            panel.use_pictures(self._pictures_from)

    # --- facts ------------------------------------------------------------------------------------------------

    def take_view(
        self, frame: RgbdFrame, segmented: SegmentedFrame, odom_from_base: np.ndarray | None = None
    ) -> None:
        """Pass an image and its segments to map, scene and experts. odom_from_base: (4, 4) at its stamp."""
        self.world.take_correction(frame.map_from_odom, frame.odom_from_camera, frame.stamp)
        self.loop.on_correction(frame.map_from_odom, frame.odom_from_camera, frame.stamp)
        self.map.take_movers(frame, segmented)
        self.map.take_depth(frame, odom_from_base)
        fused = self.map.take_segments(frame, segmented)
        look = CameraLook.of(frame) if fused else None
        self.map.read_signs(frame)
        self.map.work(frame.stamp)
        self._give_grid()
        with self._stages("experts_listen"):
            self.panel.set_scene(self.map.here)
            on_floor = not (self.map.floors.rests or self.map.building.is_between)
            for panel in self._panels.all:
                if on_floor and panel is self.panel:
                    if look is not None:
                        panel.add_look(look)
                    panel.set_view(frame, segmented)
                else:
                    panel.follow(frame)
        with self._stages("loop"):
            self.loop.on_scene(self.map.here, self.map.mirror)
            self.loop.on_sight(frame.stamp)
            if look is not None:
                self.loop.on_look(look.map_from_camera, look.stamp)
        if self.memory is not None:
            with self._stages("memory"):
                self._remember(frame, look, fused)

    def _remember(self, frame: RgbdFrame, look: CameraLook | None, fused: bool) -> None:
        assert self.memory is not None
        self.memory.take_correction(frame.map_from_odom, frame.odom_from_camera, frame.stamp)
        if look is not None:
            self.memory.take_look(look.stamp, look.map_from_camera)
        if fused and self.map.seen is not None:
            self.memory.take_instances(self.map.seen)
        if self._turn.due(frame.stamp):
            self.memory.tick(frame.stamp)

    def _give_grid(self) -> None:
        self._follow_building()
        grid = self.map.grid
        if grid is self._given:
            return
        self._given = grid
        self.world.take_grid(self.map.plan.grid, self._pose, self.map.building)
        with self._stages("experts_listen"):
            if not self.map.building.is_between:  # otherwise the grid belongs to no floor
                self.panel.set_grid(grid)
            if self.memory is not None:
                self.memory.take_grid(grid)
        with self._stages("loop"):
            self.loop.on_grid(grid)

    def take_pose(self, pose: np.ndarray, now: float) -> None:
        """Pass the robot's pose (3,) x, y, yaw in map to the loop."""
        self._pose = pose
        self.loop.on_pose(pose, now)
        if self.memory is not None:
            self.memory.take_pose(now, planar_transform(*pose))

    # --- directives and decisions -----------------------------------------------------------------------------

    def start(self, directive: Directive | str, now: float, time_limit: float = 0.0) -> Directive:
        """Start a directive, given as text or as a record, and return it. Raises DirectiveError, DirectiveRefused."""
        parsed = self._parse(directive) if isinstance(directive, str) else directive
        check_directive(parsed)
        self.loop.start(parsed, now, time_limit)
        self.map.follow(parsed)
        if self.memory is not None:
            self._directive = directive_begun(parsed, now)
            self.memory.take_directive(self._directive)
        return parsed

    def tick(self, now: float) -> list[Command]:
        """Advance the decision loop and return its commands."""
        self.world.building = self.map.building
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
            elif isinstance(command, RunSkill):
                self.loop.on_skill(command.ticket, self._carried_out(command.trace))
            elif isinstance(command, TakePassage):
                self.passages.take(command)
                self.map.floors.cross(command.passage)
            elif isinstance(command, PassageFailed):
                self.map.floors.failed(command.passage, command.why)
            elif isinstance(command, CancelSkill) and self.passages.cancel(command.ticket):
                self.map.floors.cross(None)
            elif isinstance(command, FollowConstraints):
                self.map.follow(command.directive)
            elif isinstance(command, LookFor) and self._lookout is not None:
                self.loop.on_vocabulary(self._lookout.look_for(command.wanted))
            elif isinstance(command, AskMemory):
                self.loop.on_memory(command.ticket, self._answered(command.question, now))
            elif isinstance(command, Finish):
                self.map.follow(None)  # remove the keep-out zones
            if self.memory is not None and isinstance(command, (RecordDecision, Finish)):
                self._note(self.memory, command, now)
        return commands

    def _note(self, memory: MemoryChain, command: RecordDecision | Finish, now: float) -> None:
        if isinstance(command, RecordDecision):
            memory.take_decision(decision_news(command.decision))
        else:
            memory.take_directive(directive_outcome(self._directive, command.result, now))

    def _carried_out(self, trace: Trace) -> SkillEnd:
        """Carry out a user-defined skill before returning, and return its result."""
        if self._run_skill is None:
            return SkillEnd(False, f"nobody here carries out {trace.action.skill.value}")
        try:
            return self._run_skill(trace)
        except Exception as error:  # raised by the user's code
            return SkillEnd(False, f"{type(error).__name__}: {error}")

    def _answered(self, question: Question, now: float) -> AnswerOutcome:
        """Return the answer to a question, computed from the robot's own memory before returning."""
        memory = self.memory
        if memory is None or memory.store is None:
            why = (
                "this robot has no memory"
                if memory is None
                else memory.problem or "the memory has no store yet"
            )
            return AnswerOutcome(AnswerCode.STORE_UNAVAILABLE, why=why)
        shots: tuple[Shot, ...] = ()
        if self._chat is not None:
            explorer: Any = self.experts[holder(Role.EXPLORER)]
            memory.images.take_frontiers((one.keyframe_id, one.gain) for one in explorer.frontiers())
            shots = memory.images.shots(memory.scene)
        tools = Tools(
            memory.store, self.phrases, memory.scene, grid=memory.grid, looks=memory.looks, shots=shots
        )
        answers = self._with_model(Answerer(tools, self.config.memory.answering))
        with self._stages("memory"):
            try:
                state = memory_state(memory.store.statistics())
            except StoreError as error:
                return AnswerOutcome(AnswerCode.STORE_UNAVAILABLE, why=str(error))
            return outcome_of(answers, state, question, now, memory.pose)

    def _with_model(self, offline: Answerer) -> Answers:
        """Return an answerer that asks the configured language model if `offline` is uncertain.

        Without a model it is `offline`.
        """
        chat = self._chat
        if chat is None:
            return offline
        return ModelAnswerer(
            chat,
            offline,
            self.config.memory.agent,
            pictures=self._pictures,
            begin=chat.begin_task,
            cancel=chat.cancel,
        )

    def propose(self, expert: str, request: ProposalRequest) -> Proposal | Rejection | Thinking:
        """Return an expert's answer to a request for a proposal, from the current state.

        The caller passes it to `loop.on_answer`; if the answer is `Thinking`, it asks again later.
        """
        with self._stages(f"expert_{expert}"):
            return self.experts[expert].propose(request)
