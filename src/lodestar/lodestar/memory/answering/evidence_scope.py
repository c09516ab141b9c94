"""Limits the evidence of a question to the rooms that it names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lodestar.memory.requests import Hit
from lodestar.scene.mirror import SceneMirror


@dataclass(frozen=True)
class EvidenceScope:
    """Rooms that limit the evidence of a question.

    regions: ids of the rooms that the question names. visits: whether the question is about the rooms
    themselves; then memories made in the rooms count, else memories that show objects in them. scene: gives
    the region of a place.
    """

    regions: frozenset[int]
    visits: bool
    scene: SceneMirror

    @cached_property
    def circle(self) -> tuple[tuple[float, float], float]:
        """Return the centre (x, y) and the radius of a circle around the rooms in plan, metres."""
        rooms = self.scene.rooms
        assert rooms is not None
        places = np.concatenate([rooms.places_of(region) for region in sorted(self.regions)])
        middle = (places.min(axis=0) + places.max(axis=0)) / 2.0
        radius = float(np.linalg.norm(places - middle, axis=1).max()) + 0.5
        return (float(middle[0]), float(middle[1])), radius

    def within(self, hits: list[Hit]) -> list[Hit]:
        """Return the memories of the rooms, with only the objects inside; all `hits` if there are none."""
        kept = [hit for hit in (self._of_room(hit) for hit in hits) if hit is not None]
        return kept or hits

    def _of_room(self, hit: Hit) -> Hit | None:
        memory = hit.memory
        rooms = self.scene.rooms
        assert rooms is not None
        if self.visits:
            return hit if int(rooms.at(np.asarray(memory.position, float)[None])[0]) in self.regions else None
        if not memory.primitives:  # a statement by an operator
            return hit
        centres = np.array([primitive.centre for primitive in memory.primitives], float)
        sound = np.isfinite(centres).all(axis=1)
        inside = sound & np.isin(rooms.at(np.where(sound[:, None], centres, 0.0)), list(self.regions))
        if not inside.any():
            return None
        shown = tuple(p for p, is_in in zip(memory.primitives, inside) if is_in)
        return replace(hit, memory=replace(memory, primitives=shown))
