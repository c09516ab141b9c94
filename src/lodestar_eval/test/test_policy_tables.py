"""Tests of rows by setting and policy: pairs, intervals, bars."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lodestar_eval.arms import Pick, fall
from lodestar_eval.benchmarks.episodes import BENCHMARK
from lodestar_eval.episode_options import policies_of, settings_of
from lodestar_eval.metrics import paired_difference
from lodestar_eval.outcomes import EpisodeOutcome
from lodestar_eval.policy_tables import (
    allocation_table,
    kind_metrics,
    kind_tables,
    learning_bars,
    learning_metrics,
    learning_tables,
    main_table,
    row_bars,
    row_metrics,
    rows_of,
    stage_tables,
    way_table,
)
from lodestar_eval.registry import Result
from lodestar_eval.report import write_report
from lodestar_eval.trials import Plan, all_rows, core_rows


def runs(policy: str, lengths: list[float], setting: str = "unexplored") -> list[EpisodeOutcome]:
    return [
        EpisodeOutcome(
            world="apartment", seed=seed, directive="find the red chair", success=True, reached=True,
            claimed=True, error_code=0, error_msg="", failure="", distance=0.8, path_length=length,
            shortest=10.0, duration=100.0, cpu=10.0, setup_cpu=1.0, collisions=0, coverage=0.5, epochs=2,
            frames=400, decisions={"frontier": 2}, setting=setting, policy=policy, driven={"frontier": length},
        )
        for seed, length in enumerate(lengths)
    ]  # fmt: skip


def test_a_difference_in_every_world_is_above_zero_and_noise_is_not():
    rng = np.random.default_rng(1)
    theirs = rng.uniform(0.2, 0.9, 30)
    value, low, high = paired_difference(theirs + 0.05, theirs, np.random.default_rng(0))
    assert value == pytest.approx(0.05) and low > 0.0 and high == pytest.approx(0.05)
    shuffled = theirs[np.random.default_rng(2).permutation(30)]
    _, low, high = paired_difference(theirs, shuffled, np.random.default_rng(0))
    assert low < 0.0 < high
    with pytest.raises(ValueError, match="paired"):
        paired_difference([1.0], [1.0, 2.0], rng)


def test_a_building_where_either_has_no_spl_is_no_pair():
    ours, theirs = runs("bandit", [10.0, 20.0]), runs("frontier", [20.0, 20.0])
    begun_there = replace(theirs[1], seed=2, shortest=0.0)
    rows = rows_of([*ours, replace(ours[1], seed=2), *theirs, begun_there])
    metrics = row_metrics(rows)
    assert metrics["spl.unexplored.bandit_minus_frontier"] == pytest.approx(0.25)
    assert metrics["spl.unexplored.frontier"] == pytest.approx(0.5)
    assert metrics["spl_left_out.unexplored.frontier"] == 1 and metrics["spl_left_out.unexplored.bandit"] == 0
    table = main_table(rows, metrics)
    assert [row[table.columns.index("left out of SPL")] for row in table.rows] == ["0", "1"]


def test_an_interval_covers_the_truth_about_as_often_as_it_says():
    rng, hits = np.random.default_rng(3), 0
    for _ in range(200):
        values = rng.normal(0.1, 0.3, 30)
        _, low, high = paired_difference(values, np.zeros(30), rng, resamples=400)
        hits += low <= 0.1 <= high
    assert 0.88 <= hits / 200 <= 0.99


def test_metrics_and_bars_of_the_rows_that_were_run():
    rows = rows_of([*runs("bandit", [10.0, 12.5]), *runs("frontier", [20.0, 25.0])])
    metrics = row_metrics(rows)
    assert metrics["sr.unexplored.bandit"] == 1.0
    assert metrics["spl.unexplored.bandit"] == pytest.approx(0.9)
    assert metrics["spl.unexplored.bandit_minus_frontier"] == pytest.approx(0.45)
    bars = {bar.name: bar for bar in row_bars(metrics)}
    assert bars["spl.unexplored.bandit"].holds and bars["spl_low.unexplored.bandit_minus_frontier"].holds
    assert not any("pre_explored" in name for name in bars)


def test_an_equal_rival_is_not_beaten():
    metrics = row_metrics(rows_of([*runs("bandit", [10.0]), *runs("ego_vlm", [10.0])]))
    assert not {bar.name: bar for bar in row_bars(metrics)}["spl_low.unexplored.bandit_minus_ego_vlm"].holds


@pytest.mark.parametrize(("theirs", "holds"), [(12.5, True), (10.0, False), (8.0, False)])
def test_the_geometric_rival_has_a_bar_that_it_can_win(theirs, holds):
    metrics = row_metrics(rows_of([*runs("bandit", [10.0] * 3), *runs("frontier_led", [theirs] * 3)]))
    (bar,) = (bar for bar in row_bars(metrics) if "minus" in bar.name)
    assert bar.name == "spl_low.unexplored.bandit_minus_frontier_led" and bar.holds is holds
    alone = row_metrics(rows_of(runs("bandit", [10.0])))
    assert not any("frontier_led" in bar.name for bar in row_bars(alone))


def test_worlds_that_only_one_of_them_was_in_make_no_pair():
    rows = rows_of([*runs("bandit", [10.0, 10.0]), *runs("frontier", [20.0])])
    assert row_metrics(rows)["spl.unexplored.bandit_minus_frontier"] == pytest.approx(0.5)


def test_tables_have_a_row_per_setting_and_policy():
    rows = rows_of([*runs("bandit", [10.0]), *runs("bandit", [10.0], "pre_explored")])
    table = main_table(rows, row_metrics(rows))
    assert [row[:2] for row in table.rows] == [("unexplored", "bandit"), ("pre_explored", "bandit")]
    assert all(len(row) == len(table.columns) for row in table.rows)
    assert len(allocation_table(rows).rows) == 6 and way_table(rows).rows == ()


def test_kinds_of_buildings_are_told_apart_where_there_are_several():
    offices = [replace(outcome, world="office") for outcome in runs("bandit", [20.0, 40.0])]
    rows = rows_of([*runs("bandit", [10.0, 12.5]), *offices])
    metrics = kind_metrics(rows)
    assert metrics["spl.unexplored.bandit.office"] == pytest.approx(0.375)
    assert metrics["spl.unexplored.bandit.apartment"] == pytest.approx(0.9)
    (table,) = kind_tables(rows, metrics)
    assert [row[2:4] for row in table.rows] == [("apartment", "2"), ("office", "2")]
    one_kind = rows_of(runs("bandit", [10.0]))
    assert kind_metrics(one_kind) == {} and kind_tables(one_kind, {}) == []


def test_stage_tables_and_the_learning_bar():
    picks = [
        Pick(name, coverage, {"similarity": 1.0, "total": 1.0}, True)
        for name, coverage in (("frontier", 0.1), ("frontier", 0.2), ("frontier", 0.5), ("ego_vlm", 0.55),
                               ("semantic_map", 0.9), ("ego_vlm", 0.95))
    ]  # fmt: skip
    for table in stage_tables({("unexplored", "bandit_cold"): picks}):
        assert table.rows and all(len(row) == len(table.columns) for row in table.rows)
    metrics = learning_metrics({("unexplored", "bandit_cold"): picks})
    shares = [metrics[f"frontier_share.unexplored.bandit_cold.{stage}"] for stage in ("low", "mid", "high")]
    assert shares == [1.0, 0.5, 0.0] and metrics["contested.unexplored.bandit_cold.mid"] == 2
    (bar,) = learning_bars(metrics)
    assert bar.name == "frontier_fall.unexplored.bandit_cold" and bar.value == 1.0 and bar.holds
    (table,) = learning_tables(metrics)
    assert table.rows[0][:3] == ("unexplored", "bandit_cold", "1.000 of 2") and len(table.rows[0]) == len(
        table.columns
    )
    nothing = learning_metrics({("unexplored", "bandit"): picks})
    assert nothing == {} and learning_bars(nothing) == () and learning_tables(nothing) == []


def falling(runs: int, high: float, seed: int = 0) -> list[Pick]:
    """Return runs of two contested picks at low and two at high coverage; of the latter, `high` are the frontier's."""
    rng = np.random.default_rng(seed)
    stages = ((0.1, 0.8), (0.1, 0.8), (0.5, 0.5), (0.5, 0.5), (0.8, high), (0.8, high))
    return [
        Pick(
            "frontier" if rng.random() < share else "ego_vlm",
            rng.uniform(at, at + 0.1),
            {"total": 1.0},
            True,
            run,
        )
        for run in range(runs)
        for at, share in stages
    ]


