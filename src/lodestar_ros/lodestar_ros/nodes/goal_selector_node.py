"""ROS shell around `DecisionLoop`: passes messages to it and executes its commands."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from lodestar.agent.errands.commands import Command, NavigationKind
from lodestar.assembly import parts
from lodestar.assembly.config import GoalSelectorConfig
from lodestar.language.directive import Directive
from lodestar.models.phrases import PhraseBook
from lodestar.timing.stamps import AttendedTime
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
from lodestar_ros.workers import Mailbox

# s of real time between two turns of the loop, which also runs while a simulated clock stands; chosen
TICK_PERIOD = 0.1
BEAT_PERIOD = 0.05  # s of real time between heartbeats (ADR 0003)
FEEDBACK_PERIOD = 0.5  # s of real time between two feedback messages; chosen
# s of real time after which a stopped clock is continued (PatientClock); chosen
CLOCK_PATIENCE = 10.0
BEAT_LOST = 0.5  # s of this node's own stops that count as absence of a client; chosen
# s without an answer of the loop's thread, after which motion is refused (ADR 0002)
LOOP_PATIENCE = 3.0


class GoalSelectorNode(LodestarNode):
    """Follows directives: asks the experts, chooses, navigates, verifies. The loop runs on its own thread.

    Subscribes: ``grid``, ``costmap_filter_info``, ``entities``, ``mapping/building``, ``vocabulary``, ``battery``,
    ``~/told``, TF. Publishes: ``~/heartbeat``, ``~/question``, ``~/decision``, ``~/directive``, ``~/wanted_words``,
    ``~/report``, ``~/markers``, ``~/passage``, and ``cmd_vel`` on stairs.
    Serves: ``~/hold``, ``~/pause``, ``~/point_out``.
    Action: ``follow_directive``; a client of ``<expert>_expert/propose``, ``memory/answer``, ``run_skill`` and
    ``navigate_to_pose``.
    """

    _thread: LoopThread

    def __init__(self, **kwargs):
        super().__init__("goal_selector", **kwargs)
        PoseGraphInput(self)
        config = declare_part(self, GoalSelectorConfig)
        frames = declare_config(self, FrameNames, "frames.")
        book = PhraseBook()
        loop, keeper = make_loop(self, config, book)
        clock = PatientClock(lambda: self.now, CLOCK_PATIENCE)
        self._restarts = RestartNotices(self)
        self._recorder = DecisionRecorder(self, config.decision_log)
        self._embedder = EmbedderClient(self, book)
        on_error = self.diagnostics.error
        wake = partial(Mailbox(self).post, lambda: self._thread.deliver())
        thread = self._thread = self.timed(
            LoopThread(loop, clock.now, self._carry_out, wake, TICK_PERIOD, LOOP_PATIENCE, on_error)
        )
        self._heartbeat = HeartbeatPublisher(self, thread, frames.map)
        floors = SelectorScene(self, loop, thread).floors
        self._navigator = Nav2Client(
            self,
            # of the reports on the way only the newest counts
            lambda event: thread.post(
                lambda: loop.on_navigation(event), "way" if event.kind is NavigationKind.FEEDBACK else ""
            ),
            declare_config(self, Nav2Config, "navigator."),
        )
        parse, reading = parts.directive_parser(), make_reading_desk(self, config)
        desk = PictureDesk(self.shared.pictures)
        client, attended = declare_config(self, ClientConfig, "client."), AttendedTime(BEAT_LOST)
        watch = ClientWatch(self, "follow_directive", client, lambda: attended.at(time.monotonic()))
        self._server = DirectiveServer(
            self, loop, thread, parse, clock.now, self._on_started, self._on_stop, desk, watch, reading
        )
        self._experts = ExpertClients(
            self, config.experts, lambda answer: thread.post(lambda: loop.on_answer(answer))
        )
        self._memory = memory_client(
            self, lambda ticket, outcome: thread.post(lambda: loop.on_memory(ticket, outcome))
        )
        self._skills = skill_client(self, lambda ticket, end: thread.post(lambda: loop.on_skill(ticket, end)))
        self._dispatcher = CommandDispatcher(
            self._experts, self._navigator, self._embedder, self._server, self._recorder, keeper, self._memory,
            self._skills, WordsClient(self, loop, thread), PassageDesk(self, loop, thread, frames),
        )  # fmt: skip
        self._pose = PoseInput(self, loop, thread, frames)
        GridInput(self, loop, thread, floors)
        battery = declare_config(self, BatteryConfig, "battery.")
        BatteryInput(self, battery, lambda budget: thread.post(lambda: loop.on_energy(budget)))
        PointServer(self, loop, thread, clock.now)
        StopServices(self, thread, self._heartbeat, self._server, self._on_stop)
        thread.describe(self.diagnostics)
        self.steady_timer(BEAT_PERIOD, self._heartbeat.beat)
        self.steady_timer(TICK_PERIOD, self._on_tick)
        self.steady_timer(FEEDBACK_PERIOD, self._report)
        self.on_clock_restart(self._on_stop)
        self.on_close(lambda: None if self.failed else self._heartbeat.end())
        self.on_close(thread.close)
        thread.start()

    def _on_started(self, directive: Directive) -> None:
        self._embedder.request(directive.phrases)
        self._recorder.display.asked(None)
        self._heartbeat.beat()

    def _on_stop(self) -> None:
        """Stop the robot before the decision loop ends the directive: first the base, then navigator and
        skills.
        """
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


main = main_of(GoalSelectorNode)
