"""Tests of the benchmark `closures` on one hall of 60 m2: all rows, the table and the bars."""

from __future__ import annotations

import argparse

import numpy as np
import pytest

from lodestar_eval import closure_trials
from lodestar_eval.closure_trials import EXACT, ROWS, SUBMAPS
from lodestar_eval.studies import closures
from lodestar_sim.worlds.elements import Slab, Wall
from lodestar_sim.worlds.world import Room, World, WorldObject

ROUND = np.array([(3.3, -2.3), (3.3, 2.3), (-3.3, 2.3), (-3.3, -2.3)])


def hall() -> World:
    """Return a hall of 9 x 7 m with cabinets in the middle, around which the robot drives."""
    x, y = 4.5, 3.5
    walls = (
        Wall(-x - 0.1, -y - 0.1, x + 0.1, -y, 0.0, 2.5), Wall(-x - 0.1, y, x + 0.1, y + 0.1, 0.0, 2.5),
        Wall(-x - 0.1, -y, -x, y, 0.0, 2.5), Wall(x, -y, x + 0.1, y, 0.0, 2.5),
    )  # fmt: skip
    slabs = (
        Slab(-x - 0.1, -y - 0.1, x + 0.1, y + 0.1, 0.0, "beige", "wood"),
        Slab(-x - 0.1, -y - 0.1, x + 0.1, y + 0.1, 2.5, "white", "plaster", ceiling=True),
    )
    things = tuple(
        WorldObject(
            k,
            "cabinet",
            "blue cabinet",
            "blue",
            "wood",
            (0.4, 0.8, 1.0),
            "param:cabinet",
            (at, 0.0, 0.0, 0.0),
        )
        for k, at in enumerate((-1.8, 0.0, 1.8), 1)
    )
    outline = ((-x, -y), (x, -y), (x, y), (-x, y))
    box = (-x - 0.1, -y - 0.1, x + 0.1, y + 0.1)
    return World(
        "hall", "warehouse", 0, box, (-3.3, -2.3, 0.0), (Room(1, "warehouse", outline),), walls, slabs, things
    )


def test_a_small_hall_is_toured_with_every_row(tmp_path, monkeypatch):
    hall().save(tmp_path / "hall.json")
    monkeypatch.setattr(closures, "KINDS", (str(tmp_path / "hall.json"),))
    monkeypatch.setattr(closure_trials, "ring_stops", lambda *_: ROUND)
    parser = argparse.ArgumentParser()
    closures.BENCHMARK.add_options(parser)
    lines: list[str] = []
    options = parser.parse_args(["--seeds", "3-3", "--searches", "0", "--no-large"])
    result = closures.BENCHMARK.run(options, tmp_path, lines.append)
    assert len(lines) == 1 and "hall" in lines[0]
    assert [len(table.rows) for table in result.tables] == [len(ROWS), len(ROWS)]
    assert result.metrics[f"{EXACT}.cells"] == 1.0 and result.metrics[f"{EXACT}.entities"] == 1.0
    assert all(np.isfinite(value) for value in result.metrics.values())
    assert result.metrics[f"{SUBMAPS}.entities"] >= 0.97  # the drift over 25 m is below half a metre
    assert result.metrics[f"{SUBMAPS}.cells"] > result.metrics["none.cells"]
    assert "F1 of entities over that without drift" in {bar.name for bar in result.bars}


def test_a_seed_is_the_same_building_whichever_seeds_run_beside_it():
    """Seeds 1-20 keep the kinds of building with which they were measured."""
    assert [closures.kind_of(seed) for seed in range(1, 21)] == [closures.KINDS[k % 3] for k in range(20)]


@pytest.mark.parametrize("text", ["9", "9,1", "7-9"])
def test_the_benchmark_makes_that_building(text, monkeypatch):
    parser = argparse.ArgumentParser()
    closures.BENCHMARK.add_options(parser)
    harder = ["--no-matches"] if text == "7-9" else []
    cases = list(
        closures._cases(parser.parse_args(["--seeds", text, "--searches", "0", "--no-large", *harder]))
    )
    made, matched = [], []
    monkeypatch.setattr(
        "lodestar_sim.worlds.world_from_spec", lambda kind, seed: made.append((kind, seed)) or hall()
    )

    def trial(*_, matches):
        matched.append(matches)
        return closure_trials.ClosureTrial(
            hall(), entities=dict.fromkeys(ROWS, 1.0), cells=dict.fromkeys(ROWS, 1.0)
        )

    monkeypatch.setattr(closure_trials, "closure_trial", trial)
    rows = [row for case in cases for row in closures._measure(*case)]
    assert ("warehouse", 9) in made and len(rows) == len(made) * len(ROWS)
    assert set(matched) == {not harder}
