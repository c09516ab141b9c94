"""Nodes run as processes, and a node within the test that receives their messages."""

from __future__ import annotations

from pathlib import Path

import rclpy
from rclpy.executors import SingleThreadedExecutor
from waiting import wait_for

from lodestar_bringup.process_spec import ProcessSpec
from lodestar_bringup.starter import Death, Starter


class Processes:
    """Nodes of the simulator; all end with it."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._running: list[Starter] = []

    def start(self, name: str, **parameters) -> Starter:
        spec = ProcessSpec("lodestar_sim", name, name, parameters=parameters)
        self._running.append(Starter([spec], self._folder))
        self._running[-1].start()
        return self._running[-1]

    def death(self, name: str, **parameters) -> Death:
        """Return how a node ends that cannot run as configured."""
        return wait_for(self.start(name, **parameters).deaths, f"the end of {name}")[0]

    def stop(self) -> None:
        for starter in self._running:
            starter.stop()


class Listener:
    """A node in the test that stores received messages by topic."""

    def __init__(self):
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node("listener", context=self.context)
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)
        self.heard: dict[str, list] = {}

    def hear(self, message_type, topic: str, profile) -> None:
        self.heard[topic] = []
        self.node.create_subscription(message_type, topic, self.heard[topic].append, profile)

    def until(self, condition, what: str):
        return wait_for(lambda: condition() or self._executor.spin_once(timeout_sec=0.02), what, every=0.0)

    def spin(self) -> None:
        self._executor.spin_once(timeout_sec=0.05)

    def last(self, topic: str):
        return self.heard[topic][-1]

    def close(self) -> None:
        self._executor.remove_node(self.node)
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


def start_of(x: float, y: float, yaw: float) -> dict:
    """Return parameters of the node `sim` that set the robot's start pose."""
    return {"use_start": True, "start": [x, y, yaw]}
