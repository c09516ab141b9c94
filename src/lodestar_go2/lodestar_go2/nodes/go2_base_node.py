"""ROS shell around the base's rules: convert, call, publish."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from geometry_msgs.msg import Twist, TwistStamped
from rclpy.callback_groups import ReentrantCallbackGroup
from std_srvs.srv import SetBool, Trigger
from unitree_go.msg import LowState as LowStateMsg
from unitree_go.msg import SportModeState

from lodestar.timing.stamps import Periodic
from lodestar_go2 import conversions
from lodestar_go2.base import BaseConfig, BaseRules, Posture
from lodestar_go2.intruders import intrusion
from lodestar_go2.nodes.base_reports import BaseReports
from lodestar_go2.nodes.sport_requests import SportRequests
from lodestar_go2.odometry import BaseOdometry
from lodestar_go2.sport import SportRequest
from lodestar_go2.stamps import StampRepair
from lodestar_go2.states import LIMP
from lodestar_go2.stop_test import StopTestConfig
from lodestar_ros import qos
from lodestar_ros.conversions import BadMessage, velocity_from_msg
from lodestar_ros.executors import main_of
from lodestar_ros.motion.authority import UNTOLD, Kind, Standing
from lodestar_ros.motion.holds import HoldFollower
from lodestar_ros.motion.rivals import is_bare, others
from lodestar_ros.node import LodestarNode
from lodestar_ros.parameters import declare, declare_config

CHECK_PERIOD = 0.02  # s of real time between two checks of the watchdog
GRAPH_PERIOD = 0.5  # s between two checks for other nodes that command the robot
#: Function of a time that returns the sport requests for a person's call, or the reason why not.
Ask: TypeAlias = Callable[[float], list[SportRequest] | str]


class Go2BaseNode(LodestarNode):
    """Walks with the gate's velocities, and publishes the robot's pose and state.

    The robot is held until the gate has published its holds, and after a crash of this node.

    Subscribes: ``cmd_vel_out``, ``motion_gate/holds``, ``go2_guard/heard``, ``sportmodestate``, ``lowstate``,
    ``api/sport/response``. Publishes: ``api/sport/request``, ``odom``, ``/tf``, ``imu``, ``battery``,
    ``joint_states``. Serves: ``~/hold``, ``~/stand_up``, ``~/sit``, ``~/damp``, ``~/test_stop``, ``~/climb``
    (the gait for stairs).
    """

    def __init__(self, **kwargs):
        super().__init__("go2_base", **kwargs)
        test = declare_config(self, StopTestConfig, "stop_test.")
        self._rules = BaseRules(declare_config(self, BaseConfig, "base."), test)
        self._stamps, self._odometry = self.timed(StampRepair()), self.timed(BaseOdometry())
        self._gate = declare(self, "gate", str, "motion_gate")  # the only node that may publish velocities
        self._guard = declare(self, "guard", str, "go2_guard")  # the only other node that may send requests
        self._reports, self._nameless = BaseReports(self), False
        self._rate = declare(self, "odometry_rate", float, 55.0)  # greatest rate, Hz
        self._taken = 0.0  # stamp of the newest used state
        self._low_due = Periodic(1.0 / self._rate)  # limits the rate of motor and battery states
        self._sport = SportRequests(self, lambda: self._rules.on_guard(time.monotonic()))
        self._send = self._sport.send
        self._stamped = declare(self, "cmd_vel_out_stamped", bool, False)
        self.listen(TwistStamped if self._stamped else Twist, "cmd_vel_out", self._on_command, qos.COMMAND)
        self._holds = HoldFollower(self, self._follow, self._gate)
        self.listen(SportModeState, "sportmodestate", self._on_sport, qos.SENSOR)
        self.listen(LowStateMsg, "lowstate", self._on_low, qos.SENSOR)
        self._holds.serve(Kind.HOLD)
        group = ReentrantCallbackGroup()  # a request under way must not block the node's other callbacks
        self.create_service(SetBool, "~/climb", self._on_climb, callback_group=group)
        for name, ask, end in (
            ("stand_up", self._rules.stand_up, Posture.STANDING),
            ("sit", self._rules.sit, Posture.LYING),
            ("damp", self._rules.damp, None),
            ("test_stop", self._rules.test_stop, None),
        ):
            self.create_service(Trigger, f"~/{name}", self._answer(ask, end), callback_group=group)
        self.steady_timer(CHECK_PERIOD, self._check)
        self.steady_timer(GRAPH_PERIOD, self._watch)
        self.diagnostics.value("posture", lambda: self._rules.posture.value)
        self.diagnostics.value("blocked", lambda: self._rules.blocked_by(time.monotonic()) or "no")
        self.diagnostics.value("stop_test", lambda: self._rules.stop_test.result)
        self.diagnostics.value("clock.offset_s", lambda: round(self._stamps.offset, 3))
        self.diagnostics.value("stamps", lambda: dict(self._stamps.counts) or "sound")
        self.diagnostics.value("odometry.restarts", lambda: self._odometry.restarts)
        self.on_close(lambda: self._follow(UNTOLD))

    def _on_command(self, message: Twist | TwistStamped) -> None:
        try:
            velocity = velocity_from_msg(message.twist if self._stamped else message)
        except BadMessage:
            self._send(self._rules.on_command((float("nan"),) * 3, time.monotonic()))
            raise
        self._send(self._rules.on_command(velocity, time.monotonic()))

    def _follow(self, standing: Standing) -> None:
        self._send(self._rules.follow(standing, time.monotonic()))

    def _on_sport(self, message: SportModeState) -> None:
        stamp = message.stamp.sec + message.stamp.nanosec * 1e-9
        if 0.0 < stamp - self._taken < 1.0 / self._rate:  # the robot publishes at several hundred hertz
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
        self._rules.on_state(speed, time.monotonic(), state.error_code == LIMP)
        self._reports.take_sport(state, pose)

    def _on_low(self, message: LowStateMsg) -> None:
        if self._low_due.due(time.monotonic()):
            state = conversions.low_state_from_msg(message)
            rate = float(abs(state.velocities).max(initial=0.0))
            self._rules.on_legs(rate, state.leg_height, time.monotonic())
            self._reports.take_low(state, self.now)

    async def _on_climb(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        return await self._ask(
            partial(self._rules.climb, request.data), None, response, "follows when it stands"
        )

    def _answer(self, ask: Ask, end: Posture | None) -> Callable:
        async def answer(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
            return await self._ask(ask, end, response, "begun, see diagnostics")

        return answer

    async def _ask(self, ask: Ask, end: Posture | None, response: Any, later: str) -> Any:
        """Send the requests that `ask` returns for a person's call; return the response with their outcome.

        end: posture that must be seen afterwards. later: text of the response if nothing is sent yet.
        """
        now = time.monotonic()
        asked = ask(now)
        if isinstance(asked, str):
            why = asked
        elif why := await self._sport.ask(asked, lambda: end is None or self._rules.seen is end):
            self._rules.refuse_posture(now)
        done = f"done: the robot is {self._rules.posture.value}" if asked else later
        response.success, response.message = not why, why or done
        return response

    def _check(self) -> None:
        self._send(self._rules.check(time.monotonic()))
        self._sport.check()

    def _watch(self) -> None:
        """Stop the robot and refuse to walk while another node commands it."""
        place = self.get_namespace().rstrip("/")
        own = (self.get_fully_qualified_name(), f"{place}/{self._guard}")
        gate = f"{place}/{self._gate}"
        drivers = others(self.get_publishers_info_by_topic("cmd_vel_out"), lambda name: name == gate)
        before, self._nameless = self._nameless, any(map(is_bare, drivers))  # DDS tells a node's name later
        found = intrusion(
            [name for name in drivers if before or not is_bare(name)],
            others(  # programs of the robot itself also send requests, for its remote control
                self.get_publishers_info_by_topic("api/sport/request"),
                lambda name: name in own or is_bare(name),
            ),
        )
        if found and found != self._rules.intruder:
            self.get_logger().error(found)
        self._send(self._rules.intrude(found, time.monotonic()))
        told = [*self._rules.troubles(time.monotonic()), *self._sport.troubles, *self._reports.warnings]
        troubles = [found] if found else told
        sound = str(self._rules.held or "walks as told")
        self.diagnostics.status("; ".join(troubles) or sound, ok=not troubles)


main = main_of(Go2BaseNode)
