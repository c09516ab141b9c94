"""Tests of subtasks with unambiguous targets, and of the results computed from their outcomes."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from embedders import SingleLetters

from lodestar.assembly.config import changed
from lodestar.models.phrases import PhraseBook
from lodestar.selection.config import SelectionConfig
from lodestar_eval import lifelong
from lodestar_eval.episode import Episode, EpisodeRunner
from lodestar_eval.lifelong import follow_all
from lodestar_eval.metrics import cluster_interval
from lodestar_eval.off_policy import features_of
from lodestar_eval.outcomes import EpisodeOutcome
from lodestar_eval.prior_map import explored
from lodestar_eval.settings import NOISES, EpisodeSettings
from lodestar_eval.studies.lifelong import BENCHMARK, row_of
from lodestar_eval.subtasks import FEWEST, MODALITIES, MOST, subtasks_of
from lodestar_eval.tour import TourConfig
from lodestar_sim.judge import shortest_path_length, valid_targets
from lodestar_sim.tasks import Task, default_task
from lodestar_sim.worlds import world_from_spec

SEED = 7


@pytest.fixture(scope="module")
def world():
    return world_from_spec("apartment", SEED)


@pytest.fixture(scope="module")
def asked(world):
    return subtasks_of(world, SEED, NOISES["none"])


def runner(seconds: float) -> EpisodeRunner:
    return EpisodeRunner(PhraseBook(SingleLetters()), EpisodeSettings(time_limit=seconds, thinking=0.05))


def test_subtasks_are_of_different_things_and_the_same_for_the_same_seed(world, asked):
    assert FEWEST <= len(asked) <= MOST
    assert {one.modality for one in asked} <= set(MODALITIES)
    ids = [i for one in asked for i in one.target_ids]
    assert len(ids) == len(set(ids))
    again = subtasks_of(world, SEED, NOISES["none"])
    assert [(a.words, a.target_ids) for a in again] == [(a.words, a.target_ids) for a in asked]


def test_what_is_asked_means_exactly_what_counts(world, asked):
    standing = {thing.id: thing for thing in world.objects}
    for one in asked:
        assert math.isfinite(shortest_path_length(world, world.start, one.target_ids))
        if one.modality == "image":
            assert one.directive is not None and len(one.target_ids) == 1
            graph = one.directive.steps[0].graphs[0]
            assert standing[one.target_ids[0]].category in graph.variables[0].phrase
        else:
            assert set(valid_targets(world, one.words)) == set(one.target_ids)
            assert one.modality == "category" or len(one.target_ids) == 1


def test_subtasks_follow_from_where_the_one_before_ended(world, asked):
    (_, first), (modality, second) = follow_all(world, asked[:2], SEED, runner(4.0), remembers=True)
    assert first.duration == pytest.approx(4.0, abs=0.5)
    assert second.duration <= 4.5 and second.coverage >= first.coverage
    assert second.policy == "memory" and (modality, second.directive) == (asked[1].modality, asked[1].words)


def test_without_memory_the_map_is_forgotten(world, asked):
    kept = follow_all(world, asked[:2], SEED, runner(6.0), remembers=True)
    lost = follow_all(world, asked[:2], SEED, runner(6.0), remembers=False)
    assert kept[0][1].path_length == lost[0][1].path_length
    assert lost[1][1].coverage <= kept[1][1].coverage + 0.01  # distant floor may become unknown again
    assert lost[1][1].policy == "no_memory"


def test_a_robot_goes_on_from_the_map_of_a_tour(world):
    task: Task = default_task(world, SEED)
    book = PhraseBook(SingleLetters())
    settings = EpisodeSettings(time_limit=2.0, thinking=0.05)
    saved = explored(world, SEED, settings, book, TourConfig(limit=20.0, frame_interval=1.0))
    fresh = EpisodeRunner(book, settings).run(world, task, SEED)
    known = EpisodeRunner(book, settings).run(world, task, SEED, saved)
    again = EpisodeRunner(book, settings).run(world, task, SEED, saved)
    assert len(known.map.mirror.entities) > len(fresh.map.mirror.entities)
    assert known.outcome.path_length == again.outcome.path_length  # the saved map was not changed by the run


def test_the_robot_learns_in_all_subtasks_by_the_settings_it_was_given(world, asked, monkeypatch):
    made = []
    monkeypatch.setattr(lifelong, "Episode", lambda *a, **k: made.append(Episode(*a, **k)) or made[-1])
    settings = changed(
        EpisodeSettings(time_limit=4.0, thinking=0.05),
        robot__goal_selector__selection=SelectionConfig(features="app_a", reward="sequence"),
    )
    follow_all(world, asked[:2], SEED, EpisodeRunner(PhraseBook(SingleLetters()), settings), remembers=True)
    (episode,) = made
    assert episode.decisions and all(features_of(d)[0] == "app_a" for d in episode.decisions)
    assert all("displacement" in d.reward for d in episode.decisions if d.reward)


def outcome(seed: int, success: bool, remembers: bool, **other: object) -> EpisodeOutcome:
    return EpisodeOutcome(**{
        "world": "apartment", "seed": seed, "directive": "find a chair", "success": success, "reached": success,
        "claimed": success, "error_code": 0, "error_msg": "", "failure": "" if success else "not found",
        "distance": 0.5, "path_length": 10.0, "shortest": 8.0 if remembers else 4.0, "duration": 50.0, "cpu": 5.0,
        "setup_cpu": 1.0, "collisions": 0, "coverage": 0.5, "epochs": 3, "frames": 200,
        "decisions": {"frontier": 2}, "driven": {"frontier": 9.0},
        "policy": "memory" if remembers else "no_memory", **other,
    })  # fmt: skip


def result_of(folder, *found):
    """Return the result of subtasks given as (number, outcome), read from the file of measured cases."""
    rows = [row_of(number, MODALITIES[number % 3], one) for number, one in found]
    return BENCHMARK.result(json.loads(json.dumps(rows)), folder)


def test_metrics_by_modality_and_what_memory_is_worth(tmp_path):
    result = result_of(tmp_path, *(
        (number, outcome(seed, number != 3, remembers))
        for seed in (1, 2, 3)
        for remembers in (True, False)
        for number in (1, 2, 3)
    ))  # fmt: skip
    metrics = result.metrics
    assert metrics["sr"] == pytest.approx(2 / 3) == metrics["sr.no_memory"]
    assert metrics["spl.memory"] == pytest.approx(0.8 * 2 / 3)
    assert metrics["spl.memory_minus_none"] == pytest.approx(0.4 * 2 / 3)
    assert metrics[f"sr.memory.{MODALITIES[0]}"] == 0.0 and metrics["subtasks.memory"] == 9
    clusters = [[1.0, 1.0, 0.0]] * 3
    assert (metrics["sr_low.memory"], metrics["sr_high.memory"]) == cluster_interval(
        clusters, np.random.default_rng(0)
    )
    columns = ("memory", "subtasks", "sr", "spl", "spl_left_out", "time_s", "path_m")
    assert result.tables[0].columns == columns and result.tables[0].rows[0][2] == "0.667 (0.67 to 0.67)"
    bars = {bar.name: bar for bar in result.bars}
    assert not bars["sr"].holds and bars["spl_low.memory_minus_none"].holds
    assert all(len(row) == len(table.columns) for table in result.tables for row in table.rows)
    assert sum(row[-1] == "not found" for row in result.tables[-1].rows) == 6
    assert (tmp_path / "lifelong.png").stat().st_size > 5_000


def test_a_subtask_that_begins_on_a_pose_of_success_is_left_out_of_spl(tmp_path):
    first, there = outcome(1, True, True), outcome(1, True, True, shortest=0.0)
    bare = outcome(1, True, False, shortest=0.0)  # without memory no subtask of the building has an SPL
    result = result_of(tmp_path, (1, first), (2, there), (2, bare))
    assert result.metrics["spl.memory"] == pytest.approx(0.8) and result.metrics["spl_left_out.memory"] == 1
    assert np.isnan(result.metrics["spl.no_memory"]) and np.isnan(result.metrics["spl.memory_minus_none"])
    assert all(len(row) == len(table.columns) for table in result.tables for row in table.rows)


def test_the_seconds_of_subtasks_are_told_with_memory_and_without(tmp_path):
    timed = outcome(1, True, True, quickest=12.5, seconds={"driving": 3.0, "turning": 1.0})
    result = result_of(tmp_path, (1, timed))
    assert result.metrics["sct.memory"] == pytest.approx(0.25)
    assert result.metrics["time_share.turning.memory"] == pytest.approx(0.25)
    (times,) = [table for table in result.tables if table.title == "Where the seconds go"]
    assert len(times.rows) == 1


def test_one_memory_alone_makes_no_difference(tmp_path):
    metrics = result_of(tmp_path, (1, outcome(1, True, True))).metrics
    assert metrics["sr"] == 1.0 and "spl.memory_minus_none" not in metrics


def test_an_interval_over_clusters_is_wider_where_clusters_agree_with_themselves():
    rng = np.random.default_rng(1)
    mixed = [rng.integers(0, 2, 8).astype(float).tolist() for _ in range(30)]
    alike = [[float(i % 2)] * 8 for i in range(30)]
    widths = [np.diff(cluster_interval(c, np.random.default_rng(0)))[0] for c in (mixed, alike)]
    assert widths[1] > 1.8 * widths[0]
    assert np.isnan(cluster_interval([[]], rng)).all()
