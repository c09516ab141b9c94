"""Images of the memory: stored keyframes, with the session that gave them their ids, and erased ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lodestar.experts.heights import view_heading
from lodestar.keyframes.records import ImageName, Keyframe
from lodestar.memory.answering.shots import Shot
from lodestar.memory.records import Memory, Snapshot
from lodestar.memory.segments import Segmenter
from lodestar.memory.snapshots.sights import share_of_image
from lodestar.memory.snapshots.upkeep import SnapshotUpkeep
from lodestar.scene.captions import clean_text
from lodestar.scene.mirror import SceneMirror


@dataclass(frozen=True)
class WantedImages:
    """Images to keep, most important first.

    ids: keyframes of this run: those of snapshots, then those that unfinished segments and stored memories
    refer to. memory: name of the store; "" = no store now. remembered: images of all runs that memories refer
    to; they are kept beyond the end of the run.
    """

    ids: tuple[int, ...]
    memory: str = ""
    remembered: tuple[ImageName, ...] = ()


def shot_of(
    keyframe: Keyframe, scene: SceneMirror, ids: Iterable[int], snapshot: Snapshot | None = None
) -> Shot:
    """Return a stored image as a shot of the entities `ids`, with the image share that each one covers.

    snapshot: snapshot that the image belongs to, source of labels and caption; None = none.
    """
    shares: dict[int, float] = {}
    for instance, box in keyframe.instances.items():
        identity = scene.resolve(instance)
        shares[identity] = max(shares.get(identity, 0.0), share_of_image(box, keyframe.camera))
    pose, known, shown = keyframe.map_from_camera, scene.entities, frozenset(ids)
    labels, caption = tuple[str, ...](), ""
    if snapshot is not None:
        things = (known.get(scene.resolve(i)) for i in sorted(shown))
        labels = tuple(dict.fromkeys(clean_text(thing.label) for thing in things if thing is not None))
        caption = snapshot.caption
    name = ImageName(keyframe.session_id, keyframe.id)
    return Shot(name, keyframe.stamp, pose[:3, 3].copy(), shown, labels, caption, view_heading(pose), shares)


class MemoryImages:
    """Passes keyframes to the segmenter and the snapshots. Not thread-safe.

    session: of the newest keyframe. lacks: True while a list of all stored keyframes is needed
    (`take_listed`).
    """

    def __init__(self, segmenter: Segmenter, snapshots: SnapshotUpkeep) -> None:
        self._segmenter, self._snapshots = segmenter, snapshots
        self.session, self.lacks = "", True
        self._newest = 0
        self._erased: set[ImageName] = set()
        self._frontiers: tuple[int, ...] = ()

    def shots(self, scene: SceneMirror) -> tuple[Shot, ...]:
        """Return the images for answers, snapshots first.

        Then come the best other view of each object, without labels, and last the images of frontiers, best
        first.
        """
        known = self._snapshots.keyframe
        found: dict[int, Shot] = {}
        for snapshot in self._snapshots.snapshots.values():
            keyframe = known(snapshot.keyframe_id)
            if keyframe is not None:
                found[keyframe.id] = shot_of(keyframe, scene, snapshot.entity_ids, snapshot)
        others: dict[int, tuple[float, int]] = {}
        for keyframe_id, scores in self._snapshots.sights().items():
            for identity, score in scores.items() if keyframe_id not in found else ():
                others[identity] = max(others.get(identity, (0.0, 0)), (score, keyframe_id))
        for keyframe_id in sorted({keyframe_id for _, keyframe_id in others.values()}):
            keyframe = known(keyframe_id)
            if keyframe is not None:
                found[keyframe_id] = shot_of(keyframe, scene, self._snapshots.sights()[keyframe_id])
        for keyframe_id in self._frontiers:
            keyframe = known(keyframe_id)
            if keyframe is not None:
                shot = found.pop(keyframe_id, None) or shot_of(keyframe, scene, ())
                found[keyframe_id] = replace(shot, frontier=True)
        return tuple(found.values())

    def take_frontiers(self, frontiers: Iterable[tuple[int, float]]) -> None:
        """Set the keyframe (0 = none) and the information gain of each current frontier."""
        best = sorted(frontiers, key=lambda one: -one[1])
        self._frontiers = tuple(dict.fromkeys(keyframe for keyframe, _ in best if keyframe))

    def take_keyframe(self, keyframe: Keyframe) -> None:
        """Record a keyframe, or a newer version of a known one."""
        if keyframe.id <= self._newest and self._session_of(keyframe.id) != keyframe.session_id:
            self.begin_anew()
        if keyframe.id > self._newest:
            self._newest, self.session = keyframe.id, keyframe.session_id
            self._segmenter.take_keyframe(keyframe.stamp, keyframe.id)
        if ImageName(keyframe.session_id, keyframe.id) not in self._erased:
            self._snapshots.put_keyframe(keyframe)

    def take_listed(self, keyframes: Iterable[Keyframe]) -> None:
        """Record all stored keyframes, including those from before this process started or from a saved map."""
        self.lacks = False
        for keyframe in keyframes:
            if ImageName(keyframe.session_id, keyframe.id) not in self._erased:
                self._snapshots.put_keyframe(keyframe)
            if keyframe.id > self._newest:
                self._newest, self.session = keyframe.id, keyframe.session_id

    def take_stored(self, ids: Sequence[int], next_id: int) -> None:
        """Record which keyframes are stored: `ids`, and all newer than the list, from `next_id` on."""
        known = self._snapshots.keyframe_ids
        self._snapshots.keep_only([*ids, *(identity for identity in known if identity >= next_id)])
        self.lacks |= not set(ids) <= {*known, *(image.id for image in self._erased)}

    def take_erased(self, images: Iterable[ImageName]) -> None:
        """Drop keyframes that were erased because their content was forgotten."""
        for image in images:
            self._erased.add(image)
            keyframe = self._snapshots.keyframe(image.id)
            if keyframe is not None and keyframe.session_id == image.session:
                self._snapshots.drop_keyframe(image.id)

    def begin_anew(self) -> None:
        """Reset, because ids now mean other images: the store restarted or a saved map was loaded."""
        self._newest, self.lacks, self._frontiers = 0, True, ()
        self._segmenter.drop_keyframes()
        self._snapshots.keep_only(())

    def with_session(self, memory: Memory) -> Memory:
        """Return the memory with its last keyframe's session, and without keyframes of other sessions."""
        ids = memory.keyframe_ids
        if not ids:
            return memory
        sessions = [self._session_of(identity) for identity in ids]
        kept = tuple(identity for identity, session in zip(ids, sessions) if session == sessions[-1])
        return replace(memory, keyframe_ids=kept, keyframe_session=sessions[-1])

    def _session_of(self, keyframe_id: int) -> str:
        keyframe = self._snapshots.keyframe(keyframe_id)
        return self.session if keyframe is None else keyframe.session_id
