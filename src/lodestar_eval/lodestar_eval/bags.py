"""RGB-D recordings in rosbag2 or MCAP bags (of ROS 1 or 2), read without a running ROS."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lodestar.perception.frames import RgbdFrame
from lodestar_eval.recordings import BadRecording
from lodestar_ros.camera_input import RectifiedImages, is_rectified
from lodestar_ros.conversions import BadMessage, stamp_from_msg
from lodestar_ros.frame_tree import FrameTree, TransformUnavailable
from lodestar_ros.transforms import TransformBuffer

_IMAGE, _COMPRESSED = "sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage"
_INFO, _TF = "sensor_msgs/msg/CameraInfo", "tf2_msgs/msg/TFMessage"
_TOGETHER = 0.05  # s, greatest difference between the stamps of a depth image and its colour image
_ROOTS = ("map", "odom")  # root frames of the poses, in order of preference


@dataclass(frozen=True)
class _Topics:
    depth: str
    info: str
    color: str | None


class BagRecording:
    """RGB-D recording in a bag: depth registered to colour, camera info and TF; topics are chosen by type and
    name.

    path: folder with metadata.yaml, or a single .mcap or .db3 file. Raises BadRecording with what is missing.
    """

    def __init__(self, path: Path) -> None:
        self.name = path.stem
        self.skipped: Counter[str] = Counter()
        self._path = path
        with self._open() as reader:
            kinds = {connection.topic: connection.msgtype for connection in reader.connections}
            self._topics = _choose(kinds)
            self._count = sum(c.msgcount for c in reader.connections if c.topic == self._topics.depth)
            self._transforms = _read_transforms(reader)

    def __len__(self) -> int:
        return self._count

    def frames(self) -> Iterator[RgbdFrame]:
        """Yield the frames with a known camera and pose at their stamps; the others are counted in `skipped`."""
        self.skipped.clear()
        topics = self._topics
        camera, colors = None, deque(maxlen=8)  # type: ignore[var-annotated]
        waiting: deque[Any] = deque()  # depth images that still wait for their colour image
        with self._open() as reader:
            wanted = [topic for topic in (topics.depth, topics.info, topics.color) if topic]
            for connection, _, raw in _messages(reader, wanted):
                message = reader.deserialize(raw, connection.msgtype)
                if connection.topic == topics.info:
                    camera = message
                elif connection.topic == topics.color:
                    colors.append(message)
                else:
                    waiting.append((message, camera))
                while waiting and (len(waiting) > 3 or not topics.color or _is_past(colors, waiting[0][0])):
                    depth, info = waiting.popleft()
                    yield from self._frame(depth, info, colors)
            for depth, info in waiting:
                yield from self._frame(depth, info, colors)

    def _frame(self, depth: Any, info: Any, colors: deque) -> Iterator[RgbdFrame]:
        stamp = stamp_from_msg(depth.header.stamp)
        if info is None:
            self.skipped["camera_info"] += 1
            return
        try:
            poses = self._poses(depth.header.frame_id, stamp)
            images = RectifiedImages()
            images.take_info(info)
            image, camera = images.depth(depth, is_rectified(self._topics.depth))
            rgb = self._color_at(images, colors, stamp, image.shape)
        except TransformUnavailable:
            self.skipped["pose"] += 1
            return
        except BadMessage:
            self.skipped["image"] += 1
            return
        if rgb is None and self._topics.color is not None:
            self.skipped["colour"] += 1
        yield RgbdFrame(stamp, camera, image, *poses, rgb)

    def _color_at(
        self, images: RectifiedImages, colors: deque, stamp: float, shape: tuple[int, int]
    ) -> np.ndarray | None:
        """Return the colour image nearest to the stamp, rectified; None if there is none of that shape."""
        near = min(
            colors, key=lambda message: abs(stamp_from_msg(message.header.stamp) - stamp), default=None
        )
        if near is None or abs(stamp_from_msg(near.header.stamp) - stamp) > _TOGETHER:
            return None
        try:
            rgb = images.color(near, is_rectified(self._topics.color or ""))
        except BadMessage:
            return None  # an image that cannot be rectified counts as missing
        return rgb if rgb.shape[:2] == shape else None

    def _poses(self, frame: str, stamp: float) -> tuple[np.ndarray, np.ndarray]:
        """Return (odom <- camera, map <- odom); with one root frame, map and odom are the same."""
        last: TransformUnavailable | None = None
        for root in _ROOTS:
            try:
                root_from_camera = self._transforms.lookup(root, frame, stamp)
            except TransformUnavailable as unavailable:
                last = unavailable
                continue
            try:
                odom_from_camera = self._transforms.lookup("odom", frame, stamp)
                return odom_from_camera, self._transforms.lookup(root, "odom", stamp)
            except TransformUnavailable:
                return root_from_camera, np.eye(4)
        assert last is not None
        raise last

    @contextmanager
    def _open(self) -> Iterator[Any]:
        try:
            from lodestar_ros.bag_files import UnreadableBag, open_bag
        except ImportError as error:
            raise BadRecording("bags are read with rosbags: pip install rosbags") from error
        try:
            with open_bag(self._path) as reader:
                yield reader
        except UnreadableBag as error:
            raise BadRecording(str(error)) from error


def _choose(kinds: dict[str, str]) -> _Topics:
    """Return the topics of depth, its camera info, and colour; registered ("aligned") depth is preferred."""

    def of(*types: str) -> list[str]:
        return sorted(topic for topic, kind in kinds.items() if kind in types)

    depths = sorted(
        (t for t in of(_IMAGE, _COMPRESSED) if "depth" in t.lower()),
        key=lambda t: ("aligned" not in t, kinds[t] != _IMAGE, not t.endswith("/compressedDepth"), len(t), t),
    )
    infos = of(_INFO)
    if not depths or not infos or not of(_TF):
        lacking = {"a depth image": depths, "camera info": infos, "TF": of(_TF)}
        missing = ", ".join(what for what, found in lacking.items() if not found)
        raise BadRecording(f"the bag has no topic of {missing}; it has {', '.join(sorted(kinds)) or 'none'}")
    depth = depths[0]
    info = max(infos, key=lambda topic: (_shared(topic, depth), "depth" in topic, -len(topic)))
    colors = [
        t
        for t in of(_IMAGE, _COMPRESSED)
        if "depth" not in t.lower() and any(w in t for w in ("color", "rgb", "image"))
    ]
    color = max(colors, key=lambda topic: (_shared(topic, depth), kinds[topic] == _IMAGE), default=None)
    return _Topics(depth, info, color)


def _shared(a: str, b: str) -> int:
    """Return how many parts two topic names share at their beginning."""
    parts = [first == second for first, second in zip(a.split("/"), b.split("/"))]
    return parts.index(False) if False in parts else len(parts)


def _messages(reader: Any, topics: list[str]) -> Iterator[tuple[Any, int, bytes]]:
    from lodestar_ros.bag_files import messages_of

    return messages_of(reader, topics)


def _read_transforms(reader: Any) -> TransformBuffer:
    recorded = 0.0  # s, recording time of the current message
    tree = FrameTree(restart=float("inf"), clock=lambda: recorded)
    transforms = TransformBuffer(history=float("inf"), tree=tree)
    topics = [connection.topic for connection in reader.connections if connection.msgtype == _TF]
    for connection, moment, raw in _messages(reader, topics):
        recorded = moment * 1e-9
        for one in reader.deserialize(raw, connection.msgtype).transforms:
            t, r = one.transform.translation, one.transform.rotation
            transforms.insert(
                one.header.frame_id, one.child_frame_id, stamp_from_msg(one.header.stamp), (t.x, t.y, t.z),
                (r.x, r.y, r.z, r.w), static=connection.topic.endswith("static"),
            )  # fmt: skip
    return transforms


def _is_past(colors: deque, depth: Any) -> bool:
    """Return whether the newest colour image is at least as new as this depth image."""
    return bool(colors) and stamp_from_msg(colors[-1].header.stamp) >= stamp_from_msg(depth.header.stamp)
