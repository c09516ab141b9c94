"""Tests of the metrics and tables that the episodes benchmark computes from outcomes."""

from __future__ import annotations

import argparse
import csv
import json
import math

import pytest

from lodestar.agent.loop.machine import PartKinds
from lodestar_eval.benchmarks.episodes import BENCHMARK, _planned, _result, _write_rows
from lodestar_eval.episode_metrics import metrics_of
from lodestar_eval.options import NOISE_NAMES
from lodestar_eval.outcomes import EpisodeOutcome
from lodestar_eval.plots import save_overview


def outcome(seed: int, success: bool, claimed: bool, decisions: dict[str, int], **changes) -> EpisodeOutcome:
    values = {
        "world": "apartment", "seed": seed, "directive": "find the red chair", "success": success,
        "reached": success, "claimed": claimed, "error_code": 0 if claimed else 11002,
        "error_msg": "", "failure": "" if success else "not found", "distance": 0.8, "path_length": 20.0,
        "shortest": 10.0, "duration": 100.0, "cpu": 10.0, "setup_cpu": 10.0, "collisions": 1,
        "coverage": 0.5, "epochs": 4, "frames": 400, "decisions": decisions,
        "stages": {"render": (4.0, 400)}, "epoch_seconds": (0.01, 0.02),
    }  # fmt: skip
    return EpisodeOutcome(**{**values, **changes})


OUTCOMES = [
    outcome(1, True, True, {"frontier": 3}),
    outcome(2, False, True, {"frontier": 2, "semantic_map": 1}),
    outcome(3, False, False, {"ego_vlm": 1}, shortest=math.inf),
    outcome(4, True, True, {"semantic_map": 2}, path_length=10.0),
]


def test_metrics_over_episodes():
    metrics = metrics_of(OUTCOMES)
    assert metrics["sr"] == 0.5 and metrics["sr_low"] <= 0.5 <= metrics["sr_high"]
    assert metrics["spl"] == pytest.approx((0.5 + 1.0) / 4)
    assert metrics["claimed_precision"] == pytest.approx(2 / 3)
    assert metrics["speed"] == pytest.approx(10.0)
    assert metrics["speed_with_setup"] == pytest.approx(5.0)
    assert metrics["collisions"] == 4
    assert metrics["stage.render_ms"] == pytest.approx(10.0)
    assert metrics["decisions.frontier"] == 5 and metrics["decisions.semantic_map"] == 3
    assert all(isinstance(value, (int, float)) for value in metrics.values())


def test_an_episode_that_begins_on_a_pose_of_success_is_left_out_of_spl_and_counted(tmp_path):
    begun_there = [
        outcome(5, True, True, {}, shortest=0.0, path_length=0.4),
        outcome(6, False, False, {}, shortest=0.0),
    ]
    metrics, usual = metrics_of([*OUTCOMES, *begun_there]), metrics_of(OUTCOMES)
    assert metrics["spl"] == usual["spl"] and metrics["spl_low"] <= metrics["spl"] <= metrics["spl_high"]
    assert metrics["spl_left_out"] == 2 and usual["spl_left_out"] == 0
    assert metrics["episodes"] == 6 and metrics["sr"] == 0.5
    table = _result([*OUTCOMES, *begun_there], None, 50.0, 1).tables[0]
    assert [row[table.columns.index("SPL")] for row in table.rows][-2:] == ["–", "–"]
    _write_rows(begun_there, tmp_path)
    with (tmp_path / "episodes.csv").open() as file:
        assert [row["spl"] for row in csv.DictReader(file)] == ["", ""]


def test_episodes_that_all_begin_on_a_pose_of_success_have_no_spl():
    metrics = metrics_of([outcome(1, True, True, {}, shortest=0.0)])
    assert math.isnan(metrics["spl"]) and metrics["spl_left_out"] == 1 and metrics["sr"] == 1.0


def test_the_same_outcomes_have_the_same_intervals():
    assert metrics_of(OUTCOMES) == pytest.approx(metrics_of(OUTCOMES), rel=0.0, abs=0.0, nan_ok=True)


def test_bars_are_those_of_success_path_and_speed():
    bars = {bar.name: bar for bar in _result(OUTCOMES, None, 50.0, 1).bars}
    assert bars["sr"].bound == 0.95 and not bars["sr"].holds
    assert bars["spl"].bound == 0.7 and not bars["spl"].holds
    assert bars["speed"].bound == 8.0 and bars["speed"].holds


def test_rows_of_episodes_with_different_experts_share_a_table(tmp_path):
    _write_rows(OUTCOMES, tmp_path)
    with (tmp_path / "episodes.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["seed"] for row in rows] == ["1", "2", "3", "4"]
    assert [row["decisions_ego_vlm"] for row in rows] == ["0", "0", "1", "0"]
    assert json.loads((tmp_path / "episodes_runs.json").read_text())[1]["failure"] == "not found"


def test_the_command_line_knows_every_noise():
    from lodestar_eval.settings import NOISES

    assert tuple(NOISES) == NOISE_NAMES


@pytest.mark.parametrize(("choice", "works"), [("on", True), ("off", False)])
def test_the_world_model_is_switched_off_as_a_whole(choice, works, tmp_path):
    parser = argparse.ArgumentParser()
    BENCHMARK.add_options(parser)
    options = parser.parse_args(["--world", "apartment", "--seeds", "1", "--world-model", choice])
    plan, _ = _planned(options, tmp_path)
    recovers = plan.episode.robot.goal_selector.loop.recovery.enabled
    assert (plan.episode.kinds == PartKinds(), recovers) == (works, works)


@pytest.mark.parametrize("outcomes", [OUTCOMES, OUTCOMES[2:3], []])
def test_the_overview_is_drawn_for_any_outcomes(outcomes, tmp_path):
    save_overview(outcomes, tmp_path / "plots" / "episodes.png")
    assert (tmp_path / "plots" / "episodes.png").stat().st_size > 5_000
