"""Transforms by stamp from /tf and /tf_static."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile
from tf2_msgs.msg import TFMessage

from lodestar.geometry.poses import planar_pose
from lodestar_ros import qos
from lodestar_ros.conversions import MAX_COORDINATE, stamp_from_msg
from lodestar_ros.frame_tree import Admission, FrameTree, TransformUnavailable
from lodestar_ros.transform_store import Sample, SampleStore

_MAX_REFUSED = 100  # rejected static transforms that are retried when conflicting ones disappear


class TransformIntake:
    """Checks transforms before a buffer stores them. Not safe for threads: the buffer holds the lock.

    restarts: number of times that stamps fell back and all moving transforms were forgotten.
    rejected: number of transforms without a valid rotation, with a number that is not finite or with equal frames.
    """

    def __init__(self, tree: FrameTree | None = None) -> None:
        self.tree = tree or FrameTree()
        self.restarts = 0
        self.rejected = 0

    def admit(
        self, parent: str, child: str, stamp: float, translation: Any, quaternion: Any, static: bool
    ) -> tuple[Admission, Sample | None]:
        """Return the tree's decision and the transform to store; None if it is rejected."""
        parent, child = parent.lstrip("/"), child.lstrip("/")
        translation = np.asarray(translation, np.float64)
        quaternion = np.asarray(quaternion, np.float64)
        norm = float(np.linalg.norm(quaternion))
        finite = np.isfinite(norm) and (np.abs(translation) <= MAX_COORDINATE).all()
        if not (finite and norm > 1e-9 and parent and child and parent != child):
            self.rejected += 1
            return Admission.REFUSED, None
        admission = self.tree.admit(parent, child, stamp, static)
        if admission is Admission.REFUSED:
            return admission, None
        self.restarts += admission is Admission.RESTARTED
        return admission, Sample(parent, child, translation, quaternion / norm)


