"""Tests that a map saved by one stack is available in a fresh one at once: objects, rooms, and the planning grid."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest
from nav_msgs.msg import OccupancyGrid
from waiting import wait_for

from integration.fakes import FakeRobot
from lodestar.language.grammar import parse_directive
from lodestar.storage.saved_map import GRID
from lodestar_interfaces import msg
from lodestar_interfaces.action import LoadMap, ProposeGoal, SaveMap
from lodestar_interfaces.srv import GetEntities
from lodestar_ros import qos
from lodestar_ros.conversions import grid_from_msg, planar_to_stamped
from lodestar_ros.conversions_language import directive_to_msg
from lodestar_ros.conversions_scene import scene_from_msg

pytestmark = pytest.mark.slow

FIRST = ("mapping", "perception", "semantic_voxels", "scene_dictionary", "keyframes", "text_embedder")
FRESH = ("mapping", "semantic_voxels", "scene_dictionary", "semantic_map_expert", "text_embedder")


def labels_of(bed) -> dict[int, str]:
    response = bed.call(GetEntities, "scene_dictionary/get_entities", GetEntities.Request())
    return {entity.id: entity.label for entity in scene_from_msg(response.delta).updated}


@pytest.fixture(scope="module")
def saved(bed, processes, tmp_path_factory):
    """Return the folder of a saved map, its grid and its objects."""
    robot = bed.on_executor(lambda: FakeRobot(bed))
    bed.hear(msg.SceneDelta, "scene_dictionary/entities", qos.EVENT)
    bed.hear(OccupancyGrid, "grid", qos.LATCHED)
    processes.start(*FIRST)
    bed.until(lambda: all(bed.diagnosis(name) for name in FIRST), "every node's diagnostics")
    heard = bed.heard["scene_dictionary/entities"]
    robot.watch(lambda: any(scene_from_msg(delta).updated for _, delta in heard), "an entity")
    robot.turn(lambda: bed.heard["grid"] and grid_from_msg(bed.last("grid")).free_area > 3.0, "a grid")
    folder = tmp_path_factory.mktemp("maps") / "map"
    result = bed.action(SaveMap, "scene_dictionary/save").result(SaveMap.Goal(path=str(folder)))
    assert result.error_code == 0, result.error_msg
    processes.assert_alive()
    known = folder, grid_from_msg(bed.last("grid")), labels_of(bed)
    processes.stop()
    return known


@pytest.fixture(scope="module")
def fresh(bed, saved, processes):
    """Yield a fresh stack, of a robot that has seen nothing yet."""
    bed.forget("grid")
    bed.forget("/diagnostics")
    bed.hear(msg.RegionArray, "scene_dictionary/regions", qos.LATCHED)
    processes.start(*FRESH)
    bed.until(lambda: all(bed.diagnosis(name) for name in FRESH), "every node's diagnostics")
    yield bed
    processes.assert_alive()


def load(bed, folder):
    return bed.action(LoadMap, "scene_dictionary/load").result(LoadMap.Goal(path=str(folder)))


def known(bed) -> bool:
    """Return whether the newest grid has any known cell."""
    return max(bed.last("grid").data) >= 0


def test_a_damaged_grid_is_refused_and_nothing_is_loaded(fresh, saved):
    folder, _, _ = saved
    part = folder / (folder / "CURRENT").read_text().strip() / GRID
    content = part.read_bytes()
    part.write_bytes(content[:-100] + bytes(100))
    result = load(fresh, folder)
    part.write_bytes(content)
    assert result.error_code == LoadMap.Result.BAD_FORMAT and GRID in result.error_msg
    assert not labels_of(fresh) and not fresh.heard["grid"]


def test_refused_voxels_leave_the_grid_as_it_was(fresh, saved):
    folder, _, _ = saved
    part = folder / (folder / "CURRENT").read_text().strip() / "voxels.lodestar"
    content = part.read_bytes()
    part.write_bytes(content[:-100] + bytes(100))
    result = load(fresh, folder)
    part.write_bytes(content)
    assert result.error_code == LoadMap.Result.BAD_FORMAT
    assert "voxels.lodestar" in result.error_msg
    assert not labels_of(fresh) and not fresh.heard["grid"], "the grid is not even shown"


def test_the_grid_is_there_at_once_and_the_expert_plans_on_it(fresh, saved):
    folder, grid, labels = saved
    result = load(fresh, folder)
    assert result.error_code == 0, result.error_msg
    fresh.until(lambda: fresh.last("grid") is not None and known(fresh), "a grid")
    loaded = grid_from_msg(fresh.last("grid"))
    assert loaded.free_area == pytest.approx(grid.free_area, rel=0.1)
    fresh.until(lambda: set(labels) <= set(labels_of(fresh)), "the loaded entities")
    directive = directive_to_msg(parse_directive("find the red box"))
    pose = planar_to_stamped(np.zeros(3), time.time())
    propose = fresh.action(ProposeGoal, "semantic_map_expert/propose")
    goal = ProposeGoal.Goal(epoch=1, directive=directive, robot_pose=pose)

    def proposed():  # wait for embedding of phrases and paging of entities
        answer = propose.result(goal)
        return answer if answer.error_code == 0 else None

    answer = wait_for(proposed, "a proposal")
    assert labels[answer.proposal.entity_id] == "box"
    assert os.path.exists(folder / "CURRENT")
