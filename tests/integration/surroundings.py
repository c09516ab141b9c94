"""Everything around a goal selector and a motion gate: a fake navigator, fake experts, a scene, a base."""

from __future__ import annotations

import time

import numpy as np
from geometry_msgs.msg import Twist
from std_srvs.srv import SetBool

from integration.fakes import FakeExpert, FakeNav2, FakeRobot
from lodestar.scene.records import Entity, SceneDelta
from lodestar_interfaces import msg
from lodestar_interfaces.action import FollowDirective
from lodestar_interfaces.srv import GetEntities
from lodestar_ros import qos
from lodestar_ros.conversions_scene import scene_to_msg

STOP_BOUND = 0.5  # s
EXPERTS = ("frontier", "semantic_map", "ego_vlm")

#: Short patience, so that the suite is; what is tested is that it ends, and how.
TIMES = {
    "loop.expert_deadline": 1.0,
    "loop.no_map_timeout": 1.5,
    "loop.grid_patience": 0.0,  # the fake robot gives its grid once
    "loop.no_expert_timeout": 2.0,
    "loop.navigator_timeout": 2.0,
    "loop.retry_interval": 0.2,
    "loop.verify_time": 1.5,
    "loop.look_time": 0.1,
    "loop.max_navigation_failures": 3,
    "loop.max_viewpoints": 2,
    "loop.max_retreats": 1,
    "navigator.silence_timeout": 2.0,
    "navigator.answer_timeout": 2.0,
}


def moves(twist):
    return any((twist.linear.x, twist.linear.y, twist.angular.z))


class World:
    """Everything around the two processes."""

    def __init__(self, bed, processes, log):
        self.bed, self.processes, self.log = bed, processes, log
        self.robot = bed.on_executor(lambda: FakeRobot(bed))
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

    def moving(self):
        return self.last_nonzero() > time.monotonic() - 0.2

    def last_nonzero(self):
        return max((at for at, twist in self.bed.heard["cmd_vel_out"] if moves(twist)), default=0.0)

    def drive(self, text="find the red chair", **options):
        """A directive under way with the robot moving."""
        self.experts["frontier"].goes_to(2.0, 0.0, 0.0)
        goal = self.follow.send(FollowDirective.Goal(text=text, **options))
        self.bed.until(lambda: self.nav.driving and self.moving(), "the robot moves")
        return goal

    def assert_stops_after(self, moment):
        """No velocity later than the bound after a moment, and zeros are still said."""
        self.bed.until(lambda: time.monotonic() > moment + 1.2, "a second passes")
        late = self.last_nonzero() - moment
        assert late <= STOP_BOUND, f"still moving {late:.2f} s later"
        assert any(at > moment + STOP_BOUND for at, _ in self.bed.heard["cmd_vel_out"]), (
            "the gate fell silent"
        )

    def reset(self):
        self.nav.mode = "drive"
        if self.nav._server is None:
            self.nav.up()
        for expert in self.experts.values():
            expert.answer = expert.nothing
            expert.requests.clear()
            expert.thinking.clear()
        self.bed.call(SetBool, "motion_gate/hold", SetBool.Request(data=False))
        self.bed.call(SetBool, "goal_selector/hold", SetBool.Request(data=False))
        self.bed.next("goal_selector/heartbeat", lambda beat: beat.state == "IDLE")
        self.bed.forget("cmd_vel_out")
        self.robot.transforms = True
        self.robot.publish_grid()


def another_place_each_time(expert):
    """Answers that never name one place twice."""
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
