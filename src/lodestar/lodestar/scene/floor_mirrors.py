"""A follower's copies of the scene: that of the building, and that of the floor that the robot is on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from lodestar.floors.records import Building
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Region, SceneDelta
from lodestar.scene.regions import RegionMap


class FloorMirrors:
    """`whole` has the things of all floors; `here` those of the robot's floor, and its rooms.

    While one floor is known, or none, both are the same object. Between two floors `here` stays that of the one that
    was left. Not safe for threads. archived: keep archived entities.
    """

    def __init__(self, archived: bool = True) -> None:
        self.whole = self.here = SceneMirror(archived)
        self._made_of: tuple[object, ...] = ()  # active floor, and floors with their heights, of `here`
        self._stands = Building()  # the newest with a floor that the robot is on

    def follow(self, building: Building, *, keeps_rooms: bool = False) -> bool:
        """Take the floors that are known; return whether `here` has become another object.

        It has no rooms then, but for those of now where `keeps_rooms` says that they are its floor's.
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
        """No other floor is known: all things are here."""
        before, self.here, self._made_of = self.here, self.whole, ()
        return self.here is not before

    def apply(self, delta: SceneDelta) -> bool:
        """Apply a change of a complete stream; see `SceneMirror.apply`."""
        if not self.whole.apply(delta):
            return False
        self._take_here(delta)
        return True

    def take(self, delta: SceneDelta, *, first: bool = False) -> None:
        """Take a delta or a page whose order the caller has checked; see `SceneMirror.take`."""
        self.whole.take(delta, first=first)
        self._take_here(delta, first)

    def _take_here(self, delta: SceneDelta, first: bool = False) -> None:
        """Take what of a change concerns the robot's floor: what has left it counts as removed."""
        if self.here is self.whole:
            return
        here = tuple(e for e in delta.updated if self._stands.is_here(float(e.mean[2]), e.eye))
        gone = {entity.id for entity in delta.updated} - {entity.id for entity in here}
        self.here.take(replace(delta, updated=here, removed=(*delta.removed, *sorted(gone))), first=first)

    def set_regions(self, regions: Iterable[Region], rooms: RegionMap | None = None) -> None:
        """Replace the rooms, which are those of the robot's floor."""
        regions = tuple(regions)
        self.whole.set_regions(regions, rooms)
        if self.here is not self.whole:
            self.here.set_regions(regions, rooms)

    def clear(self) -> None:
        """Forget everything but the floors."""
        self.whole.clear()
        self._join()
