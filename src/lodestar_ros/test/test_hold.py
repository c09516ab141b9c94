"""Tests of `python -m lodestar_ros.hold` without DDS."""

from __future__ import annotations

import os

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")
pytest.importorskip("lodestar_interfaces", reason="the workspace is not built")

from lodestar_ros import hold


def test_a_user_without_a_name_can_hold_the_robot(monkeypatch):
    """In a container, a user may be a number alone."""
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)
    assert hold._who() == f"{os.getuid()} in a terminal"
