"""Nodes as processes, and a node of the test that hears them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import rclpy
from rclpy.executors import SingleThreadedExecutor

PATIENCE = 90.0  # s of real time for what should take a moment


class Processes:
    """Nodes in a domain of their own; all end with it."""

    def __init__(self, domain: int):
        self.domain = domain
        self._environment = {**os.environ, "ROS_DOMAIN_ID": str(domain)}
        self._running: list[subprocess.Popen] = []

    def start(self, name: str, **parameters) -> subprocess.Popen:
        command = [
            sys.executable,
            "-c",
            f"from lodestar_sim.nodes.{name}_node import main; main()",
            "--ros-args",
        ]
        for key, value in parameters.items():
            command += ["-p", f"{key}:={json.dumps(value)}"]
        process = subprocess.Popen(
            command, env=self._environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True,
        )  # fmt: skip
        self._running.append(process)
        return process

    def stop(self) -> None:
        for process in self._running:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        for process in self._running:
            try:
                process.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()


class Listener:
    """A node in the test that keeps what it hears."""

    def __init__(self, domain: int):
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = rclpy.create_node("listener", context=self.context)
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)
        self.heard: dict[str, list] = {}

    def hear(self, message_type, topic: str, profile) -> None:
        self.heard[topic] = []
        self.node.create_subscription(message_type, topic, self.heard[topic].append, profile)

    def until(self, condition, what: str, patience: float = PATIENCE):
        end = time.monotonic() + patience
        while not (value := condition()):
            assert time.monotonic() < end, f"waited {patience:.0f} s for {what}"
            self._executor.spin_once(timeout_sec=0.02)
        return value

    def spin(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._executor.spin_once(timeout_sec=0.02)

    def last(self, topic: str):
        return self.heard[topic][-1]

    def close(self) -> None:
        self._executor.remove_node(self.node)
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


def start_of(x: float, y: float, yaw: float) -> dict:
    """Parameters of `sim` that put the robot there."""
    return {"use_start": True, "start": [x, y, yaw]}
