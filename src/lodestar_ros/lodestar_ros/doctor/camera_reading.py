"""Reads a camera's newest messages as the nodes do, and reports the problems as `Picture`."""

from __future__ import annotations

from typing import Any

from lodestar.geometry.camera_model import CameraModel, ImageMismatch
from lodestar_ros.conversions import BadMessage
from lodestar_ros.conversions_sensors import depth_from_msg, model_from_msg, rgb_from_msg
from lodestar_ros.doctor.findings import Picture
from lodestar_ros.image_codecs import assumption, encoding_of


def read_image(message: Any, *, is_depth: bool, info: Any | None) -> Picture:
    """Return the facts and problems of an image. info: its camera info, if any."""
    encoding = encoding_of(message)
    try:
        array = depth_from_msg(message) if is_depth else rgb_from_msg(message)
    except BadMessage as error:
        size = (getattr(message, "width", 0), getattr(message, "height", 0))
        return Picture(encoding, size, unreadable=str(error))
    size = (array.shape[1], array.shape[0])
    unfit = ""
    model = _model(info)
    if model is not None and array.size:
        try:
            model.pinhole(*size)
        except ImageMismatch as error:
            unfit = str(error)
    return Picture(encoding, size, "" if array.size else "it has no pixels", assumption(message), unfit)


def read_info(message: Any) -> Picture:
    """Return the facts and problems of a camera info."""
    try:
        model = model_from_msg(message)
    except BadMessage as error:
        return Picture(unreadable=str(error))
    return Picture(undistorted=model.unapplied)


def _model(info: Any | None) -> CameraModel | None:
    try:
        return None if info is None else model_from_msg(info)
    except BadMessage:
        return None  # the check of the camera info reports it
