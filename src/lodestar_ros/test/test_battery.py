"""What a battery's message says of the way that is left."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from sensor_msgs.msg import BatteryState

from lodestar_ros.battery import BatteryConfig, BatteryInput, budget_of


@pytest.mark.parametrize("charge", [float("nan"), -0.1, 1.5, float("inf")])
def test_what_is_no_charge_says_nothing(charge):
    assert budget_of(charge, BatteryConfig(full_range=1000.0)) is None


def test_a_charge_is_metres_and_a_charger_has_both_coordinates():
    config = BatteryConfig(full_range=1000.0, reserve=20.0, charger_x=1.0, charger_y=2.0)
    budget = budget_of(0.25, config)
    assert budget.range_left == 250.0 and budget.reserve == 20.0 and budget.charger == (1.0, 2.0)
    assert budget_of(0.0, BatteryConfig(full_range=1000.0, charger_x=1.0)).charger is None


class Node:
    """Takes the subscription and the complaints."""

    def __init__(self):
        self.heard, self.said = [], []
        self.diagnostics = SimpleNamespace(status=lambda text, ok: self.said.append((text, ok)))

    def listen(self, kind, topic, callback, profile):
        self.heard.append((kind, topic, callback))


def test_messages_become_budgets_and_unmeasured_ones_are_said():
    node, budgets = Node(), []
    BatteryInput(node, BatteryConfig(full_range=500.0), budgets.append)
    ((kind, topic, callback),) = node.heard
    assert kind is BatteryState and topic == "battery"
    callback(BatteryState(percentage=0.5))
    callback(BatteryState(percentage=float("nan")))
    assert [budget.range_left for budget in budgets] == [250.0]
    assert node.said and node.said[0][1] is False


def test_without_a_range_nobody_listens():
    node = Node()
    BatteryInput(node, BatteryConfig(), lambda budget: None)
    assert node.heard == []
