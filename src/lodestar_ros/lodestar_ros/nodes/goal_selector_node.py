"""ROS shell around `DecisionLoop`: hands it facts, carries out its commands."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from nav_msgs.msg import OccupancyGrid
from std_srvs.srv import SetBool
from visualization_msgs.msg import MarkerArray

from lodestar.agent.commands import (
    CancelGoal,
    EmbedPhrases,
    Finish,
    RecordDecision,
    RequestProposals,
    SendGoal,
)
from lodestar.agent.config import LoopConfig
from lodestar.agent.loop import DecisionLoop
from lodestar.geometry.poses import yaw_of
from lodestar.language.grammar import parse_directive
from lodestar.models.phrases import PhraseBook
from lodestar.selection.context import FEATURES, ContextConfig
from lodestar.selection.decision_log import Decision, DecisionLog
from lodestar.selection.linucb import LinUcb, LinUcbConfig
from lodestar.selection.reward import RewardConfig
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.clocks import PatientClock
from lodestar_ros.conversions import grid_from_msg, header
from lodestar_ros.conversions_agent import decision_to_msg, directive_to_msg
from lodestar_ros.directive_server import DirectiveServer
from lodestar_ros.embedder_client import EmbedderClient
from lodestar_ros.executors import main_of
from lodestar_ros.expert_clients import ExpertClients
from lodestar_ros.markers import decision_markers
from lodestar_ros.nav2_client import Nav2Client, Nav2Config
from lodestar_ros.node import FrameNames, LodestarNode
from lodestar_ros.parameters import declare_config
from lodestar_ros.scene_client import SceneClient
from lodestar_ros.transforms import TransformUnavailable
from lodestar_ros.workers import QueueWorker

EXPERTS = ("frontier", "semantic_map", "ego_vlm")


@dataclass(frozen=True)
class SelectorConfig:
    """Periods in seconds of real time: heartbeat and hold work while a simulated clock stands."""

    tick_period: float = 0.1
    feedback_period: float = 0.5
    clock_patience: float = 10.0  # a clock that stands for longer counts as running again
    decision_log: str = ""  # file of one JSON line per decision; empty = none
    seed: int = 0  # of the policy's random choices


class GoalSelectorNode(LodestarNode):
    """Follow directives: ask the experts, choose, navigate, verify.

    Subscribes: ``grid``, ``entities``, TF. Publishes: ``~/heartbeat``, ``~/decision``, ``~/directive``, ``~/markers``.
    Serves: ``~/hold``. Actions: ``follow_directive``; client of ``<expert>_expert/propose``, ``navigate_to_pose``.
    """

    def __init__(self, **kwargs):
        super().__init__("goal_selector", **kwargs)
        self._config = declare_config(self, SelectorConfig)
        self._frames = declare_config(self, FrameNames, "frames.")
        policy = LinUcb(
            declare_config(self, LinUcbConfig, "policy."),
            EXPERTS,
            FEATURES,
            np.random.default_rng(self._config.seed),
        )
        book = PhraseBook()
        self._loop = DecisionLoop(
            declare_config(self, LoopConfig, "loop."),
            policy,
            book,
            EXPERTS,
            context=declare_config(self, ContextConfig, "context."),
            rewards=declare_config(self, RewardConfig, "reward."),
        )
        self._clock_now = PatientClock(lambda: self.now, self._config.clock_patience)
        self._buffer = self.transforms().buffer
        self._embedder = EmbedderClient(self, book)
        self._scene = SceneClient(self)
        self._loop.on_scene(self._scene.mirror)
        self._experts = ExpertClients(self, EXPERTS, self._loop.on_answer)
        self._navigator = Nav2Client(
            self, self._loop.on_navigation, declare_config(self, Nav2Config, "navigator.")
        )
        self._server = DirectiveServer(
            self, self._loop, parse_directive, self._clock_now.now, self._on_started, self._beat
        )
        self._heartbeat = self.create_publisher(msg.Heartbeat, "~/heartbeat", qos.COMMAND)
        self._decisions = self.create_publisher(msg.Decision, "~/decision", qos.EVENT)
        self._directive = self.create_publisher(msg.Directive, "~/directive", qos.LATCHED)
        self._markers = self.create_publisher(MarkerArray, "~/markers", qos.LATCHED)
        self.listen(OccupancyGrid, "grid", lambda m: self._loop.on_grid(grid_from_msg(m)), qos.LATCHED)
        self.create_service(SetBool, "~/hold", self._on_hold)
        self._log = DecisionLog(self._config.decision_log) if self._config.decision_log else None
        self._writer = QueueWorker("decision_log", self._write, self.diagnostics.error)
        self.on_close(self._writer.close)
        self._trail: deque = deque(maxlen=2000)
        self._last: Decision | None = None
        self.diagnostics.value("state", lambda: self._loop.state.name)
        self.diagnostics.value("epoch", lambda: self._loop.epoch)
        self.steady_timer(self._config.tick_period, self._on_tick)
        self.steady_timer(self._config.feedback_period, self._report)

    # --- requests ---

    def _on_started(self, directive) -> None:
        self._directive.publish(directive_to_msg(directive))
        self._embedder.request(
            sorted({v.phrase for s in directive.subtasks for g in s.graphs for v in g.variables})
        )
        self._trail.clear()

    def _on_hold(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self._loop.hold(request.data, self._clock_now.now())
        self._beat()
        self._carry_out()
        response.success = True
        response.message = "held: nothing moves until released" if request.data else "released"
        return response

    # --- the tick ---

    def _on_tick(self) -> None:
        try:
            self._observe_pose()
            self._navigator.check()
            self._carry_out()
        finally:
            self._beat()

    def _observe_pose(self) -> None:
        try:
            map_from_base = self._buffer.lookup(self._frames.map, self._frames.base)
        except TransformUnavailable as error:
            self.diagnostics.status(str(error), ok=False)
            return
        self.diagnostics.status(self._loop.state.name.lower())
        pose = np.array([map_from_base[0, 3], map_from_base[1, 3], yaw_of(map_from_base)])
        self._loop.on_pose(pose, self._clock_now.now())
        if not self._trail or np.hypot(*(pose[:2] - self._trail[-1][:2])) > 0.1:
            self._trail.append(pose)

    def _carry_out(self) -> None:
        for command in self._loop.tick(self._clock_now.now()):
            if isinstance(command, RequestProposals):
                self._experts.ask(command)
            elif isinstance(command, SendGoal):
                self._navigator.send(command.epoch, command.goal, self.now)
            elif isinstance(command, CancelGoal):
                self._navigator.cancel()
            elif isinstance(command, RecordDecision):
                self._last = command.decision
                self._decisions.publish(decision_to_msg(command.decision))
                self._writer.submit(command.decision)
            elif isinstance(command, EmbedPhrases):
                self._embedder.request(command.phrases)
            elif isinstance(command, Finish):
                self.get_logger().info(f"{command.result.error_code.name}: {command.result.report}")
                self._server.finish(command.result)

    def _write(self, decision: Decision) -> None:
        if self._log is not None:
            self._log.write(decision)

    def _beat(self) -> None:
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
        if self._markers.get_subscription_count() == 0:
            return
        arms = self._last.arms if self._last is not None else ()
        proposals = [
            (arm.proposal, arm.expert == self._last.chosen) for arm in arms if arm.proposal is not None
        ]
        self._markers.publish(decision_markers(feedback.goal, proposals, self._trail, self.now))


main = main_of(GoalSelectorNode)