def test_the_interval_of_a_fall_narrows_with_runs_and_holds_the_truth():
    widths = []
    for runs in (10, 200):
        value, low, high = fall(falling(runs, 0.2), "frontier", np.random.default_rng(0))
        assert low <= value <= high and low <= 0.75 <= high
        widths.append(high - low)
    assert widths[1] < widths[0] / 2.0


def test_a_fall_that_cannot_be_told_is_no_number_and_holds_no_bar():
    never = [replace(pick, chosen="ego_vlm") for pick in falling(5, 0.2)]
    contested_nowhere = [replace(pick, contested=False) for pick in falling(5, 0.2)]
    for picks in ([], never, contested_nowhere):
        assert np.isnan(fall(picks, "frontier", np.random.default_rng(0))).all()
        metrics = learning_metrics({("unexplored", "bandit_continual"): picks})
        assert not learning_bars(metrics)[0].holds and learning_tables(metrics)[0].rows


def rarely_low(runs: int, of_low: int) -> list[Pick]:
    """Return runs of a contested pick per stage: the frontier's at mid and high, in `of_low` runs at low coverage."""
    return [
        Pick("frontier" if stage or run < of_low else "ego_vlm", coverage, {"total": 1.0}, True, run)
        for run in range(runs)
        for stage, coverage in enumerate((0.1, 0.5, 0.9))
    ]


