"""Tests of the end of a terminal command: action clients are destroyed before Python exits, and Ctrl-C is heard."""

from __future__ import annotations

import subprocess
import sys

import pytest
from waiting import PATIENCE

pytest.importorskip("rclpy", reason="ROS 2 is not installed")
pytest.importorskip("lodestar_interfaces", reason="the workspace is not built")

from lodestar_ros.terminal import EXIT_CANCELLED

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
    """Middleware threads that outlive the node can crash the interpreter at exit."""
    done = subprocess.run([sys.executable, "-c", COMMANDS], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    without, with_clients = map(int, done.stdout.split())
    assert with_clients == without


INTERRUPTED = """
import os
import signal
import sys
import rclpy
from std_msgs.msg import _string
from lodestar_ros.terminal import terminal_node, wait

begin = _string.String.__init__

def interrupted(*_):
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(1000):
        pass

def begins(message, **fields):
    interrupted()
    begin(message, **fields)

class Message:
    __del__ = interrupted

with terminal_node("ask_nobody", "", []) as node:
    publisher = node.create_publisher(_string.String, "said", 1)
    message = _string.String()
    if sys.argv[1] == "destructor":  # Python drops an exception that is raised here
        node.create_timer(0.3, Message)
    else:  # rclpy tells one that is raised here as a RuntimeError
        _string.String.__init__ = begins
    node.create_subscription(_string.String, "said", print, 1)
    node.create_timer(0.3, lambda: publisher.publish(message))
    wait(node, rclpy.task.Future(), float(sys.argv[2]))
"""


@pytest.mark.parametrize("where", ["destructor", "conversion of a message"])
def test_an_interrupt_is_heard_wherever_it_arrives(where):
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, where, str(PATIENCE)],
        capture_output=True,
        text=True,
        timeout=PATIENCE / 2,
    )
    assert done.returncode == EXIT_CANCELLED, done.stderr
    assert "Traceback" not in done.stderr
