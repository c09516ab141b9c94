"""Plans of all floors in one file: that of the active floor as before, those of the others beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lodestar.floors.records import UNKNOWN, Building, from_json, to_json
from lodestar.mapping.grid_file import Mapper, grid_archive
from lodestar.storage.archive import Archive, ForeignFile

_PREFIX = "floor"


@dataclass(frozen=True)
class SavedFloors:
    """Mappers by floor, and the records. active: the mapper in use. building: None = a map of one floor."""

    active: Mapper
    building: Building | None = None
    mappers: Mapping[int, Mapper] | None = None


def floors_archive(building: Building, active: int, mappers: Mapping[int, Mapper], now: float) -> Archive:
    """Return the archive of all floors; of one floor it is that of its plan. active: id of the floor whose is first."""
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
    """Return the floors of an archive; a map that was saved before floors is one floor.

    read(archive): makes a mapper. Raises ForeignFile for records or maps that do not fit; the floor is named.
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
