"""Rows with a slow reasoner against the same rows without: the ratio of their times, its bar and its table."""

from __future__ import annotations

import argparse
from dataclasses import replace

import pytest
from embedders import SingleLetters
from test_policy_tables import runs

from lodestar.models.phrases import PhraseBook
from lodestar_eval import episode
from lodestar_eval.benchmarks.episodes import BENCHMARK, _planned
from lodestar_eval.delay_tables import delay_bars, delay_metrics, delay_tables
from lodestar_eval.policy_tables import Row, rows_of
from lodestar_eval.registry import BadOptions
from lodestar_eval.settings import EpisodeSettings
from lodestar_eval.trials import Building, Plan, run_building


def timed(policy: str, seconds: list[float]):
    return [replace(one, duration=time) for one, time in zip(runs(policy, [10.0] * len(seconds)), seconds)]


def rows(slow: list[float], quick: list[float]) -> dict[Row, list]:
    return rows_of([*timed("bandit", slow), *timed("bandit_undelayed", quick)])


def test_the_ratio_is_of_the_total_times_in_the_buildings_of_both():
    metrics = delay_metrics(rows([50.0, 230.0, 999.0], [100.0, 100.0]))
    assert metrics["time_ratio.unexplored.bandit"] == pytest.approx(1.4), (
        "neither 1.4 of means of ratios nor 999 s"
    )
    assert metrics["time_ratio_low.unexplored.bandit"] == pytest.approx(0.5)
    assert metrics["time_ratio_high.unexplored.bandit"] == pytest.approx(2.3)
    assert delay_metrics(rows_of(timed("bandit", [50.0]))) == {}


@pytest.mark.parametrize(("seconds", "holds"), [(115.0, True), (116.0, False)])
def test_a_reasoner_that_thinks_may_cost_the_bandit_15_percent_of_time(seconds, holds):
    metrics = delay_metrics(rows([seconds], [100.0]))
    (bar,) = delay_bars(metrics, 20.0, 0.0)
    assert (bar.name, bar.holds) == ("time_ratio.unexplored.bandit", holds)
    assert delay_bars(metrics, 0.0, 20.0) == delay_bars(metrics, 20.0, 20.0) == (), "late answers have no bar"
    others = delay_metrics(rows_of([*timed("random", [200.0]), *timed("random_undelayed", [100.0])]))
    assert others["time_ratio.unexplored.random"] == 2.0 and delay_bars(others, 20.0, 0.0) == ()


def test_the_table_has_a_row_per_pair_of_rows():
    found = rows([120.0, 80.0], [100.0, 90.0])
    (table,) = delay_tables(found, delay_metrics(found))
    assert [row[:8] for row in table.rows] == [("unexplored", "bandit", "2", "2", "2", "200", "190", "1.053")]
    assert all(len(row) == len(table.columns) for row in table.rows)
    assert delay_tables(rows_of(timed("bandit", [50.0])), {}) == []


def options(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    BENCHMARK.add_options(parser)
    return parser.parse_args(["--worlds", "apartment", "--seeds", "7", *words])


def test_every_policy_has_an_undelayed_row_where_that_is_asked_for(tmp_path):
    plan, _ = _planned(
        options("--think", "20", "--policies", "bandit,reference", "--against-undelayed"), tmp_path
    )
    assert plan.policies == ("bandit", "reference", "bandit_undelayed")
    assert plan.episode.reasoner_delay == 20.0
    plan, _ = _planned(options("--think", "20"), tmp_path)
    assert plan.policies == ("bandit",)
    with pytest.raises(BadOptions, match="--think"):
        _planned(options("--against-undelayed"), tmp_path)


def test_the_undelayed_row_runs_without_any_delay(tmp_path, monkeypatch):
    used = []
    real = episode.EpisodeRunner
    monkeypatch.setattr("lodestar_eval.phrase_book.phrase_book", lambda: PhraseBook(SingleLetters()))
    monkeypatch.setattr(episode, "EpisodeRunner", lambda book, s, p: used.append(s) or real(book, s, p))
    settings = EpisodeSettings(time_limit=3.0, thinking=0.05, reasoner_delay=20.0, answer_delay=5.0)
    found = run_building(
        Plan(settings, policies=("bandit", "bandit_undelayed"), folder=tmp_path), Building("apartment", 7)
    )
    assert [o.policy for o in found] == ["bandit", "bandit_undelayed"]
    assert [(s.reasoner_delay, s.answer_delay) for s in used] == [(20.0, 5.0), (0.0, 0.0)]


def test_the_report_has_the_ratio_and_its_bar(tmp_path, monkeypatch):
    monkeypatch.setattr("lodestar_eval.phrase_book.phrase_book", lambda: PhraseBook(SingleLetters()))
    words = ("--think", "20", "--against-undelayed", "--limit-time", "3", "--answer-time", "0.05")
    result = BENCHMARK.run(options(*words), tmp_path, lambda line: None)
    assert result.metrics["time_ratio.unexplored.bandit"] == pytest.approx(1.0, abs=0.2)
    assert [bar.bound for bar in result.bars if bar.name == "time_ratio.unexplored.bandit"] == [1.15]
    assert "Simulated time against the undelayed run" in [table.title for table in result.tables]
