"""Replayed choices: the same draws for every policy, and an expert that is never right costs time."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.selection.context import feature_names
from lodestar.selection.policies import make_policy
from lodestar_eval.choice_trials import FEATURES, Offers, Template, TrialConfig, run_stream

ARMS = ("frontier", "semantic_map", "ego_vlm")
NAMES = feature_names(FEATURES, ARMS)
SMALL = TrialConfig(buildings=6, searches=10)


def searches(chance: tuple[float, ...], seconds: tuple[float, ...]) -> list[Template]:
    contexts = np.zeros((3, len(NAMES)))
    contexts[:, NAMES.index("bias")] = 1.0
    contexts[:, NAMES.index("value")] = np.divide(chance, seconds)
    offers = Offers(contexts, np.array([True, False, True]), np.array(chance), np.array(seconds))
    return [Template("apartment", (offers,) * 5)]


def stream(name: str, quality: float, seed: int = 0) -> np.ndarray:
    templates = searches((0.05, 0.0, 0.5), (5.0, 1.0, 10.0))
    make = lambda: make_policy(name, ARMS, NAMES, np.random.default_rng(0))  # noqa: E731
    return run_stream(make, templates, ARMS, seed, SMALL, ({"apartment": {"ego_vlm": quality}},))


@settings(deadline=None, max_examples=5)
@given(st.integers(0, 1000))
def test_the_same_stream_twice_is_the_same_and_no_search_exceeds_its_limit(seed):
    first = stream("corrected", 0.3, seed)
    assert np.array_equal(first, stream("corrected", 0.3, seed))
    assert first.shape == (6, 10) and (first > 0.0).all() and (first <= SMALL.limit).all()


def test_a_view_that_is_never_right_costs_those_who_do_not_learn_of_it():
    assert stream("greedy", 0.0).mean() == SMALL.limit
    assert stream("corrected", 0.0).mean() < 0.6 * SMALL.limit
    assert (
        abs(stream("corrected", 1.0).mean() - stream("greedy", 1.0).mean())
        < 0.2 * stream("greedy", 1.0).mean()
    )
