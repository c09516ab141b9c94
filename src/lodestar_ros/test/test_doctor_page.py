"""Tests that the troubleshooting page lists all checks of the doctor, and that each check has a failing test."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from test_doctor import FAULTS

FAULTS_PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "troubleshooting.md"


def test_the_page_lists_every_check() -> None:
    folder = Path(__file__).parents[1] / "lodestar_ros" / "doctor"
    text = "".join(path.read_text() for path in folder.glob("*_checks.py"))
    checks = set(re.findall(r'Level\.\w+,\s*"(\w+)"', text))
    assert len(checks) > 35
    assert checks - set(re.findall(r"`(\w+)`", FAULTS_PAGE.read_text())) == set()
    assert checks - set(FAULTS) <= {"no_stack", "no_clock", "held"}, "each has a test that breaks just that"
