"""Pictures for an expert that chooses among them: images of frontiers and of the memory's snapshots."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from lodestar.assembly.memory_images import shot_of
from lodestar.assembly.search_pictures import frontier_candidates, memory_candidates
from lodestar.experts.picture_source import Candidate
from lodestar.floors.records import UNKNOWN, Building
from lodestar.keyframes.records import Keyframe
from lodestar.memory.keyframe_contours import annotated_jpeg
from lodestar.memory.records import Snapshot, SnapshotDelta
from lodestar.scene.mirror import SceneMirror
from lodestar_interfaces import msg, srv
from lodestar_ros import qos
from lodestar_ros.conversions import BadMessage, planar_from_msg
from lodestar_ros.conversions_scene import keyframe_from_msg, snapshots_from_msg
from lodestar_ros.node import LodestarNode
from lodestar_ros.services import ServiceCaller
from lodestar_ros.workers import LatestWorker

PATIENCE = 5.0  # s of real time that the thread waits for an image
MOST = 24  # most images in memory, of about 30 kB each
KNOWN = 500  # most records of keyframes


class SearchPictureInputs:
    """A `PictureSource` fed by topics and services.

    It never blocks: a missing image is fetched for a later call. Snapshots and records published before its
    start are fetched too. Subscribes: ``frontiers``, ``snapshots``, ``keyframes``, ``stored_keyframes``.
    Calls: ``get_keyframe``, ``get_snapshots``, ``list_keyframes``. scene: newest scene, for entities' names;
    set it before each request. forward: metres from base to camera.
    """

    def __init__(self, node: LodestarNode, forward: float) -> None:
        self.scene: SceneMirror | None = None
        self._node, self._forward = node, forward
        self._frontiers: Sequence[tuple[int, np.ndarray | None, float]] = ()
        self._floor = UNKNOWN  # id of the frontiers' floor
        self._snapshots: dict[int, Snapshot] = {}
        self._keyframes: dict[int, Keyframe] = {}
        self._images: dict[int, bytes] = {}
        self._wanted: set[int] = set()  # ids of requested images that must be fetched
        self._loads = -1
        self._fetched: set[int] = set()  # ids being fetched that were not deleted meanwhile
        self._revision = 0  # revision of the snapshots
        self._behind = True  # whether snapshots or records are missing
        self._lock = threading.Lock()  # guards all of these
        self._getter = ServiceCaller(node, srv.GetKeyframe, "get_keyframe", PATIENCE)
        self._pager = ServiceCaller(node, srv.GetSnapshots, "get_snapshots", PATIENCE)
        self._lister = ServiceCaller(node, srv.ListKeyframes, "list_keyframes", PATIENCE)
        self._fetcher: LatestWorker[None] = LatestWorker("pictures", self._fetch, node.diagnostics.error)
        for caller in (self._getter, self._pager, self._lister):
            node.on_close(caller.close)
        node.on_close(self._fetcher.close)
        node.listen(msg.FrontierArray, "frontiers", self.take_frontiers, qos.LATCHED)
        node.listen(msg.SnapshotArray, "snapshots", self.take_snapshots, qos.EVENT)
        node.listen(msg.Keyframe, "keyframes", self.take_keyframe, qos.EVENT)
        node.listen(msg.StoredKeyframes, "stored_keyframes", self.take_stored, qos.LATCHED)
        node.diagnostics.value("pictures.held", lambda: len(self._images))

    def take_frontiers(self, message: msg.FrontierArray) -> None:
        """Replace the frontiers."""
        found = [
            (one, planar_from_msg(one.viewpoint) if one.reachable else None) for one in message.frontiers
        ]
        self._frontiers = [(int(one.keyframe_id), pose, float(one.information_gain)) for one, pose in found]

    def take_building(self, building: Building) -> None:
        """Forget the frontiers of the previous floor when the robot's floor changes."""
        if building.here is None or building.active == self._floor:
            return
        if self._floor != UNKNOWN:
            self._frontiers = ()
        self._floor = building.active

    def take_snapshots(self, message: msg.SnapshotArray) -> None:
        """Apply a delta of the memory's snapshots; a malformed one is ignored."""
        try:
            delta = snapshots_from_msg(message)
        except BadMessage as error:
            self._node.get_logger().warning(f"snapshots: {error}", throttle_duration_sec=5.0)
            return
        with self._lock:
            self._behind |= delta.previous_revision not in (0, self._revision)
            self._revision = delta.revision
            kept = {} if delta.previous_revision == 0 else dict(self._snapshots)
            kept.update({one.id: one for one in delta.updated})
            self._snapshots = {i: one for i, one in kept.items() if i not in delta.removed}

    def take_keyframe(self, message: msg.Keyframe) -> None:
        """Add the record of an image."""
        with self._lock:
            self._know([keyframe_from_msg(message)])

    def take_stored(self, message: msg.StoredKeyframes) -> None:
        """Forget deleted images, or all images if a load has changed the meaning of their ids."""
        with self._lock:
            if self._loads not in (-1, message.loads):
                self._keyframes, self._images, self._snapshots, self._behind = {}, {}, {}, True
            self._loads = message.loads
            stored = set(map(int, message.ids))
            known = {*self._keyframes, *self._images, *self._fetched}
            gone = {i for i in known if i not in stored and i < message.next_id}
            self._fetched -= gone
            self._keyframes = {i: one for i, one in self._keyframes.items() if i not in gone}
            self._images = {i: one for i, one in self._images.items() if i not in gone}

    def candidates(self) -> Sequence[Candidate]:
        """Return the candidates; see `PictureSource`. Safe for threads."""
        keyframes, scene = self._keyframes, self.scene
        if self._behind:
            self._fetcher.submit(None)
        known = ((keyframes.get(one.keyframe_id), one) for one in self._snapshots.values())
        shots = [
            shot_of(keyframe, scene, one.entity_ids, one)
            for keyframe, one in known
            if keyframe is not None and scene is not None
        ]
        return [*frontier_candidates(self._frontiers), *memory_candidates(shots, self._forward)]

    def image(self, keyframe: int) -> bytes | None:
        """Return the JPEG with contours and ids of its entities, None if it is not fetched yet; see `PictureSource`.

        Safe for threads.
        """
        found, record, scene = self._images.get(keyframe), self._keyframes.get(keyframe), self.scene
        if found is None:
            self._wanted.add(keyframe)
            self._fetcher.submit(None)
            return None
        if record is None or scene is None:
            return found
        return annotated_jpeg(found, record.instances, scene.resolve)

    def _know(self, keyframes: Iterable[Keyframe]) -> None:
        known = {**self._keyframes, **{one.id: one for one in keyframes}}
        self._keyframes = {i: known[i] for i in sorted(known)[-KNOWN:]}

    def _fetch(self, _: None) -> None:
        """Fetch missing snapshots, records and images. Runs on the fetcher's thread."""
        if self._behind:
            self._catch_up()
        while self._wanted:
            keyframe = self._wanted.pop()
            with self._lock:
                loads, self._fetched = self._loads, {keyframe}
            response = self._getter.call(id=keyframe, session_id="")
            if response is None:
                return  # no answer; the image is requested again later
            with self._lock:
                if not response.error_code and self._loads == loads and keyframe in self._fetched:
                    self._know([keyframe_from_msg(response.keyframe)])
                    held = {**self._images, keyframe: bytes(response.image.data)}
                    self._images = {i: held[i] for i in list(held)[-MOST:]}

    def _catch_up(self) -> None:
        """Fetch all snapshots and records; it is repeated if that fails or they change meanwhile."""
        with self._lock:
            loads, revision = self._loads, self._revision
        snapshots, records = self._all_snapshots(), self._all_records()
        if snapshots is None or records is None:
            return
        with self._lock:
            if (self._loads, self._revision) == (loads, revision) or self._revision == snapshots.revision:
                self._snapshots = {one.id: one for one in snapshots.updated}
                self._revision, self._behind = snapshots.revision, False
                self._know(records)

    def _all_snapshots(self) -> SnapshotDelta | None:
        """Return all snapshots; None without an answer, or if they change during the paging."""
        found: list[SnapshotDelta] = []
        count = 1
        while len(found) < count:
            response = self._pager.call(since_revision=0, page=len(found), page_size=0)
            if response is None or response.error_code:
                return None
            try:
                found.append(snapshots_from_msg(response.snapshots))
            except BadMessage:
                return None
            count = response.page_count
        if len({one.revision for one in found}) != 1:
            return None
        return replace(found[0], updated=tuple(one for page in found for one in page.updated))

    def _all_records(self) -> list[Keyframe] | None:
        """Return the records of all stored keyframes; None without an answer."""
        found: list[Keyframe] = []
        more = True
        while more:
            response = self._lister.call(after=found[-1].id if found else 0, page_size=0)
            if response is None or (response.more and not response.keyframes):
                return None
            found += [keyframe_from_msg(one) for one in response.keyframes]
            more = response.more
        return found
