"""Tests of a directive whose client is killed or cut off: it ends and the robot stops, beside other clients too."""

from __future__ import annotations

import signal
import time

import pytest
from rclpy.action import ActionClient
from waiting import PATIENCE, Moment

from integration.commands import Command
from integration.surroundings import TIMES, World
from lodestar_interfaces.action import FollowDirective
from lodestar_ros import qos

BOUND = 3.0  # s from the client's death to the end of its directive, with the default client.grace
GRACE = 1.0  # s


@pytest.fixture(scope="module")
def world(bed, processes, tmp_path_factory):
    world = World(bed, processes, tmp_path_factory.mktemp("decisions") / "decisions.jsonl")
    processes.start("goal_selector", "motion_gate", parameters={"goal_selector": TIMES})
    bed.next("goal_selector/heartbeat")
    world.robot.publish_grid()
    return world


@pytest.fixture(autouse=True)
def clean(world):
    world.reset()
    world.experts["frontier"].goes_to(2.0, 0.0, 0.0)


def goes_on(world, seconds):
    """Wait for some seconds, in which the directive must go on."""
    world.bed.until(lambda: world.nav.driving and world.moving(), "the robot moves")
    end = time.monotonic() + seconds
    world.bed.until(lambda: time.monotonic() > end, "it goes on while the client is there")
    assert world.nav.driving


def ends(world, killed):
    """Wait for the end of the directive; return the seconds since a moment, and those of waits for a core."""
    world.bed.until(lambda: not world.nav.driving, "the navigator's goal is cancelled")
    took, waits = time.monotonic() - killed.at, killed.waits()
    world.beat(lambda beat: beat.state == "IDLE" and not beat.motion_allowed)
    world.assert_stops_after(world.now())
    return took, waits


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP, signal.SIGTERM])
def test_the_robot_stands_when_the_client_was_killed_or_cut_off(world, number):
    node, feedback = world.bed.node, FollowDirective.Impl.FeedbackMessage
    side = world.bed.mortal
    idle = side.on_executor(lambda: ActionClient(side.node, FollowDirective, "follow_directive"))
    recorder = world.bed.on_executor(
        lambda: node.create_subscription(
            feedback, "follow_directive/_action/feedback", lambda _: None, qos.EVENT
        )
    )
    client = Command("lodestar_ros.send_directive", "find the red chair")
    try:
        goes_on(world, 2 * GRACE)
        client.process.send_signal(number)
        client.process.wait(PATIENCE)  # one that is cut off may cancel its directive before
        took, waits = ends(world, world.now())
        assert took - waits < BOUND
        if number == signal.SIGKILL:
            world.bed.until(
                lambda: "Whoever sent this is gone" in world.processes.log("goal_selector"), "it says so"
            )
    finally:
        client.kill()
        side.on_executor(idle.destroy)
        world.bed.on_executor(lambda: node.destroy_subscription(recorder))


def test_the_robot_stands_when_a_client_without_an_owner_was_killed(world, unowned):
    client = unowned()
    goes_on(world, 2 * GRACE)
    killed = Moment.now()
    client.kill()
    assert ends(world, killed)[0] > GRACE, "not before the grace is over"
