"""Tests that `directives` scores the parser named in its options."""

from __future__ import annotations

import argparse
import json

import pytest

from lodestar_eval.benchmarks.directives import BENCHMARK
from lodestar_eval.registry import BadOptions


def score(tmp_path, *options):
    """Return the result for one sentence, and the printed progress."""
    step = {"kind": "FIND", "target": "mug", "count": 1, "any_of": [], "relations": [], "region": None}
    line = {"id": "a", "source": "s", "text": "find the mug", "avoid": [], "unable": [], "note": ""}
    path = tmp_path / "said.jsonl"
    path.write_text(json.dumps({**line, "steps": [{**step, "seconds": None}]}))
    parser = argparse.ArgumentParser()
    BENCHMARK.add_options(parser)
    told: list[str] = []
    return BENCHMARK.run(parser.parse_args(["--data", str(path), *options]), tmp_path, told.append), told


def test_a_model_that_is_not_there_leaves_it_to_the_grammar(tmp_path, monkeypatch):
    monkeypatch.setenv("LODESTAR_TEST_KEY", "0123456789")
    options = ("--base-url", "http://127.0.0.1:9/v1", "--key-variable", "LODESTAR_TEST_KEY")
    result, told = score(tmp_path, "--parser", "model", *options)
    assert result.metrics["exact.all"] == 1.0 and "parse_p95_sentence_ms" in result.metrics
    assert any("the grammar reads the directive" in text for text in told)


def test_a_key_in_place_of_its_variable_is_refused(tmp_path):
    with pytest.raises(BadOptions):
        score(tmp_path, "--parser", "model", "--key-variable", "sk-0123456789 abc")
