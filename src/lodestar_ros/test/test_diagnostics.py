"""Tests of an input monitor: counting, dropping, and detection of a restarted source."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from types import SimpleNamespace

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus

from lodestar_ros import diagnostics
from lodestar_ros.diagnostics import ERROR_HOLDS, Diagnostics, InputConfig, InputMonitor


def test_monitor_counts_and_drops_what_is_late_repeated_or_out_of_order(monkeypatch):
    monkeypatch.setattr(diagnostics, "INPUT_MAX_AGE", 1.0)
    monitor = InputMonitor("depth")
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
    monitor.restart_clock()
    assert monitor.accept(0.1, 0.1)


class Shell:
    """Fake node that stores published messages. timers: (period, callback) of running timers."""

    def __init__(self):
        self.told = []
        self.timers = {}
        self.listeners = 0

    def create_publisher(self, *_):
        return SimpleNamespace(
            publish=lambda message: self.told.append(message.status[0]),
            get_subscription_count=lambda: self.listeners,
        )

    def create_timer(self, period, callback, **__):
        self.timers[period] = callback
        return SimpleNamespace(cancel=lambda: self.timers.pop(period, None))

    def get_name(self):
        return "mapping"

    def get_logger(self):
        return SimpleNamespace(error=lambda *_, **__: None)

    def get_clock(self):
        return SimpleNamespace(now=lambda: SimpleNamespace(to_msg=lambda: Time()))


def test_an_error_is_a_warning_for_a_while_and_stays_counted(monkeypatch):
    now = 100.0
    monkeypatch.setattr(diagnostics.time, "monotonic", lambda: now)
    shell = Shell()
    node = Diagnostics(shell)

    def told():
        node._publish()
        status = shell.told[-1]
        return status.level, status.message, {one.key: one.value for one in status.values}.get("errors")

    assert told() == (DiagnosticStatus.OK, "running", None)
    node.error(ValueError("once"))
    node.error(OSError("disk full"))
    assert told() == (DiagnosticStatus.WARN, "running; OSError: disk full", "2")
    now += ERROR_HOLDS
    assert told() == (DiagnosticStatus.OK, "running", "2")


def test_the_first_status_goes_out_as_soon_as_somebody_listens():
    shell = Shell()
    Diagnostics(shell)
    first = shell.timers[diagnostics.LISTENED_FOR]
    first()
    assert shell.told == [], "it would be lost: nobody listens"
    shell.listeners = 1
    first()
    assert len(shell.told) == 1
    assert list(shell.timers) == [diagnostics.PERIOD], "from then on once per period"


def test_a_node_that_nobody_listens_to_does_not_look_for_listeners_for_ever():
    shell = Shell()
    Diagnostics(shell)
    shell.timers[diagnostics.PERIOD]()
    assert list(shell.timers) == [diagnostics.PERIOD]
