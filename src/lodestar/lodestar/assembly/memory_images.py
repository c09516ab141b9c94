"""Images of the memory: which are stored, which run numbered them, and which were erased."""

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
    """Images that are to be kept, the most important first.

    ids: of this run: of snapshots, of the segments under way, then of memories as the store orders them. memory: name
    of the store that remembers; "" = there is none now. remembered: its images of every run, which outlive the run.
    """

    ids: tuple[int, ...]
    memory: str = ""
    remembered: tuple[ImageName, ...] = ()


def shot_of(
    keyframe: Keyframe, scene: SceneMirror, ids: Iterable[int], snapshot: Snapshot | None = None
) -> Shot:
    """Return a stored image that shows these entities, with the share of it that each outline in it takes.

    snapshot: whose image it is, which gives it labels and caption; None = another view of things.
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
    """Tells segments and snapshots of the keyframes that there are. Not safe for threads.

    session: of the newest keyframe's record. lacks: the records of the stored keyframes are to be listed.
    """

    def __init__(self, segmenter: Segmenter, snapshots: SnapshotUpkeep) -> None:
        self._segmenter, self._snapshots = segmenter, snapshots
        self.session, self.lacks = "", True
        self._newest = 0
        self._erased: set[ImageName] = set()
        self._frontiers: tuple[int, ...] = ()

    def shots(self, scene: SceneMirror) -> tuple[Shot, ...]:
        """Return the images that stand for what is known, as an answer may need them; after these, without labels, the
        best other view of each thing, and the frontiers', the best first.
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
        """Note the keyframe (0 = none) and the information gain of each frontier there is now."""
        best = sorted(frontiers, key=lambda one: -one[1])
        self._frontiers = tuple(dict.fromkeys(keyframe for keyframe, _ in best if keyframe))

    def take_keyframe(self, keyframe: Keyframe) -> None:
        """Note a keyframe, or a newer record of one."""
        if keyframe.id <= self._newest and self._session_of(keyframe.id) != keyframe.session_id:
            self.begin_anew()
        if keyframe.id > self._newest:
            self._newest, self.session = keyframe.id, keyframe.session_id
            self._segmenter.take_keyframe(keyframe.stamp, keyframe.id)
        if ImageName(keyframe.session_id, keyframe.id) not in self._erased:
            self._snapshots.put_keyframe(keyframe)

    def take_listed(self, keyframes: Iterable[Keyframe]) -> None:
        """Note the records of all keyframes that are stored: some were before this process was there, or come from a
        saved map.
        """
        self.lacks = False
        for keyframe in keyframes:
            if ImageName(keyframe.session_id, keyframe.id) not in self._erased:
                self._snapshots.put_keyframe(keyframe)
            if keyframe.id > self._newest:
                self._newest, self.session = keyframe.id, keyframe.session_id

    def take_stored(self, ids: Sequence[int], next_id: int) -> None:
        """Note which keyframes are stored; ids from `next_id` on are newer than this news."""
        known = self._snapshots.keyframe_ids
        self._snapshots.keep_only([*ids, *(identity for identity in known if identity >= next_id)])
        self.lacks |= not set(ids) <= {*known, *(image.id for image in self._erased)}

    def take_erased(self, images: Iterable[ImageName]) -> None:
        """Note keyframes that were erased, because what they show was forgotten."""
        for image in images:
            self._erased.add(image)
            keyframe = self._snapshots.keyframe(image.id)
            if keyframe is not None and keyframe.session_id == image.session:
                self._snapshots.drop_keyframe(image.id)

    def begin_anew(self) -> None:
        """Note that the store of keyframes was begun anew, or a saved map was loaded: its ids mean other images."""
        self._newest, self.lacks, self._frontiers = 0, True, ()
        self._segmenter.drop_keyframes()
        self._snapshots.keep_only(())

    def with_session(self, memory: Memory) -> Memory:
        """Return the memory with the session of its keyframes; ids of another session than that of the last are left
        out.
        """
        ids = memory.keyframe_ids
        if not ids:
            return memory
        sessions = [self._session_of(identity) for identity in ids]
        kept = tuple(identity for identity, session in zip(ids, sessions) if session == sessions[-1])
        return replace(memory, keyframe_ids=kept, keyframe_session=sessions[-1])

    def _session_of(self, keyframe_id: int) -> str:
        keyframe = self._snapshots.keyframe(keyframe_id)
        return self.session if keyframe is None else keyframe.session_id
