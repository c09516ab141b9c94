"""Tests that maps and policy states of 0.1.0 load, or are refused with advice."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from lodestar.assembly import parts
from lodestar.assembly.config import MappingConfig, RobotConfig, changed
from lodestar.assembly.local_map import LocalMap
from lodestar.grid.occupancy import FREE
from lodestar.mapping.occupancy.grid_file import VERSIONS
from lodestar.mapping.occupancy.octomap import OctoMapper
from lodestar.models.phrases import PhraseBook
from lodestar.storage.archive import ForeignFile, read_archive
from lodestar.storage.saved_map import SavedMap


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return files written by 0.1.0: an episode's map, the mapping node's grid, and a policy's state."""
    folder = tmp_path_factory.mktemp("saved")
    with zipfile.ZipFile(Path(__file__).parent / "saved_0_1_0.zip") as archive:
        archive.extractall(folder)
    return folder


def test_the_grid_of_the_mapping_node_goes_on(saved: Path) -> None:
    archive = read_archive(saved / "grid.lodestar", VERSIONS)
    mapper = parts.plan_mapper_from(MappingConfig(), archive.kind, archive.arrays)
    assert isinstance(mapper, OctoMapper)
    assert mapper.project(0.0).free_area == pytest.approx(21.22, abs=0.1)


def test_the_map_of_an_episode_goes_on_where_the_planar_scan_is_the_source(saved: Path) -> None:
    chain = LocalMap(changed(RobotConfig(), mapping__source="scan"), PhraseBook())
    chain.go_on_from(SavedMap.read(saved / "headless_map"))
    assert np.count_nonzero(chain.grid.cells == FREE) > 1000


def test_the_map_of_an_episode_is_refused_by_an_octree_and_says_what_to_do(saved: Path) -> None:
    chain = LocalMap(RobotConfig(), PhraseBook())
    before = chain.plan.mapper
    with pytest.raises(ForeignFile, match=r"planar scan.*set mapping\.source to scan, or explore anew"):
        chain.go_on_from(SavedMap.read(saved / "headless_map"))
    assert chain.plan.mapper is before


def test_what_the_policy_learned_is_taken_up(saved: Path) -> None:
    config = changed(RobotConfig(), goal_selector__selection__policy_state=str(saved / "policy.json"))
    policy = parts.policy(config.goal_selector)
    fresh = parts.policy(RobotConfig().goal_selector)
    assert policy.state()["response"] != fresh.state()["response"]  # type: ignore[attr-defined]
