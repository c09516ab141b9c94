"""Store keyframes on a bounded part of the disk (STaR IV-A, FARM 2.2)."""

from __future__ import annotations

import contextlib
import json
import math
import os
import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import cv2
import numpy as np

from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.corrections import JumpWatch
from lodestar.keyframes.config import KeyframeConfig
from lodestar.keyframes.records import Keyframe
from lodestar.keyframes.view_changes import ViewChanges
from lodestar.perception.frames import ImageBox, RgbdFrame
from lodestar.storage.archive import ForeignFile
from lodestar.storage.private import FILE_MODE, FOLDER_MODE, private_folder, write_private

_NEXT = "next_id"  # file with the id after the largest that was ever given


class KeyframeStore:
    """Records in memory, one JPEG and one JSON file per keyframe in a folder. Thread-safe.

    Poses are in `map` and move with jumps of map <- odom.
    Files are replaced as a whole, so that a crash leaves no half of one, and only their owner can read them. What an
    earlier process left in the folder goes on, incomplete pairs are deleted. Raises UnsafeFolder where others could
    read or change what is in the folder.
    """

    def __init__(
        self,
        folder: str | Path,
        config: KeyframeConfig = KeyframeConfig(),
        map_id: int = 1,
        session_id: str = "",
    ):
        self.config = config
        self.folder = Path(folder)
        self.map_id = map_id
        self.session_id = session_id
        self.rejected = 0  # images without colour, with a non-finite pose or a stamp that is not newer
        self._keyframes: dict[int, Keyframe] = {}
        self._wanted: tuple[int, ...] = ()
        self._bytes: dict[int, int] = {}
        self._last_stamp = -math.inf
        self._next_id = 1
        self._loads = 0
        self._jumps = JumpWatch()
        self._views = ViewChanges(config)
        self._lock = threading.RLock()
        private_folder(self.folder)
        self._load()

    def __len__(self) -> int:
        return len(self._keyframes)

    @property
    def ids(self) -> tuple[int, ...]:
        """Return the ids of all stored keyframes, ascending."""
        return self.stored[2]

    @property
    def stored(self) -> tuple[int, int, tuple[int, ...]]:
        """Return how often a saved folder replaced the content, the next id that is given, and all stored ids."""
        with self._lock:
            return self._loads, self._next_id, tuple(sorted(self._keyframes))

    @property
    def disk_bytes(self) -> int:
        """Return the bytes of stored images."""
        return sum(self._bytes.values())

    def keyframes(self) -> tuple[Keyframe, ...]:
        """Return all records, oldest first."""
        with self._lock:
            return tuple(self._keyframes[i] for i in sorted(self._keyframes))

    def offer(self, frame: RgbdFrame, shown: Collection[int] | None = None) -> Keyframe | None:
        """Store the image if it shows something new, and return its record; else None.

        shown: instances in the image; None = not known, so that only its pose tells.
        """
        with self._lock:
            pose = frame.map_from_camera
            if shown is not None:
                self._views.note(frame.stamp, frame.odom_from_camera, shown)
            if frame.rgb is None or not np.isfinite(pose).all() or not frame.stamp > self._last_stamp:
                self.rejected += 1
                return None
            jump = self._jumps.jump(frame.map_from_odom, frame.odom_from_camera)
            if jump is not None:
                self._move(jump)
            if not self._is_new(pose, frame.stamp, shown):
                return None
            image = self._encode(frame.rgb)
            keyframe = Keyframe(
                self._next_id, frame.stamp, pose, frame.camera, {}, self.map_id, self.session_id
            )
            write_private(self._path(keyframe.id, "jpg"), image)
            write_private(self._path(keyframe.id, "json"), json.dumps(_to_json(keyframe)).encode())
            self._next_id += 1
            self._last_stamp = frame.stamp
            self._keyframes[keyframe.id] = keyframe
            self._bytes[keyframe.id] = len(image)
            self._bound(keyframe.id)
            return keyframe

    def restart_clock(self) -> None:
        """Accept images of any stamp again: the clock went back."""
        with self._lock:
            self._last_stamp = -math.inf

    def want(self, keyframe_ids: Sequence[int]) -> None:
        """Keep these keyframes from now on, the most important first: those that fit into `wanted_share` of the limits
        are never deleted to keep the limits, the rest as any other.
        """
        self._wanted = tuple(
            dict.fromkeys(keyframe_ids)
        )  # without the lock, which is held while the disk is slow

    def erase(self, session_id: str, keyframe_ids: Iterable[int]) -> tuple[int, ...]:
        """Delete keyframes of a session with their images; return those that are not stored any more, or never were.

        Keyframes of other sessions with the same ids stay. Raises OSError where a file cannot be deleted; what was
        deleted before stays deleted.
        """
        with self._lock:
            asked = tuple(dict.fromkeys(keyframe_ids))
            for identity in asked:
                keyframe = self._keyframes.get(identity)
                if keyframe is not None and keyframe.session_id == session_id:
                    self._drop(identity)
            return asked

    def _move(self, jump: np.ndarray) -> None:
        """Move every pose by `jump` (4, 4), in map."""
        for identity, keyframe in self._keyframes.items():
            moved = replace(keyframe, map_from_camera=jump @ keyframe.map_from_camera)
            write_private(self._path(identity, "json"), json.dumps(_to_json(moved)).encode())
            self._keyframes[identity] = moved

    def link(self, stamp: float, instances: dict[int, ImageBox]) -> Keyframe | None:
        """Record which instances the keyframe of this stamp shows; return None if no image was stored then."""
        with self._lock:
            for identity in sorted(self._keyframes, reverse=True):
                keyframe = self._keyframes[identity]
                if abs(keyframe.stamp - stamp) <= self.config.link_tolerance:
                    linked = replace(keyframe, instances={**keyframe.instances, **instances})
                    write_private(self._path(identity, "json"), json.dumps(_to_json(linked)).encode())
                    self._keyframes[identity] = linked
                    return linked
            return None

    def was_stored(self, keyframe_id: int) -> bool:
        """Return whether a keyframe of this id has ever been stored here."""
        return 0 < keyframe_id < self._next_id

    def get(self, keyframe_id: int) -> tuple[Keyframe, bytes]:
        """Return record and JPEG of a keyframe. Raises KeyError if it is not stored."""
        with self._lock:
            keyframe = self._keyframes[keyframe_id]
            try:
                return keyframe, self._path(keyframe_id, "jpg").read_bytes()
            except OSError as error:
                raise KeyError(f"the image of keyframe {keyframe_id} is missing: {error}") from error

    def save_to(self, folder: str | Path) -> int:
        """Write every record and image to a new folder. Returns their bytes. Raises OSError.

        Files are hard-linked where the file system allows it.
        """
        target = Path(folder)
        with self._lock:
            target.mkdir(FOLDER_MODE, parents=True)
            for identity in self._keyframes:
                for kind in ("json", "jpg"):
                    _link(self._path(identity, kind), target / self._path(identity, kind).name)
            return sum(path.stat().st_size for path in target.iterdir())

    def load_from(self, folder: str | Path) -> int:
        """Replace the content by what `save_to` wrote; return the number of keyframes. Ids continue after the largest.

        Raises ForeignFile for an unreadable record or a missing image, OSError; then nothing changes.
        """
        source = Path(folder)
        records = {}
        for path in sorted(source.glob("[0-9]*.json")):
            try:
                keyframe = _from_json(json.loads(path.read_text()))
                if path.with_suffix(".jpg").stat().st_size == 0:
                    raise ValueError("its image is empty")
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise ForeignFile(f"{path.name} cannot be read: {error}") from error
            records[keyframe.id] = keyframe
        with self._lock:
            for identity in list(self._keyframes):
                self._drop(identity)
            for identity, keyframe in records.items():
                for kind in ("json", "jpg"):
                    name = self._path(identity, kind).name
                    _link(source / name, self.folder / name)
                self._keyframes[identity] = keyframe
                self._bytes[identity] = self._path(identity, "jpg").stat().st_size
            self._next_id = max(self._next_id, 1 + max(records, default=0))
            self._note_next_id()
            self._loads += 1
            self._last_stamp = -math.inf
            self._wanted = ()
            self._jumps.restart()
            return len(records)

    def _is_new(self, pose: np.ndarray, stamp: float, shown: Collection[int] | None) -> bool:
        if not self._keyframes:
            return True
        if stamp - self._last_stamp < self.config.interval:
            return False
        kept = list(self._keyframes.values())
        poses = np.array([k.map_from_camera for k in kept])
        near = np.linalg.norm(poses[:, :3, 3] - pose[:3, 3], axis=1) < self.config.distance
        alike = poses[:, :3, 2] @ pose[:3, 2] > math.cos(math.radians(self.config.angle_deg))
        recent = np.abs([stamp - k.stamp for k in kept]) < self.config.refresh
        same = np.flatnonzero(near & alike & recent)
        if not len(same) or shown is None or stamp - self._last_stamp < self.config.change_interval:
            return not len(same)
        newest = max((kept[i] for i in same), key=lambda keyframe: keyframe.stamp)
        return self._views.has_changed(stamp, shown, newest.instances)

    def _encode(self, rgb: np.ndarray) -> bytes:
        quality = [cv2.IMWRITE_JPEG_QUALITY, self.config.jpeg_quality]
        done, buffer = cv2.imencode(".jpg", cv2.cvtColor(rgb, cv2.COLOR_RGB2BGR), quality)
        if not done:
            raise ValueError(f"an image of shape {rgb.shape} and type {rgb.dtype} cannot be encoded")
        return buffer.tobytes()

    def _bound(self, newest: int) -> None:
        """Delete keyframes until the limits hold: of the two most similar views that are not kept, the older one."""
        while len(self._keyframes) > 1 and (
            len(self._keyframes) > self.config.max_count or self.disk_bytes > self.config.max_bytes
        ):
            kept = self._kept()
            old = sorted(i for i in self._keyframes if i != newest)
            ids = [i for i in old if i not in kept] or old
            if len(ids) == 1:
                self._drop(ids[0])
                continue
            poses = np.array([self._keyframes[i].map_from_camera for i in ids])
            # metres equivalent to one radian
            turn = self.config.distance / math.radians(self.config.angle_deg)
            places = np.hstack([poses[:, :3, 3], poses[:, :3, 2] * turn]).astype(np.float32)
            gaps, others = cv2.batchDistance(places, places, cv2.CV_32F, normType=cv2.NORM_L2, K=2)
            first = int(gaps[:, 1].argmin())
            self._drop(ids[min(first, int(others[first].max()))])

    def _kept(self) -> set[int]:
        """Return the wanted keyframes that fit into their share of the limits, the most important first."""
        count = int(self.config.max_count * self.config.wanted_share)
        room = self.config.max_bytes * self.config.wanted_share
        kept: set[int] = set()
        for identity in self._wanted:
            size = self._bytes.get(identity)
            if size is None:
                continue
            if len(kept) >= count or size > room:
                break
            kept.add(identity)
            room -= size
        return kept

    def _drop(self, identity: int) -> None:
        """Delete a keyframe's files, the image first. Raises OSError, and then the keyframe is still there."""
        if identity == self._next_id - 1:
            self._note_next_id()
        for kind in ("jpg", "json"):
            self._path(identity, kind).unlink(missing_ok=True)
        del self._keyframes[identity], self._bytes[identity]

    def _note_next_id(self) -> None:
        """Have a successor give no id again, also where the newest keyframe is gone."""
        write_private(self.folder / _NEXT, str(self._next_id).encode())

    def _path(self, identity: int, kind: str) -> Path:
        return self.folder / f"{identity:08d}.{kind}"

    def _load(self) -> None:
        for unfinished in self.folder.glob("*.part"):
            unfinished.unlink(missing_ok=True)
        for record in sorted(self.folder.glob("[0-9]*.json")):
            image = record.with_suffix(".jpg")
            try:
                keyframe = _from_json(json.loads(record.read_text()))
                size = image.stat().st_size
                if size == 0:
                    raise ValueError("an empty image")
            except (OSError, ValueError, KeyError, TypeError):
                record.unlink(missing_ok=True)
                image.unlink(missing_ok=True)
                continue
            self._keyframes[keyframe.id] = keyframe
            self._bytes[keyframe.id] = size
            self._next_id = max(self._next_id, keyframe.id + 1)
        with contextlib.suppress(OSError, ValueError):  # the newest keyframe was never deleted
            self._next_id = max(self._next_id, int((self.folder / _NEXT).read_text()))
        for image in self.folder.glob("[0-9]*.jpg"):
            if not image.with_suffix(".json").exists():
                image.unlink(missing_ok=True)


def _link(source: Path, target: Path) -> None:
    """Hard-link the source to the target, or copy it to another file system; only the owner can read it."""
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
        target.chmod(FILE_MODE)
    except OSError:
        write_private(target, source.read_bytes())


def _to_json(keyframe: Keyframe) -> dict:
    return {
        "id": keyframe.id,
        "stamp": keyframe.stamp,
        "map_from_camera": keyframe.map_from_camera.tolist(),
        "camera": asdict(keyframe.camera),
        "instances": {str(i): asdict(box) for i, box in keyframe.instances.items()},
        "map_id": keyframe.map_id,
        "session_id": keyframe.session_id,
    }


def _from_json(data: dict) -> Keyframe:
    pose = np.array(data["map_from_camera"], np.float64)
    if pose.shape != (4, 4):
        raise ValueError(f"a pose of shape {pose.shape}")
    return Keyframe(
        int(data["id"]),
        float(data["stamp"]),
        pose,
        PinholeCamera(**data["camera"]),
        {int(i): ImageBox(**box) for i, box in data["instances"].items()},
        int(data["map_id"]),
        str(data["session_id"]),
    )
