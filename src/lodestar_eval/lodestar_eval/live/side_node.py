"""ROS node that observes other nodes of a stack from its own ROS context and thread."""

from __future__ import annotations

import threading

from rclpy.context import Context
from rclpy.node import Node

from lodestar_ros.executors import init_ros, spin


class SideNode:
    """ROS node with its own context. Its callbacks run on a separate thread from `start` to `close`."""

    def __init__(self, name: str, domain_id: int) -> None:
        self._context, self._stop = Context(), threading.Event()
        init_ros(context=self._context, domain_id=domain_id)
        self.node = Node(name, context=self._context, start_parameter_services=False)
        self._thread = threading.Thread(target=spin, args=(self.node, self._stop), name=name, daemon=True)

    def start(self) -> None:
        """Begin to run callbacks."""
        self._thread.start()

    def close(self) -> None:
        """End the thread after its current callback, and destroy the node, unless a callback does not end."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(10.0)
        if self._thread.is_alive():
            return  # what it still uses may not be destroyed
        self.node.destroy_node()
        self._context.try_shutdown()
