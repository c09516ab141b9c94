"""Detection of changes of the scene that are remembered: entities that appeared, moved or vanished."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from lodestar.geometry.boxes import box_distance, box_intersection, box_volume, transform_box
from lodestar.geometry.map_correction import MapCorrection
from lodestar.memory.events import SceneChange
from lodestar.memory.looked_places import LookedPlaces
from lodestar.memory.records import EventKind
from lodestar.memory.segment_captions import name_of
from lodestar.memory.segments import primitive_of
from lodestar.models.kinship import kind_of
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity, EntityState, SceneDelta

# metres that an entity must move; scene.static_motion, well above localisation noise (jumps from 0.1 m re-anchor)
EVENT_MOVED = 0.5
EVENT_MOVED_EXTENT = 0.5  # share of its longer side in plan, likewise: a box grows as more is seen; chosen
# metres of the longer side in plan from which an object near another of its kind may be a part of it; chosen
EVENT_PART_EXTENT = 1.0
EVENT_PART_REACH = 1.0  # metres between the two objects; as BOTTLENECK_REACH
EVENT_SETTLE = 5.0  # seconds that a change must last, so that merges and second views come first; chosen
EVENT_BEFORE = 10.0  # seconds by which views of a place must precede the object's first sighting; chosen
EVENT_MAX_KNOWN = 50_000  # entities whose place is remembered, the oldest dropped first; chosen


@dataclass
class _Known:
    """Last reported state of an entity. low, high: (3,) of its box. present: False after it vanished."""

    low: np.ndarray
    high: np.ndarray
    present: bool = True
    # stamp, seconds, of a change that has not lasted long enough yet
    changed: float | None = None
    fresh: bool = False  # first seen at a place that had been looked at before; reported once it has lasted


class SceneChanges:
    """Finds events in the scene's deltas: entities that appeared, moved or vanished. Not safe for threads.

    A change is reported when it has lasted EVENT_SETTLE seconds, so that an entity that is soon merged, or a
    box that is complete only at a second view, causes no event. An object causes no event if it is new to the
    robot because the camera had not viewed its place before. A large object beside another of its kind causes
    none either, because it may be a part of it (a rack that the map divides and joins again). counts: changes
    that caused no event, by reason (merged, returned, part).
    """

    def __init__(self, scene: SceneMirror, looks: LookedPlaces) -> None:
        self.counts = Counter[str]()
        self._scene, self._looks = scene, looks
        self._known: dict[int, _Known] = {}
        self._waiting: dict[int, None] = {}  # ids with a change that has not lasted long enough yet

    def take(self, delta: SceneDelta) -> list[SceneChange]:
        """Process a delta that the mirror has applied; return changes that have now lasted long enough."""
        for merge in delta.merges:
            self._merge(merge.loser, merge.winner)
        for identity in delta.removed:  # false instances: they neither appeared nor vanished
            self._forget(identity)
        for entity in delta.updated:
            if self._scene.resolve(entity.id) == entity.id:
                self._compare(entity, delta.stamp)
        return self._certain(delta.stamp)

    def learn(self, entities: Iterable[Entity] | None = None) -> None:
        """Adopt the state of these entities, or of the whole scene, without events.

        For use after a page of missed changes, at a start on a saved map, or after a gap in the deltas.
        """
        for entity in list(self._scene.entities.values()) if entities is None else entities:
            if self._scene.resolve(entity.id) == entity.id:
                self._learn(entity)

    def move(self, correction: MapCorrection) -> None:
        """Move the known boxes by a correction of the map, which is no motion of objects."""
        for identity, known in self._known.items():
            thing = self._scene.get(identity)
            middle = (known.low + known.high) / 2.0
            jump = correction.at_place(middle) if thing is None else correction.at(thing.first_seen)
            known.low, known.high = transform_box(jump, known.low, known.high)
        self._looks.clear()

    def clear(self) -> None:
        """Forget all entities, as after a change of the map."""
        self._known.clear()
        self._waiting.clear()
        self._looks.clear()

    def _merge(self, loser: int, winner: int) -> None:
        gone = self._known.get(loser)
        if gone is not None:
            if gone.fresh:
                self.counts["merged"] += 1
            if winner not in self._known and not gone.fresh:
                self._known[winner] = gone
        self._forget(loser)

    def _forget(self, identity: int) -> None:
        self._known.pop(identity, None)
        self._waiting.pop(identity, None)

    def _learn(self, entity: Entity) -> None:
        present = entity.state is not EntityState.ARCHIVED
        self._known[entity.id] = _Known(*_box(entity), present)
        while len(self._known) > EVENT_MAX_KNOWN:
            self._forget(next(iter(self._known)))

    def _compare(self, entity: Entity, stamp: float) -> None:
        known = self._known.get(entity.id)
        if known is None:
            self._learn(entity)
            known = self._known[entity.id]
            since = self._looks.since(_centre(entity))
            known.fresh = known.present and since < entity.first_seen - EVENT_BEFORE
            if not known.fresh:
                return
        if known.fresh or self._change(entity, known) is not None:
            if known.changed is None:
                known.changed = stamp
            self._waiting[entity.id] = None
        elif known.changed is not None:
            self.counts["returned"] += 1
            known.changed = None
            self._waiting.pop(entity.id, None)

    def _change(self, entity: Entity, known: _Known) -> EventKind | None:
        """Return the change of an entity since its last report, None if there is none."""
        present = entity.state is not EntityState.ARCHIVED
        if known.present != present:
            if not present:
                return EventKind.VANISHED
            return EventKind.MOVED if self._has_moved(entity, known) else EventKind.APPEARED
        return EventKind.MOVED if present and self._has_moved(entity, known) else None

    def _has_moved(self, entity: Entity, known: _Known) -> bool:
        """Return whether the box is at another place; growth by further observations is no move."""
        low, high = _box(entity)
        shift = float(np.linalg.norm((low + high - known.low - known.high)[:2]) / 2.0)
        longest = max(float(np.max((high - low)[:2])), float(np.max((known.high - known.low)[:2])))
        if shift <= max(EVENT_MOVED, EVENT_MOVED_EXTENT * longest):
            return False
        shared = float(box_intersection(low[:2], high[:2], known.low[:2], known.high[:2]))
        smaller = min(float(box_volume(low[:2], high[:2])), float(box_volume(known.low[:2], known.high[:2])))
        return shared < 0.5 * smaller

    def _certain(self, stamp: float) -> list[SceneChange]:
        told = []
        for identity in list(self._waiting):
            known, entity = self._known[identity], self._scene.get(identity)
            if entity is None or known.changed is None:
                del self._waiting[identity]
                continue
            if stamp - known.changed < EVENT_SETTLE:
                continue
            kind = self._change(entity, known)
            if known.fresh and entity.state is not EntityState.ARCHIVED:
                kind = EventKind.APPEARED
            del self._waiting[identity]
            if kind in (EventKind.APPEARED, EventKind.MOVED) and self._may_be_part(entity):
                self.counts["part"] += 1
            elif kind is not None:
                told.append(self._told(kind, entity, known, known.changed))
            self._learn(entity)
        return told

    def _may_be_part(self, entity: Entity) -> bool:
        """Return whether a large object may be a part of a present object of its kind beside it."""
        low, high = _box(entity)
        if float(np.max((high - low)[:2])) < EVENT_PART_EXTENT:
            return False
        kind = kind_of(entity.label)
        return any(
            other.id != entity.id
            and other.state is not EntityState.ARCHIVED
            and kind_of(other.label) == kind
            and float(box_distance(low, high, *_box(other))) <= EVENT_PART_REACH
            for other in self._scene.near(low - EVENT_PART_REACH, high + EVENT_PART_REACH)
        )

    def _told(self, kind: EventKind, entity: Entity, known: _Known, stamp: float) -> SceneChange:
        before = (known.low + known.high) / 2.0 if kind is EventKind.MOVED else None
        return SceneChange(
            kind,
            stamp,
            primitive_of(entity),
            name_of(entity),
            self._region(_centre(entity)),
            before,
            "" if before is None else self._region(before),
            entity.last_seen if math.isfinite(entity.last_seen) else stamp,
        )

    def _region(self, place: np.ndarray) -> str:
        region = self._scene.regions.get(self._scene.region_at(place))
        return "" if region is None else region.label


def _box(entity: Entity) -> tuple[np.ndarray, np.ndarray]:
    return np.array(entity.box_min, float), np.array(entity.box_max, float)


def _centre(entity: Entity) -> np.ndarray:
    low, high = _box(entity)
    return (low + high) / 2.0
