"""Shapes of markers for RViz, and markers that answer a click; `markers.py` draws records of the core."""

from __future__ import annotations

from typing import Any

import numpy as np
from geometry_msgs.msg import Vector3
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from lodestar_ros.conversions import header, planar_to_msg, point_to_msg


def rgba(red: float, green: float, blue: float, alpha: float = 1.0) -> ColorRGBA:
    """Return a colour; all values are in [0, 1]."""
    return ColorRGBA(r=float(red), g=float(green), b=float(blue), a=float(alpha))


def marker(kind: int, namespace: str, identity: int, stamp: float, color: ColorRGBA, scale: Any) -> Marker:
    """Return a marker of this kind in map. scale: (3,) metres."""
    made = Marker(header=header(stamp, "map"), ns=namespace, id=int(identity), type=kind, action=Marker.ADD)
    made.pose.orientation.w = 1.0
    made.scale = Vector3(x=float(scale[0]), y=float(scale[1]), z=float(scale[2]))
    made.color = color
    return made


def text_marker(
    namespace: str,
    identity: int,
    stamp: float,
    place: Any,
    text: str,
    size: float = 0.15,
    color: tuple[float, float, float] = (1.0, 1.0, 1.0),
) -> Marker:
    """Return a text at a place (3,), `size` metres high."""
    shape = marker(Marker.TEXT_VIEW_FACING, namespace, identity, stamp, rgba(*color), (0, 0, size))
    shape.pose.position = point_to_msg(place)
    shape.text = text
    return shape


def fresh(markers: list[Marker]) -> MarkerArray:
    """Return the markers as a message that replaces all previous markers."""
    return MarkerArray(markers=[Marker(action=Marker.DELETEALL), *markers])


def arrow_marker(
    namespace: str, identity: int, stamp: float, goal: Any, color: ColorRGBA, size: float = 0.5
) -> Marker:
    """Return an arrow of `size` metres at a goal (3,)."""
    shape = marker(Marker.ARROW, namespace, identity, stamp, color, (size, size / 6, size / 6))
    shape.pose = planar_to_msg(goal)
    return shape


def ball_marker(
    namespace: str, identity: int, stamp: float, place: Any, color: ColorRGBA, size: float
) -> Marker:
    """Return a ball of `size` metres at a place (3,)."""
    ball = marker(Marker.SPHERE, namespace, identity, stamp, color, (size, size, size))
    ball.pose.position = point_to_msg(place)
    return ball


def reply_markers(place: Any, text: str, stamp: float, *, ok: bool) -> MarkerArray:
    """Return the answer to a click as a ball and a text at its place: green if it was accepted, red if not."""
    color = (0.2, 0.9, 0.3) if ok else (1.0, 0.3, 0.2)
    above = np.asarray(place, np.float64) + np.array([0.0, 0.0, 0.4])
    return fresh(
        [
            ball_marker("click", 0, stamp, place, rgba(*color, 0.8), 0.15),
            text_marker("reply", 0, stamp, above, text, 0.18, color),
        ]
    )
