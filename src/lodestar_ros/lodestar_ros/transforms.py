"""Transforms by stamp, read straight from /tf and /tf_static."""

from __future__ import annotations

import threading
from bisect import bisect_left, insort
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from rclpy.clock import JumpThreshold
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import QoSProfile
from tf2_msgs.msg import TFMessage

from lodestar.geometry.poses import inverse, make_transform, rotation_from_quaternion
from lodestar_ros import qos
from lodestar_ros.conversions import stamp_from_msg


class Cause(Enum):
    """Why a transform is not there; only FUTURE is worth waiting for."""

    NO_FRAME = "no frame"
    NOT_CONNECTED = "not connected"
    FUTURE = "newer than what was received"
    PAST = "older than what is kept"


class TransformUnavailable(LookupError):
    """The transform is not known at that stamp; the message names the frame that is missing."""

    def __init__(self, cause: Cause, message: str) -> None:
        super().__init__(message)
        self.cause = cause


@dataclass
class _Edge:
    """History of one child frame. stamps ascend; poses: translation (3,) and quaternion (4,) each."""

    parent: str
    static: bool
    stamps: list[float] = field(default_factory=list)
    poses: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)

    def insert(self, stamp: float, translation: np.ndarray, quaternion: np.ndarray, history: float) -> None:
        if self.static:
            self.stamps, self.poses = [stamp], [(translation, quaternion)]
            return
        index = bisect_left(self.stamps, stamp)
        if index < len(self.stamps) and self.stamps[index] == stamp:
            self.poses[index] = (translation, quaternion)
            return
        insort(self.stamps, stamp)
        self.poses.insert(index, (translation, quaternion))
        expired = bisect_left(self.stamps, self.stamps[-1] - history)
        if expired > 64:  # in lumps, so that an insertion stays cheap
            del self.stamps[:expired]
            del self.poses[:expired]

    def matrix(self, stamp: float | None, extrapolate: float, child: str) -> np.ndarray:
        """parent_from_child, (4, 4), interpolated at the stamp (None = newest)."""
        if self.static or stamp is None or stamp == self.stamps[-1]:
            return _matrix(*self.poses[-1])
        index = bisect_left(self.stamps, stamp)
        if index == len(self.stamps):
            behind = stamp - self.stamps[-1]
            if behind <= extrapolate:
                return _matrix(*self.poses[-1])
            raise TransformUnavailable(
                Cause.FUTURE,
                f"{self.parent} -> {child} is known up to {self.stamps[-1]:.3f} s, "
                f"{behind:.3f} s before the requested stamp {stamp:.3f} s",
            )
        if self.stamps[index] == stamp:
            return _matrix(*self.poses[index])
        if index == 0:
            raise TransformUnavailable(
                Cause.PAST,
                f"{self.parent} -> {child} is stored from {self.stamps[0]:.3f} s on, "
                f"{self.stamps[0] - stamp:.3f} s after the requested stamp {stamp:.3f} s",
            )
        before, after = self.stamps[index - 1], self.stamps[index]
        share = (stamp - before) / (after - before)
        (t0, q0), (t1, q1) = self.poses[index - 1], self.poses[index]
        return _matrix(t0 + share * (t1 - t0), _slerp(q0, q1, share))


def _matrix(translation: np.ndarray, quaternion: np.ndarray) -> np.ndarray:
    return make_transform(rotation_from_quaternion(quaternion), translation)


def _slerp(q0: np.ndarray, q1: np.ndarray, share: float) -> np.ndarray:
    """Quaternion between two unit quaternions along the shorter arc."""
    cosine = float(q0 @ q1)
    if cosine < 0.0:
        q1, cosine = -q1, -cosine
    if cosine > 0.9995:
        return q0 + share * (q1 - q0)
    angle = np.arccos(cosine)
    return (np.sin((1.0 - share) * angle) * q0 + np.sin(share * angle) * q1) / np.sin(angle)


