"""ROS shell around `DecisionLoop`: hands it facts, carries out its commands."""

from __future__ import annotations

import numpy as np
from nav_msgs.msg import OccupancyGrid
from std_srvs.srv import SetBool

from lodestar.assembly.config import GoalSelectorConfig
from lodestar.geometry.poses import yaw_of
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import Directive
from lodestar.language.grammar import parse_directive
from lodestar.models.phrases import PhraseBook
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.battery import BatteryConfig, BatteryInput
from lodestar_ros.clocks import PatientClock
from lodestar_ros.conversions import grid_from_msg, header
from lodestar_ros.directive_server import DirectiveServer
from lodestar_ros.embedder_client import EmbedderClient
from lodestar_ros.executors import main_of
from lodestar_ros.expert_clients import ExpertClients
from lodestar_ros.keep_out import KeepOutInput
from lodestar_ros.nav2_client import Nav2Client, Nav2Config
from lodestar_ros.node import FrameNames, LodestarNode
from lodestar_ros.parameters import declare_config, declare_part
from lodestar_ros.pictures import PictureDesk, PicturesConfig
from lodestar_ros.scene_client import SceneClient
from lodestar_ros.selector import CommandDispatcher, DecisionRecorder, make_loop
from lodestar_ros.transforms import TransformUnavailable

POSE_HOLDS = 1.0  # s for which the newest transform says where the robot is


class GoalSelectorNode(LodestarNode):
    """Follow directives: ask the experts, choose, navigate, verify.

    Subscribes: ``grid``, ``costmap_filter_info``, ``entities``, ``battery``, TF. Publishes: ``~/heartbeat``,
    ``~/decision``, ``~/directive``, ``~/markers``. Serves: ``~/hold``. Action: ``follow_directive``; it is a client
    of ``<expert>_expert/propose`` and ``navigate_to_pose``.
    """

    def __init__(self, **kwargs):
        super().__init__("goal_selector", **kwargs)
        config = declare_part(self, GoalSelectorConfig)
        self._frames = declare_config(self, FrameNames, "frames.")
        book = PhraseBook()
        self._loop, keeper = make_loop(self, config, book)
        self._clock_now = PatientClock(lambda: self.now, config.clock_patience)
        self._buffer = self.transforms(newest=True).buffer
        self._heartbeat = self.create_publisher(msg.Heartbeat, "~/heartbeat", qos.COMMAND)
        self._recorder = DecisionRecorder(self, config.decision_log)
        self._scene = SceneClient(self)
        self._loop.on_scene(self._scene.mirror)
        self._navigator = Nav2Client(
            self, self._loop.on_navigation, declare_config(self, Nav2Config, "navigator.")
        )
        self._embedder = EmbedderClient(self, book)
        desk = PictureDesk(declare_config(self, PicturesConfig, "pictures."))
        now = self._clock_now.now
        self._server = DirectiveServer(
            self, self._loop, parse_directive, now, self._on_started, self._beat, desk
        )
        self._experts = ExpertClients(self, config.experts, self._loop.on_answer)
        self._hands = CommandDispatcher(
            self._experts, self._navigator, self._embedder, self._server, self._recorder, keeper
        )
        self._grid: OccupancyGrid2D | None = None
        self._keep_out = KeepOutInput(self, self._give_grid)
        BatteryInput(self, declare_config(self, BatteryConfig, "battery."), self._loop.on_energy)
        self.listen(OccupancyGrid, "grid", self._on_grid, qos.LATCHED)
        self.create_service(SetBool, "~/hold", self._on_hold)
        self.diagnostics.value("state", lambda: self._loop.state.name)
        self.diagnostics.value("epoch", lambda: self._loop.epoch)
        self.diagnostics.value("epoch.latency_s", lambda: round(self._loop.epoch_seconds, 3))
        self.steady_timer(config.beat_period, self._beat)
        self.steady_timer(config.tick_period, self._on_tick)
        self.steady_timer(config.feedback_period, self._report)

    def _on_grid(self, message: OccupancyGrid) -> None:
        self._grid = grid_from_msg(message)
        self._give_grid()

    def _give_grid(self) -> None:
        grid = self._keep_out.apply(self._grid)
        if grid is not None:
            self._loop.on_grid(grid)

    def _on_started(self, directive: Directive) -> None:
        variables = [v for step in directive.subtasks for graph in step.graphs for v in graph.variables]
        self._embedder.request(sorted({variable.phrase for variable in variables}))
        self._beat()

    def _on_hold(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self._loop.hold(request.data, self._clock_now.now())
        self._beat()
        self._carry_out()
        response.success = True
        response.message = "held: nothing moves until released" if request.data else "released"
        return response

    def _on_tick(self) -> None:
        inputs = (self._observe_pose, self._server.begin_early, self._experts.check, self._navigator.check)
        for part in (*inputs, self._carry_out):
            try:  # one that fails does not keep the others, and the halt least of all, from their turn
                part()
            except Exception as error:
                self.diagnostics.error(error)
        self._beat()

    def on_clock_jump(self) -> None:
        super().on_clock_jump()
        self._loop.restart_clock(self._clock_now.now())

    def _observe_pose(self) -> None:
        try:
            map_from_base = self._buffer.lookup_fresh(
                self._frames.map, self._frames.base, self.now, POSE_HOLDS
            )
        except TransformUnavailable as error:
            self.diagnostics.status(str(error), ok=False)
            return
        self.diagnostics.status(self._loop.state.name.lower())
        pose = np.array([map_from_base[0, 3], map_from_base[1, 3], yaw_of(map_from_base)])
        self._loop.on_pose(pose, self.now)  # the stamps' clock, not the loop's
        self._recorder.passed(pose)

    def _carry_out(self) -> None:
        for command in self._loop.tick(self._clock_now.now()):
            try:
                self._hands.carry_out(command, self.now)
            except Exception as error:
                self.diagnostics.error(error)

    def _beat(self) -> None:
        """Sign of life; it also goes out at once when motion is no longer allowed."""
        loop = self._loop
        self._heartbeat.publish(
            msg.Heartbeat(
                header=header(self.now, self._frames.map),
                motion_allowed=loop.motion_allowed,
                held=loop.held,
                state=loop.state.name,
                epoch=loop.epoch,
            )
        )

    def _report(self) -> None:
        feedback = self._loop.feedback()
        self._server.feedback(feedback)
        self._recorder.show(feedback.goal, self.now)


main = main_of(GoalSelectorNode, events=False)
