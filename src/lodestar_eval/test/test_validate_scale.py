"""Tests of the validation benchmark: sound traces pass, and each fault gets its own code."""

from __future__ import annotations

import numpy as np
import pytest

from lodestar.worldmodel.validation import TraceValidator
from lodestar_eval.studies.validate_scale import BENCHMARK
from lodestar_eval.validation_world import _FAULTS, make_world, trace_of


@pytest.fixture(scope="module")
def world():
    return make_world(200, 20, np.random.default_rng(3))


def test_traces_of_the_benchmark_agree_with_its_world(world):
    rng, validator = np.random.default_rng(4), TraceValidator(world)
    assert all(validator.check(trace := trace_of(world, rng), now=trace.stamp).accepted for _ in range(50))


@pytest.mark.parametrize(("fault", "code"), _FAULTS)
def test_a_spoiled_trace_gets_the_code_of_its_fault(world, fault, code):
    trace = trace_of(world, np.random.default_rng(5))
    assert TraceValidator(world).check(fault(trace, world), now=trace.stamp).code is code


def test_it_runs_on_small_scenes_and_names_what_it_cannot_run(tmp_path, capsys):
    import argparse

    parser = argparse.ArgumentParser()
    BENCHMARK.add_options(parser)
    options = parser.parse_args(["--sizes", "30,40", "--traces", "40"])
    result = BENCHMARK.run(options, tmp_path, lambda line: None)
    assert {bar.name: bar.holds for bar in result.bars}["wrong verdicts"]
    for bad in ("few", "", "300,", "3", "-40"):
        with pytest.raises(SystemExit):
            parser.parse_args([f"--sizes={bad}"])
        assert "--sizes" in capsys.readouterr().err
