"""Archive of the closed ways of a saved map; it has no arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from lodestar.storage.archive import Archive, ForeignFile
from lodestar.storage.records import of_values, to_values
from lodestar.storage.saved_map import WAYS, ArchivePart
from lodestar.worldmodel.amendments import ClosedWay

KIND, VERSION = "closed_ways", 1
_FIELDS = ("start", "end", "expires", "cause", "seen_free_opens", "area", "floor")


def ways_to_archive(ways: Iterable[ClosedWay], now: float) -> Archive:
    """Return the archive of closed ways. now: stamp of the save, seconds."""
    lists = [list(to_values(way).values()) for way in ways]
    return Archive(KIND, VERSION, {"ways": lists, "stamp": now}, {})


def ways_from_archive(archive: Archive, now: float) -> tuple[ClosedWay, ...]:
    """Return the closed ways of an archive. Raises ForeignFile.

    now: seconds; if the file has a later stamp, expiry times are shifted so that the remaining times are kept.
    """
    try:
        shift = min(0.0, now - float(archive.meta["stamp"]))
        found = of_values([dict(zip(_FIELDS, way)) for way in archive.meta["ways"]], tuple[ClosedWay, ...])
    except (KeyError, TypeError, ValueError) as error:
        raise ForeignFile(f"closed ways: {error.__class__.__name__}: {error}") from error
    return tuple(replace(way, expires=way.expires + shift) for way in found)


def way_part(
    current: Callable[[], Iterable[ClosedWay]],
    put: Callable[[tuple[ClosedWay, ...]], Callable[[], object]],
    now: Callable[[], float],
) -> ArchivePart[tuple[ClosedWay, ...]]:
    """Return the part of a saved map that holds the closed ways; a map without this part has none.

    current(): returns the ways to save. put: puts loaded ways into use and returns an undo function. now:
    stamp, seconds.
    """

    def build(archive: Archive) -> tuple[ClosedWay, ...]:
        return ways_from_archive(archive, now())

    empty = ways_to_archive((), 0.0)
    return ArchivePart(
        WAYS, {KIND: VERSION}, lambda: ways_to_archive(current(), now()), build, put, empty=empty
    )
