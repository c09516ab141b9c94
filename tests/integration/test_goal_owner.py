"""Tests that a goal with an owner ends with the owner's process, regardless of other clients; and of dry runs."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

from integration.surroundings import TIMES, World
from lodestar_interfaces.action import FollowDirective
from lodestar_ros.client_watch import DISCOVERY, owner_topic

GRACE = 3.0  # s for which a goal continues without its owner; DDS may assert an owner late
TOPIC = "/" + owner_topic("page")
OWNER = """
import sys, rclpy
from lodestar_ros.client_watch import OwnedGoal
rclpy.init()
node = rclpy.create_node("owner_" + sys.argv[1])
owned = OwnedGoal(node, sys.argv[1])
print("there", flush=True)
rclpy.spin(node)
"""


@pytest.fixture(scope="module")
def world(bed, processes, tmp_path_factory):
    world = World(bed, processes, tmp_path_factory.mktemp("decisions") / "decisions.jsonl")
    parameters = {**TIMES, "client.grace": GRACE}
    processes.start("goal_selector", "motion_gate", parameters={"goal_selector": parameters})
    bed.next("goal_selector/heartbeat")
    world.robot.publish_grid()
    return world


@pytest.fixture(autouse=True)
def clean(world):
    world.reset()
    world.experts["frontier"].goes_to(2.0, 0.0, 0.0)


def send(world, text="find the red chair", **fields):
    """Send a goal and return it, without waiting for motion."""
    return world.follow.send(FollowDirective.Goal(text=text, **fields))


@pytest.fixture
def owner(world):
    """Yield a process that owns goals by the name `page`.

    An earlier test's one, killed, stays in the graph until DDS drops it.
    """
    node = world.bed.node
    there = lambda: {bytes(i.endpoint_gid) for i in node.get_publishers_info_by_topic(TOPIC)}  # noqa: E731
    before = there()
    process = subprocess.Popen([sys.executable, "-c", OWNER, "page"], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline().strip() == "there"
    world.bed.until(lambda: there() - before, "the owner in the graph")
    yield process
    process.kill()
    process.wait()


def test_a_goal_goes_on_while_its_owner_lives_and_ends_when_it_is_killed(world, owner):
    goal = world.drive(owner="page")
    end = time.monotonic() + 2 * GRACE
    world.bed.until(lambda: time.monotonic() > end, "it goes on for longer than the grace")
    assert world.nav.driving
    owner.send_signal(signal.SIGKILL)
    result = goal.result()
    assert result.error_code == FollowDirective.Result.CANCELLED
    world.bed.until(lambda: not world.nav.driving, "the navigator's goal is cancelled")


def test_every_goal_of_a_living_owner_goes_on(world, owner):
    """Each goal starts a new watch of the owner, also if the owner was discovered long before."""
    for _ in range(2):
        goal = world.drive(owner="page")
        end = time.monotonic() + DISCOVERY + GRACE
        world.bed.until(lambda end=end: time.monotonic() > end, "it goes on for longer than a discovery")
        assert world.nav.driving
        goal.cancel()
        world.beat(lambda beat: beat.state == "IDLE")
    goal = world.drive(owner="page")
    killed = world.now()
    owner.send_signal(signal.SIGKILL)
    assert goal.result().error_code == FollowDirective.Result.CANCELLED
    world.assert_soon(killed, 2.0 + GRACE + 2.0)


def test_a_goal_whose_owner_never_was_there_ends(world):
    result = send(world, owner="nobody").result()
    assert result.error_code == FollowDirective.Result.CANCELLED and "is gone" in result.error_msg


@pytest.mark.parametrize("name", ["Page", "a b", "../x", "x" * 80, "1"])
def test_a_name_that_is_none_is_refused_with_a_sentence(world, name):
    result = send(world, owner=name).result()
    assert result.error_code == FollowDirective.Result.NOT_UNDERSTOOD and "owner" in result.error_msg


def test_a_goal_that_is_only_read_says_what_is_understood_and_begins_nothing(world):
    result = send(world, "find the red chair and keep away from the plant", dry_run=True).result()
    assert result.success and "red chair" in result.report and "plant" in result.report
    refused = send(world, "flurb the blarg of the", dry_run=True).result()
    assert refused.error_code == FollowDirective.Result.NOT_UNDERSTOOD and refused.error_msg
    beat = world.beat()
    assert beat.state == "IDLE" and not world.nav.driving


def test_reading_stop_stops_nothing(world):
    goal = world.drive()
    assert send(world, "stop", dry_run=True).result().success
    assert world.nav.driving
    goal.cancel()
