"""Tests of the goal selector's walk over stairs: published messages, stops, and ends."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from geometry_msgs.msg import Twist, TwistStamped
from rclpy.qos import DurabilityPolicy
from std_msgs.msg import String

from lodestar.agent.errands.commands import PassageFailed, TakePassage
from lodestar.floors.config import FloorsConfig
from lodestar.floors.records import Passage, PassageKind
from lodestar.geometry.poses import make_transform
from lodestar_ros.conversions import stamp_from_msg
from lodestar_ros.frame_tree import Cause, TransformUnavailable
from lodestar_ros.node import FrameNames
from lodestar_ros.passage_desk import PassageDesk

FLIGHT = Passage(3, PassageKind.STAIRS, (0.0, 0.0), (5.0, 0.0), 0.0, lower=1, upper=2, slope=0.52)
LIFT = Passage(4, PassageKind.LIFT, (0.0, 0.0), (0.0, 0.0), 0.0, lower=1)
STEP = 0.05


class Future:
    """Fake future of a service, complete unless its answer is None."""

    def __init__(self, answer) -> None:
        self.answer = answer

    def done(self) -> bool:
        return self.answer is not None

    def exception(self) -> None:
        return None

    def result(self):
        return SimpleNamespace(success=self.answer, message="its posture is lying")


class Bench:
    """A desk with a fake node, and a fake base on a flight of 5 m. gait: answer of `climb`; "" = no such service."""

    def __init__(self, stairs: bool = True, lifts: bool = False, gait="", stamped: bool = False) -> None:
        self.order: list[str] = []  # published messages and requests, in order
        self.closers: list = []
        self.others: list = []  # (message type, name) of other subscribers of commands
        self.gate = ["geometry_msgs/msg/TwistStamped" if stamped else "geometry_msgs/msg/Twist"]
        self.now, self.x, self.yaw, self.known, self.sent, self.asked = 0.0, -0.75, 0.0, True, {}, []
        self.profiles: dict = {}
        self.messages: list = []
        self.flat = True  # ground at a lift
        self.ends, self.heard, self.listens, self.timer, self.gait = [], [], {}, None, gait
        ready = SimpleNamespace(service_is_ready=lambda: self.gait != "", call_async=self.ask)
        node = SimpleNamespace(
            shared=SimpleNamespace(floors=FloorsConfig(stairs=stairs, lifts=lifts)),
            transforms=lambda newest: SimpleNamespace(buffer=self),
            create_publisher=self.publisher,
            declare_parameter=lambda name, default, _: SimpleNamespace(value=stamped),
            get_subscriptions_info_by_topic=lambda topic: [
                SimpleNamespace(topic_type=one, node_name=name) for one, name in self.hearers()
            ],
            on_close=self.closers.append,
            now=0.0,
            listen=lambda kind, name, take, profile: self.listens.__setitem__(name, take),
            create_client=lambda kind, name: ready,
            steady_timer=lambda period, call: setattr(self, "timer", call),
            get_logger=lambda: SimpleNamespace(warning=self.heard.append),
        )
        self.node = node
        loop = SimpleNamespace(
            on_skill=lambda ticket, end: self.ends.append((ticket, end)),
            on_asks=lambda text: self.heard.append(text),
        )
        thread = SimpleNamespace(post=lambda call, slot="": call())
        self.desk = PassageDesk(node, loop, thread, FrameNames())

    def hearers(self) -> list[tuple[str, str]]:
        return [*self.others, *((one, "motion_gate") for one in self.gate)]

    def publisher(self, kind, name, profile):
        self.profiles[name] = profile
        sent = self.sent.setdefault(name, [])

        def publish(message) -> None:
            assert isinstance(message, kind)
            self.order.append(name)
            self.messages.append(message)
            sent.append(message.twist if isinstance(message, TwistStamped) else message)

        return SimpleNamespace(publish=publish)

    def ask(self, request):
        self.order.append("climb")
        self.asked.append(request.data)
        return Future(self.gait)

    def lookup_fresh(self, target, source, now, max_age):
        if not self.known:
            raise TransformUnavailable(Cause.NO_FRAME, "gone")
        on = 0.0 < self.x < 5.0 and not self.flat
        tilt = math.atan(0.52) if on else 0.0
        c, s = math.cos(tilt), math.sin(tilt)
        pitch = np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])
        turn = np.array([[math.cos(self.yaw), -math.sin(self.yaw), 0.0], [math.sin(self.yaw), math.cos(self.yaw), 0.0],
                         [0.0, 0.0, 1.0]])  # fmt: skip
        return make_transform(turn @ pitch, (self.x, 0.0, 0.52 * min(max(self.x, 0.0), 5.0)))

    def take(self, passage=FLIGHT, ticket: int = 7) -> None:
        self.flat = passage is LIFT
        self.desk.carry_out(TakePassage(ticket, None, passage, 1, 1))

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds / STEP)):
            if self.ends or self.timer is None:
                return
            self.now += STEP
            self.node.now = self.now
            self.timer()
            commands = self.sent.get("cmd_vel", [])
            if commands:
                self.x += commands[-1].linear.x * STEP * math.cos(self.yaw)
                self.yaw += commands[-1].angular.z * STEP

    @property
    def news(self) -> list[dict]:
        return [json.loads(message.data) for message in self.sent["~/passage"]]

    def tell(self, text: str) -> None:
        self.node.now = self.now
        self.listens["~/told"](String(data=text))


def test_it_walks_slowly_until_it_stands_on_the_other_floor() -> None:
    bench = Bench()
    bench.node.now = 0.0
    bench.take()
    bench.run(60.0)
    ((ticket, end),) = bench.ends
    assert ticket == 7 and end.done and bench.x > 5.0
    speeds = [command.linear.x for command in bench.sent["cmd_vel"]]
    assert 0.0 < max(speeds) <= 0.25 and speeds[-1] == 0.0
    assert bench.news == [{"cross": 3}]


def test_it_says_what_the_gate_is_set_to_hear() -> None:
    bench = Bench(stamped=True)
    bench.take()
    bench.run(60.0)
    assert bench.ends[0][1].done and bench.x > 5.0
    commands = [one for one in bench.messages if not isinstance(one, String)]
    assert all(isinstance(one, TwistStamped) and one.header.frame_id == "base_link" for one in commands)
    stamps = [stamp_from_msg(one.header.stamp) for one in commands]
    assert stamps == sorted(stamps) and stamps[-1] == pytest.approx(bench.now)


@pytest.mark.parametrize("stamped", [True, False])
def test_a_gate_that_hears_another_kind_is_told_of_and_nothing_is_waited_for(stamped) -> None:
    bench = Bench(stamped=stamped)
    bench.gate = ["geometry_msgs/msg/Twist" if stamped else "geometry_msgs/msg/TwistStamped"]
    bench.take()
    ((ticket, end),) = bench.ends
    assert ticket == 7 and not end.done and "cmd_vel_stamped" in end.why and bench.gate[0] in end.why
    bench.ends.clear()
    bench.run(2.0)
    assert not bench.messages
    bench.others = [("geometry_msgs/msg/TwistStamped" if stamped else "geometry_msgs/msg/Twist", "recorder")]
    bench.take()
    assert len(bench.ends) == 1 and not bench.ends[0][1].done, "a recorder of that kind moves no robot"
    bench.ends.clear()
    bench.others, bench.gate = [], []  # the gate is not running yet
    bench.take()
    bench.run(1.0)
    assert bench.sent["cmd_vel"]


@pytest.mark.parametrize("gait", ["", True, None])
@pytest.mark.parametrize("seconds", [0.0, 0.1, 1.0, 8.0])
@pytest.mark.parametrize("how", ["stop", "cancel", "close", "fails"])
def test_a_stop_is_first_to_stand_and_nothing_is_sent_after_it(gait, seconds, how) -> None:
    bench = Bench(gait=gait)
    bench.take()
    bench.run(seconds)
    if bench.ends:  # the gait was never confirmed
        assert gait is None and seconds == 8.0 and not bench.ends[0][1].done
        assert all(not one.linear.x for one in bench.sent["cmd_vel"])
        return
    began = len(bench.order)
    if how == "fails":  # the gait service fails

        def broken(request):
            raise RuntimeError("no such service")

        bench.desk._gait.call_async = broken
        with suppress(RuntimeError):
            bench.desk.stop()
    else:
        {"stop": bench.desk.stop, "cancel": lambda: bench.desk.cancel(7), "close": bench.closers[0]}[how]()
    after = bench.order[began:]
    assert after[0] == "cmd_vel" and after.count("cmd_vel") == 1 and bench.sent["cmd_vel"][-1] == Twist()
    ended = len(bench.order)
    bench.run(5.0)
    assert len(bench.order) == ended and not bench.ends


def test_what_the_operator_has_not_allowed_moves_nothing() -> None:
    for passage in (FLIGHT, LIFT):
        bench = Bench(stairs=False, lifts=False)
        bench.take(passage)
        bench.run(5.0)
        assert "cmd_vel" not in bench.sent and not bench.ends[0][1].done and "allowed" in bench.ends[0][1].why
    bench = Bench(stairs=True)
    bench.take(LIFT)
    assert not bench.ends[0][1].done and not bench.sent["cmd_vel"]


def test_without_a_pose_it_stands_and_then_gives_up() -> None:
    bench = Bench()
    bench.node.now = 0.0
    bench.take()
    bench.run(8.0)
    bench.known, count = False, len(bench.sent["cmd_vel"])
    bench.run(10.0)
    assert all(not command.linear.x for command in bench.sent["cmd_vel"][count:])
    assert not bench.ends[0][1].done and "where I am" in bench.ends[0][1].why
    assert bench.news[-1] == {"cross": 0}


def test_a_cancelled_walk_stands_at_once_and_its_end_is_not_told() -> None:
    bench = Bench()
    bench.node.now = 0.0
    bench.take()
    bench.run(8.0)
    bench.desk.cancel(6)
    bench.run(0.1)
    assert bench.sent["cmd_vel"][-1].linear.x > 0.0
    bench.desk.cancel(7)
    count = len(bench.sent["cmd_vel"])
    bench.run(2.0)
    assert (
        bench.sent["cmd_vel"][-1].linear.x == 0.0 and len(bench.sent["cmd_vel"]) == count and not bench.ends
    )


@pytest.mark.parametrize(("gait", "walks"), [(True, True), (False, False), (None, False)])
def test_a_base_with_a_gait_for_stairs_is_asked_first_and_walked_only_with_it(gait, walks) -> None:
    bench = Bench(gait=gait)
    bench.node.now = 0.0
    bench.take()
    bench.run(60.0)
    assert bench.asked == [True, False] and bench.ends[0][1].done is walks
    assert any(command.linear.x for command in bench.sent["cmd_vel"]) is walks
    if not walks:
        assert "gait" in bench.ends[0][1].why


def test_a_person_tells_of_floors_and_helps_with_the_lift() -> None:
    bench = Bench(lifts=True)
    bench.tell("hello robot")
    assert "nothing of floors" in bench.heard[-1] and not bench.sent["~/passage"]
    bench.tell("You are on the second floor.")
    bench.tell("There is a lift in front of you.")
    assert bench.news[0] == {"level": 1} and bench.news[1]["lift"] == pytest.approx([0.0, 0.0, 0.0])
    bench.take(LIFT)
    bench.run(1.0)
    assert "call the lift" in bench.heard[-1]
    bench.tell("the door is open")
    bench.run(20.0)
    assert "which floor is reached" in bench.heard[-1]
    bench.tell("the door is open, this is the second floor")
    bench.run(30.0)
    assert bench.ends[0][1].done and {"arrived": 1} in bench.news


def test_a_level_that_is_told_in_the_lift_is_not_that_of_the_floor_that_was_left() -> None:
    bench = Bench(lifts=True)
    bench.node.now = 0.0
    bench.take(LIFT)
    bench.run(1.0)
    bench.tell("the door is open")
    bench.run(20.0)
    bench.tell("we are on the second floor")
    bench.run(5.0)
    assert not any("level" in news for news in bench.news) and not bench.ends
    assert bench.sent["cmd_vel"][-1].linear.x == 0.0, "nobody has said that the door is open"
    bench.tell("the door is open")
    bench.run(30.0)
    assert bench.ends[0][1].done and {"arrived": 1} in bench.news


def test_a_passage_that_is_taken_in_the_place_of_another_ends_that_one() -> None:
    bench = Bench(gait=True)
    bench.node.now = 0.0
    bench.take()
    bench.run(5.0)
    assert bench.sent["cmd_vel"][-1].linear.x > 0.0
    bench.gait = False
    bench.take(ticket=8)
    assert bench.sent["cmd_vel"][-1].linear.x == 0.0
    count = len(bench.sent["cmd_vel"])
    bench.run(0.1)
    ((ticket, end),) = bench.ends
    assert ticket == 8 and not end.done
    bench.ends.clear()
    bench.run(5.0)
    assert not any(command.linear.x for command in bench.sent["cmd_vel"][count:]) and not bench.ends


def test_a_mapping_node_that_was_started_again_hears_nothing_of_before() -> None:
    # a stale "you are on the second floor" would renumber all floors
    assert Bench().profiles["~/passage"].durability is DurabilityPolicy.VOLATILE


def test_a_passage_that_failed_is_passed_on() -> None:
    bench = Bench()
    bench.desk.carry_out(PassageFailed(3, "somebody is in the way"))
    assert bench.news == [{"failed": 3, "why": "somebody is in the way"}]
