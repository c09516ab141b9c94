"""Recorded run: sensor messages in the order of arrival, and the outputs of the nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rclpy.serialization import deserialize_message
from rosbags.highlevel import AnyReader

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import Directive
from lodestar.scene.mirror import SceneMirror
from lodestar.selection.decisions import Decision
from lodestar_eval.live.parity.topics import DECISION, DIRECTIVE, ENTITIES, GRID, TF, TF_STATIC, TOPICS
from lodestar_eval.recordings import BadRecording
from lodestar_ros.bag_files import UnreadableBag, messages_of, open_bag
from lodestar_ros.conversions import grid_from_msg, stamp_from_msg
from lodestar_ros.conversions_agent import decision_from_msg
from lodestar_ros.conversions_language import directive_from_msg
from lodestar_ros.conversions_scene import scene_from_msg
from lodestar_ros.frame_tree import FrameTree
from lodestar_ros.transforms import TransformBuffer

_TYPES = {topic.name: topic.type for topic in TOPICS}


class MessageBag:
    """Messages of a bag. counts: by topic. Raises BadRecording on first reading if the folder is no bag."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def counts(self) -> Counter[str]:
        """Return the number of messages of each topic."""
        with self._open() as reader:
            return Counter({connection.topic: connection.msgcount for connection in reader.connections})

    def messages(self, *topics: str) -> Iterator[tuple[str, Any]]:
        """Yield (topic, message) of these topics in the order of arrival."""
        with self._open() as reader:
            for connection, _, raw in messages_of(reader, topics):
                yield connection.topic, deserialize_message(raw, _TYPES[connection.topic])

    @contextmanager
    def _open(self) -> Iterator[AnyReader]:
        try:
            with open_bag(self.folder) as reader:
                yield reader
        except UnreadableBag as error:
            raise BadRecording(str(error)) from error


class LiveRecording(MessageBag):
    """Recording made by `TopicRecorder`.

    transforms: every transform of the run. grid, mirror: newest grid and scene of the live nodes. directive: the
    first one followed. decisions: one per epoch, as first made. Raises BadRecording for a bag that cannot be read
    or lacks data for a comparison.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._newest = 0.0  # s, stamp of the newest transform, used as the recording's clock
        tree = FrameTree(restart=float("inf"), clock=lambda: self._newest)
        self.transforms = TransformBuffer(history=float("inf"), tree=tree)
        self.mirror = SceneMirror()
        self.grid: OccupancyGrid2D | None = None
        self.directive: Directive | None = None
        self.decisions: dict[int, Decision] = {}
        self.scene_gaps = 0  # number of deltas that did not follow the one before, so the scene is incomplete
        self._read()

    def _read(self) -> None:
        counts = self.counts()
        missing = [topic.name for topic in TOPICS if topic.needed and not counts[topic.name]]
        if missing:
            raise BadRecording(
                f"{self.folder} has no message of {', '.join(missing)}: record these topics too "
                "(`python -m lodestar_eval parity` does)"
            )
        for topic, message in self.messages(TF, TF_STATIC, GRID, ENTITIES, DIRECTIVE, DECISION):
            if topic in (TF, TF_STATIC):
                self._insert(message, static=topic == TF_STATIC)
            elif topic == GRID:
                self.grid = grid_from_msg(message)
            elif topic == ENTITIES:
                self.scene_gaps += not self.mirror.apply(scene_from_msg(message))
            elif topic == DIRECTIVE and self.directive is None and message.text:
                self.directive = directive_from_msg(message)
            elif topic == DECISION:
                decision = decision_from_msg(message)
                if decision.chosen:
                    self.decisions.setdefault(decision.epoch, decision)

    def _insert(self, message: Any, *, static: bool) -> None:
        for one in message.transforms:
            t, r, stamp = one.transform.translation, one.transform.rotation, stamp_from_msg(one.header.stamp)
            self._newest = max(self._newest, stamp)
            self.transforms.insert(
                one.header.frame_id, one.child_frame_id, stamp, (t.x, t.y, t.z),
                (r.x, r.y, r.z, r.w), static=static,
            )  # fmt: skip
