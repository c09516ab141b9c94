"""Tests of the passage driver, which does not move while the robot's pose is unknown."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lodestar.agent.errands.commands import TakePassage
from lodestar.assembly.passage_driver import PassageDriver
from lodestar.floors.records import Passage, PassageKind
from lodestar.geometry.poses import planar_transform

LIFT = Passage(4, PassageKind.LIFT, (5.0, 3.0), (5.0, 3.0), 0.0, lower=1)
FLIGHT = Passage(3, PassageKind.STAIRS, (5.0, 3.0), (10.0, 3.0), 0.0, lower=1, upper=2, slope=0.52)
TICK = 0.05
UNKNOWN = {
    "old": (np.eye(4), -math.inf),
    "not finite": (np.full((4, 4), np.nan), None),
    "of another clock": (planar_transform(5.3, 3.0, 0.0), 3600.0),
}


def moving(passage: Passage) -> tuple[PassageDriver, float]:
    """Return a driver on its path into a lift, or to the first step, and the time."""
    driver, now = PassageDriver(), 0.0
    driver.take(TakePassage(1, None, passage, 1, 1))
    driver.update(now, planar_transform(4.5, 3.0, 0.0))
    driver.hear(True)
    for _ in range(4):
        now += TICK
        step = driver.update(now, planar_transform(4.5, 3.0, 0.0), now)
    assert step is not None and step.command[0] > 0.0
    return driver, now


@pytest.mark.parametrize("passage", [LIFT, FLIGHT], ids=["lift", "stairs"])
@pytest.mark.parametrize("unknown", UNKNOWN.values(), ids=UNKNOWN)
def test_without_a_pose_it_stands_and_then_gives_up(passage, unknown) -> None:
    driver, now = moving(passage)
    pose, stamp = unknown
    for _ in range(round(10.0 / TICK)):
        now += TICK
        step = driver.update(now, pose, stamp)
        assert step is not None
        np.testing.assert_array_equal(step.command, np.zeros(3))
        if step.end is not None:
            break
    assert step.end is not None and not step.end.done and "where I am" in step.end.why
    assert driver.ticket == 0 and driver.update(now, pose, stamp) is None


@pytest.mark.parametrize("passage", [LIFT, FLIGHT], ids=["lift", "stairs"])
def test_it_goes_on_when_the_pose_comes_back(passage) -> None:
    driver, now = moving(passage)
    for _ in range(round(2.0 / TICK)):
        now += TICK
        driver.update(now, np.eye(4), -math.inf)
    step = driver.update(now + TICK, planar_transform(4.5, 3.0, 0.0), now + TICK)
    assert step is not None and step.end is None and step.command[0] > 0.0
