"""Records topics of a running stack into an MCAP bag, through rosbags: rosbag2 itself has no wheel."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import rclpy
from ament_index_python.packages import get_package_share_directory
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from lodestar_eval.live.parity.topics import RecordedTopic
from lodestar_ros.workers import QueueWorker


class TopicRecorder:
    """Record from construction to `close`; messages are written unchanged, in the order of arrival.

    folder: of the bag, must not exist yet. counts: messages by topic.
    """

    def __init__(self, domain_id: int, folder: Path, topics: Sequence[RecordedTopic]) -> None:
        self.counts: Counter[str] = Counter()
        self.errors: list[str] = []
        self._writer = Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP)
        self._writer.open()
        store = recorded_types(topics)
        self._connections = {
            topic.name: self._writer.add_connection(topic.name, topic.type_name, typestore=store)
            for topic in topics
        }
        self._disk: QueueWorker[tuple[str, int, bytes]] = QueueWorker("bag", self._write, self._on_error)
        self._context = Context()
        rclpy.init(context=self._context, domain_id=domain_id, signal_handler_options=SignalHandlerOptions.NO)
        self._node = Node("lodestar_recorder", context=self._context, start_parameter_services=False)
        for topic in topics:
            self._node.create_subscription(
                topic.type,
                topic.name,
                lambda raw, name=topic.name: self._disk.submit((name, time.time_ns(), bytes(raw))),
                topic.qos,
                raw=True,
            )
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._thread = threading.Thread(target=self._spin, name="recorder", daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        with contextlib.suppress(ExternalShutdownException):
            self._executor.spin()

    def _write(self, item: tuple[str, int, bytes]) -> None:
        name, arrival, raw = item
        self._writer.write(self._connections[name], arrival, raw)
        self.counts[name] += 1

    def _on_error(self, error: Exception) -> None:
        self.errors.append(f"{error.__class__.__name__}: {error}")

    def close(self) -> None:
        """Complete the bag and stop receiving."""
        self._executor.shutdown(timeout_sec=2.0)
        self._thread.join(timeout=2.0)
        self._node.destroy_node()
        self._context.try_shutdown()
        self._disk.close()
        self._writer.close()


def recorded_types(topics: Sequence[RecordedTopic]) -> Typestore:
    """Return the definitions of the topics' types; those that rosbags lacks are read from the installed packages."""
    store = get_typestore(Stores.LATEST)
    found: dict[str, Any] = {}
    wanted = [topic.type_name for topic in topics]
    while wanted:
        name = wanted.pop()
        if name in store.types or name in found:
            continue
        package, _, kind = name.split("/")
        text = (Path(get_package_share_directory(package)) / "msg" / f"{kind}.msg").read_text()
        known = get_types_from_msg(text, name)
        found.update(known)
        wanted += _referenced(known[name])
    store.register(found)
    return store


def _referenced(definition: Any) -> list[str]:
    """Return the names of the message types in a definition's fields."""
    names = []
    for _, (_, detail) in definition[1]:
        while not isinstance(detail, str) and not isinstance(detail[0], str):
            _, detail = detail[0]  # the element of an array or sequence
        if isinstance(detail, str) and "/" in detail:
            names.append(detail)
    return names
