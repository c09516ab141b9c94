"""The history of transforms behind a `TransformBuffer`."""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from lodestar.geometry.poses import inverse, make_transform, rotation_from_quaternion
from lodestar_ros.frame_tree import Admission, Cause, FrameTree, TransformUnavailable


class Sample(NamedTuple):
    """A valid transform. translation: (3,). quaternion: (4,), of unit length."""

    parent: str
    child: str
    translation: np.ndarray
    quaternion: np.ndarray


class SampleStore:
    """History of transforms. Not safe for threads: the buffer calls it under its lock.

    tree: parents of the frames. history: seconds kept per moving frame.
    """

    def __init__(self, tree: FrameTree, history: float) -> None:
        self._tree, self._history = tree, history
        self._samples: dict[str, _Samples] = {}

    def keep(self, sample: Sample, stamp: float, static: bool, admission: Admission) -> None:
        """Store a transform that the tree has admitted."""
        if admission is Admission.RESTARTED:
            self.forget_moving()
        samples = self._samples.get(sample.child)
        if samples is None or samples.parent != sample.parent or samples.static != static:
            samples = self._samples[sample.child] = _Samples(sample.parent, static)
        samples.insert(stamp, sample.translation, sample.quaternion, self._history)

    def forget_moving(self) -> None:
        """Forget all moving transforms; static ones stay."""
        self._samples = {child: kept for child, kept in self._samples.items() if kept.static}

    def matrix(self, target: str, source: str, stamp: float | None, extrapolate: float) -> np.ndarray:
        """Return target_from_source, (4, 4); without a stamp, from the newest sample of each frame.

        Raises TransformUnavailable.
        """
        common = self._tree.common(target, source)
        common_from_source = self._compose(source, common, stamp, extrapolate)
        return inverse(self._compose(target, common, stamp, extrapolate)) @ common_from_source

    def _compose(self, frame: str, common: str, stamp: float | None, extrapolate: float) -> np.ndarray:
        """Return common_from_frame, (4, 4)."""
        matrix, chain = np.eye(4), self._tree.chain(frame)
        for child in chain[: chain.index(common)]:
            matrix = self._samples[child].matrix(stamp, extrapolate, child) @ matrix
        return matrix


@dataclass
class _Samples:
    """The samples of one child frame. stamps: ascending; poses: translation (3,) and quaternion (4,) of each."""

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
        """Return parent_from_child, (4, 4), interpolated at the stamp (None = newest). Raises TransformUnavailable."""
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
    """Return the quaternion at `share` of the way between two unit quaternions, along the shorter arc."""
    cosine = float(q0 @ q1)
    if cosine < 0.0:
        q1, cosine = -q1, -cosine
    if cosine > 0.9995:
        return q0 + share * (q1 - q0)
    angle = np.arccos(cosine)
    return (np.sin((1.0 - share) * angle) * q0 + np.sin(share * angle) * q1) / np.sin(angle)
