"""tf2_ros' buffer as the store of a `TransformBuffer`."""

from __future__ import annotations

from typing import Any

import numpy as np
from builtin_interfaces.msg import Time as Stamp
from geometry_msgs.msg import TransformStamped
from rclpy.duration import Duration
from rclpy.time import Time

from lodestar.geometry.poses import make_transform, rotation_from_quaternion
from lodestar_ros.conversions import stamp_to_msg
from lodestar_ros.frame_tree import Admission, Cause, FrameTree, TransformUnavailable
from lodestar_ros.transform_store import Sample

_AUTHORITY = "lodestar"


class Tf2Store:
    """See `transform_store.TransformStore`. tf2: the module `tf2_ros`.

    tf2 lets every transform change the tree, so only transforms that the tree has admitted are passed to it.
    """

    def __init__(self, tf2: Any, tree: FrameTree, history: float) -> None:
        self._tf2, self._tree = tf2, tree
        self._buffer = tf2.Buffer(cache_time=Duration(seconds=history))
        self._newest: dict[str, tuple[TransformStamped, bool]] = {}  # by child; True = static

    def keep(self, sample: Sample, stamp: float, static: bool, admission: Admission) -> None:
        """See `TransformStore`."""
        self._newest[sample.child] = (_stamped(sample, stamp_to_msg(stamp)), static)
        if admission is Admission.KEPT:
            self._set(*self._newest[sample.child])
        else:
            self.forget_moving()  # tf2 cannot forget a single frame

    def forget_moving(self) -> None:
        """See `TransformStore`; tf2 is filled anew with the newest transform of each frame in the tree."""
        self._buffer.clear()
        for child, (stamped, static) in list(self._newest.items()):
            if self._tree.parent(child) == stamped.header.frame_id:
                self._set(stamped, static)
            else:
                del self._newest[child]

    def _set(self, stamped: TransformStamped, static: bool) -> None:
        keep = self._buffer.set_transform_static if static else self._buffer.set_transform
        keep(stamped, _AUTHORITY)

    def matrix(self, target: str, source: str, stamp: float | None, extrapolate: float) -> np.ndarray:
        """See `TransformStore`; without a stamp the newest moment common to all frames between."""
        self._tree.common(target, source)
        at = Time() if stamp is None else Time(nanoseconds=round(stamp * 1e9))
        try:
            return _matrix(self._buffer.lookup_transform_core(target, source, at))
        except self._tf2.ExtrapolationException as error:
            return self._beyond(target, source, at, extrapolate, error)
        except self._tf2.TransformException as error:
            raise TransformUnavailable(Cause.NOT_CONNECTED, f"{error}{self._refused()}") from error

    def _beyond(self, target: str, source: str, at: Time, extrapolate: float, error: Exception) -> np.ndarray:
        """Return the newest transform if it is still valid at a stamp that was not received."""
        try:
            newest = self._buffer.get_latest_common_time(target, source)
        except self._tf2.TransformException:
            raise TransformUnavailable(Cause.NOT_CONNECTED, str(error)) from error
        behind = (at.nanoseconds - newest.nanoseconds) * 1e-9
        if 0.0 < behind <= extrapolate:
            return _matrix(self._buffer.lookup_transform_core(target, source, newest))
        raise TransformUnavailable(Cause.FUTURE if behind > 0.0 else Cause.PAST, str(error)) from error

    def _refused(self) -> str:
        problems = self._tree.problems()
        return f"; refused: {problems}" if problems else ""


def _stamped(sample: Sample, stamp: Stamp) -> TransformStamped:
    stamped = TransformStamped(child_frame_id=sample.child)
    stamped.header.frame_id, stamped.header.stamp = sample.parent, stamp
    t, r = stamped.transform.translation, stamped.transform.rotation
    t.x, t.y, t.z = map(float, sample.translation)
    r.x, r.y, r.z, r.w = map(float, sample.quaternion)
    return stamped


def _matrix(stamped: TransformStamped) -> np.ndarray:
    t, r = stamped.transform.translation, stamped.transform.rotation
    rotation = rotation_from_quaternion(np.array([r.x, r.y, r.z, r.w]))
    return make_transform(rotation, np.array([t.x, t.y, t.z]))
