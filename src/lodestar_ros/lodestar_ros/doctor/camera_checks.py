"""Checks of cameras: encodings, calibration, distortion, and the axes of the frames that images are stamped in."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lodestar.geometry.poses import rotation_from_quaternion
from lodestar_ros.doctor.findings import Finding, FrameEdge, Level, Observation

# frames whose z axis is up; the nearest ancestor of these is used
_BASES = ("base_link", "base_footprint", "odom", "map")
_UP = 0.7  # least vertical component of an axis that points up or down; chosen: 45 degrees of tilt
_LEVEL = 0.5  # greatest vertical component of the frame's y axis if z points up; chosen: 30 degrees of roll


def cameras(seen: Observation, inputs: dict[str, str]) -> Iterator[Finding]:
    """Find images that cannot be read, and cameras whose calibration cannot be used. inputs: name -> full topic."""
    for name in ("image", "depth"):
        topic = inputs.get(name, "")
        stream = seen.streams.get(topic)
        if stream is None:
            continue
        picture = stream.picture
        if picture.unreadable:
            yield Finding(
                Level.FAULT, "unreadable_image", f"{topic} ({name}, {picture.encoding or 'no encoding'}) cannot be "
                f"read: {picture.unreadable}.",
                "have its driver publish an encoding of the table in troubleshooting.md, such as rgb8 or 16UC1",
            )  # fmt: skip
        if picture.assumed:
            yield Finding(
                Level.WARNING, "encoding_assumed", f"{topic}: {picture.assumed}.",
                "have its driver say bgr8 or rgb8; where red things look blue, it is the other one",
            )  # fmt: skip
        if picture.unfit:
            yield Finding(
                Level.FAULT, "camera_of_other_size", f"{topic} does not fit its camera_info: {picture.unfit}.",
                "remap this image's camera_info, or calibrate at this resolution; roi and binning are those in use",
            )  # fmt: skip
    info = inputs.get("camera_info", "")
    stream = seen.streams.get(info)
    if stream is not None and stream.picture.unreadable:
        yield Finding(
            Level.FAULT, "no_calibration", f"{info} cannot be used: {stream.picture.unreadable}.",
            "without it no depth is mapped: calibrate, or have the driver load its calibration",
        )  # fmt: skip
    if stream is not None and stream.picture.undistorted:
        yield Finding(
            Level.WARNING, "distortion_not_removed",
            f"Nobody removes the distortion of {info}: {stream.picture.undistorted}.",
            "publish plumb_bob, rational_polynomial or equidistant, or rectify (image_proc) and remap to image_rect",
        )  # fmt: skip


def optical_frames(seen: Observation, inputs: dict[str, str]) -> Iterator[Finding]:
    """Find images whose frame is not optical (x right, y down, z forward)."""
    told = set()
    for name in ("depth", "image", "camera_info"):
        topic = inputs.get(name, "")
        stream = seen.streams.get(topic)
        if stream is None or not stream.frame or stream.frame in told:
            continue
        axes = _axes(_base_from(stream.frame, seen.frames))
        if axes:
            told.add(stream.frame)
            yield Finding(
                Level.FAULT, "frame_not_optical", f"{topic} ({name}) is stamped in {stream.frame}, which has {axes}.",
                "stamp it in the optical frame, x right, y down, z forward (..._optical_frame), or publish that one: "
                f"{stream.frame} -> optical with roll -1.5708, pitch 0, yaw -1.5708 where x is forward",
            )  # fmt: skip


def _axes(base_from_frame: np.ndarray | None) -> str:
    """Return in words which axes a frame has if it is clearly not optical; "" otherwise."""
    if base_from_frame is None:
        return ""
    _, up_y, up_z = base_from_frame[2]  # vertical components of the frame's y and z axes
    if up_z > _UP and abs(up_y) < _LEVEL:
        return "z up and x forward"
    if up_y > _UP and base_from_frame[0, 2] < -_UP:
        return "y up and z backward"
    return ""


def _base_from(frame: str, edges: tuple[FrameEdge, ...]) -> np.ndarray | None:
    """Return the (3, 3) rotation base <- frame; None if a transform between the two is missing."""
    above = {edge.child: edge for edge in edges}
    rotation = np.eye(3)
    for _ in range(len(above) + 1):
        if frame in _BASES:
            return rotation
        edge = above.get(frame)
        if edge is None or edge.rotation is None:
            return None
        try:
            rotation = rotation_from_quaternion(edge.rotation) @ rotation
        except ValueError:
            return None
        frame = edge.parent
    return None
