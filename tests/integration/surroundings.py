"""Test environment of a goal selector and a motion gate: fake navigator, experts, scene and base."""

from __future__ import annotations

import time

import numpy as np
from geometry_msgs.msg import Twist
from std_srvs.srv import SetBool
from waiting import PATIENCE, late

from integration.fakes import FakeExpert, FakeNav2, FakeRobot
from lodestar.scene.records import Entity, SceneDelta
from lodestar_interfaces import msg
from lodestar_interfaces.action import FollowDirective
from lodestar_interfaces.msg import Holds
from lodestar_interfaces.srv import GetEntities, ReleaseHold
from lodestar_ros import qos
from lodestar_ros.conversions import stamp_from_msg
from lodestar_ros.conversions_scene import scene_to_msg

STOP_BOUND = 0.5  # s
EXPERTS = ("frontier", "semantic_map", "ego_vlm")

LONG = 120.0  # s, which no fake needs, also on a busy machine

#: Long timeouts, for tests that are not about them.
PATIENT = {
    "loop.accept_timeout": LONG,
    "loop.expert_deadline": LONG,
    "loop.memory_patience": LONG,
    "loop.navigator_timeout": LONG,
    "loop.no_expert_timeout": LONG,
    "loop.no_map_timeout": LONG,
    "loop.pose_patience": LONG,
    "loop.stuck_time": LONG,
    "loop.verify_time": LONG,
    "navigator.answer_timeout": LONG,
    "navigator.silence_timeout": LONG,
}

#: Patience among fakes.
TIMES = PATIENT | {
    "loop.grid_patience": 0.0  # the fake robot publishes its grid once
}

#: Short patience, for tests of what comes when it is over.
IMPATIENT = TIMES | {
    "loop.expert_deadline": 1.0,
    "loop.memory_patience": 3.0,
    "loop.navigator_timeout": 2.0,
    "loop.no_expert_timeout": 2.0,
    "loop.no_map_timeout": 1.5,
    "loop.verify_time": 1.5,
    "navigator.answer_timeout": 2.0,
    "navigator.silence_timeout": 2.0,
}


def moves(twist):
    return any((twist.linear.x, twist.linear.y, twist.angular.z))


def release_all(bed):
    """Release what the gate tells, as a person would."""
    bed.hear(Holds, "motion_gate/holds", qos.LATCHED) if "motion_gate/holds" not in bed.topics else None
    while (told := bed.until(lambda: bed.last("motion_gate/holds"), "the gate's word")).standing:
        for one in told.standing:
            bed.call(ReleaseHold, "motion_gate/release_hold", ReleaseHold.Request(number=one.number))
        numbers = [one.number for one in told.standing]
        bed.until(
            lambda numbers=numbers: (
                not {one.number for one in bed.last("motion_gate/holds").standing} & {*numbers}
            ),
            "the release is told",
        )


def sent_beat(bed, fits=lambda beat: True):
    """Return the first heartbeat that was sent from now on and fits; of simulated time, after the newest one."""
    newest = bed.until(lambda: bed.last("goal_selector/heartbeat"), "a heartbeat")
    now, since = time.time(), stamp_from_msg(newest.header.stamp)
    since = now if now - since < 3600.0 else since
    return bed.next(
        "goal_selector/heartbeat", lambda beat: stamp_from_msg(beat.header.stamp) > since and fits(beat)
    )


def release_until_idle(bed):
    """Release until the goal selector is idle: the hold of one that was killed may still be on its way."""
    end = time.monotonic() + PATIENCE
    while True:
        release_all(bed)
        beat = sent_beat(bed)
        if beat.state == "IDLE" and beat.follows == bed.last("motion_gate/holds").number:
            return
        if time.monotonic() > end:
            raise AssertionError(late(f"the goal selector is idle; it is {beat.state}"))


