"""Transforms by stamp from /tf and /tf_static, behind one port: tf2_ros' buffer if installed, else our own."""

from __future__ import annotations

import threading
from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from rclpy.clock import JumpThreshold
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import QoSProfile
from tf2_msgs.msg import TFMessage

from lodestar.geometry.poses import inverse, make_transform, rotation_from_quaternion
from lodestar_ros import qos
from lodestar_ros.conversions import MAX_COORDINATE, stamp_from_msg
from lodestar_ros.frame_tree import Admission, Cause, FrameTree, TransformUnavailable

_MAX_REFUSED = 100  # rejected static transforms that are retried when conflicting ones disappear


@dataclass
class _Samples:
    """The samples of one child frame. stamps ascend; poses: translation (3,) and quaternion (4,) each."""

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
        if expired > 64:  # in batches, so that an insertion stays cheap
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


class Sample(NamedTuple):
    """A valid transform. translation: (3,). quaternion: (4,), of unit length."""

    parent: str
    child: str
    translation: np.ndarray
    quaternion: np.ndarray


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


class Transforms(Protocol):
    """Port of a bounded history of transforms; safe for threads. Frames may begin with a slash."""

    intake: TransformIntake

    def insert(self, parent: str, child: str, stamp: float, translation: Any, quaternion: Any, *,
               static: bool = False) -> Admission:  # fmt: skip
        """Store one sample, or reject it."""
        ...

    def clear(self) -> None:
        """Forget all moving transforms; static ones stay."""
        ...

    def lookup(
        self, target: str, source: str, stamp: float | None = None, extrapolate: float = 0.0
    ) -> np.ndarray:
        """Return target_from_source at the stamp (seconds; None = newest), (4, 4) float64, without waiting.

        extrapolate: seconds for which the last sample stays valid. Raises TransformUnavailable.
        """
        ...

    def lookup_fresh(self, target: str, source: str, now: float, max_age: float) -> np.ndarray:
        """Return the newest target_from_source, (4, 4); see `FrameTree.check_fresh`. Raises TransformUnavailable."""
        ...


class TransformBuffer:
    """Our own history of a tree of frames, used without tf2_ros. See `Transforms`.

    history: seconds kept per moving frame. tree: decides the parent of each frame.
    """

    def __init__(self, history: float = 30.0, tree: FrameTree | None = None) -> None:
        self.intake = TransformIntake(tree)
        self._history = history
        self._samples: dict[str, _Samples] = {}
        self._lock = threading.Lock()

    def insert(self, parent: str, child: str, stamp: float, translation: Any, quaternion: Any, *,
               static: bool = False) -> Admission:  # fmt: skip
        """See `Transforms`; a sample that is not finite, has no rotation or joins a frame to itself is rejected."""
        with self._lock:
            admission, sample = self.intake.admit(parent, child, stamp, translation, quaternion, static)
            if sample is None:
                return admission
            if admission is Admission.RESTARTED:
                self._forget_moving()
            samples = self._samples.get(sample.child)
            if samples is None or samples.parent != sample.parent or samples.static != static:
                samples = self._samples[sample.child] = _Samples(sample.parent, static)
            samples.insert(stamp, sample.translation, sample.quaternion, self._history)
        return admission

    def clear(self) -> None:
        """See `Transforms`."""
        with self._lock:
            self.intake.tree.forget_moving()
            self._forget_moving()

    def _forget_moving(self) -> None:
        self._samples = {child: kept for child, kept in self._samples.items() if kept.static}

    def lookup(
        self, target: str, source: str, stamp: float | None = None, extrapolate: float = 0.0
    ) -> np.ndarray:
        """See `Transforms`; without a stamp the newest sample of each frame."""
        target, source = target.lstrip("/"), source.lstrip("/")
        with self._lock:
            common = self.intake.tree.common(target, source)
            common_from_source = self._compose(source, common, stamp, extrapolate)
            common_from_target = self._compose(target, common, stamp, extrapolate)
        return inverse(common_from_target) @ common_from_source

    def lookup_fresh(self, target: str, source: str, now: float, max_age: float) -> np.ndarray:
        """See `Transforms`."""
        matrix = self.lookup(target, source)
        with self._lock:
            self.intake.tree.check_fresh(target.lstrip("/"), source.lstrip("/"), now, max_age)
        return matrix

    def _compose(self, frame: str, common: str, stamp: float | None, extrapolate: float) -> np.ndarray:
        """common_from_frame, (4, 4)."""
        matrix, chain = np.eye(4), self.intake.tree.chain(frame)
        for child in chain[: chain.index(common)]:
            matrix = self._samples[child].matrix(stamp, extrapolate, child) @ matrix
        return matrix


def make_buffer() -> Transforms:
    """Return tf2_ros' buffer if it is installed, else our own."""
    try:
        import tf2_ros
    except ImportError:
        return TransformBuffer()
    from lodestar_ros.tf2_buffer import Tf2Buffer

    return Tf2Buffer(tf2_ros)


class TransformListener:
    """Fill a buffer from /tf and /tf_static; a clock that jumps back empties it.

    on_change() is called after every message. on_refused(text) is called with the rejected pairs of frames,
    once per rejected transform.
    """

    def __init__(
        self,
        node: Node,
        on_change: Callable[[], None] | None = None,
        profile: QoSProfile = qos.TF,
        on_refused: Callable[[str], None] | None = None,
        buffer: Transforms | None = None,
    ) -> None:
        self.buffer = buffer or make_buffer()
        self._on_change, self._on_refused = on_change, on_refused
        self._refused_static: dict[tuple[str, str], Any] = {}  # static ones are sent once
        node.create_subscription(TFMessage, "/tf", self._on_tf, profile)
        node.create_subscription(TFMessage, "/tf_static", self._on_tf_static, qos.TF_STATIC)
        threshold = JumpThreshold(
            min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=True
        )
        self._jump_handle = node.get_clock().create_jump_callback(
            threshold, post_callback=lambda _: self.buffer.clear()
        )

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
