"""Images of memories, which outlive the run that took them (ADR 0063).

They are hard links to keyframes, in one folder per memory store and session.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from lodestar.keyframes.folder import INDEX, KeyframeSet, is_whole_jpeg
from lodestar.keyframes.records import ImageName, Keyframe
from lodestar.storage.archive import ArchiveError, ForeignFile
from lodestar.storage.files import sync_path
from lodestar.storage.private import UnsafeFolder, private_folder, state_home

_NAME = re.compile(r"^[A-Za-z0-9_-]{1,64}$")  # name of a memory or a session; received over the network


class RememberedImages:
    """Images that memories refer to, in `folder`/memory/session. Not thread-safe; `KeyframeStore` guards it.

    folder: relative paths lie in the user's state folder. memory: unique name of a memory store. Each session
    has a set of keyframes with the poses that they had in its map, so equal ids of two sessions do not
    collide. damaged: sentences about unreadable data. If the folder cannot be used, each call tries it again
    and raises OSError.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = state_home() / Path(folder).expanduser()
        self.damaged: tuple[str, ...] = ()
        self._sets: dict[tuple[str, str], KeyframeSet] = {}  # (memory, session) -> keyframes
        self._is_open = False
        try:
            self._open()
        except OSError as error:
            self.damaged = (f"images of memories do not outlive this run: {error}",)

    def _open(self) -> None:
        """Read the existing sets once. Raises OSError, also for a folder that is not private."""
        if self._is_open:
            return
        if self.folder.exists():
            _private(self.folder)
            for path in sorted(self.folder.glob("*/*")):
                key = (path.parent.name, path.name)
                if path.is_dir() and all(map(_NAME.match, key)):
                    self._read(key, path)
        self._is_open = True

    def _read(self, key: tuple[str, str], path: Path) -> None:
        try:
            kept = _read_set(_private(path))
            kept.sweep()
        except (ArchiveError, OSError) as error:
            self.damaged += (f"the images of session {path.name} cannot be shown: {error}",)
            return
        self._sets[key] = kept
        self.damaged += tuple(f"session {path.name}: {problem}" for problem in kept.damaged)

    @property
    def sizes(self) -> dict[ImageName, int]:
        """Return the bytes of each image."""
        return {
            ImageName(session, identity): size
            for (_, session), kept in self._sets.items()
            for identity, size in kept.sizes.items()
        }

    def missing(
        self, memory: str, names: Iterable[ImageName], count: int, room: float, live: KeyframeSet
    ) -> list[ImageName]:
        """Return the images that the caller must add with `add`, and delete those that are not kept any more.

        memory: name of a memory store. names: images that it refers to, the most important first. Images of
        other memory stores follow, the newest first. Of all, the first `count` that fit into `room` bytes are
        kept. live: keyframes of this run. Raises OSError.
        """
        if not _NAME.match(memory):
            return []
        self._open()
        return self._bound([*names, *self._newest(besides=memory)], count, room, live)

    def trim(self, count: int, room: float) -> None:
        """Keep the newest `count` images that fit into `room` bytes. Raises OSError."""
        self._bound(self._newest(), count, room, KeyframeSet(self.folder))

    def _bound(
        self, names: Iterable[ImageName], count: int, room: float, live: KeyframeSet
    ) -> list[ImageName]:
        have, wanted = self.sizes, dict[ImageName, None]()
        for name in names:
            size = have.get(name) or _live_size(live, name)
            if name in wanted or not size or not _NAME.match(name.session):
                continue
            if len(wanted) >= count or size > room:
                break
            wanted[name] = None
            room -= size
        for name in have.keys() - wanted.keys():
            self.erase(name.session, (name.id,))
        return [name for name in wanted if name not in have]

    def _newest(self, besides: str = "") -> list[ImageName]:
        found = [
            (keyframe.stamp, ImageName(session, identity))
            for (other, session), kept in self._sets.items()
            if other != besides
            for identity, keyframe in kept.keyframes.items()
        ]
        return [name for _, name in sorted(found, reverse=True)]

    def add(self, memory: str, name: ImageName, live: KeyframeSet) -> None:
        """Link a keyframe of the live set, if it still exists, as an image of a memory store.

        Raises OSError; then it is not added.
        """
        if not _live_size(live, name):
            return
        keyframe = live.keyframes[name.id]
        key = (memory, name.session)
        folder = _private(self.folder / memory / name.session)  # another process may have removed it
        self._sets.setdefault(key, KeyframeSet(folder))
        pose = live.anchor.map_from_part @ keyframe.anchor_from_camera
        self._sets[key].add(replace(keyframe, anchor_from_camera=pose), live.path(name.id, "jpg"))

    def get(self, name: ImageName) -> tuple[Keyframe, bytes]:
        """Return record and JPEG of an image. Raises KeyError if it is missing or damaged."""
        for (_, session), kept in self._sets.items():
            if session == name.session and name.id in kept.keyframes:
                try:
                    image = kept.path(name.id, "jpg").read_bytes()
                except OSError as error:
                    raise KeyError(f"the image of keyframe {name.id} is missing: {error}") from error
                if not is_whole_jpeg(image):
                    raise KeyError(f"the image of keyframe {name.id} is damaged on the disk")
                return kept.keyframes[name.id].in_map(np.eye(4)), image
        raise KeyError(f"keyframe {name.id} of session {name.session} is not stored any more")

    def erase(self, session: str, keyframe_ids: Sequence[int]) -> None:
        """Delete images permanently (synced to disk), including those that another process has added.

        Raises OSError if a file cannot be deleted.
        """
        if not _NAME.match(session):
            return
        self._open()
        for folder in self.folder.glob(f"*/{session}"):
            kept = self._sets.get((folder.parent.name, session)) or KeyframeSet(folder)
            for identity in keyframe_ids:
                kept.drop(identity, valid=False)
            sync_path(folder)
            if not kept.keyframes:
                self._sets.pop((folder.parent.name, session), None)
                _remove_empty(folder)


def _read_set(path: Path) -> KeyframeSet:
    """Return the set of a session.

    A damaged index is recreated without loss: the poses are in map, so its anchor is the identity.
    """
    with suppress(ForeignFile):
        if (path / INDEX).exists():
            return KeyframeSet.read(path)
    KeyframeSet(path).write_index()
    return KeyframeSet.read(path)


def _remove_empty(folder: Path) -> None:
    """Remove a session's folder that has no images, unless another process is adding some."""
    if all(path.name == INDEX for path in folder.iterdir()):
        (folder / INDEX).unlink(missing_ok=True)  # the index is recreated if it is missing
        with suppress(OSError):
            folder.rmdir()


def _private(folder: Path) -> Path:
    try:
        return private_folder(folder)
    except UnsafeFolder as error:
        raise OSError(str(error)) from error


def _live_size(live: KeyframeSet, name: ImageName) -> int:
    keyframe = live.keyframes.get(name.id)
    return live.sizes[name.id] if keyframe is not None and keyframe.session_id == name.session else 0
