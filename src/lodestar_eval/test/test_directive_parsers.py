"""Tests that `directives` scores the parser named in its options."""

from __future__ import annotations

import argparse
import json

import pytest

from lodestar_eval.registry import BadOptions
from lodestar_eval.studies.directives import BENCHMARK


def score(tmp_path, *options):
    """Return the result for one sentence."""
    step = {"kind": "FIND", "target": "mug", "count": 1, "any_of": [], "relations": [], "region": None}
    line = {"id": "a", "source": "s", "text": "find the mug", "avoid": [], "unable": [], "note": ""}
    path = tmp_path / "said.jsonl"
    path.write_text(json.dumps({**line, "steps": [{**step, "seconds": None}]}))
    parser = argparse.ArgumentParser()
    BENCHMARK.add_options(parser)
    return BENCHMARK.run(parser.parse_args(["--data", str(path), *options]), tmp_path, lambda line: None)


def test_a_model_that_is_not_there_leaves_it_to_the_grammar(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("LODESTAR_TEST_KEY", "0123456789")
    options = ("--base-url", "http://127.0.0.1:9/v1", "--key-variable", "LODESTAR_TEST_KEY")
    result = score(tmp_path, "--parser", "model", *options)
    assert result.metrics["exact.all"] == 1.0 and "parse_p95_sentence_ms" in result.metrics
    assert "the grammar reads the directive" in capsys.readouterr().out


def test_a_key_in_place_of_its_variable_is_refused(tmp_path):
    with pytest.raises(BadOptions):
        score(tmp_path, "--parser", "model", "--key-variable", "sk-0123456789 abc")