class World:
    """Test environment of the two processes: fakes, publishers and clients."""

    def __init__(self, bed, processes, log):
        self.bed, self.processes, self.log = bed, processes, log
        self.robot = bed.on_executor(lambda: FakeRobot(bed, looks=True))
        self.nav = bed.on_executor(lambda: FakeNav2(bed))
        self.experts = bed.on_executor(lambda: {name: FakeExpert(bed, name) for name in EXPERTS})
        self.revision = 0
        self.scene = bed.on_executor(self._make_scene)
        bed.hear(Twist, "cmd_vel_out", qos.COMMAND)
        bed.hear(msg.Heartbeat, "goal_selector/heartbeat", qos.COMMAND)
        bed.hear(msg.Decision, "goal_selector/decision", qos.EVENT)
        bed.hear(msg.Directive, "goal_selector/directive", qos.LATCHED)
        bed.hear(msg.ReasoningTrace, "goal_selector/traces", qos.HISTORY)
        self.entities = {}

    def _make_scene(self):
        node = self.bed.node
        node.create_service(GetEntities, "scene_dictionary/get_entities", self._on_get_entities)
        return node.create_publisher(msg.SceneDelta, "scene_dictionary/entities", qos.EVENT)

    def _on_get_entities(self, request, response):
        delta = SceneDelta(time.time(), self.revision, request.since_revision, tuple(self.entities.values()))
        response.delta, _ = scene_to_msg(delta)
        response.until_id = GetEntities.Request.ALL
        return response

    def see(self, *entities):
        self.entities.update({entity.id: entity for entity in entities})
        self.revision += 1
        delta = SceneDelta(time.time(), self.revision, self.revision - 1, entities)
        self.scene.publish(scene_to_msg(delta)[0])

    @property
    def follow(self):
        return self.bed.action(FollowDirective, "follow_directive")

    def beat(self, fits=lambda beat: True):
        """Return the first heartbeat that was sent from now on and fits."""
        return sent_beat(self.bed, fits)

    def moving(self):
        return self.last_nonzero() > time.monotonic() - 0.2

    def last_nonzero(self):
        return next((at for at, twist in reversed(self.bed.heard["cmd_vel_out"]) if moves(twist)), 0.0)

    def drive(self, text="find the red chair", **options):
        """Start a directive, wait until the robot moves, and return the goal."""
        self.experts["frontier"].goes_to(2.0, 0.0, 0.0)
        goal = self.follow.send(FollowDirective.Goal(text=text, **options))
        self.bed.until(lambda: self.nav.driving and self.moving(), "the robot moves")
        return goal

    def now(self):
        return self.processes.now()

    def assert_stops_after(self, moment, bound=STOP_BOUND):
        """Check that after `moment` + STOP_BOUND only zero velocities are published, and that they are published."""
        self.bed.until(
            lambda: any(at > moment.at + bound + 0.5 for at, _ in self.bed.heard["cmd_vel_out"]),
            "the gate goes on saying zeros",
        )
        late = moment.until(self.last_nonzero())
        assert late <= bound, f"still moving {late:.2f} s later"

    def assert_soon(self, moment, seconds=2.0):
        """Not more than seconds have passed since a moment."""
        late = moment.passed()
        assert late <= seconds, f"{late:.2f} s later"

    def leave_nothing(self):
        """End what a failed test has left: nodes that are dead, and a directive that runs."""
        self.processes.revive("goal_selector", "motion_gate")
        if self.beat().state not in ("IDLE", "HELD"):
            self.bed.call(SetBool, "goal_selector/hold", SetBool.Request(data=True))

    def reset(self):
        self.leave_nothing()
        self.nav.mode = "drive"
        if self.nav._server is None:
            self.nav.up()
        for expert in self.experts.values():
            expert.answer = expert.nothing
            expert.requests.clear()
            expert.thinking.clear()
        release_until_idle(self.bed)
        self.bed.until_heard(self.scene)
        self.bed.forget("cmd_vel_out")
        self.robot.transforms = True
        self.robot.publish_grid()


def another_place_each_time(expert):
    """Return an `answer` function with which an expert proposes a new place at each request."""
    places = iter(range(1000))

    def answer(request):
        place = next(places)
        expert.goes_to(-3.0 + 0.5 * (place % 13), -3.0 + 1.0 * (place // 13), 0.0)
        proposal = expert.answer(request)
        expert.answer = answer
        return proposal

    return answer


def chair(identity, place, last_seen):
    x, y = place
    low, high = np.array([x - 0.25, y - 0.25, 0.0]), np.array([x + 0.25, y + 0.25, 0.9])
    return Entity(
        identity, "chair", "red chair", (low + high) / 2, np.eye(3) * 0.02, low, high, attributes=("red",),
        observation_count=9, first_seen=1.0, last_seen=last_seen,
    )  # fmt: skip
