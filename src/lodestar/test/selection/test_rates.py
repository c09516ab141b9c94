"""Tests that goals compete by chance per second, and that the bandit learns a correction factor per expert."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.selection.config import LinUcbConfig, SelectionConfig
from lodestar.selection.context import feature_names
from lodestar.selection.policies import make_policy, policy_of, state_file

ARMS = ("frontier", "semantic_map", "ego_vlm")
NAMES = feature_names("valued", ARMS)
ALL = np.ones(3, bool)


def policy(name, **options):
    return make_policy(name, ARMS, NAMES, np.random.default_rng(0), **options)


def contexts(*values):
    x = np.zeros((3, len(NAMES)))
    x[:, NAMES.index("bias")], x[:, NAMES.index("value")] = 1.0, values
    return x


VALUES = st.lists(st.integers(1, 10_000), min_size=3, max_size=3, unique=True).map(
    lambda drawn: [value / 1000.0 for value in drawn]
)


@settings(deadline=None)
@given(VALUES, st.floats(0.1, 10.0))
def test_without_evidence_the_greatest_value_is_chosen_whatever_its_unit(values, factor):
    for name in ("greedy", "mask_after", "corrected"):
        options = {"mixing": 0.0, "untold": 1e-6} if name == "corrected" else {}
        for scale in (1.0, factor):
            arm = policy(name, **options).choose(scale * contexts(*values), ALL).arm
            assert arm == int(np.argmax(values))


@settings(deadline=None)
@given(st.floats(0.0, 30.0), st.integers(0, 20), st.floats(0.001, 1.0))
def test_with_a_bias_alone_the_factor_is_that_of_the_gamma_posterior(expected, events, value):
    strength = 2.0
    one = policy("corrected", memory=1.0, rate_strength=strength, mixing=0.0)
    x = contexts(value, value, value)
    for _ in range(events):
        one.update(x[1], 1, 1.0, 0.0)
    for _ in range(12):  # no decision counts for more than three expected successes
        one.update(x[1], 1, 0.0, expected / value / 12)
    factor = one.choose(x, ALL).estimates[1] / value
    assert factor == pytest.approx(max((strength + events) / (strength + expected), 0.02), rel=1e-6)


def test_an_expert_that_promises_and_never_keeps_is_left_and_is_asked_again_once_it_does():
    one, x = policy("corrected", mixing=0.0, memory=0.99), contexts(0.02, 0.0, 0.1)
    admissible = np.array([True, False, True])
    for _ in range(200):
        arm = one.choose(x, admissible).arm
        one.update(x[arm], arm, float(arm == 0) * 0.2, 10.0)
    assert one.choose(x, admissible).arm == 0
    for _ in range(400):
        one.update(x[0], 0, 0.2, 10.0)  # news about the frontier only, so the knowledge about the view fades
    assert one.weights[2, NAMES.index("bias")] > 0.9


def test_the_mask_leaves_out_three_failures_and_never_the_explorer():
    one, x = policy("mask_after"), contexts(0.01, 0.05, 0.1)
    for _ in range(3):
        assert one.choose(x, ALL).arm == 2
        one.update(x[2], 2, 0.0, 5.0)
    assert one.choose(x, ALL).arm == 1
    for _ in range(9):
        one.update(x[0], 0, 0.0, 5.0)
    assert one.choose(x, np.array([True, False, True])).arm == 0
    one.begin()
    assert one.choose(x, ALL).arm == 2


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 2), st.floats(0.0, 2.0), st.floats(0.0, 100.0)), max_size=60))
def test_its_state_stays_one_that_can_be_read_back(turns):
    one, other = policy("corrected"), policy("corrected")
    for arm, reward, seconds in turns:
        one.update(contexts(0.01, 0.5, 5.0)[arm], arm, reward, seconds)
    other.restore(one.state())
    assert np.allclose(other.weights, one.weights)


def test_a_turn_that_was_held_up_for_hours_does_not_end_trust_in_its_expert():
    one, x = policy("corrected", memory=1.0, mixing=0.0), contexts(0.1, 0.1, 0.1)
    one.update(x[0], 0, 0.0, 7200.0)
    assert one.choose(x, ALL).estimates[0] == pytest.approx(
        0.1 * 2.0 / 5.0
    )  # strength 2, three expected successes


CONFIG = SelectionConfig(policy="corrected", features="valued", reward="found", policy_state="kept")


def kept(arms=ARMS, keeps=True):
    """Return the policy that continues the kept state, and the warnings."""
    warnings = []
    config = CONFIG
    return policy_of(
        config, LinUcbConfig(), arms, np.random.default_rng(0), keeps=keeps, warn=warnings.append
    ), warnings


def test_a_kept_state_lies_in_the_users_folder_and_every_run_goes_on_from_it(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    file = state_file(CONFIG, ARMS)
    first, _ = kept()
    first.update(contexts(0.01, 0.5, 5.0)[2], 2, 0.0, 20.0)
    first.save(file)
    assert file.parent.stat().st_mode & 0o077 == 0
    assert kept()[0].state() == first.state()
    assert kept(keeps=False)[0].state() != first.state()  # a benchmark does not keep state
    other = replace(CONFIG, policy="bandit")
    assert len({file, state_file(other, ARMS), state_file(CONFIG, ARMS[:2])}) == 3
    assert kept(ARMS[:2])[1] == []


@pytest.mark.parametrize(
    "content", ["", "{half a fi", "[]", '{"format": "lodestar policy state 1"}', "other arms"]
)
def test_a_kept_state_that_is_of_no_use_is_set_aside_and_the_robot_starts(content, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    file = state_file(CONFIG, ARMS)
    file.parent.mkdir(parents=True)
    if content == "other arms":
        content = json.dumps(kept(ARMS[:2])[0].state())
    for number in (1, 2):
        file.write_text(content)
        one, warnings = kept()
        assert one.state() == kept(keeps=False)[0].state()
        assert len(warnings) == 1 and f"set aside as {file}.refused-{number}" in warnings[0]
        assert (tmp_path / f"{file}.refused-{number}").read_text() == content and not file.exists()
    assert kept()[1] == []
