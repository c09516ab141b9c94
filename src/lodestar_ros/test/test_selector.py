"""Tests that the goal selector's policy comes from its parameters, and that learned values survive the node."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

import rclpy
from rclpy.parameter import Parameter

from lodestar.assembly.config import GoalSelectorConfig
from lodestar.models.phrases import PhraseBook
from lodestar_ros.node import LodestarNode
from lodestar_ros.parameters import ParameterError, declare_part
from lodestar_ros.selector import make_loop

pytestmark = pytest.mark.ros


@pytest.fixture
def make():
    context = rclpy.Context()
    context.init()
    nodes = []

    def selector(**overrides):
        values = [Parameter(name.replace("__", "."), value=value) for name, value in overrides.items()]
        nodes.append(LodestarNode("selector", context=context, parameter_overrides=values))
        return *make_loop(nodes[-1], declare_part(nodes[-1], GoalSelectorConfig), PhraseBook()), nodes[-1]

    yield selector
    for node in nodes:
        node.destroy_node()
    context.shutdown()


def test_policy_features_and_reward_are_parameters(make):
    loop, _, _ = make(selection__policy="thompson", selection__features="app_a", selection__reward="sequence",
                      policy__alpha=0.7)  # fmt: skip
    ledger = loop._context.ledger
    assert type(ledger._policy).__name__ == "Thompson" and ledger._policy.config.alpha == 0.7
    assert len(ledger.builder.names) == 18 and ledger._rewards.mask_after > 0


def test_what_was_learned_is_kept_after_a_directive_and_taken_up_by_the_next_node(make, tmp_path):
    file = tmp_path / "policy.json"
    loop, keeper, node = make(selection__policy_state=str(file))
    assert not file.exists()
    loop._context.ledger._policy.update(np.ones(10), 1, 3.0)
    keeper.directive_over()
    node.close()  # writes pending data
    again, _, _ = make(selection__policy_state=str(file))
    assert again._context.ledger._policy.state() == loop._context.ledger._policy.state()


def test_a_state_that_is_not_for_this_policy_is_named_at_the_start(make, tmp_path):
    file = tmp_path / "policy.json"
    for text, reason in (
        ("{", "not a state"),
        (json.dumps({"format": "something else"}), "not a lodestar policy state"),
    ):
        file.write_text(text)
        with pytest.raises(ParameterError, match=f"policy.json.*{reason}"):
            make(selection__policy_state=str(file))
        assert file.read_text() == text
    with pytest.raises(ParameterError, match="one of bandit"):
        make(selection__policy="oracle")
