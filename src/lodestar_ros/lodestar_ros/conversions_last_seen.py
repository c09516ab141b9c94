"""Places where things were last seen: messages there and back.

A place is an `Entity` with the box, the texts and the time of the last sight, and one view: where the robot stood.
"""

from __future__ import annotations

import numpy as np

from lodestar.geometry.poses import planar_transform
from lodestar.memory.last_seen import LastSeen, RememberedPlaces
from lodestar.memory.records import MapName, Primitive
from lodestar.scene.captions import clean_text
from lodestar_interfaces import msg
from lodestar_ros.conversions import (
    BadMessage,
    header,
    point_from_msg,
    point_to_msg,
    pose_to_msg,
    stamp_from_msg,
    stamp_to_msg,
)

MAP = "map"
MOST = 2000  # places of a message that are read; beyond what the memory tells by default


def last_seen_to_msg(remembered: RememberedPlaces, stamp: float) -> msg.SceneDelta:
    """Return all places as a delta that replaces the ones before. A time of 0 = not known."""
    return msg.SceneDelta(
        header=header(stamp, MAP),
        map_id=remembered.map.map_id,
        session_id=remembered.map.fingerprint,
        revision=remembered.revision,
        previous_revision=0,
        updated=[_place_to_msg(place, remembered.map) for place in remembered.places],
    )


def last_seen_from_msg(message: msg.SceneDelta) -> RememberedPlaces:
    """Return the places; those whose box cannot be used are left out. Raises BadMessage for a delta of some of them."""
    if message.previous_revision != 0:
        raise BadMessage("last-seen places come all at once; previous_revision must be 0")
    name = MapName(message.map_id, message.session_id)
    found = (_place_from_msg(entity) for entity in message.updated[:MOST])
    return RememberedPlaces(name, message.revision, tuple(place for place in found if place is not None))


def _place_to_msg(place: LastSeen, name: MapName) -> msg.Entity:
    low, high = place.box
    stood = planar_transform(float(place.eye[0]), float(place.eye[1]), 0.0, float(place.eye[2]))
    seen = stamp_to_msg(place.stamp or 0.0)
    return msg.Entity(
        id=place.id,
        map_id=name.map_id,
        session_id=name.fingerprint,
        label=place.thing.label,
        caption=place.thing.caption,
        mean=point_to_msg(place.thing.centre),
        box_min=point_to_msg(low),
        box_max=point_to_msg(high),
        views=[msg.View(stamp=seen, camera_pose=pose_to_msg(stood))],
        last_seen=seen,
    )


def _place_from_msg(message: msg.Entity) -> LastSeen | None:
    low, high = point_from_msg(message.box_min), point_from_msg(message.box_max)
    eye = point_from_msg(message.views[0].camera_pose.position) if message.views else (low + high) / 2.0
    if not np.isfinite([low, high, eye]).all() or (high < low).any():
        return None
    label, caption = clean_text(message.label), clean_text(message.caption)
    thing = Primitive(0, label, (low + high) / 2.0, high - low, caption)
    return LastSeen(message.id, thing, stamp_from_msg(message.last_seen) or None, eye)
