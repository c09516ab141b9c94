"""A stand-in for tf2_ros: its buffer's methods and errors, with tf2's rule that the last transform decides the tree."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from geometry_msgs.msg import TransformStamped
from rclpy.time import Time

from lodestar.geometry.poses import inverse, make_transform, rotation_from_quaternion
from lodestar_ros.conversions import transform_to_msg

_DEPTH = 50  # of a chain; a longer one is a loop


class TransformException(Exception):
    """The base of tf2's errors."""


class LookupException(TransformException):
    """No such frame, or a loop."""


class ConnectivityException(TransformException):
    """Two trees."""


class ExtrapolationException(TransformException):
    """A moment that was not received."""


class Buffer:
    """Samples by child; nearest at or before a stamp, no interpolation."""

    def __init__(self, cache_time=None, node=None):
        self._frames = {}

    def set_transform(self, stamped, authority):
        self._set(stamped, False)

    def set_transform_static(self, stamped, authority):
        self._set(stamped, True)

    def clear(self):
        self._frames.clear()

    def _set(self, stamped, static):
        t, r = stamped.transform.translation, stamped.transform.rotation
        matrix = make_transform(
            rotation_from_quaternion(np.array([r.x, r.y, r.z, r.w])), np.array([t.x, t.y, t.z])
        )
        frame = self._frames.get(stamped.child_frame_id)
        if frame is None or frame.parent != stamped.header.frame_id or frame.static != static:
            frame = SimpleNamespace(parent=stamped.header.frame_id, static=static, samples={})
            self._frames[stamped.child_frame_id] = frame
        frame.samples[Time.from_msg(stamped.header.stamp).nanoseconds] = matrix

    def _chain(self, frame):
        chain = [frame]
        while chain[-1] in self._frames:
            chain.append(self._frames[chain[-1]].parent)
            if len(chain) > _DEPTH:
                raise LookupException("The tf tree is invalid because it contains a loop.")
        return chain

    def _path(self, target, source):
        first, second = self._chain(target), self._chain(source)
        common = next((frame for frame in second if frame in first), None)
        if common is None:
            raise ConnectivityException("two or more unconnected trees")
        return first[: first.index(common)], second[: second.index(common)]

    def get_latest_common_time(self, target, source):
        path = [frame for part in self._path(target, source) for frame in part]
        newest = [max(self._frames[f].samples) for f in path if not self._frames[f].static]
        return Time(nanoseconds=min(newest, default=0))

    def lookup_transform_core(self, target, source, time):
        moment = time.nanoseconds or self.get_latest_common_time(target, source).nanoseconds
        up, down = (self._compose(path, moment) for path in self._path(target, source))
        return TransformStamped(transform=transform_to_msg(inverse(up) @ down))

    def _compose(self, path, moment):
        matrix = np.eye(4)
        for name in path:
            frame = self._frames[name]
            stamps = [stamp for stamp in frame.samples if frame.static or stamp <= moment]
            if not stamps or (not frame.static and moment > max(frame.samples)):
                raise ExtrapolationException(f"Lookup of {name} would require extrapolation")
            matrix = frame.samples[max(stamps)] @ matrix
        return matrix


def fake_tf2():
    """The module."""
    return SimpleNamespace(
        Buffer=Buffer,
        TransformException=TransformException,
        LookupException=LookupException,
        ConnectivityException=ConnectivityException,
        ExtrapolationException=ExtrapolationException,
    )
