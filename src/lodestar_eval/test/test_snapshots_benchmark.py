"""Tests of the benchmark of snapshots, on a building of a few boxes and on a short tour."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lodestar_eval.__main__ import main
from lodestar_eval.referit import BadData
from lodestar_eval.reverie import load_buildings
from lodestar_eval.snapshot_images import greedy_cover, kept_images
from lodestar_eval.snapshot_tour import SnapshotTour


def building(folder, observations=None):
    """Write data with two viewpoints: a chair and a table together, a lamp alone; a plant is never seen."""
    if observations is None:
        chair, table, lamp = (
            [view, view, 1, x, 200, 120, 90] for view, x in ((12, 100), (12, 300), (14, 50))
        )
        observations = [
            [{"id": 1, "views": [chair]}, {"id": 2, "views": [table]}],
            [{"id": 3, "views": [lamp]}, {"id": 1, "views": [[15, 3, 1, 600, 200, 40, 90]]}],
        ]
    objects = [
        {"id": i, "name": name, "seen_from": [], "centre": [1.0 * i, 2.0, 0.5] if i < 3 else None}
        for i, name in ((1, "chair"), (2, "coffee#table"), (3, "lamp"), (4, "plant"))
    ]
    data = {
        "scan": "house", "image_size": [640, 480], "vfov_deg": 60, "objects": objects, "sees": [],
        "viewpoints": [{"id": "a", "pos": [0, 0, 1.5]}, {"id": "b", "pos": [3, 0, 1.5]}],
        "edges": [[0, 1, 3.0]], "observations": observations,
    }  # fmt: skip
    (folder / "scans").mkdir(parents=True)
    (folder / "scans" / "house.json").write_text(json.dumps(data))
    return folder


def test_a_building_is_read_with_the_places_that_are_known_or_guessed(tmp_path):
    (house,) = load_buildings(building(tmp_path / "data"))
    assert house.camera.fx == pytest.approx(415.7, abs=0.1)
    assert {image: set(boxes) for image, boxes in house.boxes.items()} == {
        13: {1, 2}, 51: {3}, 52: {1},
    }  # fmt: skip
    assert house.names[2] == "coffee table" and set(house.places) == {1, 2, 3}
    assert list(house.places[1]) == [1.0, 2.0] and np.linalg.norm(house.places[3] - (3.0, 0.0)) < 1.6
    assert house.tour == (0, 1)


def test_every_rule_shows_every_visible_object(tmp_path):
    (house,) = load_buildings(building(tmp_path / "data"))
    for rule, kept in kept_images(house).items():
        assert kept.covered == 1.0 and len(kept.clusters) == 2, rule
    assert greedy_cover({}) == {}


def test_the_command_reports_bars_and_refuses_what_it_cannot_read(tmp_path, capsys):
    data = building(tmp_path / "data")
    out = ["--out", str(tmp_path / "out")]
    assert main(["snapshots", "--data", str(data), *out]) == 0
    metrics = json.loads((tmp_path / "out" / "snapshots.json").read_text())["metrics"]
    assert metrics["covered.ours"] == 1.0 and metrics["snapshots.ours"] == metrics["snapshots.greedy"] == 2
    assert main(["snapshots", "--data", str(tmp_path / "nothing"), *out]) == 2
    assert main(["snapshots", *out]) == 2
    assert main(["snapshots", "--world", "castle-in-the-air", *out]) == 2
    assert "give one of" in capsys.readouterr().err


@pytest.mark.parametrize("damage", ["{", '{"scan": "house"}', "[]"])
def test_a_damaged_building_is_named(tmp_path, damage):
    data = building(tmp_path / "data")
    (data / "scans" / "house.json").write_text(damage)
    with pytest.raises(BadData, match="reverie_dev"):
        load_buildings(data)


def test_a_short_tour_keeps_snapshots_of_what_the_map_holds(tmp_path):
    tour = SnapshotTour("apartment", 1, 12.0, tmp_path / "images")
    found = tour.run()
    assert found["frames"] >= 12
    assert 0 < found["snapshots.incremental"] <= found["keyframes"] <= found["frames"]
    assert found["entities"] > 0 and found["entities_covered"] == 1.0 and found["snapshots.greedy"] > 0
    assert 0.0 < found["covered"] <= 1.0
    for snapshot in tour.upkeep.snapshots.values():
        assert snapshot.entity_ids and snapshot.caption
