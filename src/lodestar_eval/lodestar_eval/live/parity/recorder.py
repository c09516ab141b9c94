"""Recorder of a running stack's topics in an MCAP bag, through rosbags: rosbag2 itself has no wheel."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from lodestar_eval.live.parity.topics import RecordedTopic
from lodestar_eval.live.side_node import SideNode
from lodestar_ros.bag_files import define
from lodestar_ros.workers import QueueWorker


class TopicRecorder:
    """Records from construction to `close`; messages are written unchanged, in the order of arrival.

    folder: of the bag, must not exist yet. counts: messages by topic.
    """

    def __init__(self, domain_id: int, folder: Path, topics: Sequence[RecordedTopic]) -> None:
        self.counts: Counter[str] = Counter()
        self.errors: list[str] = []
        self._writer = Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP)
        self._writer.open()
        store = get_typestore(Stores.LATEST)
        define(store, [topic.type_name for topic in topics])
        self._connections = {
            topic.name: self._writer.add_connection(topic.name, topic.type_name, typestore=store)
            for topic in topics
        }
        self._disk: QueueWorker[tuple[str, int, bytes]] = QueueWorker("bag", self._write, self._on_error)
        self._side = SideNode("lodestar_recorder", domain_id)
        for topic in topics:
            self._side.node.create_subscription(
                topic.type,
                topic.name,
                lambda raw, name=topic.name: self._disk.submit((name, time.time_ns(), bytes(raw))),
                topic.qos,
                raw=True,
            )
        self._side.start()

    def _write(self, item: tuple[str, int, bytes]) -> None:
        name, arrival, raw = item
        self._writer.write(self._connections[name], arrival, raw)
        self.counts[name] += 1

    def _on_error(self, error: Exception) -> None:
        self.errors.append(f"{error.__class__.__name__}: {error}")

    def close(self) -> None:
        """Complete the bag and stop receiving."""
        self._side.close()
        self._disk.close()
        self._writer.close()
