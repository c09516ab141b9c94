"""Tests that full garbage collections happen only on request."""

from __future__ import annotations

import gc

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar_ros.idle_collector import PERIOD, IdleCollector


@pytest.fixture
def full():
    """Yield a list with one entry per full collection since the start of the test, by Python's own thresholds."""
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)  # whatever a test before has left
    gc.enable()
    seen = []
    watch = lambda phase, info: seen.append(1) if (phase, info["generation"]) == ("start", 2) else None  # noqa: E731
    gc.callbacks.append(watch)
    yield seen
    gc.callbacks.remove(watch)
    gc.set_threshold(*before)


def hoard():
    """Return so many new live objects (over 25 %) that Python would start a full collection."""
    kept = []
    for _ in range(max(300_000, len(gc.get_objects()) // 2)):
        kept.append([kept])
    return kept


def test_python_would_collect_everything_by_itself_and_does_not_under_the_collector(full):
    gc.collect()
    full.clear()
    hoard()
    assert full, "this is what the collector prevents"
    collector = IdleCollector()
    try:
        gc.collect()
        full.clear()
        hoard()
        assert full == []
    finally:
        collector.close()


def test_at_rest_it_collects_once_per_period(full):
    now, before = [0.0], gc.get_threshold()
    collector = IdleCollector(lambda: now[0])
    full.clear()
    collector.rest()
    assert full == []
    now[0] = PERIOD
    collector.rest()
    collector.rest()
    assert len(full) == 1
    collector.close()
    assert gc.get_threshold() == before
