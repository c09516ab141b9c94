"""Saved maps: the one way in which the nodes, the headless robot and the tools save and load them.

A map is a folder of snapshots with one file per part: grid, voxels, scene, closed ways; and a folder of keyframes. A
load prepares every part beside the one in use, and takes all of them into use, or none.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from lodestar.storage.archive import Archive, ForeignFile, check_version, meta_of, read_archive, write_archive
from lodestar.storage.replacement import Replacement, exchange, replace_all
from lodestar.storage.snapshot import SnapshotFolder

#: Names of the parts in the folder.
SCENE, VOXELS, GRID, WAYS = "scene.lodestar", "voxels.lodestar", "grid.lodestar", "ways.lodestar"
KEYFRAMES = "keyframes"
_FACTS = ("map_id", "entities", "free_m2")  # of the parts' meta, for the manifest

T = TypeVar("T")


@dataclass(frozen=True)
class SaveConfig:
    """Number of saves of a map, and when a save is refused because the map has shrunk."""

    keep: int = 5  # saves of one map, the newest included; chosen
    least_share: float = 0.5  # of the last save's content, 0..1; a save with less is refused; chosen
    slack_entities: int = 5  # fewer entities that a save may have; chosen: noise of a small map
    slack_area: float = 10.0  # less m^2 of known free floor that a save may have; chosen: likewise

    def __post_init__(self) -> None:
        if self.keep < 1 or not 0.0 <= self.least_share <= 1.0:
            raise ValueError("keep must be at least 1 and least_share between 0 and 1")


def shrinkage(before: Mapping[str, Any], now: Mapping[str, Any], config: SaveConfig) -> str:
    """Return in words what a map lacks against the one saved before; "" if it may replace that one.

    Both are the meta of a save: `entities`, and `free_m2` if a grid is part of it; no grid, no free floor.
    """
    less = []
    for name, unit, slack in (
        ("entities", "entities", config.slack_entities),
        ("free_m2", "m2 of known floor", config.slack_area),
    ):
        was, is_now = float(before.get(name, 0.0)), float(now.get(name, 0.0))
        if is_now < config.least_share * was and was - is_now >= slack:
            less.append(f"{is_now:.0f} instead of {was:.0f} {unit}")
    return " and ".join(less)


class MapPart(Protocol):
    """One part of a map. name: of its file or folder. is_optional: it stays as it is where a saved map lacks it."""

    @property
    def name(self) -> str: ...

    @property
    def is_optional(self) -> bool: ...

    def save(self, path: Path) -> None:
        """Write the part as it is now; not durably. Raises OSError."""
        ...

    def prepare(self, path: Path) -> Replacement:
        """Replace the part by a saved one. Raises ForeignFile, OtherVersion, OSError."""
        ...


@dataclass(frozen=True)
class ArchivePart(Generic[T]):
    """A part that is one archive. versions: the version that can be read of each kind.

    capture(): the part as it is now. build(archive): a saved part, beside the one in use. put, kept: see `exchange`.
    empty: the part of a map that lacks its file.
    """

    name: str
    versions: Mapping[str, int]
    capture: Callable[[], Archive]
    build: Callable[[Archive], T]
    put: Callable[[T], Callable[[], object]]
    kept: Callable[[], object] = lambda: None
    is_optional: bool = False
    empty: Archive | None = None

    def save(self, path: Path) -> None:
        """See `MapPart.save`."""
        write_archive(path, self.capture(), durable=False)

    def prepare(self, path: Path) -> Replacement:
        """See `MapPart.prepare`."""
        lacks = self.empty is not None and not path.exists()
        yield from self.replace(None if lacks else read_archive(path, self.versions))

    def replace(self, archive: Archive | None) -> Replacement:
        """Replace the part by a saved one; None = the map lacks it. Raises ForeignFile, OtherVersion."""
        archive = archive or self.empty
        if archive is None:
            raise ForeignFile(f"the map has no {self.name}")
        check_version(self.name, archive.kind, archive.version, self.versions)
        yield from exchange(self.put, self.build(archive), self.kept)


# --- all parts -------------------------------------------------------------------------------------------------


def save_map(
    folder: SnapshotFolder,
    parts: Iterable[MapPart],
    meta: Mapping[str, Any],
    check: Callable[[Mapping[str, Any]], None] = lambda known: None,
) -> tuple[int, dict[str, Any]]:
    """Write all parts to a folder in one step, durably; return its bytes and what its manifest says.

    meta: for the manifest, besides facts of the parts. check(known): may refuse the save. Raises BadFolder, OSError;
    then the save before is the valid one.
    """
    target, known = folder.begin(), dict(meta)
    try:
        for part in parts:
            part.save(target / part.name)
            if (target / part.name).is_file():
                of_part = meta_of(target / part.name)
                known |= {fact: of_part[fact] for fact in _FACTS if fact in of_part}
        check(known)
        return folder.commit(target, known), known
    except BaseException:
        folder.discard(target)
        raise


def load_map(
    path: str | Path,
    parts: Sequence[MapPart],
    beside: Sequence[tuple[str, Replacement]] = (),
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Replace all parts by those of a saved map, or none; return what its manifest says, and what was left out.

    beside: further replacements, by name. Raises BadFolder, ForeignFile, OtherVersion, OSError; the errors of further
    parts are notes of the first one.
    """
    folder, known = SnapshotFolder(path).open()
    found = [part for part in parts if (folder / part.name).exists() or not part.is_optional]
    return known, replace_all([*((part.name, part.prepare(folder / part.name)) for part in found), *beside])


@dataclass(frozen=True)
class SavedMap:
    """An immutable map in memory that several runs may continue. parts: archives by name."""

    parts: Mapping[str, Archive]

    @staticmethod
    def of(parts: Iterable[ArchivePart[Any]]) -> SavedMap:
        """Return the map of these parts as they are now."""
        return SavedMap({part.name: part.capture() for part in parts})

    @staticmethod
    def read(path: str | Path) -> SavedMap:
        """Return a saved map, without its keyframes. Raises BadFolder, ForeignFile, OtherVersion, OSError."""
        folder, _ = SnapshotFolder(path).open()
        return SavedMap({path.name: read_archive(path) for path in sorted(folder.glob("*.lodestar"))})

    def write(self, path: str | Path) -> int:
        """Write the map to a folder, as `save_map` does; return its size in bytes. Raises BadFolder, OSError."""
        held = [_held(name, archive) for name, archive in self.parts.items()]
        return save_map(SnapshotFolder(path), held, {})[0]

    def load(self, parts: Sequence[ArchivePart[Any]]) -> None:
        """Replace all parts by those of this map, or none. Raises ForeignFile if one does not fit."""
        found = [part for part in parts if part.name in self.parts or not part.is_optional]
        replace_all([(part.name, part.replace(self.parts.get(part.name))) for part in found])


def _held(name: str, archive: Archive) -> ArchivePart[Archive]:
    return ArchivePart(name, {}, lambda: archive, lambda other: other, lambda other: lambda: None)


# --- sessions --------------------------------------------------------------------------------------------------


def next_session(session: str, mark: str | None = None) -> str:
    """Return the name of a session that continues another's map. mark: by default one that nobody has had."""
    return f"{base_session(session)}+{uuid.uuid4().hex[:6] if mark is None else mark}"


def base_session(session: str) -> str:
    """Return the name that all sessions of one map share."""
    return session.split("+")[0]
