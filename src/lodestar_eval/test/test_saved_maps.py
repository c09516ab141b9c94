"""Tests that a headless run continues the map saved by an earlier one."""

from __future__ import annotations

import os

import numpy as np
import pytest

from lodestar.assembly.config import changed
from lodestar.experts.protocol import Proposal, ProposalRequest
from lodestar.language.grammar import parse_directive
from lodestar.storage.archive import ForeignFile
from lodestar.storage.saved_map import GRID, SCENE, VOXELS, SavedMap
from lodestar.storage.snapshot import BadFolder
from lodestar_eval.phrase_book import phrase_book
from lodestar_eval.settings import EpisodeSettings
from lodestar_eval.simulated_robot import SimulatedRobot
from lodestar_sim.simulator import Simulator
from lodestar_sim.worlds import world_from_spec
from lodestar_sim.worlds.world import World

SETTINGS = EpisodeSettings(width=160, height=120)


def robot_in(world: World, settings: EpisodeSettings = SETTINGS) -> SimulatedRobot:
    simulator = Simulator(world, settings.simulator, 1)
    return SimulatedRobot(simulator, settings, phrase_book(), np.random.default_rng(1))


def look_around(run: SimulatedRobot, turns: int = 24) -> None:
    """Turn the robot once on the spot."""
    for _ in range(turns):
        run.simulator.set_command(0.0, 0.0, 1.0)
        for _ in range(3):
            run.simulator.step(0.1)
        run.look()


@pytest.fixture(scope="module")
def world():
    return world_from_spec("apartment", 1)


@pytest.fixture(scope="module")
def explored(world):
    run = robot_in(world)
    look_around(run)
    assert len(run.headless.map.scene.dictionary) > 2 and run.grid.free_area > 5.0
    return run.headless


def test_a_fresh_run_knows_what_was_saved_at_once(explored, world, tmp_path):
    run = explored.map
    assert run.saved().write(tmp_path / "map") > 10_000
    fresh = robot_in(world).headless.map
    fresh.go_on_from(SavedMap.read(tmp_path / "map"))
    assert (
        np.array_equal(fresh.grid.cells, run.plan.mapper.project(0.0).cells)
        and fresh.grid.origin == run.grid.origin
    )
    assert set(fresh.mirror.entities) == set(run.scene.dictionary.entities())
    assert set(fresh.scene.dictionary.regions) == set(run.scene.dictionary.regions) and fresh.mirror.regions
    assert fresh.voxels.map.voxel_count == run.voxels.map.voxel_count
    assert max(e.last_seen for e in fresh.mirror.entities.values()) <= 0.0, "nothing was seen in the future"


def test_experts_plan_on_the_loaded_map_before_anything_is_seen_there(explored, world):
    fresh = robot_in(world).headless
    fresh.map.go_on_from(explored.map.saved())
    entity = max(fresh.map.mirror.entities.values(), key=lambda e: e.observation_count)
    fresh.experts["semantic_map"].set_grid(fresh.grid)
    fresh.experts["semantic_map"].set_scene(fresh.map.mirror)
    directive = parse_directive(f"find the {entity.label}")
    start = Simulator(world, SETTINGS.simulator, 1).true_pose
    request = ProposalRequest(
        epoch=1, directive=directive, step_index=0, robot_pose=np.array(start), stamp=0.0
    )
    answer = fresh.experts["semantic_map"].propose(request)
    assert isinstance(answer, Proposal), answer
    row, column = fresh.grid.cells_of(answer.goal[None, :2])[0]
    assert fresh.grid.free[row, column]


def test_the_loaded_map_goes_on_and_the_saved_one_does_not_change(explored, world):
    saved = explored.map.saved()
    cells = saved.parts[GRID].arrays["cells"].copy()
    for _ in range(2):  # both runs start from one saved state
        fresh = robot_in(world)
        fresh.headless.map.go_on_from(saved)
        known = set(fresh.mirror.entities)
        look_around(fresh, 8)
        again = [e for e in fresh.mirror.entities.values() if e.id in known and e.last_seen > 0.0]
        assert len(again) >= 2, "things that were seen again have the ids they had"
        assert len(fresh.mirror.entities) <= len(known) + 3
    assert np.array_equal(cells, saved.parts[GRID].arrays["cells"])


def test_a_map_of_another_resolution_or_a_damaged_one_is_refused(explored, world, tmp_path):
    run = explored.map
    other = changed(SETTINGS, robot__mapping__octomap__resolution=0.05)
    with pytest.raises(ForeignFile, match="measure"):
        robot_in(world, other).headless.map.go_on_from(run.saved())
    planar = changed(SETTINGS, robot__mapping__source="scan")
    with pytest.raises(ForeignFile, match=r"set mapping\.source to lidar"):
        robot_in(world, planar).headless.map.go_on_from(run.saved())
    folder = tmp_path / "map"
    run.saved().write(folder)
    part = folder / (folder / "CURRENT").read_text().strip()
    for name in (GRID, VOXELS, SCENE):
        content = (part / name).read_bytes()
        os.truncate(part / name, len(content) // 2)
        with pytest.raises(ForeignFile, match=name):
            SavedMap.read(folder)
        (part / name).write_bytes(content)
    with pytest.raises(BadFolder):
        SavedMap.read(tmp_path / "nothing")
