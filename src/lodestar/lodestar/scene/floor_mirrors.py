"""A subscriber's copies of the scene: one of the whole building, and one of the robot's floor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from lodestar.floors.records import Building
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Region, SceneDelta
from lodestar.scene.regions import RegionMap


class FloorMirrors:
    """Copies of the scene for a subscriber, updated from deltas. Not thread-safe.

    `whole` has the objects of all floors; `here` has the objects and rooms of the robot's floor. While at
    most one floor is known, both are the same object. On the way between two floors `here` stays that of the
    last floor. archived: whether archived entities are kept.
    """

    def __init__(self, archived: bool = True) -> None:
        self.whole = self.here = SceneMirror(archived)
        self._made_of: tuple[object, ...] = ()  # active floor, (floor id, height) of `here`
        self._stands = Building()  # newest building state with a floor that the robot is on

    def follow(self, building: Building, *, keeps_rooms: bool = False) -> bool:
        """Update the known floors; return whether `here` was replaced by another object.

        The new `here` has no rooms, unless it is of the same floor, or `keeps_rooms` says that the current
        rooms are already those of the new floor.
        """
        self.whole.building = self.here.building = building
        if building.here is None:
            return False
        self._stands = building
        if not building.has_others:
            return self._join()
        made_of = (building.active, *((floor.id, floor.height) for floor in building.floors))
        if made_of == self._made_of:
            return False
        keeps_rooms = keeps_rooms or self._made_of[:1] == made_of[:1]
        self._made_of, before = made_of, self.here
        self.here = self.whole.snapshot()
        self.here.entities = {
            i: e for i, e in self.whole.entities.items() if building.is_here(float(e.mean[2]), e.eye)
        }
        rooms = (before.regions.values(), before.rooms) if keeps_rooms else ((), None)
        self.here.set_regions(*rooms)
        return True

    def _join(self) -> bool:
        """Make `here` the whole scene, because no other floor is known; return whether it changed."""
        before, self.here, self._made_of = self.here, self.whole, ()
        return self.here is not before

    def apply(self, delta: SceneDelta) -> bool:
        """Apply a delta of a complete stream and return whether it was applied; see `SceneMirror.apply`."""
        if not self.whole.apply(delta):
            return False
        self._take_here(delta)
        return True

    def take(self, delta: SceneDelta, *, first: bool = False) -> None:
        """Apply a delta or a page whose order the caller has checked; see `SceneMirror.take`."""
        self.whole.take(delta, first=first)
        self._take_here(delta, first)

    def _take_here(self, delta: SceneDelta, first: bool = False) -> None:
        """Apply to `here` the part of a change on the robot's floor.

        Entities that have left the floor are removed.
        """
        if self.here is self.whole:
            return
        here = tuple(e for e in delta.updated if self._stands.is_here(float(e.mean[2]), e.eye))
        gone = {entity.id for entity in delta.updated} - {entity.id for entity in here}
        self.here.take(replace(delta, updated=here, removed=(*delta.removed, *sorted(gone))), first=first)

    def set_regions(self, regions: Iterable[Region], rooms: RegionMap | None = None) -> None:
        """Replace the rooms of both copies by those of the robot's floor."""
        regions = tuple(regions)
        self.whole.set_regions(regions, rooms)
        if self.here is not self.whole:
            self.here.set_regions(regions, rooms)

    def clear(self) -> None:
        """Forget everything except the floors."""
        self.whole.clear()
        self._join()
