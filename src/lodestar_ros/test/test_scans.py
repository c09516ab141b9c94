"""Tests of laser scans: consistent ones are read, inconsistent ones are refused naming their frame."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from sensor_msgs.msg import LaserScan
from std_msgs.msg import Header

from lodestar_ros.conversions import BadMessage, stamp_to_msg
from lodestar_ros.conversions_sensors import scan_contradiction, scan_from_msg
from lodestar_ros.doctor.graph import scan_problem

NAN, INF = math.nan, math.inf


def scan(first: float, last: float, step: float, ranges: int | list[float], **changes: object) -> LaserScan:
    given = [1.0] * ranges if isinstance(ranges, int) else ranges
    message = LaserScan(header=Header(frame_id="laser_7", stamp=stamp_to_msg(12.25)), ranges=given)
    message.angle_min, message.angle_max, message.angle_increment = first, last, step
    message.range_min, message.range_max = 0.1, 30.0
    for name, value in changes.items():
        setattr(message, name, value)
    return message


@given(
    first=st.floats(-math.pi, math.pi),
    span=st.floats(0.05, 2.0 * math.pi),
    count=st.integers(2, 2000),
    clockwise=st.booleans(),
    more=st.integers(-1, 1),
)
def test_every_scan_whose_angles_agree_with_its_beams_is_read(first, span, count, clockwise, more):
    """Both directions of rotation, one beam more or less than the angles give, and float32 steps are accepted."""
    step = (-span if clockwise else span) / (count - 1)
    beams = max(count + more, 1)
    ranges, begin, read_step, _ = scan_from_msg(scan(first, first + step * (count - 1), step, beams))
    assert len(ranges) == beams
    assert begin == pytest.approx(first, abs=1e-6) and read_step == pytest.approx(step, rel=1e-6)


@given(
    first=st.floats(-math.pi, math.pi),
    span=st.floats(0.05, 2.0 * math.pi),
    count=st.integers(4, 2000),
    what=st.sampled_from(["step", "ends", "beams", "half", "zero", "double"]),
    clockwise=st.booleans(),
)
def test_every_scan_that_contradicts_itself_is_refused_with_its_header(first, span, count, what, clockwise):
    step = (-span if clockwise else span) / (count - 1)
    last, beams = first + step * (count - 1), count
    if what == "step":
        step = -step
    elif what == "ends":
        first, last = last, first
    elif what == "beams":
        beams = count // 2 - 1 if count > 6 else count + 4
    elif what == "half":
        last = first + (last - first) / 2.0 - 1.1 * step
    elif what == "zero":
        step = 0.0
    else:
        step *= 3.0
    message = scan(first, last, step, beams)
    with pytest.raises(BadMessage) as caught:
        scan_from_msg(message)
    said = str(caught.value)
    assert "'laser_7' at 12.250000000" in said
    assert f"{message.angle_min:.6g}, {message.angle_max:.6g}, {message.angle_increment:.6g} rad" in said
    assert scan_problem(message) == said


def test_a_scan_that_turns_the_wrong_way_says_so():
    assert "the step turns clockwise, and from the first to the last angle it is counterclockwise" in (
        scan_contradiction(scan(-math.pi, math.pi, -2.0 * math.pi / 359, 360))
    )
    assert scan_contradiction(scan(math.pi, -math.pi, -2.0 * math.pi / 359, 360)) == ""


@pytest.mark.parametrize(
    ("message", "says"),
    [
        (scan(-1.0, 1.0, 0.0, 21), "21 ranges need a step"),
        (scan(0.0, 0.0, 0.0, 21), "21 ranges need a step"),
        (scan(-1.0, 1.0, NAN, 21), "no angles in radians"),
        (scan(NAN, 1.0, 0.1, 21), "no angles in radians"),
        (scan(-1.0, INF, 0.1, 21), "no angles in radians"),
        (scan(-180.0, 180.0, 1.0, 361), "no angles in radians"),
        (scan(-1.0, 1.0, 0.1, 0), "there are no ranges"),
        (
            scan(-1.0, 1.0, 0.1, 21, range_min=30.0, range_max=0.1),
            "range_min 30 m is not below range_max 0.1 m",
        ),
        (scan(-1.0, 1.0, 0.1, 21, range_max=NAN), "is not below range_max nan m"),
        (scan(-1.0, 1.0, 0.1, 21, range_min=NAN), "range_min nan m is not below"),
        (scan(-1.0, 1.0, 0.1, 21, range_max=0.0, range_min=0.0), "is not below"),
    ],
)
def test_what_is_wrong_with_a_scan_is_named(message, says):
    assert says in scan_contradiction(message)
    with pytest.raises(BadMessage, match="'laser_7'"):
        scan_from_msg(message)


def test_what_is_legal_is_read():
    ranges = [INF, NAN, -INF, 0.05, 31.0, 2.0]
    message = scan(0.0, 0.5, 0.1, ranges, intensities=[1.0, 2.0])  # any number of intensities
    read, *_ = scan_from_msg(message)
    np.testing.assert_array_equal(read, np.array([INF, NAN, NAN, NAN, NAN, 2.0], np.float32))
    assert scan_from_msg(scan(0.0, 0.0, 0.0, 1))[0].tolist() == [1.0]  # no step needed for one beam
    assert scan_from_msg(scan(-1.0, 1.0, 0.1, 21, range_max=INF))[3] == INF
    assert scan_contradiction(scan(-math.pi, math.pi, 0.0175, 360)) == ""  # step rounded by the driver
