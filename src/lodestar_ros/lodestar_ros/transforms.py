"""Transforms by stamp from /tf and /tf_static, kept by tf2_ros if installed, else by our own store."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile
from tf2_msgs.msg import TFMessage

from lodestar_ros import qos
from lodestar_ros.conversions import MAX_COORDINATE, stamp_from_msg
from lodestar_ros.frame_tree import Admission, FrameTree
from lodestar_ros.transform_store import Sample, SampleStore, TransformStore

_MAX_REFUSED = 100  # rejected static transforms that are retried when conflicting ones disappear


class TransformIntake:
    """Check transforms before a buffer stores them. Not safe for threads: the buffer holds the lock.

    restarts: times that stamps fell back and all moving transforms were forgotten.
    rejected: transforms without a valid rotation, with a number that is not finite or with equal frames.
    """

    def __init__(self, tree: FrameTree | None = None) -> None:
        self.tree = tree or FrameTree()
        self.restarts = 0
        self.rejected = 0

    def admit(
        self, parent: str, child: str, stamp: float, translation: Any, quaternion: Any, static: bool
    ) -> tuple[Admission, Sample | None]:
        """Return the tree's verdict and the transform to store; None if it is rejected."""
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

    history: seconds kept per moving frame. tree: decides the parent of each frame. store: makes the store.
    """

    def __init__(
        self,
        history: float = 30.0,
        tree: FrameTree | None = None,
        store: Callable[[FrameTree, float], TransformStore] = SampleStore,
    ) -> None:
        self.intake = TransformIntake(tree)
        self.store = store(self.intake.tree, history)
        self._lock = threading.Lock()

    def insert(self, parent: str, child: str, stamp: float, translation: Any, quaternion: Any, *,
               static: bool = False) -> Admission:  # fmt: skip
        """Store one sample; one that is not finite, has no rotation or joins a frame to itself is rejected."""
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


def make_buffer() -> TransformBuffer:
    """Return a buffer over tf2_ros' if it is installed, else over our own store."""
    try:
        import tf2_ros
    except ImportError:
        return TransformBuffer()
    from lodestar_ros.tf2_store import Tf2Store

    return TransformBuffer(store=partial(Tf2Store, tf2_ros))


class TransformListener:
    """Fill a buffer from /tf and /tf_static.

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
        self.buffer = buffer or make_buffer()
        self._node, self._asked = node, {"/tf": profile, "/tf_static": qos.TF_STATIC}
        self._lacking = 0  # look-ups that lacked a transform when `unheard` was found out last
        self._on_change, self._on_refused = on_change, on_refused
        self._refused_static: dict[tuple[str, str], Any] = {}  # static ones are sent once
        node.create_subscription(TFMessage, "/tf", self._on_tf, profile)
        node.create_subscription(TFMessage, "/tf_static", self._on_tf_static, qos.TF_STATIC)

    def unheard(self) -> str:
        """Return which publishers of transforms cannot be heard and why, "" for none. On the executor.

        The graph is asked only where a look-up has lacked a transform since, or somebody was unheard.
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
        if Admission.REPLACED in admissions:  # the conflict with a static one may be gone
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
