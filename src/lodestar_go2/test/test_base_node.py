"""Tests of the base's node without DDS."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("unitree_go", reason="the workspace is not built")

from lodestar_go2.nodes.go2_base_node import Go2BaseNode
from lodestar_ros.motion.rivals import BARE


def test_a_publisher_whose_name_is_not_known_yet_stops_the_robot_at_its_second_look() -> None:
    node, found = Go2BaseNode.__new__(Go2BaseNode), list[str]()
    node._guard, node._gate, node._nameless = "go2_guard", "motion_gate", False
    ends = {"cmd_vel_out": [SimpleNamespace(node_name=BARE[1], node_namespace="/")], "api/sport/request": []}
    node.get_publishers_info_by_topic = ends.__getitem__
    node.get_namespace, node.get_fully_qualified_name = (lambda: "/"), (lambda: "/go2_base")
    node.get_logger = lambda: SimpleNamespace(error=lambda text: None)
    node.diagnostics = SimpleNamespace(status=lambda text, ok: None)
    node._rules = SimpleNamespace(
        intruder="", held=None, intrude=lambda why, now: found.append(why), troubles=lambda now: []
    )
    node._sport = node._reports = SimpleNamespace(troubles=[], warnings=[])
    node._send = lambda requests: None
    for _ in range(2):
        node._watch()
    assert found[0] == "" and "publishes velocities past motion_gate" in found[1]