class TransformBuffer:
    """Bounded history of a tree of frames; thread-safe.

    history: seconds kept per moving frame. A moving frame whose stamps fall back by more than `restart` seconds
    belongs to a world that started again: everything that moves is forgotten, and `restarts` counts it.
    """

    def __init__(self, history: float = 30.0, restart: float = 2.0) -> None:
        self.restarts = 0
        self.rejected = 0  # transforms with a broken quaternion or translation
        self._history = history
        self._restart = restart
        self._edges: dict[str, _Edge] = {}
        self._lock = threading.Lock()

    def insert(self, parent: str, child: str, stamp: float, translation: Any, quaternion: Any, *,
               static: bool = False) -> bool:  # fmt: skip
        """Keep one sample; False where it is not finite, has no rotation, or joins a frame to itself."""
        parent, child = parent.lstrip("/"), child.lstrip("/")
        translation = np.asarray(translation, np.float64)
        quaternion = np.asarray(quaternion, np.float64)
        norm = float(np.linalg.norm(quaternion))
        if not (np.isfinite(norm) and norm > 1e-9 and np.isfinite(translation).all()) or parent == child:
            self.rejected += 1
            return False
        with self._lock:
            edge = self._edges.get(child)
            if edge is None or edge.parent != parent or edge.static != static:
                edge = self._edges[child] = _Edge(parent, static)
            elif not static and edge.stamps and stamp < edge.stamps[-1] - self._restart:
                self._forget_moving()
                self.restarts += 1
                edge = self._edges[child] = _Edge(parent, static)
            edge.insert(stamp, translation, quaternion / norm, self._history)
        return True

    def clear(self) -> None:
        """Forget everything that moves; static transforms hold for ever."""
        with self._lock:
            self._forget_moving()

    def _forget_moving(self) -> None:
        self._edges = {child: edge for child, edge in self._edges.items() if edge.static}

    def lookup(
        self, target: str, source: str, stamp: float | None = None, extrapolate: float = 0.0
    ) -> np.ndarray:
        """target_from_source at the stamp (seconds; None = newest of each frame), (4, 4) float64.

        Never waits. extrapolate: seconds for which the last sample of a frame still holds.
        Raises TransformUnavailable.
        """
        target, source = target.lstrip("/"), source.lstrip("/")
        with self._lock:
            target_chain, source_chain = self._chain(target), self._chain(source)
            common = next((frame for frame in source_chain if frame in target_chain), None)
            if common is None:
                raise self._disconnected(target, source, target_chain[-1], source_chain[-1])
            common_from_source = self._compose(source_chain, common, stamp, extrapolate)
            common_from_target = self._compose(target_chain, common, stamp, extrapolate)
        return inverse(common_from_target) @ common_from_source

    def lookup_fresh(self, target: str, source: str, now: float, max_age: float) -> np.ndarray:
        """The newest target_from_source, (4, 4), of which no frame is older than max_age seconds at `now`.

        A frame right below the target (odom in map) is excepted where others lie between: localisation corrects it
        in its own time. Raises TransformUnavailable.
        """
        matrix, target = self.lookup(target, source), target.lstrip("/")
        with self._lock:
            edges = {
                child: self._edges[child] for child in self._chain(source.lstrip("/")) if child in self._edges
            }
            moving = {child: edge for child, edge in edges.items() if not edge.static}
            below = {child: edge for child, edge in moving.items() if edge.parent != target}
            ages = {child: now - edge.stamps[-1] for child, edge in (below or moving).items()}
            old = {child: age for child, age in ages.items() if age > max_age}
        if old:
            child, age = max(old.items(), key=lambda item: item[1])
            raise TransformUnavailable(
                Cause.FUTURE,
                f"{edges[child].parent} -> {child} was last received {age:.1f} s ago: is its publisher still running?",
            )
        return matrix

    def _compose(self, chain: list[str], common: str, stamp: float | None, extrapolate: float) -> np.ndarray:
        matrix = np.eye(4)
        for child in chain[: chain.index(common)]:
            matrix = self._edges[child].matrix(stamp, extrapolate, child) @ matrix
        return matrix

    def _chain(self, frame: str) -> list[str]:
        """The frame and its ancestors, up to the root."""
        chain = [frame]
        while frame in self._edges and len(chain) <= len(self._edges):
            frame = self._edges[frame].parent
            chain.append(frame)
        return chain

    def _disconnected(
        self, target: str, source: str, target_root: str, source_root: str
    ) -> TransformUnavailable:
        known = {*self._edges, *(edge.parent for edge in self._edges.values())}
        if not known:
            return TransformUnavailable(
                Cause.NO_FRAME,
                f"no transform received yet: nothing publishes {target} -> {source} on /tf or /tf_static",
            )
        for frame in (target, source):
            if frame not in known:
                return TransformUnavailable(
                    Cause.NO_FRAME, f"nothing publishes frame '{frame}'; known: {', '.join(sorted(known))}"
                )
        return TransformUnavailable(
            Cause.NOT_CONNECTED,
            f"{target} and {source} are in two trees, rooted at '{target_root}' and '{source_root}': "
            f"nothing publishes the transform between those two",
        )


class TransformListener:
    """Fills a buffer from /tf and /tf_static; a clock that jumps back empties it."""

    def __init__(
        self, node: Node, on_change: Callable[[], None] | None = None, profile: QoSProfile = qos.TF
    ) -> None:
        self.buffer = TransformBuffer()
        self._on_change = on_change
        node.create_subscription(TFMessage, "/tf", self._on_tf, profile)
        node.create_subscription(TFMessage, "/tf_static", self._on_tf_static, qos.TF_STATIC)
        threshold = JumpThreshold(
            min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=True
        )
        self._jump_handle = node.get_clock().create_jump_callback(
            threshold, post_callback=lambda _: self.buffer.clear()
        )

    def _on_tf(self, message: TFMessage) -> None:
        self._insert(message, static=False)

    def _on_tf_static(self, message: TFMessage) -> None:
        self._insert(message, static=True)

    def _insert(self, message: TFMessage, *, static: bool) -> None:
        for stamped in message.transforms:
            t, r = stamped.transform.translation, stamped.transform.rotation
            self.buffer.insert(
                stamped.header.frame_id,
                stamped.child_frame_id,
                stamp_from_msg(stamped.header.stamp),
                (t.x, t.y, t.z),
                (r.x, r.y, r.z, r.w),
                static=static,
            )
        if self._on_change is not None:
            self._on_change()
