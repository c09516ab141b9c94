"""The end of a terminal command: its action clients end before Python does."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")
pytest.importorskip("lodestar_interfaces", reason="the workspace is not built")

COMMANDS = """
import os
import rclpy
from rclpy.action import ActionClient
from lodestar_interfaces.action import AnswerQuestion
from lodestar_ros.terminal import terminal_node

def threads_after(*actions):
    with terminal_node("ask_nobody", "", []) as node:
        clients = [ActionClient(node, AnswerQuestion, name) for name in actions]
        rclpy.spin_until_future_complete(node, rclpy.task.Future(), timeout_sec=0.1)
    return len(os.listdir("/proc/self/task"))

print(threads_after(), threads_after("one/answer", "another/answer"))
"""


def test_a_command_with_action_clients_ends_the_threads_of_the_middleware():
    """Those that outlive the node are there when the interpreter ends, and it crashes then now and again."""
    done = subprocess.run([sys.executable, "-c", COMMANDS], capture_output=True, text=True, timeout=60.0)
    assert done.returncode == 0, done.stderr
    without, with_clients = map(int, done.stdout.split())
    assert with_clients == without
