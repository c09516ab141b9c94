"""Tests of which of two nodes with the same name ends, also when a node was restarted."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar_ros.twins import GIVES_WAY, Presence, advice, identity_from


class Time:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Time()


def test_the_later_gives_way_and_the_older_stays(clock):
    first = Presence("/sim", clock)
    clock.now = 3.0
    second = Presence("/sim", clock)
    clock.now = 4.0
    assert second.older_twin(first.me.text()).token == first.token
    assert first.older_twin(second.me.text()) is None


def test_of_two_that_start_at_once_exactly_one_gives_way(clock):
    first, second = Presence("/sim", clock), Presence("/sim", clock)
    assert (first.older_twin(second.me.text()) is None) != (second.older_twin(first.me.text()) is None)


def test_a_node_that_has_run_for_long_gives_way_to_nobody(clock):
    second = Presence("/sim", clock)
    text = second.me.text().replace(" 0.00", " 5000.00")
    clock.now = GIVES_WAY + 1.0
    assert second.older_twin(text) is None


@pytest.mark.parametrize(
    "text", ["", "laser 3", "/sim host 12 abc", "/sim host x abc 1.0", "/sim host 1 abc nan?", "a b c d e"]
)
def test_what_is_no_identity_is_nobody(text, clock):
    assert identity_from(text) is None
    assert Presence("/sim", clock).older_twin(text) is None


def test_another_name_or_namespace_is_no_twin(clock):
    other = Presence("/second/sim", clock)
    clock.now = 1.0
    assert Presence("/sim", clock).older_twin(other.me.text()) is None


def test_it_does_not_give_way_to_itself(clock):
    one = Presence("/sim", clock)
    said = one.me.text()
    clock.now = 1.0
    assert one.older_twin(said) is None


def test_the_advice_names_the_other_and_what_to_do(clock):
    said = advice(Presence("/go2/sim", clock, host="robot").me)
    assert "/go2/sim runs already" in said and "on robot" in said
    assert "ROS_DOMAIN_ID=" in said and "namespace:=" in said
