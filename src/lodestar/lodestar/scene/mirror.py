"""A subscriber's copy of the scene, updated from deltas."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from lodestar.floors.records import Building
from lodestar.scene.place_index import BoxIndex
from lodestar.scene.records import Entity, EntityState, Region, SceneDelta
from lodestar.scene.regions import RegionMap


class SceneMirror:
    """Copy of the scene's entities, updated from deltas. Not thread-safe: one thread reads and updates it.

    archived: whether archived entities are kept; otherwise they are dropped like removed ones.
    """

    def __init__(self, archived: bool = True) -> None:
        self.revision = 0
        self.stamp = 0.0
        self.map_id = 1
        self.session_id = ""
        self.entities: dict[int, Entity] = {}
        self.regions: dict[int, Region] = {}
        self.rooms: RegionMap | None = None
        self.building = Building()  # floors of the building
        # Results derived from this scene, shared by all users; a key names the producer, a value its revision.
        self.derived: dict[Hashable, Any] = {}
        self._archived = archived
        self._forward: dict[int, int] = {}
        self._boxes: BoxIndex | None = None  # index of the entities' boxes, built at the first request

    def apply(self, delta: SceneDelta) -> bool:
        """Apply a delta of a complete stream; return False, without a change, if an earlier delta is missing.

        An outdated delta is ignored and counts as applied. A delta with previous_revision 0 holds all
        entities and replaces the mirror's if the session changed.
        """
        if not self._is_other(delta) and delta.revision < self.revision:
            return True
        if delta.previous_revision > (0 if self._is_other(delta) else self.revision):
            return False
        self.take(delta)
        return True

    def take(self, delta: SceneDelta, *, first: bool = False) -> None:
        """Apply a delta or a page whose order the caller has checked.

        If it is of another session, it replaces all entities. first: whether it is the first page of a
        complete listing, so that earlier entities are dropped.
        """
        if self._is_other(delta):
            self.clear()
        elif first:
            self.entities.clear()
            self._forward.clear()
            self._boxes = None
        self.map_id, self.session_id = delta.map_id, delta.session_id
        self.stamp = max(self.stamp, delta.stamp)
        for merge in delta.merges:
            if merge.loser != merge.winner:
                self._forward[merge.loser] = merge.winner
                self._drop(merge.loser)
        for identity in delta.removed:
            self._drop(identity)
        for entity in delta.updated:
            if not self._archived and entity.state is EntityState.ARCHIVED:
                self._drop(entity.id)
            elif entity.id not in self._forward:
                self.entities[entity.id] = entity
                if self._boxes is not None:
                    self._boxes.put(entity.id, entity.box_min, entity.box_max)
        self.revision = max(self.revision, delta.revision)

    def _drop(self, identity: int) -> None:
        self.entities.pop(identity, None)
        if self._boxes is not None:
            self._boxes.drop(identity)

    def near(self, low: np.ndarray, high: np.ndarray) -> list[Entity]:
        """Return the entities, archived ones included, whose boxes touch a given box in plan, sorted by id.

        Some entities slightly beside the box are returned too. low, high: its corners (2+,) in map. After the
        first call the time does not depend on the size of the scene.
        """
        if self._boxes is None:
            self._boxes = BoxIndex()
            for entity in self.entities.values():
                self._boxes.put(entity.id, entity.box_min, entity.box_max)
        return [self.entities[identity] for identity in self._boxes.near(low, high)]

    def _is_other(self, delta: SceneDelta) -> bool:
        fresh = self.revision == 0 and not self.entities
        return not fresh and (delta.map_id, delta.session_id) != (self.map_id, self.session_id)

    def clear(self) -> None:
        """Forget all entities, regions and merges."""
        self.revision = 0
        self.stamp = 0.0
        self.entities.clear()
        self._boxes = None
        self.regions.clear()
        self.rooms = None
        self._forward.clear()

    def snapshot(self) -> SceneMirror:
        """Return a copy that later deltas do not change; it shares the immutable entities."""
        copy = SceneMirror(self._archived)
        copy.revision, copy.stamp = self.revision, self.stamp
        copy.building = self.building
        copy.map_id, copy.session_id = self.map_id, self.session_id
        copy.entities, copy.regions, copy.rooms = dict(self.entities), dict(self.regions), self.rooms
        copy._forward = dict(self._forward)
        return copy

    def set_regions(self, regions: Iterable[Region], rooms: RegionMap | None = None) -> None:
        """Replace the regions. rooms: map from places to regions."""
        self.regions = {region.id: region for region in regions}
        self.rooms = rooms

    def region_at(self, point: np.ndarray) -> int:
        """Return the region of a place (2+,) in map; 0 = unknown."""
        return 0 if self.rooms is None else int(self.rooms.at(np.asarray(point, float)[None])[0])

    def resolve(self, identity: int) -> int:
        """Return the current id of an entity, after all merges."""
        while identity in self._forward:
            identity = self._forward[identity]
        return identity

    def merged_into(self, identity: int) -> frozenset[int]:
        """Return all ids that were merged into an entity, including its current one."""
        current = self.resolve(identity)
        return frozenset({current, *(loser for loser in self._forward if self.resolve(loser) == current)})

    def name_of(self, identity: int) -> str:
        """Return the caption or label of an entity, "" if it is unknown."""
        entity = self.get(identity)
        return "" if entity is None else entity.caption or entity.label

    def get(self, identity: int) -> Entity | None:
        """Return the entity of an id after all merges, or None."""
        return self.entities.get(self.resolve(identity))
