"""Tests of the drive to a target: the loop switches only to a better one, and stops early if it already faces it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from agent_fakes import FACING, World, entity, exploring, find, proposal, room

from lodestar.agent.decisions.approach import better_target, pose_here
from lodestar.agent.errands.commands import SendGoal
from lodestar.agent.facts.config import LoopConfig
from lodestar.grid.success_pose import is_facing
from lodestar.query.targets import TargetView
from lodestar.query.verdict import Candidate
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import SceneDelta

CONFIG = LoopConfig()
NEAR, FAR = entity(1, 4.0, 2.0), entity(2, 9.0, 2.0)
HERE = np.array([2.0, 2.0, 0.0])


def view_of(**scores: float) -> TargetView:
    candidates = tuple(Candidate(int(name[1:]), score, score) for name, score in scores.items())
    return TargetView(candidates, candidates)


@pytest.mark.parametrize(
    ("near", "far", "current", "remaining", "better"),
    [
        (0.9, 0.9, FAR, 7.0, NEAR),  # equally good and much nearer
        (0.86, 0.9, FAR, 7.0, NEAR),
        (0.8, 0.9, FAR, 7.0, None),  # nearer, but a worse match
        (0.9, 0.9, NEAR, 2.0, None),
        (0.7, 0.9, NEAR, 2.0, FAR),  # a clearly better match
        (0.8, 0.9, NEAR, 2.0, None),  # better, but not enough to turn back
        (0.9, 0.9, FAR, 3.0, None),  # almost at the target
        (0.9, 0.9, FAR, math.nan, None),  # the remaining distance is unknown
    ],
)
def test_a_target_is_left_only_for_one_that_is_clearly_better(near, far, current, remaining, better):
    found = better_target(view_of(e1=near, e2=far), current, [NEAR, FAR], HERE, remaining)
    assert (found[0] if found else None) is better


def test_the_loop_goes_over_to_a_better_target_and_does_not_turn_back():
    def semantic(request):
        wanted = 8 if 8 in world.targets.scores else 7
        x, y, yaw = FACING if wanted == 7 else (2.0, 7.2, math.pi / 2)
        return proposal(x, y, yaw, 0.9, wanted)

    world = World(answers={"semantic_map": semantic, "frontier": exploring((5.0, 9.0, 0.0))}, speed=0.5)
    world.mirror.put(entity(7, 8.0, 5.0), entity(8, 2.0, 8.0))
    world.targets.scores = {7: 0.62}
    world.loop.start(find(), 0.0)
    world.run(until=lambda: world.now > 5.0)
    assert [goal.entity_id for goal in world.of(SendGoal)] == [7]
    world.targets.scores[8] = 0.95
    world.run()
    assert world.result.success and world.result.entity_ids == (8,)
    assert [goal.entity_id for goal in world.of(SendGoal)][:2] == [7, 8]
    assert 7 not in [goal.entity_id for goal in world.of(SendGoal)][1:]


def test_where_it_can_be_faced_from_here_the_pose_is_here():
    chair = entity(1, 5.0, 5.0)
    here = np.array([4.0, 5.0, 0.6])
    pose = pose_here(room(), here, chair, (), np.array([5.0, 4.2, math.pi / 2]), CONFIG)
    assert pose is not None and math.dist(pose[:2], here[:2]) < 1e-9
    assert is_facing(pose, chair.box_min, chair.box_max, max_bearing=CONFIG.confirm_bearing)


@pytest.mark.parametrize(
    ("here", "goal", "excluded"),
    [
        ((1.0, 5.0, 0.0), (4.2, 5.0, 0.0), ()),  # too far from the target
        ((4.0, 5.0, 0.0), (4.1, 5.0, 0.0), ()),  # saves too little
        ((4.0, 5.0, 0.0), (5.0, 4.2, 1.57), ((4.0, 5.0, 0.0),)),  # this pose was tried before
        ((20.0, 5.0, 0.0), (5.0, 4.2, 1.57), ()),  # outside the map
    ],
)
def test_elsewhere_the_way_goes_on(here, goal, excluded):
    assert pose_here(room(), np.array(here), entity(1, 5.0, 5.0), excluded, np.array(goal), CONFIG) is None


def test_behind_a_wall_the_way_goes_on():
    grid = room()
    cells = grid.cells.copy()
    cells[:, 44:46] = 100
    walled = replace(grid, cells=cells)
    assert (
        pose_here(
            walled, np.array([4.0, 5.0, 0.0]), entity(1, 5.0, 5.0), (), np.array([5.0, 4.2, 1.57]), CONFIG
        )
        is None
    )


def test_where_the_edge_of_its_table_hides_it_the_way_goes_on():
    bag = replace(entity(1, 5.0, 5.0), box_min=np.array([4.9, 4.9, 0.75]), box_max=np.array([5.1, 5.1, 1.05]))
    here, goal = np.array([3.8, 5.0, 0.0]), np.array([5.0, 4.0, math.pi / 2])

    def on_a_table_from(x: float) -> np.ndarray | None:
        table = replace(
            entity(2, 5.0, 5.0), box_min=np.array([x, 4.5, 0.0]), box_max=np.array([5.15, 5.5, 0.74])
        )
        scene = SceneMirror()
        scene.apply(SceneDelta(0.0, 1, 0, (bag, table)))
        return pose_here(room(), here, bag, (), goal, CONFIG, scene)

    assert on_a_table_from(4.85) is not None  # the table's edge is right in front of the bag
    assert on_a_table_from(4.2) is None
