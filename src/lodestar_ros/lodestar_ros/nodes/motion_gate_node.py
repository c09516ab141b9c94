"""ROS shell around `MotionGate` and `MotionAuthority`: the last node before the base, keeper of holds."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from geometry_msgs.msg import Twist, TwistStamped
from std_srvs.srv import SetBool

from lodestar.mapping.movers.mover_tracks import MoverTrack
from lodestar.mapping.movers.right_of_way import FRESH, Velocity, permitted
from lodestar_interfaces.msg import Heartbeat, Holds, MoverTracks
from lodestar_interfaces.srv import PlaceHold, ReleaseHold
from lodestar_ros import qos
from lodestar_ros.conversions import stamp_from_msg, velocity_to_msg
from lodestar_ros.conversions_scene import tracks_from_msg
from lodestar_ros.executors import main_of
from lodestar_ros.motion.authority import (
    HOW,
    NAME_RESERVED,
    NOT_KEPT,
    RESERVED_NAMES,
    Kind,
    MotionAuthority,
    ReleaseRefused,
    RunMark,
)
from lodestar_ros.motion.gate import ENDED, ZERO, GateConfig, MotionGate
from lodestar_ros.motion.holds import holds_to_msg, state_file
from lodestar_ros.motion.rivals import GateRivals, strangers
from lodestar_ros.node import LodestarNode
from lodestar_ros.parameters import declare, declare_config

GATE_CHECK_PERIOD = 0.025  # s between two checks
GATE_ZERO_PERIOD = 0.1  # s between zero velocities while motion is blocked
# s between repeats of a permitted command, so that the base notices a dead gate
GATE_REPEAT_PERIOD = 0.1
GRAPH_PERIOD = 0.5  # s of real time between two checks for other commanders of the base


class MotionGateNode(LodestarNode):
    """Passes the navigator's velocity while a fresh heartbeat allows it, or the joystick's; else sends zeros.

    Nothing passes while a hold or a pause stands, except the joystick under its own hold. Holds and pauses
    survive the process. The navigator's velocity is reduced near moving objects; without ``movers`` or TF it
    is not.

    Subscribes: ``cmd_vel``, ``cmd_vel_joy``, ``heartbeat``, ``movers``, TF. Publishes: ``cmd_vel_out``,
    ``~/holds`` (latched). Serves: ``~/place_hold``, ``~/release_hold``, and ``~/hold``, which places one or
    releases all.
    """

    def __init__(self, **kwargs):
        super().__init__("motion_gate", **kwargs)
        self._config = declare_config(self, GateConfig)
        mark = RunMark(state_file(self, "running"))
        record = None if mark.twin else state_file(self, "json")
        self._authority = MotionAuthority(record, time.time(), mark.crashed, mark.existed)
        self._gate = MotionGate(self._authority, self._config)
        self._gate.give_way = self._give_way
        self._movers: tuple[MoverTrack, ...] = ()
        self._stamped_out = declare(self, "cmd_vel_out_stamped", bool, False)
        self._frame = declare(self, "base_frame", str, "base_link")
        self._sent = 0.0  # real time of the last message to the base
        self._blocked, self._passing = "no heartbeat", "passing"
        self._moving = False
        self._writers = -1  # number of publishers of the velocity topics at the last check
        self._out = self.create_publisher(
            TwistStamped if self._stamped_out else Twist, "cmd_vel_out", qos.COMMAND
        )
        self._holds = self.create_publisher(Holds, "~/holds", qos.LATCHED)
        self._listen_to("cmd_vel", self._on_command, stamped=declare(self, "cmd_vel_stamped", bool, False))
        stamped = declare(self, "cmd_vel_joy_stamped", bool, False)
        self._listen_to("cmd_vel_joy", self._on_joystick, stamped=stamped)
        self.listen(Heartbeat, "heartbeat", self._on_heartbeat, qos.COMMAND)
        self.listen(MoverTracks, "movers", self._on_movers, qos.EVENT)
        self._transforms = self.transforms(newest=True).buffer
        self.create_service(SetBool, "~/hold", self._on_hold)
        self.create_service(PlaceHold, "~/place_hold", self._on_place)
        self.create_service(ReleaseHold, "~/release_hold", self._on_release)
        self._rivals = GateRivals(self.get_fully_qualified_name())
        self._tell()
        self.steady_timer(GATE_CHECK_PERIOD, self._check)
        self.steady_timer(GRAPH_PERIOD, self._watch)
        self.diagnostics.value("blocked", lambda: self._blocked or "no")
        self.on_close(lambda: mark.close(not (self.failed or self._authority.fault)))
        self.on_close(self._authority.close)
        self.on_close(lambda: self._publish(ZERO))

    def _on_twin(self, why: str) -> None:
        """End this gate after a delay, in which the older gate detects it and holds the robot."""
        self.steady_timer(3.0 * GRAPH_PERIOD, partial(super()._on_twin, why))

    def _listen_to(self, topic: str, callback: Callable[[Velocity, float], None], *, stamped: bool) -> None:
        def take(message: Twist | TwistStamped) -> None:
            if self._writers != self._count_writers():
                self._watch()
            twist = message.twist if stamped else message
            age = self.now - stamp_from_msg(message.header.stamp) if stamped else 0.0
            callback((twist.linear.x, twist.linear.y, twist.angular.z), age)

        self.listen(TwistStamped if stamped else Twist, topic, take, qos.COMMAND)

    def _on_command(self, velocity: Velocity, age: float) -> None:
        times = self._times()
        self._gate.on_command(velocity, *times, age)
        if not self._gate.blocked_by(*times):
            self._publish(self._gate.output(*times))

    def _on_joystick(self, velocity: Velocity, age: float) -> None:
        now, number = time.monotonic(), self._authority.standing.number
        if not self._authority.standing.records and not self._gate.stick_rival:
            self._publish(ZERO)  # at once; the hold that it places waits for the disk
        if self._gate.on_joystick(velocity, now, time.time(), age):
            self._publish(self._gate.output(now))
        if self._authority.standing.number != number:
            self._tell()

    def _on_movers(self, message: MoverTracks) -> None:
        self._movers = tracks_from_msg(message)

    def _give_way(self, velocity: Velocity) -> tuple[Velocity, str]:
        movers, now = self._movers, self.now
        pose = self._transforms.find_pose("map", self._frame, now, FRESH) if movers else None
        return (velocity, "") if pose is None else permitted(velocity, pose, movers, now, self.shared.body)

    def _times(self) -> tuple[float, float]:
        """Return real time and the time of the navigator's clock, which may be simulated; seconds."""
        real = time.monotonic()
        return real, self.now if self.get_clock().ros_time_is_active else real

    def _on_heartbeat(self, message: Heartbeat) -> None:
        allowed = message.motion_allowed and message.goal_under_way
        self._gate.on_heartbeat(allowed, int(message.follows), time.monotonic())
        self._check()
        if self._gate.on_start_id(message.start_id, message.state == ENDED, time.time()):
            self._tell()

    def _on_place(self, request: PlaceHold.Request, response: PlaceHold.Response) -> PlaceHold.Response:
        if request.kind not in (Kind.HOLD, Kind.PAUSE):
            response.error_code = response.BAD_KIND
            response.error_msg = f"{request.kind} is no kind of a hold"
            request.kind = int(Kind.HOLD)  # a client of a later version, or a fault of one: the robot stands
        if request.who in RESERVED_NAMES:
            response.error_code = NAME_RESERVED
            response.error_msg = f"the name {request.who!r} is reserved: the robot is held, by 'somebody'"
            request.who = ""
        self._publish(ZERO)
        placed = self._authority.place(Kind(request.kind), request.who, request.why, time.time())
        self._tell()
        response.number = placed.number
        if self._authority.fault and not response.error_code:
            response.error_code = NOT_KEPT
            response.error_msg = f"held, but not kept on disk: {self._authority.fault}"
        return response

    def _on_release(
        self, request: ReleaseHold.Request, response: ReleaseHold.Response
    ) -> ReleaseHold.Response:
        try:
            released = self._authority.release(int(request.number), request.who, time.time())
        except ReleaseRefused as refusal:
            response.error_code = response.LATER_HOLD if refusal.later else response.NO_SUCH_HOLD
            response.error_msg = str(refusal)
        else:
            self.get_logger().warning(f"released by {request.who or 'somebody'}: {released}")
            self._tell()
        return response

    def _on_hold(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        who, records = "motion_gate/hold", self._authority.standing.records
        if request.data:
            asked = PlaceHold.Request(kind=int(Kind.HOLD), who=who, why="asked for by a call")
            placed = self._on_place(asked, PlaceHold.Response())
            held = f"held: zero velocity until number {placed.number} is released"
            response.message = "; ".join(filter(None, (held, placed.error_msg)))
        else:
            for one in records:
                self._on_release(ReleaseHold.Request(number=one.number, who=who), ReleaseHold.Response())
            response.message = f"released: {'; '.join(map(str, records)) or 'nothing stood'}"
        response.success = True
        return response

    def _tell(self) -> None:
        """Publish the standing records, and log them with instructions for their release."""
        standing, fault = self._authority.standing, self._authority.fault
        self._holds.publish(holds_to_msg(standing, fault))
        for record in standing.records:
            self.get_logger().warning(f"{record}: {HOW}")
        if fault:
            self.get_logger().error(f"a hold may not survive the next start: {fault}")
        self._check()

    def _check(self) -> None:
        """Send zero if motion is blocked, else repeat the velocity, so that the base detects a dead gate."""
        now, clock = self._times()
        if self._writers != self._count_writers():
            self._watch()
        blocked = self._gate.blocked_by(now, clock)
        passing = "driven by hand" if self._gate.is_driven_by_hand(now) else self._gate.yields or "passing"
        if (blocked, passing) != (self._blocked, self._passing):
            self._blocked, self._passing = blocked, passing
            told = f"stopped: {blocked}" if blocked else passing
            if self._authority.standing.records and blocked:
                told += f"; {HOW}"
            self.diagnostics.status(told, ok=not self._gate.rival and not self._authority.fault)
        silent = now - self._sent
        if blocked and (self._moving or silent >= GATE_ZERO_PERIOD):
            self._publish(ZERO)
        elif not blocked and silent >= GATE_REPEAT_PERIOD:
            self._publish(self._gate.output(now, clock))

    def _count_writers(self) -> int:
        return sum(map(self.count_publishers, ("cmd_vel", "cmd_vel_joy", "cmd_vel_out")))

    def _watch(self) -> None:
        """Block motion while another node sends velocities to the base, or an unknown one to the gate.

        If a second gate runs, other nodes may have received its records: place a hold, which a person
        releases after the end of that gate.
        """
        self._writers = self._count_writers()
        place = self.get_namespace().rstrip("/")
        navigators, twin = self.get_publishers_info_by_topic("cmd_vel"), self._rivals.twin
        found = self._rivals.look(
            self.get_publishers_info_by_topic("cmd_vel_out"),
            self.get_subscriptions_info_by_topic("cmd_vel"),
            self.get_publishers_info_by_topic("odom"),
        ) or strangers(navigators, place, self._config.navigators, "cmd_vel")
        sticks = self.get_publishers_info_by_topic("cmd_vel_joy")
        allowed = [name for name in (self._config.joystick,) if name]
        before = {self._gate.rival, self._gate.stick_rival}
        self._gate.rival, self._gate.stick_rival = found, strangers(sticks, place, allowed, "cmd_vel_joy")
        for news in {found, self._gate.stick_rival} & before - {""}:  # DDS announces a name late
            self.get_logger().error(news, throttle_duration_sec=10.0)
        held = self._rivals.twin and self._authority.hold_once("another motion_gate was running", time.time())
        if held or twin > self._rivals.twin:  # so that other nodes receive this gate's records again
            self._tell()

    def _publish(self, velocity: Velocity) -> None:
        self._moving, self._sent = velocity != ZERO, time.monotonic()
        self._out.publish(velocity_to_msg(velocity, self.now, self._stamped_out, self._frame))


main = main_of(MotionGateNode)
