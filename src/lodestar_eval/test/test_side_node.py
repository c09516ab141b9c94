"""Test of a node beside those that are measured."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from std_msgs.msg import Empty
from waiting import wait_for

from lodestar_eval.live.side_node import SideNode


@pytest.mark.ros
def test_a_side_node_hears_from_start_to_close_also_after_an_error(domain, capsys):
    """The captured output is no file, like that of a notebook."""
    sides = [SideNode(f"side_{number}", domain) for number in range(3)]
    heard = [[] for _ in sides]
    for side, own in zip(sides, heard, strict=True):
        side.node.create_subscription(Empty, "said", lambda _, own=own: own.append(1) or 1 / 0, 10)
    publisher = sides[0].node.create_publisher(Empty, "said", 10)
    for side in sides[1:]:
        side.start()
    wait_for(lambda: publisher.publish(Empty()) or all(len(own) > 2 for own in heard[1:]), "messages")
    for side in sides:
        side.close()
    assert not heard[0]
