"""A directive whose client is killed: it ends and the robot stands; where it is told to, it goes on."""

from __future__ import annotations

import time

import pytest

from integration.commands import Command
from integration.surroundings import TIMES, World

GRACE = 1.0  # s
LEASE = 3  # s after which DDS gives up a client that was killed; 20 by default
SHORT_LEASE = f"""<?xml version="1.0" encoding="UTF-8"?>
<profiles xmlns="http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles">
  <participant profile_name="short_lease" is_default_profile="true"><rtps><builtin><discovery_config>
    <leaseDuration><sec>{LEASE}</sec></leaseDuration>
    <leaseAnnouncement><sec>1</sec></leaseAnnouncement>
  </discovery_config></builtin></rtps></participant>
</profiles>
"""


@pytest.fixture(scope="module")
def world(bed, processes, tmp_path_factory):
    world = World(bed, processes, tmp_path_factory.mktemp("decisions") / "decisions.jsonl")
    parameters = {**TIMES, "client.grace": GRACE}
    processes.start("goal_selector", "motion_gate", parameters={"goal_selector": parameters})
    bed.next("goal_selector/heartbeat")
    world.robot.publish_grid()
    return world


@pytest.fixture
def client(world, domain, tmp_path):
    """Sends a directive from a process of its own, which the frontier expert has a goal for when it comes; nobody else
    here is a client of the action.
    """
    world.reset()
    world.experts["frontier"].goes_to(2.0, 0.0, 0.0)
    profile = tmp_path / "short_lease.xml"
    profile.write_text(SHORT_LEASE)
    environment = {"ROS_DOMAIN_ID": str(domain), "FASTDDS_DEFAULT_PROFILES_FILE": str(profile)}
    sent = Command("lodestar_ros.send_directive", "find the red chair", environment=environment)
    yield sent
    sent.kill()


def test_the_robot_stands_when_the_client_was_killed(world, client):
    world.bed.until(lambda: world.nav.driving and world.moving(), "the robot moves")
    beats = len(world.bed.heard["goal_selector/heartbeat"])
    world.bed.until(
        lambda: world.moving() and len(world.bed.heard["goal_selector/heartbeat"]) > beats + 20 * 2 * GRACE,
        "it goes on for longer than the grace while the client is there",
    )
    killed = time.monotonic()
    client.kill()
    world.bed.until(lambda: not world.nav.driving, "the navigator's goal is cancelled")
    world.bed.next("goal_selector/heartbeat", lambda beat: beat.state == "IDLE" and not beat.motion_allowed)
    assert time.monotonic() - killed > GRACE, "not before the grace is over"
    world.assert_stops_after(time.monotonic())
    assert "Whoever sent this is gone" in world.processes.log("goal_selector")
