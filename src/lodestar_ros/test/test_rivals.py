"""Tests of the detection, in the ROS graph, of connections that bypass the gate."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from lodestar_ros.motion.rivals import BARE, GateRivals, is_bare, others, strangers


def end(name: str, namespace: str = "/") -> SimpleNamespace:
    """Return a publisher or subscription endpoint of a node."""
    return SimpleNamespace(node_name=name, node_namespace=namespace)


GATE = end("motion_gate")


@pytest.fixture
def rivals() -> GateRivals:
    return GateRivals("/motion_gate")


def test_others_are_named_once_and_in_full() -> None:
    graph = [GATE, end("twist_mux"), end("joy", "/robot1"), end("twist_mux")]
    assert others(graph, lambda name: name == "/motion_gate") == ["/robot1/joy", "/twist_mux"]
    assert is_bare("/_CREATED_BY_BARE_DDS_APP_") and not is_bare("/twist_mux")


def test_the_gate_alone_is_no_rival(rivals: GateRivals) -> None:
    navigator = [GATE, end("velocity_smoother"), end("rviz")]
    assert rivals.look([GATE], navigator, [end("go2_base")]) == ""


def test_a_second_publisher_is_named_at_once(rivals: GateRivals) -> None:
    assert "/twist_mux publishes velocities past motion_gate" in rivals.look([GATE, end("twist_mux")], [], [])
    assert rivals.look([GATE], [], []) == ""


@pytest.mark.parametrize("name", BARE)
def test_a_publisher_without_a_name_counts_from_its_second_look_on(rivals: GateRivals, name: str) -> None:
    """DDS reports a node's name after its publishers."""
    assert rivals.look([GATE, end(name)], [], []) == ""
    assert "without a name" in rivals.look([GATE, end(name)], [], [])
    assert rivals.look([GATE], [], []) == ""
    assert rivals.look([GATE, end(name)], [], []) == ""


def test_a_driver_that_hears_the_navigator_itself_is_named(rivals: GateRivals) -> None:
    said = rivals.look([GATE], [GATE, end("go2_driver_node")], [end("go2_driver_node")])
    assert "/go2_driver_node drives the base and listens to cmd_vel" in said


def test_a_gate_of_another_namespace_is_a_rival(rivals: GateRivals) -> None:
    assert "/robot2/motion_gate" in rivals.look([GATE, end("motion_gate", "/robot2")], [], [])


def test_a_second_gate_is_a_rival_and_known_as_such(rivals: GateRivals) -> None:
    assert "2 publishers of cmd_vel_out are named /motion_gate" in rivals.look([GATE, GATE], [], [])
    assert rivals.twin
    assert rivals.look([GATE], [], []) == "" and not rivals.twin


@pytest.mark.parametrize("topic", ["cmd_vel", "cmd_vel_joy"])
def test_a_second_writer_of_an_allowed_name_is_told(topic: str) -> None:
    one, other = end("navigator"), end("goal_selector")
    assert strangers([one, other], "", ("navigator", "goal_selector"), topic) == ""
    said = strangers([one, other, one], "", ("navigator", "goal_selector"), topic)
    assert said.startswith(f"2 publishers of {topic} are named /navigator: stop all but one")


def test_a_second_writer_beside_the_navigator_is_named():
    navigators = ("velocity_smoother", "/other/navigator")
    writers = [end("velocity_smoother", "/robot1"), end("navigator", "/other")]
    assert strangers(writers, "/robot1", navigators, "cmd_vel") == ""
    said = strangers([*writers, end("teleop_twist_keyboard", "/robot1")], "/robot1", navigators, "cmd_vel")
    assert said.startswith("/robot1/teleop_twist_keyboard publishes cmd_vel") and "`navigators`" in said
    assert "/velocity_smoother" in strangers([end("velocity_smoother")], "/robot1", navigators, "cmd_vel")
    assert "not known" in strangers([end(BARE[1])], "", navigators, "cmd_vel")
    assert "`joystick`" in strangers([end("teleop_node")], "", (), "cmd_vel_joy")