def test_a_draw_in_which_the_share_rises_from_nothing_counts_as_no_fall():
    picks = rarely_low(6, 1)  # a third of the draws have no frontier pick at low coverage
    value, low, high = fall(picks, "frontier", np.random.default_rng(0))
    assert value == pytest.approx(-5.0) and low == -np.inf and high >= value
    metrics = learning_metrics({("unexplored", "bandit_cold"): picks})
    (table,) = learning_tables(metrics)
    assert table.rows[0][-2:] == ("-5.000", f"−∞ to {high:.3f}")


def test_a_share_that_rises_from_nothing_falls_by_less_than_any_number_and_holds_no_bar(tmp_path):
    picks = rarely_low(6, 0)
    assert fall(picks, "frontier", np.random.default_rng(0)).tolist() == [-np.inf] * 3
    metrics = learning_metrics({("unexplored", "bandit_cold"): picks})
    bars, tables = learning_bars(metrics), tuple(learning_tables(metrics))
    assert not bars[0].holds and tables[0].rows[0][-2:] == ("−∞", "−∞ to −∞")
    written = write_report(
        tmp_path, "episodes", "", [], {}, {}, Result(metrics=metrics, bars=bars, tables=tables)
    )
    told = json.loads(written[0].read_text(), parse_constant=pytest.fail)
    assert told["metrics"]["frontier_fall.unexplored.bandit_cold"] is None and not told["bars"][0]["holds"]
    assert "| frontier_fall.unexplored.bandit_cold | −∞ |" in written[1].read_text()


def test_a_rising_share_is_a_negative_fall():
    value, _, high = fall(falling(200, 0.95), "frontier", np.random.default_rng(0))
    assert value < 0.0 and high < 0.5


def test_names_of_policies_and_settings():
    assert policies_of("core") == core_rows() and policies_of("all") == all_rows()
    assert policies_of("core,bandit,random") == (*core_rows(), "random")
    assert settings_of("unexplored,pre-explored") == ("unexplored", "pre_explored")
    for parse, text in ((policies_of, "oracle"), (settings_of, "explored"), (policies_of, "")):
        with pytest.raises(argparse.ArgumentTypeError):
            parse(text)


def test_one_row_keeps_the_files_where_they_were():
    plain = Plan(None, folder=Path("out"))
    assert plain.file("maps", "", "unexplored", "bandit", 3, ".png") == Path("out/maps/seed_003.png")
    several = Plan(None, policies=("bandit", "random"), folder=Path("out"))
    assert several.file("maps", "office", "unexplored", "random", 3, ".png") == Path(
        "out/maps/unexplored/random/office_seed_003.png"
    )


def test_apartments_and_offices_are_the_default_of_both_searches(tmp_path):
    from lodestar_eval.benchmarks.episodes import _planned
    from lodestar_eval.studies import lifelong

    parsers = [argparse.ArgumentParser(), argparse.ArgumentParser()]
    for parser, benchmark in zip(parsers, (BENCHMARK, lifelong.BENCHMARK)):
        benchmark.add_options(parser)
    plan, buildings = _planned(parsers[0].parse_args(["--seeds", "1-2"]), tmp_path)
    assert [(b.world, b.seed) for b in buildings] == [
        ("apartment", 1), ("office", 1), ("apartment", 2), ("office", 2),
    ]  # fmt: skip
    files = {plan.file("maps", b.tag, "unexplored", "bandit", b.seed, ".png") for b in buildings}
    assert len(files) == 4, "no building's map is written over by another's"
    assert parsers[0].parse_args([]).world == parsers[1].parse_args([]).worlds


@pytest.mark.parametrize(("words", "message"), [(["--worlds", "apartment,castle"], "castle")])
def test_options_that_make_no_sense_are_refused(words, message, tmp_path):
    from lodestar_eval.benchmarks.episodes import _planned
    from lodestar_eval.registry import BadOptions

    parser = argparse.ArgumentParser()
    BENCHMARK.add_options(parser)
    with pytest.raises(BadOptions, match=message):
        _planned(parser.parse_args(words), tmp_path)


def test_a_building_in_which_nothing_makes_a_task_is_left_out(monkeypatch):
    from embedders import SingleLetters

    from lodestar.models.phrases import PhraseBook
    from lodestar_eval import tasks
    from lodestar_eval.trials import Building, run_building
    from lodestar_sim.worlds import WorldError

    def nothing(spec, seed, directive):
        raise WorldError(f"{spec} {seed}: no object makes a default task")

    monkeypatch.setattr(tasks, "prepare", nothing)
    monkeypatch.setattr("lodestar_eval.phrase_book.phrase_book", lambda: PhraseBook(SingleLetters()))
    assert run_building(Plan(None), Building("office", 3)) == []
