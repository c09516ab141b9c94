"""Store keyframes on a bounded part of the disk (STaR IV-A, FARM 2.2)."""

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
from lodestar.keyframes.config import KeyframeConfig
from lodestar.keyframes.folder import KeyframeSet
from lodestar.keyframes.records import AnchoredKeyframe, ImageName, Keyframe
from lodestar.keyframes.remembered import RememberedImages
from lodestar.keyframes.view_changes import ViewChanges
from lodestar.perception.frames import ImageBox, RgbdFrame
from lodestar.storage.files import sync_path
from lodestar.storage.private import private_folder
from lodestar.storage.replacement import Replacement, undone_by
from lodestar.storage.saved_map import KEYFRAMES

_ROUNDING = 1e-6  # s; stamps at the very interval are due


class KeyframeStore:
    """Records in memory, one JPEG and one JSON file per keyframe in a folder. Thread-safe.

    Poses hang on one anchor and follow jumps of map <- odom, all or none.
    remembered: images of memories, which outlive the run; they count in both limits; None = there are none.
    Files are replaced as a whole, so that a crash leaves no half of one, and only their owner can read them. What an
    earlier process left in the folder goes on; incomplete pairs are deleted, and told by `damaged`. Raises UnsafeFolder
    where others could read or change what is in the folder, ForeignFile, OtherVersion.
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
        self.rejected = 0  # images without colour, with a non-finite pose or a stamp that is not newer
        self._remembered = remembered
        self._kept = KeyframeSet.read(self.folder)
        self._kept.sweep()
        self._beside: list[KeyframeSet] = []  # sets that may come into use: prepared ones and former ones
        self._erased = list[tuple[str, tuple[int, ...]]]()  # all that was asked; a load being prepared obeys
        self._wanted: tuple[int, ...] = ()
        self._last_stamp = -math.inf
        self._loads = 0
        self._views = ViewChanges(config)
        self._lock = threading.RLock()
        if remembered is not None:
            with suppress(OSError):  # what cannot be deleted now is so by `remember`
                remembered.trim(*self._remembered_limits())

    def __len__(self) -> int:
        return len(self._kept.keyframes)

    @property
    def damaged(self) -> tuple[str, ...]:
        """Return what could not be read when the folders were opened, as sentences."""
        return self._kept.damaged + (() if self._remembered is None else self._remembered.damaged)

    @property
    def ids(self) -> tuple[int, ...]:
        """Return the ids of all stored keyframes, ascending."""
        return self.stored[2]

    @property
    def stored(self) -> tuple[int, int, tuple[int, ...]]:
        """Return how often a saved folder replaced the content, the next id that is given, and all stored ids."""
        with self._lock:
            return self._loads, self._kept.next_id, tuple(sorted(self._kept.keyframes))

    @property
    def disk_bytes(self) -> int:
        """Return the bytes of stored images, also of those of former runs."""
        with self._lock:
            alone, remembered = self._shares()
        return sum(alone.values()) + sum(remembered.values())

    def _shares(self) -> tuple[dict[int, int], dict[ImageName, int]]:
        """Return the bytes of images by id that end with the run, and of the others by name."""
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
        """Store the image if it shows something new, and return its record; else None.

        shown: instances in the image; None = not known, so that only its pose tells.
        Raises OSError; then nothing is stored, and a jump of map <- odom is followed with the next image.
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
                kept.next_id,
                frame.stamp,
                anchor_from_camera,
                frame.camera,
                {},
                self.map_id,
                self.session_id,
            )
            kept.add(keyframe, self._encode(frame.rgb))
            self._last_stamp = frame.stamp
            self._bound(keyframe.id)
            return self._in_map(keyframe)

    def want(self, keyframe_ids: Sequence[int]) -> None:
        """Keep these keyframes from now on, the most important first: those that fit into `wanted_share` of the limits
        are never deleted to keep the limits, the rest as any other.
        """
        self._wanted = tuple(
            dict.fromkeys(keyframe_ids)
        )  # without the lock, which is held while the disk is slow

    def remember(self, memory: str, images: Sequence[ImageName]) -> None:
        """Keep these images beyond the run, and no others of that memory: those that fit into `remembered_share` of the
        limits, the most important first. memory: its unique name. Raises OSError; then a later call goes on.
        """
        if self._remembered is None:
            return
        with self._lock:
            missing = self._remembered.missing(memory, images, *self._remembered_limits(), self._kept)
        for image in missing:
            with self._lock:  # an image at a time, so that the camera does not wait
                self._remembered.add(memory, image, self._kept)

    def _remembered_limits(self) -> tuple[int, float]:
        share = min(self.config.remembered_share, self.config.wanted_share)
        return int(self.config.max_count * share), self.config.max_bytes * share

    def erase(self, session_id: str, keyframe_ids: Iterable[int]) -> tuple[int, ...]:
        """Delete keyframes of a session with their images, also after a power cut; return those that are not stored any
        more, or never were.

        Keyframes of other sessions with the same ids stay. Raises OSError where a file cannot be deleted; what was
        deleted before stays deleted.
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
        """Record which instances the keyframe of this stamp shows; return None if no image was stored then."""
        with self._lock:
            for identity in sorted(self._kept.keyframes, reverse=True):
                keyframe = self._kept.keyframes[identity]
                if abs(keyframe.stamp - stamp) <= self.config.link_tolerance:
                    linked = replace(keyframe, instances={**keyframe.instances, **instances})
                    self._kept.put(linked)
                    return self._in_map(linked)
            return None

    def was_stored(self, keyframe_id: int) -> bool:
        """Return whether a keyframe of this id has ever been stored here."""
        return 0 < keyframe_id < self._kept.next_id

    def get(self, keyframe_id: int, session_id: str = "") -> tuple[Keyframe, bytes]:
        """Return record and JPEG of a keyframe of a session, "" = of any in use; an old one's pose is in its own map.

        Raises KeyError, with a sentence, if it is not stored.
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
        """Write every record and image to a new folder. Returns their bytes. Raises OSError.

        Files are hard-linked where the file system allows it.
        """
        copy = self._kept.copy_to(Path(folder))
        copy.write_index()
        return sum(path.stat().st_size for path in copy.folder.iterdir())

    def replace(self, folder: str | Path) -> Replacement:
        """Replace the content by what `save_to` wrote. Ids continue after the largest.

        Damaged keyframes are left out, and told. Raises ForeignFile, OtherVersion, OSError.
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
        """Go on with another set; the next image may have any stamp and another odometry."""
        self._beside.remove(kept)
        self._beside.append(self._kept)
        self._kept, self._wanted = kept, wanted
        self._loads += 1
        self._last_stamp = -math.inf

    def _is_new(self, pose: np.ndarray, stamp: float, shown: Collection[int] | None) -> bool:
        """Return whether no recent keyframe has this pose (4, 4), relative to the anchor."""
        if not self._kept.keyframes:
            return True
        if stamp - self._last_stamp < self.config.interval - _ROUNDING:
            return False
        kept = list(self._kept.keyframes.values())
        poses = np.array([k.anchor_from_camera for k in kept])
        near = np.linalg.norm(poses[:, :3, 3] - pose[:3, 3], axis=1) < self.config.distance
        alike = poses[:, :3, 2] @ pose[:3, 2] > math.cos(math.radians(self.config.angle_deg))
        # a keyframe from long after now is as old as one from long before: the clock was set back
        recent = np.abs(stamp - np.array([k.stamp for k in kept])) < self.config.refresh
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
        """Delete keyframes until the limits hold: of the two most similar views that are not kept, the older one.

        Images of memories are not deleted; `remember` bounds them.
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
            # metres equivalent to one radian
            turn = self.config.distance / math.radians(self.config.angle_deg)
            places = np.hstack([poses[:, :3, 3], poses[:, :3, 2] * turn]).astype(np.float32)
            gaps, others = cv2.batchDistance(places, places, cv2.CV_32F, normType=cv2.NORM_L2, K=2)
            first = int(gaps[:, 1].argmin())
            dropped = ids[min(first, int(others[first].max()))]
            self._kept.drop(dropped)
            del alone[dropped]

    def _protected(self, alone: dict[int, int], remembered: dict[ImageName, int]) -> set[int]:
        """Return the wanted keyframes that fit into their share of the limits, the most important first."""
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
        """See `KeyframeStore.replace`."""
        return self.store.replace(path)
