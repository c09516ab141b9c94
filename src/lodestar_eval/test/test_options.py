"""Tests of the command-line option types."""

from __future__ import annotations

import argparse

import pytest

from lodestar.selection.config import SelectionConfig
from lodestar_eval.benchmarks import episodes
from lodestar_eval.options import positive_int, positive_seconds, seed_list, selection_of
from lodestar_eval.studies import lifelong


@pytest.mark.parametrize(
    "text, seeds",
    [("1-4", (1, 2, 3, 4)), ("7", (7,)), ("3,1,3", (3, 1)), ("1-3,2-5", (1, 2, 3, 4, 5)), ("0", (0,))],
)
def test_seed_lists(text, seeds):
    parsed = seed_list(text)
    assert parsed.values == seeds and parsed.first == seeds[0] and str(parsed) == text


@pytest.mark.parametrize("text", ["", "a", "1-", "-3", "5-2", "1,,2", "1.5"])
def test_what_is_no_seed_list(text):
    with pytest.raises(argparse.ArgumentTypeError, match="1-30"):
        seed_list(text)


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "x"])
def test_what_is_no_count(text):
    with pytest.raises(argparse.ArgumentTypeError):
        positive_int(text)


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "x"])
def test_what_is_no_time(text):
    with pytest.raises(argparse.ArgumentTypeError):
        positive_seconds(text)


def test_what_is_a_count_and_a_time():
    assert positive_int("3") == 3 and positive_seconds("2.5") == 2.5


@pytest.mark.parametrize("benchmark", [episodes.BENCHMARK, lifelong.BENCHMARK])
def test_features_and_reward_are_chosen_by_the_names_of_goal_selector(benchmark, capsys):
    parser = argparse.ArgumentParser()
    benchmark.add_options(parser)
    assert selection_of(parser.parse_args([])) == SelectionConfig()
    chosen = selection_of(parser.parse_args(["--features", "app_a", "--reward", "sequence"]))
    assert chosen == SelectionConfig(features="app_a", reward="sequence")
    with pytest.raises(SystemExit):
        parser.parse_args(["--reward", "double"])
    assert "sequence" in capsys.readouterr().err
