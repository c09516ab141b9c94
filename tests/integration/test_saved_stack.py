"""A map saved in one stack is known in a fresh one at once: things, rooms, and the grid that experts plan on."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest
from nav_msgs.msg import OccupancyGrid

from integration.bed import Bed, Processes
from integration.fakes import FakeRobot
from lodestar.language.grammar import parse_directive
from lodestar.storage.saved_map import GRID
from lodestar_bringup.domains import free_domain
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
    """A folder with a map, the grid and the things in it."""
    robot = bed.on_executor(lambda: FakeRobot(bed))
    bed.hear(msg.SceneDelta, "scene_dictionary/entities", qos.EVENT)
    bed.hear(OccupancyGrid, "grid", qos.LATCHED)
    processes.start(*FIRST)
    bed.until(lambda: all(bed.diagnosis(name) for name in FIRST), "every node's diagnostics", timeout=120.0)
    robot.watch(lambda: bed.heard["scene_dictionary/entities"], "an entity", timeout=90.0)
    end = time.monotonic() + 60.0
    while not (bed.heard["grid"] and grid_from_msg(bed.last("grid")).free_area > 3.0):
        assert time.monotonic() < end, "no grid"
        robot.scan()
        time.sleep(0.1)
    folder = tmp_path_factory.mktemp("maps") / "map"
    result = bed.action(SaveMap, "scene_dictionary/save").result(SaveMap.Goal(path=str(folder)), timeout=90.0)
    assert result.error_code == 0, result.error_msg
    processes.assert_alive()
    return folder, grid_from_msg(bed.last("grid")), labels_of(bed)


@pytest.fixture(scope="module")
def fresh(saved, tmp_path_factory):
    """Another stack, of a robot that has seen nothing yet."""
    with free_domain() as domain:
        bed, processes = Bed(domain), Processes(domain, tmp_path_factory.mktemp("fresh"))
        try:
            bed.hear(OccupancyGrid, "grid", qos.LATCHED)
            bed.hear(msg.RegionArray, "scene_dictionary/regions", qos.LATCHED)
            processes.start(*FRESH, parameters={"scene_dictionary": {"regions_period": 0.2}})
            bed.until(
                lambda: all(bed.diagnosis(name) for name in FRESH), "every node's diagnostics", timeout=120.0
            )
            yield bed
            processes.assert_alive()
        finally:
            processes.stop()
            bed.close()


def load(bed, folder):
    return bed.action(LoadMap, "scene_dictionary/load").result(LoadMap.Goal(path=str(folder)), timeout=90.0)


def known(bed) -> bool:
    """Whether the last grid knows any cell."""
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
    assert set(labels) <= set(labels_of(fresh))
    directive = directive_to_msg(parse_directive("find the red box"))
    pose = planar_to_stamped(np.zeros(3), time.time())
    propose = fresh.action(ProposeGoal, "semantic_map_expert/propose")
    end = time.monotonic() + 40.0
    while True:  # phrases are embedded, entities paged
        answer = propose.result(ProposeGoal.Goal(epoch=1, directive=directive, robot_pose=pose))
        if answer.error_code == 0 or time.monotonic() > end:
            break
    assert answer.error_code == 0, answer.error_msg
    assert labels[answer.proposal.entity_id] == "box"
    assert os.path.exists(folder / "CURRENT")
