"""A navigator that looks aside on its way: what it shows, what it costs, and where it does not."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from navigator_drives import Drive, blocked, free_room

from lodestar.grid.config import LookConfig
from lodestar.grid.looks import Looks
from lodestar_sim.follower_config import FollowerConfig, aside_angle
from lodestar_sim.navigator import Navigator, NavigatorConfig, NavigatorStatus

LEADS = NavigatorConfig()
WALKS = replace(LEADS, follower=FollowerConfig(looks_aside=True))


def driven(config: NavigatorConfig, grid, goal=(18.0, 6.0, 0.0)) -> tuple[Drive, float]:
    """A drive from the left, and the share of the floor that its camera looked at."""
    drive = Drive((2.0, 6.0, 0.0), grid, Navigator(config))
    drive.navigator.set_goal(goal)
    status = drive.until_done()
    assert status.status is NavigatorStatus.SUCCEEDED
    looks = Looks(LookConfig())
    looks.set_grid(grid)
    for k, pose in enumerate(drive.track):
        looks.look(pose, float(pose[2]), float(k))
    return drive, looks.share(grid.free)


def test_in_a_hall_it_sees_more_and_takes_no_longer():
    hall = free_room(20.0, 12.0)
    aside, shown = driven(WALKS, hall)
    ahead, alone = driven(LEADS, hall)
    assert shown > 1.03 * alone
    assert aside.now < 1.03 * ahead.now
    turned = np.array(aside.track)[:, 2]
    assert 0.2 < np.abs(turned).max() < aside_angle(FollowerConfig()) + 0.05
    assert np.abs(np.array(ahead.track)[:, 2]).max() < 0.1


def test_between_walls_it_walks_as_it_did():
    corridor = blocked(blocked(free_room(20.0, 12.0), 0.0, 0.0, 20.0, 5.45), 0.0, 6.55, 20.0, 12.0)
    (aside, shown), (ahead, alone) = driven(WALKS, corridor), driven(LEADS, corridor)
    assert shown == pytest.approx(alone) and aside.now == pytest.approx(ahead.now)


def test_what_was_seen_on_the_way_there_is_not_looked_at_on_the_way_back():
    drive, _ = driven(WALKS, free_room(20.0, 12.0))
    for yaw in np.linspace(-math.pi, math.pi, 24):
        for x in range(2, 19, 2):
            drive.now += 0.3
            drive.navigator._follower.headings.look(drive.grid, np.array([x, 6.0, yaw]), drive.now)
    since = len(drive.track)
    drive.navigator.set_goal((2.0, 6.0, math.pi))
    assert drive.until_done(500.0).status is NavigatorStatus.SUCCEEDED
    back = np.array(drive.track[since + 80 :])  # without its turn
    assert np.abs(np.remainder(back[:, 2], 2.0 * math.pi) - math.pi).max() < 0.1


def test_a_body_that_walks_sideways_as_fast_as_ahead_still_sees_its_way():
    drive, _ = driven(
        replace(WALKS, follower=FollowerConfig(max_lateral=2.0, looks_aside=True)), free_room(20.0, 12.0)
    )
    assert np.abs(np.array(drive.track)[:, 2]).max() <= LookConfig().fov / 2.0 + 0.05


@pytest.mark.parametrize("fov", [math.pi, 2.0 * math.pi])
def test_a_camera_that_sees_all_around_on_a_body_that_walks_sideways_as_fast(fov):
    config = NavigatorConfig(
        follower=FollowerConfig(max_lateral=0.75, looks_aside=True), looks=LookConfig(fov=fov)
    )
    driven(config, free_room(20.0, 12.0))
