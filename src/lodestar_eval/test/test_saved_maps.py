"""A map that one headless run explored is known to the next."""

from __future__ import annotations

import dataclasses
import os

import numpy as np
import pytest

from lodestar.experts.protocol import Proposal, ProposalRequest
from lodestar.language.grammar import parse_directive
from lodestar.scene.saved import GRID, SCENE, VOXELS, SavedMap
from lodestar.storage.archive import ForeignFile
from lodestar.storage.snapshot import BadFolder
from lodestar_eval.episode import phrase_book
from lodestar_eval.pipeline import Pipeline
from lodestar_eval.settings import EpisodeSettings
from lodestar_eval.stages import StageClock
from lodestar_sim.simulator import Simulator
from lodestar_sim.worlds import world_from_spec

SETTINGS = EpisodeSettings(width=160, height=120)


def pipeline() -> Pipeline:
    return Pipeline(SETTINGS, phrase_book(), np.random.default_rng(1), StageClock())


def look_around(run: Pipeline, simulator: Simulator, turns: int = 24) -> None:
    """The robot turns once where it stands."""
    for _ in range(turns):
        simulator.set_command(0.0, 0.0, 1.0)
        for _ in range(3):
            simulator.step(0.1)
        image = simulator.render(rgb=False, width=SETTINGS.width, height=SETTINGS.height)
        run.take(simulator.scan(), image, simulator.map_from_base)


@pytest.fixture(scope="module")
def world():
    return world_from_spec("apartment", 1)


@pytest.fixture(scope="module")
def explored(world):
    run, simulator = pipeline(), Simulator(world, SETTINGS.simulator, 1)
    look_around(run, simulator)
    assert len(run.scene) > 2 and run.grid.free_area > 5.0
    return run, simulator


def test_a_fresh_run_knows_what_was_saved_at_once(explored, tmp_path):
    run, _ = explored
    assert run.saved().write(tmp_path / "map") > 10_000
    fresh = pipeline()
    fresh.go_on_from(SavedMap.read(tmp_path / "map"))
    assert np.array_equal(fresh.grid.cells, run.grid.cells) and fresh.grid.origin == run.grid.origin
    assert set(fresh.mirror.entities) == set(run.scene.entities())
    assert set(fresh.scene.regions) == set(run.scene.regions) and fresh.mirror.regions
    assert fresh.voxels.voxel_count == run.voxels.voxel_count
    assert max(e.last_seen for e in fresh.mirror.entities.values()) <= 0.0, "nothing was seen in the future"


def test_experts_plan_on_the_loaded_map_before_anything_is_seen_there(explored, world):
    run, _ = explored
    fresh = pipeline()
    fresh.go_on_from(run.saved())
    entity = max(fresh.mirror.entities.values(), key=lambda e: e.observation_count)
    fresh.semantic_map.set_grid(fresh.grid)
    fresh.semantic_map.set_scene(fresh.mirror)
    directive = parse_directive(f"find the {entity.label}")
    start = Simulator(world, SETTINGS.simulator, 1).true_pose
    request = ProposalRequest(
        epoch=1, directive=directive, subtask_index=0, robot_pose=np.array(start), stamp=0.0
    )
    answer = fresh.semantic_map.propose(request)
    assert isinstance(answer, Proposal), answer
    row, column = fresh.grid.cells_of(answer.goal[None, :2])[0]
    assert fresh.grid.free[row, column]


def test_the_loaded_map_goes_on_and_the_saved_one_does_not_change(explored, world):
    run, _ = explored
    saved = run.saved()
    counts = saved.grid.arrays["log_odds"].copy()
    for _ in range(2):  # twice from one state
        fresh, simulator = pipeline(), Simulator(world, SETTINGS.simulator, 1)
        fresh.go_on_from(saved)
        known = set(fresh.mirror.entities)
        look_around(fresh, simulator, 8)
        again = [e for e in fresh.mirror.entities.values() if e.id in known and e.last_seen > 0.0]
        assert len(again) >= 2, "things that were seen again have the ids they had"
        assert len(fresh.mirror.entities) <= len(known) + 3
    assert np.array_equal(counts, saved.grid.arrays["log_odds"], equal_nan=True)


def test_a_map_of_another_resolution_or_a_damaged_one_is_refused(explored, tmp_path):
    run, _ = explored
    other = dataclasses.replace(SETTINGS, grid=dataclasses.replace(SETTINGS.grid, resolution=0.05))
    with pytest.raises(ForeignFile, match="measure"):
        Pipeline(other, phrase_book(), np.random.default_rng(1), StageClock()).go_on_from(run.saved())
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
