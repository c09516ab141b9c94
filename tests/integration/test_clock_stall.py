"""Test of a simulated clock that pauses longer than the loop's timeout: directives work afterwards."""

from __future__ import annotations

import time

import pytest
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rosgraph_msgs.msg import Clock as ClockMessage

from integration.surroundings import TIMES, World, chair
from lodestar_interfaces.action import FollowDirective
from lodestar_ros import qos
from lodestar_ros.conversions import stamp_from_msg, stamp_to_msg
from lodestar_ros.nodes.goal_selector_node import CLOCK_PATIENCE

STALL = CLOCK_PATIENCE + 5.0  # s; adds more than verify_time and settle_time to the loop's time
VERIFY = 4.0  # s
PLACE = (1.5, 0.0)
Result = FollowDirective.Result


class SimulatedClock:
    """Publisher of /clock and the robot's transforms."""

    def __init__(self, bed, robot) -> None:
        self.now, self.running = 100.0, True
        self._robot = robot
        self._publisher = bed.node.create_publisher(ClockMessage, "/clock", qos.SENSOR)
        bed.node.create_timer(0.02, self._advance, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _advance(self) -> None:
        if self.running:
            self.now += 0.02
            self._publisher.publish(ClockMessage(clock=stamp_to_msg(self.now)))
            self._robot.publish_transforms(self.now)

    def stand(self, seconds: float) -> None:
        """Pause the clock for some seconds, like a simulator stopped by SIGSTOP."""
        self.running = False
        time.sleep(seconds)
        self.running = True


@pytest.fixture(scope="module")
def world(bed, processes, tmp_path_factory):
    world = World(bed, processes, tmp_path_factory.mktemp("decisions") / "decisions.jsonl")
    world.robot.transforms = False  # the fake robot's transforms have real stamps
    world.clock = bed.on_executor(lambda: SimulatedClock(bed, world.robot))
    parameters = {**TIMES, "loop.verify_time": VERIFY, "use_sim_time": True}
    processes.start("goal_selector", "motion_gate", parameters={"goal_selector": parameters})
    bed.next("goal_selector/heartbeat", lambda beat: stamp_from_msg(beat.header.stamp) > 100.0)
    bed.until_heard(world.scene)
    world.robot.publish_grid()
    return world


def test_a_target_is_found_after_the_clock_has_stood(world):
    world.clock.stand(STALL)
    world.robot.pose = (0.55, 0.0, 0.0)
    world.see(chair(7, PLACE, world.clock.now))
    world.experts["semantic_map"].goes_to(0.55, 0.0, 0.0, entity_id=7)
    goal = world.follow.send(FollowDirective.Goal(text="find the red chair"))
    world.bed.until(lambda: world.nav.driving, "it drives to the chair")
    world.nav.arrive()
    while not goal.future.done():
        world.see(chair(7, PLACE, world.clock.now))
        time.sleep(0.1)
    result = goal.result()
    assert (result.error_code, list(result.entity_ids)) == (Result.NONE, [7]), result.error_msg
    request = world.experts["semantic_map"].requests[0]
    assert request.stamp <= world.clock.now + 1e-6, "a question carries the stamps' time"
    assert stamp_from_msg(result.final_pose.header.stamp) <= world.clock.now + 1e-6
