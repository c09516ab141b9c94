"""Archive of the 2D maps of all floors.

The active floor's map is stored in the layout of a single-floor archive; the other maps are added under
prefixed names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lodestar.floors.records import UNKNOWN, Building, from_json, to_json
from lodestar.mapping.occupancy.grid_file import Mapper, grid_archive
from lodestar.storage.archive import Archive, ForeignFile

_PREFIX = "floor"


@dataclass(frozen=True)
class SavedFloors:
    """Saved mappers (one 2D map each) by floor id, and the building with its floors and passages.

    active: mapper of the active floor. building: None = a map of one floor.
    """

    active: Mapper
    building: Building | None = None
    mappers: Mapping[int, Mapper] | None = None


def floors_archive(building: Building, active: int, mappers: Mapping[int, Mapper], now: float) -> Archive:
    """Return the archive of the maps of all floors.

    With one floor and no passages it is the plain archive of the 2D map. active: id of the floor whose map is
    stored as the main map. now: seconds.
    """
    archive = grid_archive(mappers[active], now)
    if len(mappers) < 2 and not building.passages:
        return archive
    meta = {**archive.meta, "building": {**to_json(building), "active": active}}
    arrays = dict(archive.arrays)
    for identity, mapper in mappers.items():
        if identity != active:
            meta[f"{_PREFIX}{identity}"] = mapper.KIND
            arrays |= {f"{_PREFIX}{identity}.{name}": one for name, one in mapper.to_arrays().items()}
    return Archive(archive.kind, archive.version, meta, arrays)


def floors_from(archive: Archive, read: Callable[[Archive], Mapper]) -> SavedFloors:
    """Return the floors in an archive; an archive without records of floors holds the map of one floor.

    read(archive): creates the mapper of one floor. Raises ForeignFile for invalid records, and for a map that
    is missing or does not fit.
    """
    active = read(archive)
    given = archive.meta.get("building")
    if given is None:
        return SavedFloors(active)
    try:
        building = from_json(given)
    except (KeyError, TypeError, ValueError) as error:
        raise ForeignFile(f"the records of its floors are none: {error}") from error
    if building.active == UNKNOWN:
        raise ForeignFile("it does not say which floor its plan is of")
    mappers = {building.active: active}
    for floor in building.floors:
        if floor.id == building.active:
            continue
        kind, begin = archive.meta.get(f"{_PREFIX}{floor.id}"), f"{_PREFIX}{floor.id}."
        arrays = {name[len(begin) :]: one for name, one in archive.arrays.items() if name.startswith(begin)}
        if kind is None or not arrays:
            raise ForeignFile(f"the plan of the {floor.name} is missing")
        mappers[floor.id] = read(Archive(kind, archive.version, {}, arrays))
    return SavedFloors(active, building, mappers)
