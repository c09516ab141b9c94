"""The closed ways of a saved map: one archive without arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from lodestar.storage.archive import Archive, ForeignFile
from lodestar.storage.records import of_values, to_values
from lodestar.storage.saved_map import WAYS, ArchivePart
from lodestar.worldmodel.amendments import ClosedWay
from lodestar.worldmodel.old_layouts import way_of_list

KIND, VERSION = "closed_ways", 1


def ways_to_archive(ways: Iterable[ClosedWay], now: float) -> Archive:
    """Return the archive of closed ways. now: seconds; when it is saved."""
    lists = [list(to_values(way).values()) for way in ways]
    return Archive(KIND, VERSION, {"ways": lists, "stamp": now}, {})


def ways_from_archive(archive: Archive, now: float) -> tuple[ClosedWay, ...]:
    """Return the closed ways of an archive. Raises ForeignFile.

    now: seconds; if the file is from a later time, the ways expire as long after now as they would have then.
    """
    try:
        shift = min(0.0, now - float(archive.meta["stamp"]))
        found = of_values(list(map(way_of_list, archive.meta["ways"])), tuple[ClosedWay, ...])
    except (KeyError, TypeError, ValueError) as error:
        raise ForeignFile(f"closed ways: {error.__class__.__name__}: {error}") from error
    return tuple(replace(way, expires=way.expires + shift) for way in found)


def way_part(
    current: Callable[[], Iterable[ClosedWay]],
    put: Callable[[tuple[ClosedWay, ...]], Callable[[], object]],
    now: Callable[[], float],
) -> ArchivePart[tuple[ClosedWay, ...]]:
    """Return the part of a saved map with the closed ways; a map without its file has none."""

    def build(archive: Archive) -> tuple[ClosedWay, ...]:
        return ways_from_archive(archive, now())

    empty = ways_to_archive((), 0.0)
    return ArchivePart(
        WAYS, {KIND: VERSION}, lambda: ways_to_archive(current(), now()), build, put, empty=empty
    )
