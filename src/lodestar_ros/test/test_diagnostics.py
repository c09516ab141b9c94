"""What the monitor of an input counts, drops and takes for a source that starts again."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar_ros.diagnostics import InputConfig, InputMonitor


def test_monitor_counts_and_drops_what_is_late_repeated_or_out_of_order():
    monitor = InputMonitor("depth", InputConfig(max_age=1.0))
    stamps = [(10.0, 10.1), (10.0, 10.1), (9.9, 10.2), (10.2, 10.3), (10.3, 12.0)]
    assert [monitor.accept(*pair) for pair in stamps] == [True, False, False, True, False]
    assert monitor.drops == {"duplicate": 1, "out_of_order": 1, "late": 1}
    assert monitor.received == 5
    assert monitor.values()["depth.dropped"] == "3"


def test_monitor_follows_a_source_that_starts_again():
    monitor = InputMonitor("depth", InputConfig(restart_after=3))
    assert monitor.accept(100.0, 100.0)
    accepted = [monitor.accept(stamp, stamp) for stamp in (1.0, 1.1, 1.2, 1.3, 1.4)]
    assert accepted == [False, False, False, True, True]


def test_monitor_is_not_fooled_by_a_stream_that_jumps_back_and_forth():
    monitor = InputMonitor("depth", InputConfig(restart_after=3))
    assert monitor.accept(100.0, 100.0)
    for tick in range(20):
        assert not monitor.accept(50.0, 100.0)
        assert monitor.accept(100.1 + tick, 100.1 + tick)


def test_monitor_after_a_clock_jump():
    monitor = InputMonitor("depth")
    assert monitor.accept(100.0, 100.0)
    monitor.restart()
    assert monitor.accept(0.1, 0.1)
