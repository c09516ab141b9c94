"""Tests of the notices of restarts: several keepers latch one each, and a late listener hears all."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar_ros import qos
from lodestar_ros.restarts import RestartNotices


def test_the_notices_of_all_keepers_are_heard():
    asked = []
    RestartNotices(SimpleNamespace(listen=lambda kind, topic, take, profile: asked.append(profile)))
    assert asked[0].depth > 10 and qos.unheard_because(qos.LATCHED, asked[0]) == ""
