"""ROS shell around `MotionGate`: the last process before the base."""

from __future__ import annotations

import time
from collections.abc import Callable

from geometry_msgs.msg import Twist, TwistStamped
from std_msgs.msg import Bool
from std_srvs.srv import SetBool

from lodestar_interfaces.msg import Heartbeat
from lodestar_ros import qos
from lodestar_ros.conversions import velocity_to_msg
from lodestar_ros.executors import main_of
from lodestar_ros.gate import ZERO, GateConfig, MotionGate, Velocity
from lodestar_ros.node import LodestarNode
from lodestar_ros.parameters import declare, declare_config
from lodestar_ros.rivals import GateRivals

NOTICE = 60.0  # s for which diagnostics report a restarted goal selector
TELL_PERIOD = 1.0  # s of real time between two attempts
GRAPH_PERIOD = 0.5  # s of real time between two looks at who walks the robot past the gate


class MotionGateNode(LodestarNode):
    """Pass the navigator's velocity on while a fresh heartbeat allows it, a joystick's always; otherwise send zeros.

    A restarted goal selector, and whatever a joystick has interrupted, is held until a person releases it.

    Subscribes: ``cmd_vel``, ``cmd_vel_joy``, ``heartbeat``. Publishes: ``cmd_vel_out``,
    ``~/held`` (latched, for a driver that could move the robot by itself).
    Serves: ``~/hold`` (latches, and is passed on to ``goal_selector/hold``).
    """

    def __init__(self, **kwargs):
        super().__init__("motion_gate", **kwargs)
        self._config = declare_config(self, GateConfig)
        self._gate = MotionGate(self._config)
        self._stamped_out = declare(self, "cmd_vel_out_stamped", bool, False)
        self._frame = declare(self, "base_frame", str, "base_link")
        self._sent = 0.0  # real time of the last message to the base
        self._blocked, self._passing = "no heartbeat", "passing"
        self._moving = False
        self._told = 0.0  # real time of the last hold request to the goal selector
        self._out = self.create_publisher(
            TwistStamped if self._stamped_out else Twist, "cmd_vel_out", qos.COMMAND
        )
        self._latched = self.create_publisher(Bool, "~/held", qos.LATCHED)
        self._said: bool | None = None  # what `held` told last
        self._listen_to("cmd_vel", self._on_command, stamped=declare(self, "cmd_vel_stamped", bool, False))
        stamped = declare(self, "cmd_vel_joy_stamped", bool, False)
        self._listen_to("cmd_vel_joy", self._on_joystick, stamped=stamped)
        self.listen(Heartbeat, "heartbeat", self._on_heartbeat, qos.COMMAND)
        self.create_service(SetBool, "~/hold", self._on_hold)
        self._selector = self.create_client(SetBool, "goal_selector/hold")
        self._rivals = GateRivals(self.get_fully_qualified_name())
        self.steady_timer(self._config.check_period, self._check)
        self.steady_timer(GRAPH_PERIOD, self._watch)
        self.diagnostics.value("blocked", lambda: self._blocked or "no")
        self.on_close(lambda: self._publish(ZERO))

    def _listen_to(self, topic: str, callback: Callable[[Velocity], None], *, stamped: bool) -> None:
        def take(message: Twist | TwistStamped) -> None:
            twist = message.twist if stamped else message
            callback((twist.linear.x, twist.linear.y, twist.angular.z))

        self.listen(TwistStamped if stamped else Twist, topic, take, qos.COMMAND)

    def _on_command(self, velocity: Velocity) -> None:
        times = self._times()
        self._gate.on_command(velocity, *times)
        if not self._gate.blocked_by(*times):
            self._publish(self._gate.output(*times))

    def _on_joystick(self, velocity: Velocity) -> None:
        now = time.monotonic()
        if not self._gate.is_driven_by_hand(now):
            self.get_logger().warning("driven by hand; held afterwards until python -m lodestar_ros.hold off")
        self._gate.on_joystick(velocity, now)
        self._publish(self._gate.output(now))

    def _times(self) -> tuple[float, float]:
        """Return real time and the navigator's clock, which may be simulated."""
        real = time.monotonic()
        return real, self.now if self.get_clock().ros_time_is_active else real

    def _on_heartbeat(self, message: Heartbeat) -> None:
        now = time.monotonic()
        if self._gate.on_heartbeat(message.motion_allowed, message.held, now, message.start_id):
            text = "goal_selector died and came back: held until python -m lodestar_ros.hold off"
            self.get_logger().warning(text)
            self.diagnostics.notice(text, NOTICE)
        self._check()

    def _on_hold(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self._gate.hold(request.data)
        self._check()
        self._tell(request.data)
        response.success = True
        response.message = "held: zero velocity until released" if request.data else "released"
        self.get_logger().warning(response.message)
        return response

    def _tell(self, held: bool) -> None:
        """Ask the goal selector, if it is running, to hold or to release."""
        self._told = time.monotonic()
        if self._selector.service_is_ready():
            self._selector.call_async(SetBool.Request(data=held))

    def _check(self) -> None:
        """Stop at once if motion is blocked. Repeat a permitted velocity, so that the base notices a dead gate."""
        now, clock = self._times()
        if self._gate.selector_must_be_told(now) and now - self._told >= TELL_PERIOD:
            self._tell(True)
        if self._gate.is_held != self._said:
            self._said = self._gate.is_held
            self._latched.publish(Bool(data=self._said))
        blocked = self._gate.blocked_by(now, clock)
        passing = "driven by hand" if self._gate.is_driven_by_hand(now) else "passing"
        if (blocked, passing) != (self._blocked, self._passing):
            self._blocked, self._passing = blocked, passing
            told = f"stopped: {blocked}" if blocked else passing
            self.diagnostics.status(told, ok=not self._gate.rival)
        silent = now - self._sent
        if blocked and (self._moving or silent >= self._config.zero_period):
            self._publish(ZERO)
        elif not blocked and silent >= self._config.repeat_period:
            self._publish(self._gate.output(now, clock))

    def _watch(self) -> None:
        """Stand while anybody else walks the robot."""
        found = self._rivals.look(
            self.get_publishers_info_by_topic("cmd_vel_out"),
            self.get_subscriptions_info_by_topic("cmd_vel"),
            self.get_publishers_info_by_topic("odom"),
        )
        if found and found != self._gate.rival:
            self.get_logger().error(found)
        self._gate.rival = found

    def _publish(self, velocity: Velocity) -> None:
        self._moving, self._sent = velocity != ZERO, time.monotonic()
        self._out.publish(velocity_to_msg(velocity, self.now, self._stamped_out, self._frame))


main = main_of(MotionGateNode)