class TransformBuffer:
    """A bounded history of a tree of frames; safe for threads. Frames may begin with a slash.

    history: seconds kept per moving frame. tree: decides the parent of each frame.
    """

    def __init__(self, history: float = 30.0, tree: FrameTree | None = None) -> None:
        self.intake = TransformIntake(tree)
        self.store = SampleStore(self.intake.tree, history)
        self._lock = threading.Lock()

    def insert(self, parent: str, child: str, stamp: float, translation: Any, quaternion: Any, *,
               static: bool = False) -> Admission:  # fmt: skip
        """Store one sample; one that is not finite, has no valid rotation or equal frames is rejected."""
        with self._lock:
            admission, sample = self.intake.admit(parent, child, stamp, translation, quaternion, static)
            if sample is not None:
                self.store.keep(sample, stamp, static, admission)
        return admission

    def clear(self) -> None:
        """Forget all moving transforms; static ones stay."""
        with self._lock:
            self.intake.tree.forget_moving()
            self.store.forget_moving()

    def lookup(
        self, target: str, source: str, stamp: float | None = None, extrapolate: float = 0.0
    ) -> np.ndarray:
        """Return target_from_source at the stamp (seconds; None = newest), (4, 4) float64, without waiting.

        extrapolate: seconds for which the last sample stays valid. Raises TransformUnavailable.
        """
        target, source = target.lstrip("/"), source.lstrip("/")
        with self._lock:
            return self.store.matrix(target, source, stamp, extrapolate)

    def lookup_fresh(self, target: str, source: str, now: float, max_age: float) -> np.ndarray:
        """Return the newest target_from_source, (4, 4); see `FrameTree.check_fresh`. Raises TransformUnavailable."""
        matrix = self.lookup(target, source)
        with self._lock:
            self.intake.tree.check_fresh(target.lstrip("/"), source.lstrip("/"), now, max_age)
        return matrix

    def find_fresh(self, target: str, source: str, now: float, max_age: float) -> np.ndarray | None:
        """Return the transform of `lookup_fresh`; None if it is unavailable."""
        with suppress(TransformUnavailable):
            return self.lookup_fresh(target, source, now, max_age)
        return None

    def find_pose(self, target: str, source: str, now: float, max_age: float) -> np.ndarray | None:
        """Return x, y, yaw (3,) of the transform of `lookup_fresh`; None if it is unavailable."""
        found = self.find_fresh(target, source, now, max_age)
        return None if found is None else planar_pose(found)

    def find_chain(
        self, frames: tuple[str, str, str], now: float, max_age: float
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the transforms first <- second and second <- third of `lookup_fresh`; None if one is unavailable."""
        first, second, third = frames
        upper = self.find_fresh(first, second, now, max_age)
        lower = self.find_fresh(second, third, now, max_age)
        return None if upper is None or lower is None else (upper, lower)


class TransformListener:
    """Fills a buffer from /tf and /tf_static.

    on_change() is called after every message. on_refused(text) is called with the rejected pairs of frames,
    once per rejected transform.
    """

    def __init__(
        self,
        node: Node,
        on_change: Callable[[], None] | None = None,
        profile: QoSProfile = qos.TF,
        on_refused: Callable[[str], None] | None = None,
        buffer: TransformBuffer | None = None,
    ) -> None:
        self.buffer = buffer or TransformBuffer()
        self._node, self._asked = node, {"/tf": profile, "/tf_static": qos.TF_STATIC}
        self._lacking = 0  # the tree's count of failed look-ups at the last call of `unheard`
        self._on_change, self._on_refused = on_change, on_refused
        self._refused_static: dict[tuple[str, str], Any] = {}  # kept, because static transforms are sent once
        node.create_subscription(TFMessage, "/tf", self._on_tf, profile)
        node.create_subscription(TFMessage, "/tf_static", self._on_tf_static, qos.TF_STATIC)

    def unheard(self) -> str:
        """Return which publishers of transforms cannot be received and why, "" for none. Executor only.

        The graph is queried only if a look-up has failed since the last call, or a publisher could not be
        received then.
        """
        tree = self.buffer.intake.tree
        if tree.lacking == self._lacking and not tree.unheard:
            return ""
        self._lacking = tree.lacking
        found = []
        for name, asked in self._asked.items():
            for info in self._node.get_publishers_info_by_topic(self._node.resolve_topic_name(name)):
                if why := qos.unheard_because(info.qos_profile, asked):
                    who = f"{info.node_namespace.rstrip('/')}/{info.node_name}"
                    found.append(f"{who} cannot be heard on {name}: it publishes {why}")
        tree.unheard = "; ".join(dict.fromkeys(found))
        return tree.unheard

    def _on_tf(self, message: TFMessage) -> None:
        self._insert(message.transforms, static=False)

    def _on_tf_static(self, message: TFMessage) -> None:
        self._insert(message.transforms, static=True)

    def _insert(self, transforms: Sequence[Any], *, static: bool) -> None:
        admissions = [self._insert_one(stamped, static) for stamped in transforms]
        if Admission.REPLACED in admissions:  # the conflict with a static transform may be gone
            waiting, self._refused_static = self._refused_static, {}
            for stamped in waiting.values():
                self._insert_one(stamped, True)
        if self._on_change is not None:
            self._on_change()

    def _insert_one(self, stamped: Any, static: bool) -> Admission:
        t, r = stamped.transform.translation, stamped.transform.rotation
        pair = (stamped.header.frame_id, stamped.child_frame_id)
        stamp = stamp_from_msg(stamped.header.stamp)
        admission = self.buffer.insert(*pair, stamp, (t.x, t.y, t.z), (r.x, r.y, r.z, r.w), static=static)
        if admission is Admission.REFUSED:
            if static and len(self._refused_static) < _MAX_REFUSED:
                self._refused_static[pair] = stamped
            if self._on_refused is not None:
                self._on_refused(
                    self.buffer.intake.tree.problems() or f"{pair[0]} -> {pair[1]} is no transform"
                )
        return admission
