"""Saving and loading of maps, shared by the nodes, the headless robot and the tools.

A saved map is a folder of snapshots. A snapshot has one file per part of the robot's state (grid, voxels,
scene, blocked passages) and a folder of keyframes. A load prepares every part beside the one in use, and
takes all of them into use, or none.
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

SAVE_LEAST_SHARE = 0.5  # share of the last save's content, 0..1, below which a save is refused; chosen
SAVE_SLACK_ENTITIES = 5  # fewer entities that a save may have; chosen: noise of a small map
SAVE_SLACK_AREA = 10.0  # less m^2 of known free floor that a save may have; chosen: noise of a small map

#: File names of the parts.
SCENE, VOXELS, GRID, WAYS = "scene.lodestar", "voxels.lodestar", "grid.lodestar", "ways.lodestar"
KEYFRAMES = "keyframes"
_FACTS = ("map_id", "entities", "free_m2")  # keys of the parts' meta that are copied to the manifest

T = TypeVar("T")


@dataclass(frozen=True)
class SaveConfig:
    """Number of saves that are kept of each map."""

    keep: int = 5  # saves of one map, the newest included; chosen

    def __post_init__(self) -> None:
        if self.keep < 1:
            raise ValueError("keep must be at least 1")


def shrinkage(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Return a description of how much smaller a map is than its last save; "" if it may replace that save.

    before, now: meta of the last save and of the map, with `entities`, and `free_m2` if there is a grid; no
    grid counts as no free floor.
    """
    less = []
    for name, unit, slack in (
        ("entities", "entities", SAVE_SLACK_ENTITIES),
        ("free_m2", "m2 of known floor", SAVE_SLACK_AREA),
    ):
        was, is_now = float(before.get(name, 0.0)), float(now.get(name, 0.0))
        if is_now < SAVE_LEAST_SHARE * was and was - is_now >= slack:
            less.append(f"{is_now:.0f} instead of {was:.0f} {unit}")
    return " and ".join(less)


class MapPart(Protocol):
    """Interface of one part of a map. name: of its file or folder.

    is_optional: whether a map may lack it; the part in use then stays unchanged when the map is loaded.
    """

    @property
    def name(self) -> str: ...

    @property
    def is_optional(self) -> bool: ...

    def save(self, path: Path) -> None:
        """Write the part in use to `path`, not yet durably. Raises OSError."""

    def prepare(self, path: Path) -> Replacement:
        """Return a generator that loads the saved part. Raises ForeignFile, OtherVersion, OSError."""


@dataclass(frozen=True)
class ArchivePart(Generic[T]):
    """Part of a map that is saved as one archive. versions: the readable version of each kind of archive.

    capture(): returns the part in use as an archive. build(archive): creates a saved part beside the one in
    use. put, kept: see `exchange`. empty: the part to use if a map lacks its file.
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
        """Write the part in use; see `MapPart.save`."""
        write_archive(path, self.capture(), durable=False)

    def prepare(self, path: Path) -> Replacement:
        """Return a generator that replaces the part in use by the saved one; see `MapPart.prepare`."""
        lacks = self.empty is not None and not path.exists()
        yield from self.replace(None if lacks else read_archive(path, self.versions))

    def replace(self, archive: Archive | None) -> Replacement:
        """Return a generator that replaces the part in use by a saved one. Raises ForeignFile, OtherVersion.

        archive: None = the map lacks the part.
        """
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
    """Write all parts to a folder in one step, durably; return its bytes and its manifest's meta.

    meta: entries for the manifest, to which facts of the parts are added. check(meta): called with the
    complete meta before the save becomes valid; may raise to refuse it. Raises BadFolder, OSError; then the
    previous save stays valid.
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
    path: str | Path, parts: Sequence[MapPart], beside: Sequence[tuple[str, Replacement]] = ()
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Replace all parts by those of a saved map, or none.

    Returns the manifest's meta, and sentences about data that was left out. beside: further replacements, by
    name. Raises BadFolder, ForeignFile, OtherVersion, OSError; the errors of further parts are notes of the
    first one.
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
        """Return a map of the parts in their current state."""
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
        """Replace all parts in use by those of this map, or none. Raises ForeignFile if one does not fit."""
        found = [part for part in parts if part.name in self.parts or not part.is_optional]
        replace_all([(part.name, part.replace(self.parts.get(part.name))) for part in found])


def _held(name: str, archive: Archive) -> ArchivePart[Archive]:
    return ArchivePart(name, {}, lambda: archive, lambda other: other, lambda other: lambda: None)


# --- sessions --------------------------------------------------------------------------------------------------


def next_session(session: str, mark: str | None = None) -> str:
    """Return a name for a session that continues another's map. mark: its suffix, random by default."""
    return f"{base_session(session)}+{uuid.uuid4().hex[:6] if mark is None else mark}"


def base_session(session: str) -> str:
    """Return the base name that all sessions of one map share."""
    return session.split("+")[0]
