"""Tests of the pacing of simulated time, against a fake real-time clock."""

from __future__ import annotations

import pytest

from lodestar_sim.nodes.pacer import Pacer


class Time:
    """A fake clock that advances only by `sleep` and simulated work."""

    def __init__(self):
        self.now = 100.0

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        assert seconds > 0.0
        self.now += seconds


def _run(factor: float, work, steps: int = 500) -> tuple[Time, Pacer]:
    real = Time()
    pacer = Pacer(factor, real.clock, real.sleep)
    for step in range(steps):
        pacer.wait(step * 0.02)
        real.now += work(step)
    return real, pacer


@pytest.mark.parametrize("factor", [1.0, 0.5, 4.0])
def test_time_runs_at_the_factor_that_is_asked_for(factor):
    real, pacer = _run(factor, lambda step: 0.001)
    assert real.now - 100.0 == pytest.approx(499 * 0.02 / factor, abs=0.01)
    assert pacer.overruns == 0


def test_zero_never_waits():
    real, _ = _run(0.0, lambda step: 0.001)
    assert real.now - 100.0 == pytest.approx(0.5)


def test_an_overload_slows_the_clock_and_is_counted():
    real, pacer = _run(1.0, lambda step: 0.04)
    assert real.now - 100.0 == pytest.approx(500 * 0.04, rel=0.01)
    assert pacer.overruns > 100


def test_one_long_step_is_not_hurried_after():
    real, pacer = _run(1.0, lambda step: 2.0 if step == 100 else 0.001)
    assert real.now - 100.0 == pytest.approx(499 * 0.02 + 2.0, abs=0.03)
    assert pacer.overruns == 1


def test_the_factor_is_reported_once_a_second():
    real = Time()
    pacer = Pacer(1.0, real.clock, real.sleep)
    reports = []
    for step in range(500):
        pacer.wait(step * 0.02)
        real.now += 0.025
        report = pacer.report(step * 0.02)
        if report is not None:
            reports.append(report)
    assert 10 <= len(reports) <= 13
    assert reports == pytest.approx([0.8] * len(reports), abs=0.03)


def test_a_negative_factor_is_refused():
    with pytest.raises(ValueError, match="real_time_factor"):
        Pacer(-1.0)


def test_what_a_slow_step_has_lost_can_be_made_up():
    real = Time()
    pacer = Pacer(1.0, real.clock, real.sleep)
    assert pacer.behind(0.0) == 0.0, "nothing has begun"
    pacer.wait(0.0)
    real.now += 0.13
    assert pacer.behind(0.02) == pytest.approx(0.11)
    assert pacer.behind(0.2) == 0.0
    real.now += 5.0
    assert pacer.behind(0.02) == Pacer.MAX_LATE, "a robot that was held up does not leap"
    assert Pacer(0.0, real.clock, real.sleep).behind(0.0) == 0.0, "without a pace there is no delay"
