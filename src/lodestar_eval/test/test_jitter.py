"""Disturbed searches, and the table of how they ended."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestar_eval.benchmarks.jitter import BENCHMARK, result_of, spreads_of
from lodestar_eval.disturbance import Ended, current, disturbed
from lodestar_eval.jitter_runs import RecordedTest, Request, read_runs
from lodestar_eval.processors import PROCESSORS, environment_of
from lodestar_eval.registry import BadOptions

START = (-4.0, 0.0, 0.5)


def ended(code: int = 0, seconds: float = 10.0) -> Ended:
    return Ended("find the red chair", 1, code, seconds, 5.0, 0)


def recorded(test: str, index: int, *searches: Ended, why: str = "") -> RecordedTest:
    return RecordedTest(test, index, not why, why, searches)


@given(st.integers(1, 10_000), st.sampled_from((1e-6, 1e-3)), st.integers(0, 1000))
def test_a_disturbance_is_small_and_the_same_for_the_same_number(index, metres, seed):
    with disturbed(index, metres, noise=True) as first:
        pose, other = current().start(START), current().seed(seed)
    with disturbed(index, metres, noise=True) as again:
        assert np.array_equal(again.start(START), pose) and again.seed(seed) == other
    assert 0.0 < np.abs(pose - START).max() <= metres
    assert first.seed(seed) == other != seed or other == seed
    assert np.array_equal(current().start(START), START) and current().seed(seed) == seed


def test_the_undisturbed_run_is_the_one_of_make_test():
    with disturbed(0, 0.1, noise=True) as none:
        assert np.array_equal(none.start(START), START) and none.seed(4) == 4


def test_a_disturbance_within_another_adds_to_it_and_both_note_the_search():
    with disturbed(1, 0.01) as outer, disturbed(2, 0.01, noise=True) as inner:
        moved = current().start(START)
        current().note(ended())
    with disturbed(2, 0.01) as alone:
        assert np.allclose(moved - outer.start(START), alone.start(START) - np.array(START))
    assert outer.ended == inner.ended == [ended()]
    current().note(ended())
    assert len(outer.ended) == 1, "the block is over"


def test_a_test_whose_searches_end_differently_misses_the_bar():
    runs = [recorded("a.py::stable", k, ended(), ended(11004)) for k in range(3)]
    runs += [recorded("a.py::other", k, ended(11003 if k else 0, 10.0 + k)) for k in range(3)]
    result = result_of(runs, 3)
    assert result.metrics["unstable_tests"] == 1.0 and not all(bar.holds for bar in result.bars)
    first = result.tables[0].rows[0]
    assert first[0] == "a.py::other" and "2 TARGET_UNREACHABLE" in first[3] and "1 found" in first[3]
    assert first[4] == "11.0 (10.0 to 12.0)" and len(result.tables[0].rows) == 3


def test_a_test_that_fails_once_is_not_stable_whatever_its_search_said():
    runs = [recorded("a.py::x", k, ended(), why="assert 3 < 2" if k == 1 else "") for k in range(3)]
    result = result_of(runs, 3)
    assert result.metrics["failed_runs"] == 1.0 and not all(bar.holds for bar in result.bars)
    assert result.tables[1].rows == (("a.py::x", "1", "assert 3 < 2"),)


def test_a_search_that_some_runs_do_not_have_is_not_stable():
    runs = [recorded("a.py::x", 0, ended(), ended()), recorded("a.py::x", 1, ended())]
    assert [spread.is_stable for spread in spreads_of(runs, 2)] == [False, True]


def test_stable_tests_hold_and_none_is_refused():
    assert all(bar.holds for bar in result_of([recorded("a.py::x", k, ended()) for k in range(2)], 2).bars)
    with pytest.raises(BadOptions, match="no test of these ran a search"):
        result_of([], 2)


def test_a_processor_that_is_not_known_is_refused_by_name():
    parser = argparse.ArgumentParser(exit_on_error=False)
    BENCHMARK.add_options(parser)
    assert parser.parse_args(["x", "--processors", "native,generic"]).processors == ("native", "generic")
    with pytest.raises(argparse.ArgumentError, match="'epyc' is none of native, "):
        parser.parse_args(["x", "--processors", "epyc"])
    with pytest.raises(argparse.ArgumentError, match="is no disturbance"):
        parser.parse_args(["x", "--metres", "0"])


@pytest.mark.parametrize("processor", PROCESSORS)
def test_the_libraries_start_as_on_each_processor(processor, tmp_path):
    """NumPy refuses to leave out what it cannot do without."""
    code = "import numpy; numpy.exp(numpy.arange(9.0)) @ numpy.arange(9.0); import numba; print(numba.config.CPU_NAME)"
    environment = os.environ | environment_of(processor, tmp_path)
    told = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    assert told.stdout.strip() == environment_of(processor, tmp_path).get("NUMBA_CPU_NAME", "None")


_TESTS = """
from lodestar_eval.disturbance import Ended, current

def test_of_a_coin():
    x = float(current().start((0.0, 0.0, 0.0))[0])
    current().note(Ended("toss", 1, 0 if x > 0.0 else 11004, 1.0 + x, 0.0, 0))
    assert x >= 0.0, "tails"

def test_without_a_search():
    pass
"""


def test_tests_run_disturbed_in_a_process_of_their_own_and_are_recorded(tmp_path):
    (tmp_path / "test_coin.py").write_text(_TESTS)
    asked, records = tmp_path / "asked.json", tmp_path / "records.jsonl"
    request = Request((str(tmp_path / "test_coin.py"),), tuple(range(4)), 1e-6, False, str(tmp_path))
    asked.write_text(json.dumps(asdict(request)))
    command = [sys.executable, "-m", "lodestar_eval.jitter_runs", str(asked), str(records)]
    told = subprocess.run(command, cwd=Path(__file__).parents[3], capture_output=True, text=True)
    assert told.returncode == 0, told.stdout + told.stderr
    runs = read_runs(records.read_text().splitlines())
    assert [run.index for run in runs] == list(range(4)) and {run.test[-7:] for run in runs} == {"_a_coin"}
    assert all(run.passed == (run.searches[0].code == 0 or run.index == 0) for run in runs)
    assert {run.passed for run in runs} == {True, False}
    assert any("tails" in run.why for run in runs)
