"""ROS shell around `DecisionLoop`: passes facts to it and carries out its commands."""

from __future__ import annotations

from collections.abc import Callable

from lodestar.agent.errands.commands import Command
from lodestar.assembly import parts
from lodestar.assembly.config import GoalSelectorConfig
from lodestar.language.directive import Directive
from lodestar.models.phrases import PhraseBook
from lodestar_ros.battery import BatteryConfig, BatteryInput
from lodestar_ros.client_watch import ClientConfig, ClientWatch
from lodestar_ros.clocks import PatientClock
from lodestar_ros.directive_reading import make_reading_desk
from lodestar_ros.directive_server import DirectiveServer
from lodestar_ros.embedder_client import EmbedderClient
from lodestar_ros.executors import main_of
from lodestar_ros.expert_clients import ExpertClients
from lodestar_ros.frame_tree import TransformUnavailable
from lodestar_ros.heartbeat import HeartbeatPublisher
from lodestar_ros.loop_thread import LoopThread
from lodestar_ros.memory_client import memory_client
from lodestar_ros.nav2_client import Nav2Client, Nav2Config
from lodestar_ros.node import FrameNames, LodestarNode
from lodestar_ros.parameters import declare_config, declare_part
from lodestar_ros.passage_desk import PassageDesk
from lodestar_ros.pictures import PictureDesk
from lodestar_ros.point_server import PointServer
from lodestar_ros.pose_graph_input import PoseGraphInput
from lodestar_ros.restarts import RestartNotices
from lodestar_ros.selector import CommandDispatcher, DecisionRecorder, make_loop
from lodestar_ros.selector_inputs import GridInput, PoseInput, SelectorScene
from lodestar_ros.skill_client import skill_client
from lodestar_ros.stop_services import StopServices
from lodestar_ros.words_client import WordsClient


class GoalSelectorNode(LodestarNode):
    """Follow directives: ask the experts, choose, navigate, verify. The loop runs on a thread of its own.

    Subscribes: ``grid``, ``costmap_filter_info``, ``entities``, ``mapping/building``, ``vocabulary``, ``battery``,
    ``~/told``, TF. Publishes: ``~/heartbeat``, ``~/question``, ``~/decision``, ``~/directive``, ``~/wanted_words``,
    ``~/report``, ``~/markers``, ``~/passage``, and ``cmd_vel`` on stairs.
    Serves: ``~/hold``, ``~/pause``, ``~/point_out``.
    Action: ``follow_directive``; a client of ``<expert>_expert/propose``, ``memory/answer``, ``run_skill`` and
    ``navigate_to_pose``.
    """

    def __init__(self, **kwargs):
        super().__init__("goal_selector", **kwargs)
        PoseGraphInput(self)
        config = declare_part(self, GoalSelectorConfig)
        frames = declare_config(self, FrameNames, "frames.")
        book = PhraseBook()
        loop, keeper = make_loop(self, config, book)
        clock = PatientClock(lambda: self.now, config.clock_patience)
        self._restarts = RestartNotices(self)
        self._recorder = DecisionRecorder(self, config.decision_log)
        self._embedder = EmbedderClient(self, book)
        on_error = self.diagnostics.error
        thread = self._thread = self.timed(
            LoopThread(loop, clock.now, self._carry_out, config.tick_period, config.loop_patience, on_error)
        )
        self._heartbeat = HeartbeatPublisher(self, thread, frames.map)
        floors = SelectorScene(self, loop, thread).floors
        self._navigator = Nav2Client(
            self,
            lambda event: thread.post(lambda: loop.on_navigation(event)),
            declare_config(self, Nav2Config, "navigator."),
        )
        desk = PictureDesk(self.shared.pictures)
        watch = ClientWatch(self, "follow_directive", declare_config(self, ClientConfig, "client."))
        self._server = DirectiveServer(
            self,
            loop,
            thread,
            parts.directive_parser(),
            clock.now,
            self._on_started,
            self._on_stop,
            desk,
            watch,
            make_reading_desk(self, config),
        )
        self._experts = ExpertClients(
            self, config.experts, lambda answer: thread.post(lambda: loop.on_answer(answer))
        )
        self._memory = memory_client(
            self, lambda ticket, outcome: thread.post(lambda: loop.on_memory(ticket, outcome))
        )
        self._skills = skill_client(self, lambda ticket, end: thread.post(lambda: loop.on_skill(ticket, end)))
        self._dispatcher = CommandDispatcher(
            self._experts,
            self._navigator,
            self._embedder,
            self._server,
            self._recorder,
            keeper,
            self._memory,
            self._skills,
            WordsClient(self, loop, thread),
            PassageDesk(self, loop, thread, frames),
        )
        self._pose = PoseInput(self, loop, thread, frames)
        GridInput(self, loop, thread, floors)
        battery = declare_config(self, BatteryConfig, "battery.")
        BatteryInput(self, battery, lambda budget: thread.post(lambda: loop.on_energy(budget)))
        PointServer(self, loop, thread, clock.now)
        StopServices(self, thread, self._heartbeat, self._server, self._on_stop)
        thread.describe(self.diagnostics)
        self.steady_timer(config.beat_period, self._heartbeat.beat)
        self.steady_timer(config.tick_period, self._on_tick)
        self.steady_timer(config.delivery_period, thread.deliver)
        self.steady_timer(config.feedback_period, self._report)
        self.on_clock_restart(self._on_stop)
        self.on_close(thread.close)
        thread.start()

    def _on_started(self, directive: Directive) -> None:
        self._embedder.request(directive.phrases)
        self._recorder.display.asked(None)
        self._heartbeat.beat()

    def _on_stop(self) -> None:
        """Stop the robot before the loop ends the directive: it stands first, then others hear of it."""
        stands = self._dispatcher.passages.stop, self._heartbeat.beat
        self._each(*stands, self._navigator.cancel, self._skills.stop)

    def _on_tick(self) -> None:
        parts = (self._server, self._experts, self._navigator, self._memory, self._skills)
        self._each(self._observe_pose, *(one.check for one in parts))

    def _each(self, *calls: Callable[[], object]) -> None:
        for call in calls:
            try:  # a failure must not block the other parts
                call()
            except Exception as error:
                self.diagnostics.error(error)

    def _observe_pose(self) -> None:
        try:
            self._recorder.display.passed(self._pose.observe())
        except TransformUnavailable as error:
            self.diagnostics.status(str(error), ok=False)
        else:
            self._thread.report(self.diagnostics)

    def _carry_out(self, command: Command) -> None:
        self._dispatcher.carry_out(command, self.now)

    def _report(self) -> None:
        feedback = self._thread.status.feedback
        self._server.feedback(self._restarts.beside(feedback))
        self._recorder.display.show(feedback.goal, self.now)


main = main_of(GoalSelectorNode, events=False)
