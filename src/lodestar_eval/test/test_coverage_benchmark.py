"""Tests of exploration on the grid: floors, the baseline, curves and the benchmark."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.paths import TravelConfig
from lodestar.grid.visibility import visible_mask
from lodestar_eval.__main__ import main
from lodestar_eval.exploration import Exploration, ExplorationConfig, NearestFrontier, Run
from lodestar_eval.floorplans import load_floors, make_floor
from lodestar_eval.studies.coverage import expert_explorer, sensors


def plan() -> np.ndarray:
    """Return the free cells of three rooms of 4 x 4 m in a row with doors of 1 m, and of a room without a door."""
    free = np.zeros((42, 170), bool)
    for left in (1, 42, 83, 128):
        free[1:41, left : left + 40] = True
    free[16:26, 41] = free[4:14, 82] = True
    return free


def curve(distance, covered, **changes) -> Exploration:
    values = {
        "goals": 1,
        "failed": 0,
        "finished": True,
        "known": OccupancyGrid2D(np.zeros((1, 1), np.int8), 0.1, (0, 0)),
    }
    return Exploration(
        "x", np.array(distance), np.array(covered), np.zeros((len(distance), 2)), **(values | changes)
    )


def test_a_floor_is_its_largest_drivable_part():
    floor = make_floor("plan", plan(), 0.1, 0.32)
    assert floor.area == pytest.approx(3 * 16.0 + 2 * 0.1, abs=0.01)
    assert (floor.places[:, 0] < 12.6).all()  # no place lies in the closed room
    starts = floor.starts(5, seed=3)
    assert np.array_equal(starts, floor.starts(5, seed=3)) and not np.array_equal(
        starts, floor.starts(5, seed=4)
    )
    with pytest.raises(ValueError, match="nowhere"):
        make_floor("slit", np.ones((3, 30), bool), 0.1, 0.32)


def test_the_area_under_a_curve_is_the_mean_share():
    run = curve([0.0, 10.0, 10.0, 20.0], [0.2, 0.2, 0.6, 1.0])
    assert run.area_under(10.0) == pytest.approx(0.2)
    assert run.area_under(20.0) == pytest.approx((2.0 + 8.0) / 20.0)
    assert run.area_under(40.0) == pytest.approx((10.0 + 20.0) / 40.0)  # covered area stays covered
    assert run.area_under(0.0) == 1.0
    assert run.distance_at(0.6) == 10.0 and math.isinf(curve([0.0], [0.5]).distance_at(0.6))


def test_the_rival_takes_the_nearest_frontier_and_faces_it():
    floor = make_floor("plan", plan(), 0.1, 0.32)
    pose = np.array([6.3, 2.0, 0.0])
    seen = visible_mask(floor.grid, pose[:2], 20.0)
    cells = np.where(seen, floor.grid.cells, -1).astype(np.int8)
    goal = NearestFrontier(TravelConfig()).next_goal(OccupancyGrid2D(cells, 0.1, (0.0, 0.0)), pose, ())
    assert goal is not None and math.dist(goal[:2], pose[:2]) < 2.5  # the goal is a door of this room
    ahead = goal[:2] + 0.8 * np.array([math.cos(goal[2]), math.sin(goal[2])])
    assert cells[tuple(floor.grid.cells_of(ahead))] == -1
    again = NearestFrontier(TravelConfig()).next_goal(
        OccupancyGrid2D(cells, 0.1, (0.0, 0.0)), pose, (tuple(goal),)
    )
    assert again is not None and math.dist(again[:2], goal[:2]) > 0.3
    assert NearestFrontier(TravelConfig()).next_goal(floor.grid, pose, ()) is None


@pytest.mark.parametrize("name", ["laser", "camera"])
def test_both_explorers_see_all_rooms_and_pay_for_the_way(name):
    floor = make_floor("plan", plan(), 0.1, 0.32)
    sensor, config = sensors()[name], ExplorationConfig()
    start = np.array([1.0, 1.0, 0.0])
    for explorer in (expert_explorer(sensor), NearestFrontier(config.travel)):
        run = Run(floor, sensor, explorer, start, config).explore()
        assert run.covered[-1] > 0.98 and (np.diff(run.covered) >= 0.0).all()
        driven = np.hypot(*np.diff(run.path, axis=0).T).sum()
        assert run.distance[-1] == pytest.approx(driven) and 5.0 < driven < 80.0
        rows, columns = floor.grid.cells_of(run.path).T
        assert (floor.grid.cells[rows, columns] == 0).all()
        known = run.known.cells
        assert (known[known >= 0] == floor.grid.cells[known >= 0]).all()


def test_the_benchmark_reports_gain_bars_and_curves(tmp_path):
    for name in ("one", "two"):
        folder = tmp_path / "floors" / name
        folder.mkdir(parents=True)
        np.save(folder / "occ_map.npy", np.where(plan(), 254, 0).astype(np.uint8))
        np.save(folder / "valid_space.npy", np.ones(plan().shape, np.uint8))
    out = tmp_path / "out"
    status = main(
        [
            "coverage",
            "--data",
            str(tmp_path / "floors"),
            "--starts",
            "1",
            "--sensors",
            "laser",
            "--out",
            str(out),
        ]
    )
    report = json.loads((out / "coverage.json").read_text())
    assert status == (0 if all(bar["holds"] for bar in report["bars"]) else 1)
    assert report["metrics"]["auc_gain"] == pytest.approx(report["metrics"]["auc_gain.laser"])
    assert set(report["metrics"]) >= {"auc_gain.laser.one", "propose_p95_ms.two"}
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "measure-the-search.md").read_text()
    for key in report["metrics"]:
        for name, word in (("laser", "SENSOR"), ("one", "FLOOR"), ("two", "FLOOR")):
            key = key.replace(f".{name}", f".{word}")
        documented = key.replace("_nearest_frontier", "_EXPLORER").replace("_frontier", "_EXPLORER")
        assert f"`{documented}`" in page, key
    assert (out / "coverage.png").stat().st_size > 10_000


def test_what_cannot_be_run_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("LODESTAR_DATA", raising=False)
    assert main(["coverage", "--out", str(tmp_path / "a")]) == 2
    assert main(["coverage", "--data", str(tmp_path), "--out", str(tmp_path / "b")]) == 2
    assert (
        main(["coverage", "--data", str(tmp_path), "--sensors", "sonar", "--out", str(tmp_path / "c")]) == 2
    )
    assert "laser" in capsys.readouterr().err
    with pytest.raises(FileNotFoundError):
        load_floors(tmp_path, 0.3)
