"""ROS shell around the base's rules: convert, call, publish."""

from __future__ import annotations

import time
from collections.abc import Callable

from geometry_msgs.msg import Twist
from std_msgs.msg import Bool
from std_srvs.srv import SetBool, Trigger
from unitree_go.msg import LowState as LowStateMsg
from unitree_go.msg import SportModeState

from lodestar.timing.stamps import Periodic
from lodestar_go2 import conversions
from lodestar_go2.base import BaseConfig, BaseRules
from lodestar_go2.intruders import intrusion
from lodestar_go2.nodes.base_reports import BaseReports
from lodestar_go2.nodes.sport_requests import SportRequests
from lodestar_go2.odometry import Odometry, OdometryConfig
from lodestar_go2.sport import SportRequest
from lodestar_go2.stamps import StampConfig, StampRepair
from lodestar_go2.stop_test import StopTestConfig
from lodestar_ros import qos
from lodestar_ros.conversions import BadMessage, velocity_from_msg
from lodestar_ros.executors import main_of
from lodestar_ros.node import LodestarNode
from lodestar_ros.parameters import declare, declare_config
from lodestar_ros.rivals import is_bare, others

CHECK_PERIOD = 0.02  # s of real time between two looks at the watchdog
GRAPH_PERIOD = 0.5  # s between two looks at who else commands the robot


class Go2BaseNode(LodestarNode):
    """Walk with the velocities of the gate, and say where the robot is and how it does.

    Subscribes: ``cmd_vel_out``, ``motion_gate/held``, ``go2_guard/heard``, ``sportmodestate``, ``lowstate``.
    Publishes: ``api/sport/request``, ``odom``, ``/tf``, ``imu``, ``battery``, ``joint_states``. Serves: ``~/hold``,
    ``~/stand_up``, ``~/sit``, ``~/damp``, ``~/test_stop``, ``~/climb`` (the gait for stairs).
    """

    def __init__(self, **kwargs):
        super().__init__("go2_base", **kwargs)
        test = declare_config(self, StopTestConfig, "stop_test.")
        self._rules = BaseRules(declare_config(self, BaseConfig, "base."), test)
        self._odometry = Odometry(declare_config(self, OdometryConfig, "odometry."))
        self._stamps = StampRepair(declare_config(self, StampConfig, "stamps."))
        self._gate = declare(self, "gate", str, "motion_gate")  # the one that may publish velocities
        self._guard = declare(self, "guard", str, "go2_guard")  # the other one that may send requests
        self._reports = BaseReports(self)
        self._rate = declare(self, "odometry_rate", float, 55.0)  # Hz, at most
        self._taken = 0.0  # stamp of the last state that was used
        self._low_due = Periodic(1.0 / self._rate)  # of motors and battery
        self._send = SportRequests(self, lambda: self._rules.on_guard(time.monotonic())).send
        self.listen(Twist, "cmd_vel_out", self._on_command, qos.COMMAND)
        self.listen(Bool, f"{self._gate}/held", self._on_gate, qos.LATCHED)
        self.listen(SportModeState, "sportmodestate", self._on_sport, qos.SENSOR)
        self.listen(LowStateMsg, "lowstate", self._on_low, qos.SENSOR)
        self.create_service(SetBool, "~/hold", self._on_hold)
        self.create_service(SetBool, "~/climb", self._on_climb)
        for name, ask in (
            ("stand_up", self._rules.stand_up),
            ("sit", self._rules.sit),
            ("damp", self._rules.damp),
            ("test_stop", self._rules.test_stop),
        ):
            self.create_service(Trigger, f"~/{name}", self._answer(ask))
        self.steady_timer(CHECK_PERIOD, self._check)
        self.steady_timer(GRAPH_PERIOD, self._watch)
        self.diagnostics.value("posture", lambda: self._rules.posture.value)
        self.diagnostics.value("blocked", lambda: self._rules.blocked_by(time.monotonic()) or "no")
        self.diagnostics.value("stop_test", lambda: self._rules.stop_test.result)
        self.diagnostics.value("clock.offset_s", lambda: round(self._stamps.offset, 3))
        self.diagnostics.value("stamps", lambda: dict(self._stamps.counts) or "sound")
        self.diagnostics.value("odometry.restarts", lambda: self._odometry.restarts)
        self.on_close(lambda: self._send(self._rules.hold(True, time.monotonic())))

    def _on_command(self, twist: Twist) -> None:
        try:
            velocity = velocity_from_msg(twist)
        except BadMessage:
            self._send(self._rules.on_command((float("nan"),) * 3, time.monotonic()))
            raise
        self._send(self._rules.on_command(velocity, time.monotonic()))

    def _on_gate(self, held: Bool) -> None:
        self._send(self._rules.on_gate(held.data, time.monotonic()))

    def _on_sport(self, message: SportModeState) -> None:
        stamp = message.stamp.sec + message.stamp.nanosec * 1e-9
        if 0.0 < stamp - self._taken < 1.0 / self._rate:  # the robot publishes at some hundred hertz
            return
        self._taken = stamp
        state = conversions.sport_state_from_msg(message)
        stamp = self._stamps.repaired(state.stamp, self.now)
        if stamp is None:
            return
        try:
            pose = self._odometry.update(state, stamp)
        except ValueError as error:
            raise BadMessage(str(error)) from error
        speed = max(abs(value) for value in pose.velocity)
        self._rules.on_state(speed, time.monotonic())
        self._reports.take_sport(state, pose)

    def _on_low(self, message: LowStateMsg) -> None:
        if self._low_due.due(time.monotonic()):
            state = conversions.low_state_from_msg(message)
            self._rules.on_legs(float(abs(state.velocities).max(initial=0.0)))
            self._reports.take_low(state, self.now)

    def _on_hold(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self._send(self._rules.hold(request.data, time.monotonic()))
        response.success = True
        response.message = "held: the robot stands until released" if request.data else "released"
        return response

    def _on_climb(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        asked = self._rules.climb(request.data, time.monotonic())
        response.success = not isinstance(asked, str)
        response.message = asked if isinstance(asked, str) else "the gait was asked for"
        if not isinstance(asked, str):
            self._send(asked)
        return response

    def _answer(self, ask: Callable[[float], list[SportRequest] | str]) -> Callable:
        def answer(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
            asked = ask(time.monotonic())
            response.success = not isinstance(asked, str)
            response.message = (
                asked if isinstance(asked, str) else f"the robot is {self._rules.posture.value} now"
            )
            if not isinstance(asked, str):
                self._send(asked)
            return response

        return answer

    def _check(self) -> None:
        self._send(self._rules.check(time.monotonic()))

    def _watch(self) -> None:
        """Refuse to walk while anybody else commands the robot."""
        place = self.get_namespace().rstrip("/")
        own = (self.get_fully_qualified_name(), f"{place}/{self._guard}")
        gate = f"{place}/{self._gate}"
        found = intrusion(
            others(self.get_publishers_info_by_topic("cmd_vel_out"), lambda name: name == gate),
            others(  # the robot's own programs send requests too, for its remote control
                self.get_publishers_info_by_topic("api/sport/request"),
                lambda name: name in own or is_bare(name),
            ),
        )
        if found and found != self._rules.intruder:
            self.get_logger().error(found)
        self._send(self._rules.intrude(found, time.monotonic()))
        troubles = [found] if found else [*self._rules.troubles(time.monotonic()), *self._reports.warnings]
        sound = "held" if self._rules.held else "walks as told"
        self.diagnostics.status("; ".join(troubles) or sound, ok=not troubles)


main = main_of(Go2BaseNode)
