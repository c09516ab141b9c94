"""Tests of the remaining range from battery messages."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from sensor_msgs.msg import BatteryState

from lodestar_ros.battery import BatteryConfig, BatteryInput, ChargeReader, budget_of


@pytest.mark.parametrize("charge", [float("nan"), -0.1, 1.5, float("inf")])
def test_what_is_no_charge_says_nothing(charge):
    assert budget_of(charge, BatteryConfig(full_range=1000.0)) is None


def test_a_charge_is_metres_and_a_charger_has_both_coordinates():
    config = BatteryConfig(full_range=1000.0, reserve=20.0, charger_x=1.0, charger_y=2.0)
    budget = budget_of(0.25, config)
    assert budget.range_left == 250.0 and budget.reserve == 20.0 and budget.charger == (1.0, 2.0)
    assert budget_of(0.0, BatteryConfig(full_range=1000.0, charger_x=1.0)).charger is None


class Node:
    """Fake node that stores subscriptions and log messages."""

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


def shares(*messages: BatteryState) -> list[float]:
    """Return the charge shares read by one reader from consecutive messages."""
    reader = ChargeReader()
    return [reader.share(message) for message in messages]


def told(*percentages: float) -> list[float]:
    return shares(*(BatteryState(percentage=value) for value in percentages))


def test_after_a_value_above_one_a_one_is_one_percent():
    assert told(1.0, 87.0, 1.0, 0.5, 100.0) == pytest.approx([1.0, 0.87, 0.01, 0.005, 1.0])
    assert told(1.5, 1.0) == pytest.approx([0.015, 0.01])


@given(st.lists(st.floats(0.0, 1.0, width=32), min_size=2, max_size=20))
def test_every_course_of_charges_is_read_alike_in_shares_and_in_percents(charges):
    """A driver that reports percent is recognised by its first value above 1."""
    rounded = [round(value, 4) for value in charges]
    assert told(*rounded) == pytest.approx(rounded, abs=1e-6)
    assert told(100.0, *(100.0 * value for value in rounded))[1:] == pytest.approx(rounded, abs=1e-5)


@given(
    st.lists(
        st.floats(-3.4e38, 3.4e38)
        | st.sampled_from([1.0, 1.0005, 100.0, 255.0, math.nan, math.inf, -math.inf]),
        max_size=20,
    )
)
def test_whatever_is_told_a_charge_is_a_share_or_none(percentages):
    seen_above_one = False
    for value, share in zip(percentages, told(*percentages)):
        assert math.isnan(share) or 0.0 <= share <= 1.0
        assert not (seen_above_one and value <= 1.0 and share > 0.0101), "1.0 is not full any more"
        seen_above_one |= 1.01 < value <= 105.0


def test_a_full_battery_may_overshoot_by_its_last_digits():
    assert told(1.0004, 0.5) == pytest.approx([1.0, 0.5])
    assert told(50.0, 100.4, 99.0) == pytest.approx([0.5, 1.0, 0.99])


def test_what_says_unknown_changes_nothing_and_another_unit_is_refused_for_good():
    assert told(0.7, 255.0, 0.6, -1.0, 255.0, 0.5)[::2] == pytest.approx([0.7, 0.6, math.nan], nan_ok=True)
    reader = ChargeReader()
    read = [reader.share(BatteryState(percentage=value)) for value in (853.0, 852.0, 99.0, 0.9)]
    assert all(math.isnan(one) for one in read), "99 per mille are not full"
    assert "neither 0 to 1 nor 0 to 100" in reader.warning


def test_charge_by_capacity_stands_in_for_a_percentage_that_is_not_filled_in():
    nan = math.nan
    given_ = {"charge": 2.0, "capacity": 4.0, "design_capacity": 8.0}
    assert shares(BatteryState(percentage=nan, **given_)) == [0.5]
    assert shares(BatteryState(percentage=0.0, **given_)) == [0.5]
    assert shares(BatteryState(percentage=0.3, **given_)) == pytest.approx([0.3])
    assert shares(BatteryState(percentage=nan, charge=2.0, capacity=nan, design_capacity=8.0)) == [0.25]
    for charge, capacity in ((nan, 4.0), (2.0, 0.0), (-1.0, 4.0), (9.0, 4.0), (nan, nan)):
        (share,) = shares(BatteryState(percentage=nan, charge=charge, capacity=capacity, design_capacity=nan))
        assert math.isnan(share)
    assert shares(BatteryState(percentage=0.0, charge=nan, capacity=nan)) == [0.0]


def test_a_driver_of_percents_is_told_once_and_its_budgets_are_right():
    node, budgets = Node(), []
    BatteryInput(node, BatteryConfig(full_range=500.0), budgets.append)
    for value in (90.0, 50.0, 1.0):
        node.heard[0][2](BatteryState(percentage=value))
    assert [budget.range_left for budget in budgets] == pytest.approx([450.0, 250.0, 5.0])
    ((text, ok),) = node.said
    assert "the driver tells 0 to 100" in text and not ok
