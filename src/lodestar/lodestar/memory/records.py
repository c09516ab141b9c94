"""Records of the memory: what was seen, done and told, and when and where."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import numpy as np

from lodestar.keyframes.records import ImageName
from lodestar.storage.records import Identity, Length, Number, Stamp

WALL_TIME = 1e9  # seconds of a stamp from which it is wall time: the year 2001


class Source(str, Enum):
    """Sources of a memory. The values are those that the store keeps."""

    DETECTOR = "detector"  # composed from what perception saw
    CAPTIONER = "captioner"  # a vision model's words for the image
    MODEL = "model"  # a language model's conclusion
    EVENT = "event"  # the scene changed, or the robot did something
    OPERATOR = "operator"  # a person's word


class EventKind(str, Enum):
    """Kinds of events. The values are those that the store keeps."""

    APPEARED = "appeared"  # an entity was confirmed that was not there when its place was last seen
    MOVED = "moved"
    VANISHED = "vanished"
    DIRECTIVE = "directive"  # a directive began or ended
    DECISION = "decision"
    TOLD = "told"  # an operator's word
    BELIEF = "belief"  # what the robot, or an operator for it, came to believe


#: Events of the scene.
CHANGES = frozenset({EventKind.APPEARED, EventKind.MOVED, EventKind.VANISHED})
#: Kinds of memories, None = a segment, whose primitives were seen there.
SEEN = (None, EventKind.APPEARED, EventKind.MOVED)


class Primitive(NamedTuple):
    """An entity as it was when it was remembered (STaR IV-A): its later moves do not change it.

    centre, size: (3,) of its axis-aligned box in `map`, metres. pixels: largest area in the segment's images.
    """

    entity_id: Identity
    label: str
    centre: np.ndarray
    size: np.ndarray
    caption: str = ""  # untrusted text
    pixels: Number = 0

    def distance(self, point: np.ndarray) -> float:
        """Distance from a point (3,) to the box, metres; 0 inside."""
        outside = np.maximum(np.abs(np.asarray(point, float) - self.centre) - self.size / 2.0, 0.0)
        return float(np.linalg.norm(outside))


class MapName(NamedTuple):
    """Name of the map that a memory belongs to: memories of another map are not mixed in.

    fingerprint: of the saved map's content; "" = this session's map, not saved yet.
    """

    map_id: Identity
    fingerprint: str = ""


FIRST_MAP = MapName(1)  # of a session that loads none


def map_name_of(map_id: int, session_id: str) -> MapName:
    """Return which map a scene belongs to: its frame is that of the session in which the map was begun, and a saved map
    keeps that session's name when it is loaded.
    """
    return MapName(map_id, session_id.split("+")[0].split(".")[0])


@dataclass(frozen=True)
class Memory:
    """A segment of the robot's life: some seconds with one caption, or one event (DESIGN section 3). Immutable.

    start, end: seconds in the clock of the stamps. position: (3,) of base_link in `map`, metres; heading: radians.
    text is untrusted. corrects: id of the memory that this one replaces in answers, 0 = none. keyframe_session: that of
    the keyframes' records; "" = not known.
    Raises ValueError for a text without letters, times that are not finite or end before they start.
    """

    id: Identity  # from 1, increasing in the order of acceptance; 0 = not accepted yet
    text: str
    start: Stamp
    end: Stamp
    position: np.ndarray
    heading: Length = 0.0
    floor: Number = 0
    region_id: Number = 0
    region: str = ""  # label of the region then
    primitives: tuple[Primitive, ...] = ()
    keyframe_ids: tuple[Identity, ...] = ()
    source: Source = Source.DETECTOR
    event: EventKind | None = None
    facts: dict[str, str] = field(default_factory=dict)  # of an event: its fields as words, for exact answers
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
        """Return a place among an event's facts, (3,) metres in map; None where there is none."""
        try:
            values = [float(value) for value in self.facts.get(fact, "").split()]
        except ValueError:
            return None
        return np.array(values) if len(values) == 3 and np.isfinite(values).all() else None

    @property
    def entity_ids(self) -> tuple[int, ...]:
        """Ids of the entities in it."""
        return tuple(primitive.entity_id for primitive in self.primitives)

    @property
    def images(self) -> tuple[ImageName, ...]:
        """Names of its keyframes."""
        return tuple(ImageName(self.keyframe_session, identity) for identity in self.keyframe_ids)


@dataclass(frozen=True)
class Snapshot:
    """A keyframe that is the memory's image for some entities seen together (SnapMem 3.1)."""

    id: int
    keyframe_id: int
    entity_ids: frozenset[int]
    region_id: int = 0
    caption: str = ""  # of what the image shows; untrusted text


@dataclass(frozen=True)
class SnapshotDelta:
    """Change of the snapshots. One with previous_revision 0 holds all of them: what it does not name is gone."""

    stamp: float
    revision: int
    previous_revision: int
    updated: tuple[Snapshot, ...] = ()
    removed: tuple[int, ...] = ()
