"""Tests that a search for a target beyond stairs without a detour ends with TARGET_UNREACHABLE."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("open3d", reason="open3d is not installed (pip install lodestar_sim)")

from embedders import LetterEmbedder

from lodestar.agent.facts.errors import ErrorCode
from lodestar.assembly.config import changed
from lodestar.models.phrases import PhraseBook
from lodestar_eval.episode import EpisodeRunner
from lodestar_eval.settings import NOISES, EpisodeSettings, robot_config
from lodestar_sim.tasks import Task
from lodestar_sim.worlds.elements import Slab, Wall
from lodestar_sim.worlds.world import Room, World, WorldObject

STEPS, TREAD, RISE = 8, 0.3, 0.17  # stairs that span from wall to wall: number, m, m
FAR = STEPS * TREAD  # m, x at which the other hall begins
TIME_LIMIT = 150.0  # s; more than a search of both halls needs
ON = changed(robot_config(NOISES["none"]), mapping__octomap__floor__enabled=True)


def chair(identity: int, color: str, x: float, y: float, yaw: float) -> WorldObject:
    return WorldObject(
        identity, "chair", f"{color} chair", color, "fabric", (0.5, 0.48, 0.88), "param:chair/dining",
        (x, y, 0.0, yaw), movable=True,
    )  # fmt: skip


def two_halls() -> World:
    """Return halls of 4 x 4 m on one level, separated by stairs that lead down to a wall."""
    walls = (
        Wall(-4.1, -2.1, -4.0, 2.1, 0.0, 2.8), Wall(FAR + 4.0, -2.1, FAR + 4.1, 2.1, 0.0, 2.8),
        Wall(-4.0, -2.1, FAR + 4.0, -2.0, -1.6, 2.8), Wall(-4.0, 2.0, FAR + 4.0, 2.1, -1.6, 2.8),
        Wall(FAR, -2.0, FAR + 0.05, 2.0, -1.6, -0.001),
    )  # fmt: skip
    treads = tuple(
        Slab(k * TREAD, -2.0, (k + 1) * TREAD, 2.0, -RISE * (k + 1), "gray", "concrete") for k in range(STEPS)
    )
    slabs = (
        Slab(-4.0, -2.0, 0.0, 2.0, 0.0, "beige", "tile"),
        Slab(FAR, -2.0, FAR + 4.0, 2.0, 0.0, "beige", "tile"),
        Slab(-4.0, -2.0, FAR + 4.0, 2.0, 2.8, "white", "plaster", ceiling=True),
        *treads,
    )
    rooms = tuple(
        Room(identity, label, ((x, -2.0), (x + 4.0, -2.0), (x + 4.0, 2.0), (x, 2.0)))
        for identity, label, x in ((1, "hall", -4.0), (2, "office", FAR))
    )
    objects = (chair(1, "blue", -3.4, -1.3, 0.0), chair(2, "red", FAR + 1.0, 0.8, np.pi))
    bounds = (-4.1, -2.1, FAR + 4.1, 2.1)
    return World("halls", "apartment", 0, bounds, (-2.0, 0.0, 0.0), rooms, walls, slabs, objects)


@pytest.mark.parametrize(
    ("what", "code"),
    [("red chair", ErrorCode.TARGET_UNREACHABLE), ("green plant", ErrorCode.TARGET_NOT_FOUND)],
)
def test_a_search_for_what_no_way_leads_to_ends_with_a_stated_code(what, code):
    world = two_halls()
    settings = EpisodeSettings(time_limit=TIME_LIMIT, robot=ON, thinking=0.05)
    task = Task(f"find the {what}", (2,), (-2.0, 0.0, 0.0))
    run = EpisodeRunner(PhraseBook(LetterEmbedder()), settings).run(world, task, 1)
    assert run.outcome.falls == 0
    assert run.result.error_code is code, run.result.error_msg
    assert run.outcome.duration < 0.7 * TIME_LIMIT
    assert run.path[:, 1].max() < 0.0, "it has not walked onto the stairs"
