"""Keyframe store with limits on count and disk space (STaR IV-A, FARM 2.2)."""

from __future__ import annotations

import math
import threading
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np

from lodestar.geometry.poses import inverse
from lodestar.keyframes.config import KEYFRAME_CHANGE_INTERVAL, KeyframeConfig
from lodestar.keyframes.folder import KeyframeSet
from lodestar.keyframes.records import AnchoredKeyframe, ImageName, Keyframe
from lodestar.keyframes.remembered import RememberedImages
from lodestar.keyframes.view_changes import ViewChanges
from lodestar.perception.frames import ImageBox, RgbdFrame
from lodestar.storage.files import sync_path
from lodestar.storage.private import private_folder
from lodestar.storage.replacement import Replacement, undone_by
from lodestar.storage.saved_map import KEYFRAMES
from lodestar.timing.stamps import SAME_MOMENT

KEYFRAME_DISTANCE = 0.5  # metres between poses within which an image shows the same view; chosen
KEYFRAME_ANGLE_DEG = 25.0  # degrees between poses within which an image shows the same view; chosen
KEYFRAME_JPEG_QUALITY = 88  # JPEG quality of stored images, 1 to 100; chosen

_ROUNDING = 1e-6  # s, tolerance for stamps exactly one interval apart


class KeyframeStore:
    """Store of keyframes: records in memory, and a JPEG and a JSON file of each in a folder. Thread-safe.

    Poses are relative to one anchor; a jump of map <- odom moves all keyframes or none. remembered: images of
    memories, which outlive the run and count in both limits; None = there are none. Files are replaced
    atomically, so that a crash leaves no partial file, and only their owner can read them. Keyframes of an
    earlier process in the folder are kept; incomplete pairs are deleted and listed in `damaged`. Raises
    UnsafeFolder if others could read or change the folder's content, ForeignFile, OtherVersion.
    """

    def __init__(
        self,
        folder: str | Path,
        config: KeyframeConfig = KeyframeConfig(),
        map_id: int = 1,
        session_id: str = "",
        remembered: RememberedImages | None = None,
    ):
        self.config = config
        self.folder = private_folder(folder)
        self.map_id = map_id
        self.session_id = session_id
        self.rejected = 0  # count of images without colour, with a non-finite pose or an older stamp
        self._remembered = remembered
        self._kept = KeyframeSet.read(self.folder)
        self._kept.sweep()
        self._beside: list[KeyframeSet] = []  # sets not in use: prepared and former ones
        # all requests to erase; also applied to a load in preparation
        self._erased = list[tuple[str, tuple[int, ...]]]()
        self._wanted: tuple[int, ...] = ()
        self._last_stamp = -math.inf
        self._loads = 0
        self._views = ViewChanges()
        self._lock = threading.RLock()
        if remembered is not None:
            with suppress(OSError):  # `remember` tries again to delete the rest
                remembered.trim(*self._remembered_limits())

    def __len__(self) -> int:
        return len(self._kept.keyframes)

    @property
    def damaged(self) -> tuple[str, ...]:
        """Return sentences about data that could not be read when the folders were opened."""
        return self._kept.damaged + (() if self._remembered is None else self._remembered.damaged)

    @property
    def ids(self) -> tuple[int, ...]:
        """Return the ids of all stored keyframes, ascending."""
        return self.stored[2]

    @property
    def stored(self) -> tuple[int, int, tuple[int, ...]]:
        """Return the number of replacements by saved folders, the next id, and all stored ids."""
        with self._lock:
            return self._loads, self._kept.next_id, tuple(sorted(self._kept.keyframes))

    def _shares(self) -> tuple[dict[int, int], dict[ImageName, int]]:
        """Return the images' bytes: by id for those that end with the run, by name for those of memories."""
        remembered = {} if self._remembered is None else self._remembered.sizes
        kept, sizes = self._kept.keyframes, self._kept.sizes
        alone = {i: sizes[i] for i in kept if ImageName(kept[i].session_id, i) not in remembered}
        return alone, remembered

    def keyframes(self) -> tuple[Keyframe, ...]:
        """Return all records, oldest first."""
        with self._lock:
            return tuple(self._in_map(self._kept.keyframes[i]) for i in sorted(self._kept.keyframes))

    def _in_map(self, keyframe: AnchoredKeyframe) -> Keyframe:
        return keyframe.in_map(self._kept.anchor.map_from_part)

    def restart_clock(self) -> None:
        """Accept images of any stamp again, after a simulator or a replay was restarted."""
        with self._lock:
            self._last_stamp = -math.inf

    def offer(self, frame: RgbdFrame, shown: Collection[int] | None = None) -> Keyframe | None:
        """Store the image if it shows something new; return its record, else None.

        shown: instances in the image; None = unknown, so that only its pose decides. Raises OSError; then
        nothing is stored, and a jump of map <- odom is applied with the next image.
        """
        with self._lock:
            kept, pose = self._kept, frame.map_from_camera
            if shown is not None:
                self._views.note(frame.stamp, frame.odom_from_camera, shown)
            if frame.rgb is None or not np.isfinite(pose).all() or not frame.stamp > self._last_stamp:
                self.rejected += 1
                return None
            with kept.anchor.correction(
                frame.map_from_odom, frame.odom_from_camera, frame.stamp
            ) as correction:
                if correction is not None:
                    kept.follow(correction)
            anchor_from_camera = inverse(kept.anchor.map_from_part) @ pose
            if not self._is_new(anchor_from_camera, frame.stamp, shown):
                return None
            keyframe = AnchoredKeyframe(
                kept.next_id, frame.stamp, anchor_from_camera, frame.camera, {}, self.map_id, self.session_id
            )
            kept.add(keyframe, self._encode(frame.rgb))
            self._last_stamp = frame.stamp
            self._bound(keyframe.id)
            return self._in_map(keyframe)

    def want(self, keyframe_ids: Sequence[int]) -> None:
        """Protect these keyframes from deletion from now on, in place of those protected before.

        The most important come first. Those that fit into `wanted_share` of the limits are never deleted to
        keep the limits; the rest are treated like other keyframes.
        """
        # without the lock, which may be held during slow disk access
        self._wanted = tuple(dict.fromkeys(keyframe_ids))

    def remember(self, memory: str, images: Sequence[ImageName]) -> None:
        """Keep exactly these images of a memory store beyond the run. memory: its unique name.

        The most important come first; images that do not fit into `remembered_share` of the limits are left
        out. Raises OSError; then a later call continues.
        """
        if self._remembered is None:
            return
        with self._lock:
            missing = self._remembered.missing(memory, images, *self._remembered_limits(), self._kept)
        for image in missing:
            with self._lock:  # lock for one image at a time, so that the camera does not wait
                self._remembered.add(memory, image, self._kept)

    def _remembered_limits(self) -> tuple[int, float]:
        share = min(self.config.remembered_share, self.config.wanted_share)
        return int(self.config.max_count * share), self.config.max_bytes * share

    def erase(self, session_id: str, keyframe_ids: Iterable[int]) -> tuple[int, ...]:
        """Delete keyframes of a session with their images, synced to disk; return the ids, each once.

        Ids that were never stored are returned too. Keyframes of other sessions with the same ids stay.
        Raises OSError if a file cannot be deleted; earlier deletions remain.
        """
        with self._lock:
            asked = tuple(dict.fromkeys(keyframe_ids))
            self._erased.append((session_id, asked))
            for kept in (self._kept, *self._beside):
                self._erase_from(kept, session_id, asked)
            if self._remembered is not None:
                self._remembered.erase(session_id, asked)
            return asked

    def _erase_from(self, kept: KeyframeSet, session_id: str, keyframe_ids: tuple[int, ...]) -> None:
        for identity in keyframe_ids:
            keyframe = kept.keyframes.get(identity)
            if keyframe is not None and keyframe.session_id == session_id:
                kept.drop(identity, valid=kept is self._kept)
        sync_path(kept.folder)

    def link(self, stamp: float, instances: dict[int, ImageBox]) -> Keyframe | None:
        """Record the instances that the keyframe of this stamp shows; return it, or None if there is none."""
        with self._lock:
            for identity in sorted(self._kept.keyframes, reverse=True):
                keyframe = self._kept.keyframes[identity]
                if abs(keyframe.stamp - stamp) <= SAME_MOMENT:
                    linked = replace(keyframe, instances={**keyframe.instances, **instances})
                    self._kept.put(linked)
                    return self._in_map(linked)
            return None

    def was_stored(self, keyframe_id: int) -> bool:
        """Return whether a keyframe with this id has ever been stored here."""
        return 0 < keyframe_id < self._kept.next_id

    def get(self, keyframe_id: int, session_id: str = "") -> tuple[Keyframe, bytes]:
        """Return record and JPEG of a keyframe. session_id: its session, "" = any in the set in use.

        The pose of a keyframe of an old session is in the map of that session. Raises KeyError with a message
        if it is not stored.
        """
        with self._lock:
            found = self._kept.keyframes.get(keyframe_id)
            if found is None or session_id not in ("", found.session_id):
                return self._get_remembered(ImageName(session_id, keyframe_id))
            keyframe = self._in_map(found)
            try:
                return keyframe, self._kept.path(keyframe_id, "jpg").read_bytes()
            except OSError as error:
                raise KeyError(f"the image of keyframe {keyframe_id} is missing: {error}") from error

    def _get_remembered(self, name: ImageName) -> tuple[Keyframe, bytes]:
        if self._remembered is not None and name.session:
            return self._remembered.get(name)
        if self.was_stored(name.id):
            raise KeyError(
                f"the image of keyframe {name.id} is gone: it was erased, or the bounded store has dropped it"
            )
        raise KeyError(f"there is no keyframe {name.id}")

    def save_to(self, folder: str | Path) -> int:
        """Write every record and image to a new folder; return their bytes. Raises OSError.

        Files are hard-linked where the file system allows it.
        """
        copy = self._kept.copy_to(Path(folder))
        copy.write_index()
        return sum(path.stat().st_size for path in copy.folder.iterdir())

    def replace(self, folder: str | Path) -> Replacement:
        """Replace the content by a folder that `save_to` wrote, in the steps of `Replacement`.

        Ids continue after the largest. Damaged keyframes are left out and reported. Raises ForeignFile,
        OtherVersion, OSError.
        """
        erased = len(self._erased)
        saved = KeyframeSet.read(Path(folder))
        # without the lock, because it is slow from another disk
        fresh = saved.copy_to(self.folder, self._kept.new_name())
        with self._lock:
            former, wanted = self._kept, self._wanted
            self._beside.append(fresh)
            for session_id, keyframe_ids in self._erased[erased:]:
                self._erase_from(fresh, session_id, keyframe_ids)

        def undo() -> None:
            with self._lock:
                fresh.take_back(former)
                if self._kept is fresh:
                    self._use(former, wanted)
                self._beside.remove(fresh)

        with undone_by(undo):
            yield (*saved.damaged, *fresh.damaged)
            with self._lock:
                former, wanted = self._kept, self._wanted
                fresh.replace(former)
                self._use(fresh)
            yield ()
        with self._lock:
            self._beside.remove(former)
            former.delete()

    def _use(self, kept: KeyframeSet, wanted: tuple[int, ...] = ()) -> None:
        """Make another set the one in use. The next image may have any stamp and another odometry frame."""
        self._beside.remove(kept)
        self._beside.append(self._kept)
        self._kept, self._wanted = kept, wanted
        self._loads += 1
        self._last_stamp = -math.inf

    def _is_new(self, pose: np.ndarray, stamp: float, shown: Collection[int] | None) -> bool:
        """Return whether an image has to be stored: by its pose, or by a change of the view.

        pose: (4, 4), relative to the anchor. shown: instances in the image, None = unknown.
        """
        if not self._kept.keyframes:
            return True
        if stamp - self._last_stamp < self.config.interval - _ROUNDING:
            return False
        kept = list(self._kept.keyframes.values())
        poses = np.array([k.anchor_from_camera for k in kept])
        near = np.linalg.norm(poses[:, :3, 3] - pose[:3, 3], axis=1) < KEYFRAME_DISTANCE
        alike = poses[:, :3, 2] @ pose[:3, 2] > math.cos(math.radians(KEYFRAME_ANGLE_DEG))
        # use the absolute age: after the clock was set back, keyframes have later stamps
        recent = np.abs(stamp - np.array([k.stamp for k in kept])) < self.config.refresh
        same = np.flatnonzero(near & alike & recent)
        if not len(same) or shown is None or stamp - self._last_stamp < KEYFRAME_CHANGE_INTERVAL:
            return not len(same)
        newest = max((kept[i] for i in same), key=lambda keyframe: keyframe.stamp)
        return self._views.has_changed(stamp, shown, newest.instances)

    def _encode(self, rgb: np.ndarray) -> bytes:
        quality = [cv2.IMWRITE_JPEG_QUALITY, KEYFRAME_JPEG_QUALITY]
        done, buffer = cv2.imencode(".jpg", cv2.cvtColor(rgb, cv2.COLOR_RGB2BGR), quality)
        if not done:
            raise ValueError(f"an image of shape {rgb.shape} and type {rgb.dtype} cannot be encoded")
        return buffer.tobytes()

    def _bound(self, newest: int) -> None:
        """Delete keyframes until the limits hold: always the older one of the two most similar views.

        Protected keyframes are deleted last, and the one with the id `newest` never. Images of memories are
        not deleted here; `remember` limits them.
        """
        alone, remembered = self._shares()
        count = self.config.max_count - len(remembered)
        room = self.config.max_bytes - sum(remembered.values())
        while len(alone) > 1 and (len(alone) > count or sum(alone.values()) > room):
            kept = self._protected(alone, remembered)
            old = sorted(i for i in alone if i != newest)
            ids = [i for i in old if i not in kept] or old
            if len(ids) == 1:
                self._kept.drop(ids[0])
                del alone[ids[0]]
                continue
            poses = np.array([self._kept.keyframes[i].anchor_from_camera for i in ids])
            # weight of a turn: metres equivalent to one radian
            turn = KEYFRAME_DISTANCE / math.radians(KEYFRAME_ANGLE_DEG)
            places = np.hstack([poses[:, :3, 3], poses[:, :3, 2] * turn]).astype(np.float32)
            gaps, others = cv2.batchDistance(places, places, cv2.CV_32F, normType=cv2.NORM_L2, K=2)
            first = int(gaps[:, 1].argmin())
            dropped = ids[min(first, int(others[first].max()))]
            self._kept.drop(dropped)
            del alone[dropped]

    def _protected(self, alone: dict[int, int], remembered: dict[ImageName, int]) -> set[int]:
        """Return the ids of the most important wanted keyframes that fit into their share of the limits."""
        count = int(self.config.max_count * self.config.wanted_share) - len(remembered)
        room = self.config.max_bytes * self.config.wanted_share - sum(remembered.values())
        kept: set[int] = set()
        for identity in self._wanted:
            size = alone.get(identity)
            if size is None:
                continue
            if len(kept) >= count or size > room:
                break
            kept.add(identity)
            room -= size
        return kept


@dataclass(frozen=True)
class KeyframePart:
    """The part of a saved map with the keyframes; see `lodestar.storage.saved_map.MapPart`."""

    store: KeyframeStore
    name: str = KEYFRAMES
    is_optional: bool = True

    def save(self, path: Path) -> None:
        """Write every record and image to a new folder. Raises OSError."""
        self.store.save_to(path)

    def prepare(self, path: Path) -> Replacement:
        """Return a generator that replaces the keyframes by those in `path`; see `KeyframeStore.replace`."""
        return self.store.replace(path)
