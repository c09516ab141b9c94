"""ROS shell around `BagWriter`: records the stack's inputs and conclusions."""

from __future__ import annotations

import shutil
import time
from datetime import datetime
from functools import partial
from pathlib import Path

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

from lodestar.storage.private import UnsafeFolder, private_folder, state_home
from lodestar_ros.bag_files import BagConfig, BagWriter
from lodestar_ros.executors import main_of
from lodestar_ros.node import LodestarNode
from lodestar_ros.parameters import ParameterError, declare, declare_config
from lodestar_ros.recorded_names import message_type, recorded, recorded_topic
from lodestar_ros.workers import QueueWorker

LOOK_PERIOD = 0.5  # s of real time between two checks for new topics
MOST_WAITING = 256 * 2**20  # most bytes that wait for the disk; later messages are dropped and counted
DEPTH = 50  # messages of a topic that DDS keeps


class RecorderNode(LodestarNode):
    """Writes the stack's inputs and conclusions to a new folder, as long as it runs.

    A topic is subscribed as soon as it has a publisher, with the publisher's quality of service. Topics that
    move the robot are recorded under other names. Subscribes: `recorded_names.recorded`, and the parameter
    ``also``.
    """

    def __init__(self, **kwargs):
        super().__init__("recorder", **kwargs)
        config = declare_config(self, BagConfig, "bag.")
        # parent of the recordings' folders; empty: a folder of the user
        folder = declare(self, "folder", str, "")
        # `also`: the user's own topics
        self._names = (*recorded(), *declare(self, "also", tuple[str, ...], ()))
        # parameter files to copy into the recording
        profiles = declare(self, "profiles", tuple[str, ...], ())
        self._writer = BagWriter(_new_folder(folder, profiles), config)
        self._heard: set[str] = set()
        self._unknown: set[str] = set()  # types that are not installed here
        self._waiting = self._dropped = 0
        self._failure = ""
        self._disk = QueueWorker("bag", self._write, self._on_error)
        self.steady_timer(LOOK_PERIOD, self._look)
        self.diagnostics.value("folder", lambda: self._writer.folder)
        self.diagnostics.value("messages", lambda: sum(self._writer.counts.values()))
        self.diagnostics.value("mib", lambda: round(self._writer.size / 2**20, 1))
        self.diagnostics.value("dropped", lambda: self._dropped)
        self.on_close(self._finish)
        self.get_logger().info(f"records to {self._writer.folder}")

    def _look(self) -> None:
        """Subscribe to topics that have a publisher now, and report the state of the recording."""
        there = dict(self.get_topic_names_and_types())
        for name in self._names:
            form = self.shared.transport.of(name)
            topic = f"{self.resolve_topic_name(name)}/{form}" if form else self.resolve_topic_name(name)
            if topic not in self._heard and len(there.get(topic, ())) == 1:
                self._listen_to(name, topic, there[topic][0])
        trouble = self._failure or (f"no longer records: {self._writer.full}" if self._writer.full else "")
        if self._dropped and not trouble:
            trouble = f"the disk is too slow: {self._dropped} messages dropped"
        self.diagnostics.status(trouble or f"records {len(self._heard)} topics", ok=not trouble)

    def _listen_to(self, name: str, topic: str, kind: str) -> None:
        offers = self.get_publishers_info_by_topic(topic)
        if not offers or kind in self._unknown:
            return
        try:
            message = message_type(kind)
            kept = recorded_topic(name, topic)
            self._writer.add(name, kept, kind)
        except (ImportError, AttributeError, LookupError, OSError) as error:
            self._unknown.add(kind)
            self.get_logger().warning(f"{topic} is not recorded: {kind} is not known here ({error})")
            return
        reliable = all(offer.qos_profile.reliability == ReliabilityPolicy.RELIABLE for offer in offers)
        latched = all(offer.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL for offer in offers)
        profile = QoSProfile(
            history=HistoryPolicy.KEEP_LAST,
            depth=DEPTH,
            reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
            durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
        )
        self._heard.add(topic)
        self.create_subscription(message, topic, partial(self._take, kept), profile, raw=True)

    def _take(self, topic: str, raw: bytes) -> None:
        if self._waiting > MOST_WAITING:
            self._dropped += 1
            return
        self._waiting += len(raw)
        self._disk.submit((topic, time.time_ns(), bytes(raw)))

    def _write(self, item: tuple[str, int, bytes]) -> None:
        self._waiting -= len(item[2])
        self._writer.write(*item)

    def _on_error(self, error: Exception) -> None:
        self._failure = f"the recording is not whole: {error.__class__.__name__}: {error}"

    def _finish(self) -> None:
        self._disk.close()
        self._writer.close()
        self.get_logger().info(f"{sum(self._writer.counts.values())} messages in {self._writer.folder}")


def _new_folder(parent: str, profiles: tuple[str, ...]) -> Path:
    """Return a new private folder for a recording, with copies of the parameter files."""
    place = Path(parent).expanduser() if parent else state_home() / "recordings"
    folder = place / datetime.now().strftime("%Y-%m-%d_%H-%M-%S")
    try:
        number = 1
        while folder.exists():
            number += 1
            folder = folder.with_name(f"{folder.name.split('.')[0]}.{number}")
        private_folder(folder)
        for path in profiles:
            shutil.copy(path, folder)
    except (UnsafeFolder, OSError) as error:
        raise ParameterError(f"folder: {error}") from error
    return folder


main = main_of(RecorderNode)
