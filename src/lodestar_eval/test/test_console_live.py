"""Tests of the bars and tables of the benchmark `console-live`."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from lodestar_eval.live.console_run import ConsoleRun
from lodestar_eval.live.console_start import ConsoleStart
from lodestar_eval.studies.console_live import BENCHMARK


def run(way, seed, real_time=1.0, success=True, **fields):
    return ConsoleRun(way, seed, "find the chair", success, "", real_time, **fields)


def result_of(runs, failed=(), starts=()):
    rows = [asdict(one) for one in runs] + [{"way": "start"} | asdict(one) for one in starts]
    rows += [{"seed": seed, "way": way, "verdict": why, "_failed": True} for seed, way, why in failed]
    return BENCHMARK.result(rows)


def held(result):
    return {bar.name: bar.holds for bar in result.bars}


def test_the_real_time_factor_is_compared_seed_by_seed():
    read = {"console_core": 0.2, "console_pss": 100.0}
    runs = [
        run("without", 1, 0.5),
        run("read", 1, 0.49, **read),
        run("without", 2, 1.0),
        run("read", 2, 0.96, **read),
    ]
    result = result_of(runs, [])
    assert result.metrics["real_time_ratio"] == pytest.approx((0.98 + 0.96) / 2)
    assert all(held(result).values())
    slower = result_of([run("without", 1, 1.0), run("read", 1, 0.9, console_core=0.3, console_pss=170.0)], [])
    assert list(held(slower).values()) == [True, False, False, False]


def test_an_agent_that_did_not_find_and_a_stack_that_failed_miss_their_bars():
    result = result_of([run("agent", 1), run("agent", 2, success=False)], [("3", "read", "sim died")])
    assert not any(held(result).values())
    assert any("sim died" in cell for row in result.tables[0].rows for cell in row)


def test_the_start_is_told_by_its_median():
    starts = [
        ConsoleStart(seed, 1.0, 4.0, cells, 3.0, 130) for seed, cells in ((1, 9.0), (2, 40.0), (3, 11.0))
    ]
    result = result_of([], [], starts)
    assert result.metrics["cells_s"] == 11.0 and all(held(result).values())
    assert not all(held(result_of([], [], [ConsoleStart(1, 1.0, 6.0, 20.0, 3.0, 130)])).values())
