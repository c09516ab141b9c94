"""Bounds of the evidence of a question: the rooms that it names, and the kinds of things that serve its need."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lodestar.memory.requests import Hit
from lodestar.scene.mirror import SceneMirror


@dataclass(frozen=True)
class EvidenceScope:
    """regions: ids of the rooms that a question names. visits: the rooms themselves are asked for, so that memories
    made in them count; else those that show things in them. scene: tells in which region a place is.
    """

    regions: frozenset[int]
    visits: bool
    scene: SceneMirror

    @cached_property
    def circle(self) -> tuple[tuple[float, float], float]:
        """Return the middle and the radius in plan, metres, of a circle around the rooms."""
        rooms = self.scene.rooms
        assert rooms is not None
        places = np.concatenate([rooms.places_of(region) for region in sorted(self.regions)])
        middle = (places.min(axis=0) + places.max(axis=0)) / 2.0
        radius = float(np.linalg.norm(places - middle, axis=1).max()) + 0.5
        return (float(middle[0]), float(middle[1])), radius

    def within(self, hits: list[Hit]) -> list[Hit]:
        """Return the memories of the rooms, with the things that stand in them alone; all, where none is of them."""
        kept = [hit for hit in (self._of_room(hit) for hit in hits) if hit is not None]
        return kept or hits

    def _of_room(self, hit: Hit) -> Hit | None:
        memory = hit.memory
        rooms = self.scene.rooms
        assert rooms is not None
        if self.visits:
            return hit if int(rooms.at(np.asarray(memory.position, float)[None])[0]) in self.regions else None
        if not memory.primitives:  # an operator's word
            return hit
        centres = np.array([primitive.centre for primitive in memory.primitives], float)
        sound = np.isfinite(centres).all(axis=1)
        inside = sound & np.isin(rooms.at(np.where(sound[:, None], centres, 0.0)), list(self.regions))
        if not inside.any():
            return None
        shown = tuple(p for p, is_in in zip(memory.primitives, inside) if is_in)
        return replace(hit, memory=replace(memory, primitives=shown))
