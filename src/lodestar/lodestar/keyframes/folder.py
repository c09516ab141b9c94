"""Keyframes of one folder: a JPEG and a JSON record of each, and an index.

`keyframes.json` is the index: version, the folder of the valid set ("" = beside the index), the next id, and
the anchor, which is the frame that all poses refer to. Replacing this one file replaces all keyframes at
once. It also applies a correction of the map: to all keyframes by the anchor, or to some by new poses.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
from msgspec import Struct

from lodestar.geometry.corrections import Anchor
from lodestar.geometry.map_correction import MapCorrection
from lodestar.geometry.poses import inverse
from lodestar.keyframes.records import AnchoredKeyframe
from lodestar.storage.archive import ForeignFile, OtherVersion
from lodestar.storage.files import link_file, write_file
from lodestar.storage.private import FOLDER_MODE
from lodestar.storage.records import BadRecord, decode, encode

INDEX = "keyframes.json"
VERSION = 2
_BEFORE = ".keyframes.json.before"  # copy of the index before a replacement that may still be undone
_SET = re.compile(r"^set-(\d{6,})$")
_PAIR = re.compile(r"^\d{8,}\.(json|jpg)$")


class _Version(Struct):
    version: int


class _Index(_Version):
    set: str
    next_id: int
    map_from_anchor: np.ndarray
    # poses of keyframes that a correction moved relative to the anchor; they replace those in the records
    anchor_from_camera: dict[str, np.ndarray] = {}


class KeyframeSet:
    """The keyframes of a folder, in memory and on the disk. Not thread-safe.

    root: folder of the index. name: of the folder with this set's files in it. damaged: sentences about
    keyframes left out. Reading writes nothing; the index is written before the first record.
    """

    def __init__(self, root: Path, name: str = "") -> None:
        self.root, self.name = root, name
        self.keyframes: dict[int, AnchoredKeyframe] = {}
        self.sizes: dict[int, int] = {}  # bytes of each JPEG, by id
        self.anchor = Anchor()
        self.moved: dict[int, np.ndarray] = {}  # poses (4, 4) newer than those of the records
        self.next_id = 1
        self.damaged: tuple[str, ...] = ()
        self._indexed = False

    @property
    def folder(self) -> Path:
        """Return the folder of records and images."""
        return self.root / self.name

    def path(self, identity: int, kind: str) -> Path:
        """Return the path of a keyframe's "jpg" or "json"."""
        return self.folder / f"{identity:08d}.{kind}"

    # --- reading ------------------------------------------------------------------------------------------------

    @staticmethod
    def read(root: Path) -> KeyframeSet:
        """Return the valid set of a folder without damaged keyframes; an empty set for an empty folder.

        Raises ForeignFile for an index that cannot be read, OtherVersion, OSError.
        """
        kept, has_index = KeyframeSet(root), (root / INDEX).exists()
        if has_index:
            kept._read_index()
        damaged = []
        for path in sorted(kept.folder.iterdir()):
            if not _PAIR.match(path.name) or (path.suffix == ".jpg" and path.with_suffix(".json").exists()):
                continue
            try:
                if path.suffix == ".jpg":
                    raise ValueError("it has no record")
                if not has_index:
                    raise ValueError(f"the index {INDEX} is missing, which tells where it lies")
                kept._take(_read_record(path))
            except (OSError, ValueError) as error:
                damaged.append(f"keyframe {path.stem} is damaged and was left out: {error}")
        kept.damaged = tuple(damaged)
        kept.next_id = max(kept.next_id, 1 + max(kept.keyframes, default=0))
        return kept

    def _read_index(self) -> None:
        try:
            data = (self.root / INDEX).read_bytes()
            version = decode(data, _Version).version
            if version != VERSION:
                raise OtherVersion(
                    f"{self.root} has version {version} of keyframes, this version reads {VERSION}"
                )
            index = decode(data, _Index)
            if index.map_from_anchor.shape != (4, 4) or (index.set and not _SET.match(index.set)):
                raise ValueError("its anchor or the name of its set is none")
        except ValueError as error:
            raise ForeignFile(f"{INDEX} of {self.root} cannot be read: {error}") from error
        self.name, self.anchor, self.next_id = index.set, Anchor(index.map_from_anchor), index.next_id
        self.moved = {int(identity): pose for identity, pose in index.anchor_from_camera.items()}
        if any(pose.shape != (4, 4) for pose in self.moved.values()):
            raise ForeignFile(f"{INDEX} of {self.root} has poses that are none")
        self._indexed = True

    def _take(self, keyframe: AnchoredKeyframe) -> None:
        """Add a keyframe read from a record. Raises ValueError, OSError if its image is damaged."""
        size = _size_of_jpeg(self.path(keyframe.id, "jpg"))
        if keyframe.size not in (0, size):
            raise ValueError(f"its image has {size} of {keyframe.size} bytes")
        pose = self.moved.get(keyframe.id)
        kept = keyframe if pose is None else replace(keyframe, anchor_from_camera=pose)
        self.keyframes[keyframe.id], self.sizes[keyframe.id] = kept, size

    # --- writing ------------------------------------------------------------------------------------------------

    def write_index(self, map_from_anchor: np.ndarray | None = None) -> None:
        """Make this the valid set of its root, optionally with a new anchor: map_from_anchor (4, 4).

        Writes one file, atomically.
        """
        pose = self.anchor.map_from_part if map_from_anchor is None else map_from_anchor
        moved = {str(identity): place for identity, place in self.moved.items() if identity in self.keyframes}
        index = _Index(VERSION, self.name, self.next_id, pose, moved)
        write_file(self.root / INDEX, [encode(index)], durable=False)
        self._indexed = True

    def follow(self, correction: MapCorrection) -> None:
        """Move the keyframes by a correction of the map, all or none. Raises OSError.

        The index is replaced first.
        """
        if correction.is_rigid:
            self.write_index(correction.jump @ self.anchor.map_from_part)
            return
        bent, former = correction.seen_from(inverse(self.anchor.map_from_part)), self.moved
        moves = {identity: bent.at(keyframe.stamp) for identity, keyframe in self.keyframes.items()}
        fresh = {
            identity: replace(
                self.keyframes[identity],
                anchor_from_camera=move @ self.keyframes[identity].anchor_from_camera,
            )
            for identity, move in moves.items()
            if not np.array_equal(move, np.eye(4))
        }
        self.moved = {
            **former,
            **{identity: keyframe.anchor_from_camera for identity, keyframe in fresh.items()},
        }
        try:
            self.write_index()
        except OSError:
            self.moved = former
            raise
        self.keyframes.update(fresh)

    def add(self, keyframe: AnchoredKeyframe, image: bytes | Path) -> None:
        """Write a new keyframe, the image first. Raises OSError, BadRecord; then nothing is stored.

        image: the bytes of a JPEG, or the path of a JPEG to link.
        """
        if not self._indexed:
            self.write_index()
        path = self.path(keyframe.id, "jpg")
        try:
            if isinstance(image, Path):
                path.unlink(missing_ok=True)
                link_file(image, path)
            else:
                write_file(path, [image], durable=False)
            size = path.stat().st_size
            self.put(replace(keyframe, size=size))
        except (OSError, BadRecord):
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
            raise
        self.sizes[keyframe.id] = size
        self.next_id = max(self.next_id, keyframe.id + 1)

    def put(self, keyframe: AnchoredKeyframe) -> None:
        """Write a keyframe's record. Raises OSError; then the record is unchanged."""
        write_file(self.path(keyframe.id, "json"), [encode(keyframe)], durable=False)
        self.keyframes[keyframe.id] = keyframe

    def drop(self, identity: int, valid: bool = True) -> None:
        """Delete a keyframe's files, the image first. Raises OSError; then the keyframe is still there.

        valid: whether this set is the one that the index names.
        """
        if valid and identity == self.next_id - 1:
            self.write_index()  # a successor must not reuse the id
        for kind in ("jpg", "json"):
            self.path(identity, kind).unlink(missing_ok=True)
        self.keyframes.pop(identity, None)
        self.sizes.pop(identity, None)

    def copy_to(self, root: Path, name: str = "") -> KeyframeSet:
        """Return a copy in a new folder, without an index; files are hard-linked if that is possible.

        Keyframes whose files are missing, such as ones deleted meanwhile, are left out. Other threads may use
        this set during the copy, which is slow on another file system. Raises OSError; then no part of the
        copy remains.
        """
        copy = KeyframeSet(root, name)
        copy.anchor, copy.next_id, copy.moved = (
            Anchor(self.anchor.map_from_part),
            self.next_id,
            dict(self.moved),
        )
        copy.folder.mkdir(FOLDER_MODE)
        try:
            for identity, keyframe in list(self.keyframes.items()):
                try:
                    for kind in ("jpg", "json"):
                        link_file(self.path(identity, kind), copy.path(identity, kind))
                    copy.sizes[identity] = copy.path(identity, "jpg").stat().st_size
                except FileNotFoundError:
                    copy.path(identity, "jpg").unlink(missing_ok=True)
                    copy.damaged += (f"keyframe {identity:08d} was left out: its files are gone",)
                    continue
                copy.keyframes[identity] = keyframe
        except BaseException:
            shutil.rmtree(copy.folder, ignore_errors=True)
            raise
        return copy

    def replace(self, former: KeyframeSet) -> None:
        """Make this set the valid one of its root in place of `former`. Raises OSError.

        `take_back` undoes it.
        """
        before = self.root / _BEFORE
        if not former._indexed:
            former.write_index()
        before.unlink(missing_ok=True)
        link_file(self.root / INDEX, before)
        self.next_id = max(self.next_id, former.next_id)
        self.write_index()

    def take_back(self, former: KeyframeSet) -> None:
        """Make the former set the valid one again, also on a full disk, and delete this one. Raises OSError."""
        former.next_id = max(self.next_id, former.next_id)
        with contextlib.suppress(FileNotFoundError):  # the index was not replaced
            os.replace(self.root / _BEFORE, self.root / INDEX)
        self.delete()

    def delete(self) -> None:
        """Delete the files of a set that is not valid. Raises nothing; `sweep` deletes what remains."""
        with contextlib.suppress(OSError):
            (self.root / _BEFORE).unlink(missing_ok=True)
            if self.name:
                shutil.rmtree(self.folder, ignore_errors=True)
                return
            for path in self.folder.iterdir():
                if _PAIR.match(path.name):
                    path.unlink()

    def new_name(self) -> str:
        """Return the name of a set that does not exist in the root yet."""
        found = [_SET.match(child.name) for child in self.root.iterdir()]
        return f"set-{max((int(match[1]) for match in found if match), default=0) + 1:06d}"

    def sweep(self) -> None:
        """Delete the leftovers of crashes in the root: other sets, unfinished files and incomplete pairs."""
        for path in {*self.root.iterdir(), *self.folder.iterdir()}:
            if _SET.match(path.name):
                if path.name != self.name:
                    shutil.rmtree(path, ignore_errors=True)
            elif self._is_left_over(path):
                path.unlink(missing_ok=True)

    def _is_left_over(self, path: Path) -> bool:
        if _PAIR.match(path.name):
            return path.parent != self.folder or int(path.stem) not in self.keyframes
        return path.suffix == ".part" or path.name == _BEFORE


def _read_record(path: Path) -> AnchoredKeyframe:
    """Return the keyframe in a JSON record file. Raises ValueError, OSError."""
    keyframe = decode(path.read_bytes(), AnchoredKeyframe)
    if keyframe.anchor_from_camera.shape != (4, 4):
        raise ValueError(f"a pose of shape {keyframe.anchor_from_camera.shape}")
    return keyframe


def is_whole_jpeg(end: bytes) -> bool:
    """Return whether these bytes end as a JPEG does; an empty or truncated file does not."""
    return end.endswith(b"\xff\xd9")


def _size_of_jpeg(path: Path) -> int:
    """Return the bytes of a JPEG. Raises ValueError for an empty or truncated file, OSError."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 2))
        if not is_whole_jpeg(file.read()):
            raise ValueError(f"its image is empty or cut off after {size} bytes")
    return size
