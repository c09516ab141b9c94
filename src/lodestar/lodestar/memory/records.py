"""Records of the memory: segments, events and statements, with their times and places."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import numpy as np

from lodestar.keyframes.records import ImageName
from lodestar.storage.records import Identity, Length, Number, Stamp

WALL_TIME = 1e9  # seconds; larger stamps are wall time: the year 2001


class Source(str, Enum):
    """Sources of a memory, with the values that the store saves."""

    DETECTOR = "detector"  # composed from detections
    CAPTIONER = "captioner"  # text of a vision model for the image
    MODEL = "model"  # conclusion of a language model
    EVENT = "event"  # change of the scene, or action of the robot
    OPERATOR = "operator"  # statement by a person


class EventKind(str, Enum):
    """Kinds of events, with the values that the store saves."""

    APPEARED = "appeared"  # an entity was confirmed at a place where it had not been before
    MOVED = "moved"
    VANISHED = "vanished"
    DIRECTIVE = "directive"  # a directive began or ended
    DECISION = "decision"
    TOLD = "told"  # statement by an operator
    BELIEF = "belief"  # change of a belief of the robot, or of an operator on its behalf


#: Kinds of changes of the scene.
CHANGES = frozenset({EventKind.APPEARED, EventKind.MOVED, EventKind.VANISHED})
#: Kinds of memories whose primitives were seen there; None = a segment.
SEEN = (None, EventKind.APPEARED, EventKind.MOVED)


class Primitive(NamedTuple):
    """Entity in its state when it was remembered (STaR IV-A); later moves do not change it.

    centre, size: (3,) of its axis-aligned box in `map`, metres. pixels: largest area in the segment's images.
    """

    entity_id: Identity
    label: str
    centre: np.ndarray
    size: np.ndarray
    caption: str = ""  # untrusted text
    pixels: Number = 0

    def distance(self, point: np.ndarray) -> float:
        """Return the distance from a point (3,) to the box, metres; 0 inside."""
        outside = np.maximum(np.abs(np.asarray(point, float) - self.centre) - self.size / 2.0, 0.0)
        return float(np.linalg.norm(outside))


class MapName(NamedTuple):
    """Name of the map that a memory belongs to; searches never mix maps.

    fingerprint: name of the session that began the map; "" = unknown, so that the store tells maps apart by
    session.
    """

    map_id: Identity
    fingerprint: str = ""


FIRST_MAP = MapName(1)  # map of a session that loads none


def map_name_of(map_id: int, session_id: str) -> MapName:
    """Return the name of the map of a scene, which is that of the session that began the map.

    A loaded map keeps the name; suffixes that later sessions add to `session_id` are removed.
    """
    return MapName(map_id, session_id.split("+")[0].split(".")[0])


@dataclass(frozen=True)
class Memory:
    """Memory of some seconds with one caption (a segment), or of one event (DESIGN section 3). Immutable.

    start, end: stamps, seconds. position: (3,) of base_link in `map`, metres; heading: radians. text is
    untrusted. corrects: id of the memory that this one replaces in answers, 0 = none. keyframe_session:
    session of the keyframes' records; "" = unknown. Raises ValueError for a text without letters, times that
    are not finite or end before they start.
    """

    id: Identity  # from 1, increasing in the order of acceptance; 0 = not stored yet
    text: str
    start: Stamp
    end: Stamp
    position: np.ndarray
    heading: Length = 0.0
    floor: Number = 0
    region_id: Number = 0
    region: str = ""  # label of the region at that time
    primitives: tuple[Primitive, ...] = ()
    keyframe_ids: tuple[Identity, ...] = ()
    source: Source = Source.DETECTOR
    event: EventKind | None = None
    facts: dict[str, str] = field(default_factory=dict)  # for an event: its fields as text, for exact answers
    robot: str = "robot"
    session: str = ""
    map: MapName = FIRST_MAP
    pinned: bool = False
    corrects: Identity = 0
    keyframe_session: str = ""

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise ValueError("a memory needs words; describe what was seen or done")
        if not (math.isfinite(self.start) and math.isfinite(self.end) and self.start <= self.end):
            raise ValueError("a memory needs finite times, and must not end before it starts")
        if not np.all(np.isfinite(self.position)):
            raise ValueError("a memory needs a finite position; none is kept while the robot is lost")

    def place_of(self, fact: str) -> np.ndarray | None:
        """Return the place in an event's fact, such as "from": (3,) in map, metres; None = none."""
        try:
            values = [float(value) for value in self.facts.get(fact, "").split()]
        except ValueError:
            return None
        return np.array(values) if len(values) == 3 and np.isfinite(values).all() else None

    @property
    def entity_ids(self) -> tuple[int, ...]:
        """Return the ids of the entities in the memory."""
        return tuple(primitive.entity_id for primitive in self.primitives)

    @property
    def images(self) -> tuple[ImageName, ...]:
        """Return the names of the memory's keyframes."""
        return tuple(ImageName(self.keyframe_session, identity) for identity in self.keyframe_ids)


@dataclass(frozen=True)
class Snapshot:
    """Keyframe that represents some entities which it shows together (SnapMem 3.1)."""

    id: int
    keyframe_id: int
    entity_ids: frozenset[int]
    region_id: int = 0
    caption: str = ""  # description of the image; untrusted text


@dataclass(frozen=True)
class SnapshotDelta:
    """Change of the snapshots. With previous_revision 0 it lists all; unlisted ones no longer exist."""

    stamp: float
    revision: int
    previous_revision: int
    updated: tuple[Snapshot, ...] = ()
    removed: tuple[int, ...] = ()
