"""Maintenance of the snapshots as keyframes come and go and entities appear, move, merge and end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from lodestar.keyframes.records import Keyframe
from lodestar.memory.records import Snapshot, SnapshotDelta
from lodestar.memory.snapshots.cluster_upkeep import ClusterUpkeep
from lodestar.memory.snapshots.clusters import Sights
from lodestar.memory.snapshots.journal import SnapshotJournal
from lodestar.memory.snapshots.sight_table import SightTable
from lodestar.memory.snapshots.text import snapshot_text
from lodestar.scene.records import SceneDelta

SNAPSHOT_HISTORY = 4096  # removals that are remembered for late subscribers; chosen


class SnapshotUpkeep:
    """Keeps the snapshots of a scene up to date (SnapMem 3.2.2). Not thread-safe.

    Changes are reported by `put_keyframe`, `drop_keyframe` and `apply`; `commit` returns their effect. It
    clusters only the changed entities and those in the same snapshots, so its cost does not depend on the
    scene's size. Afterwards, each entity in any stored keyframe belongs to exactly one snapshot, whose image
    shows it. A snapshot keeps its id while its keyframe stays.
    """

    def __init__(self) -> None:
        self._table = SightTable()
        self._journal = SnapshotJournal(SNAPSHOT_HISTORY)
        self._clusters = ClusterUpkeep()
        self._gone: list[int] = []  # snapshots that ended with their map and are not reported yet
        self._unsure: set[int] = set()  # entities to be clustered anew after a restart
        self.is_held = False
        self.refused = 0  # number of keyframes with an invalid id or pose

    # --- input ----------------------------------------------------------------------------------------------

    def put_keyframe(self, keyframe: Keyframe) -> None:
        """Add or update a keyframe: its instances may be linked later, and its pose corrected."""
        if not self._table.put_keyframe(keyframe):
            self.refused += 1

    def drop_keyframe(self, keyframe_id: int) -> None:
        """Drop a keyframe that the store deleted; its entities get other images if there are any."""
        self._table.drop_keyframe(keyframe_id)

    def keep_only(self, keyframe_ids: Iterable[int]) -> None:
        """Drop all keyframes except these, which are the ones in the store."""
        for identity in self._table.keyframes.keys() - set(keyframe_ids):
            self._table.drop_keyframe(identity)

    def apply(self, delta: SceneDelta) -> None:
        """Apply a change of the scene; the caller closes gaps between revisions (as `SceneMirror` does)."""
        for merge in delta.merges:
            self._table.merge(merge)
        for identity in delta.removed:
            self._table.remove(identity)
        for entity in delta.updated:
            self._table.put_entity(entity)

    def keep_entities(self, known: Callable[[int], object | None]) -> None:
        """Remove the entities that the scene does not know any more; `known` returns None for them."""
        for identity in [i for i in self._table.entities if known(i) is None]:
            self._table.remove(identity)

    def restart(self) -> None:
        """Forget all data, because another map with other ids begins.

        The next commit reports that all snapshots are gone.
        """
        self._table = SightTable()
        self._gone = list(self._journal.published)
        self._clusters.clear()
        self._unsure.clear()
        self.is_held = False

    # --- save and restore -----------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return the state for `restore` in a later process, as JSON values."""
        listed = [
            [one.id, one.keyframe_id, sorted(one.entity_ids), one.region_id, one.caption]
            for one in self._journal.published.values()
        ]
        return {"revision": self.revision, "next_id": self._clusters.next_id, "snapshots": listed}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore the snapshots of an earlier process. They are kept, and no change is reported, until `release`.

        Raises ValueError for a malformed state, without any change.
        """
        try:
            snapshots = [
                Snapshot(int(i), int(keyframe), frozenset(map(int, entities)), int(region), str(caption))
                for i, keyframe, entities, region, caption in state["snapshots"]
            ]
            revision, next_id = int(state["revision"]), int(state["next_id"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"these are no snapshots: {type(error).__name__}: {error}") from error
        self._journal.restore(revision, snapshots)
        self._clusters.restore(snapshots, next_id)
        self.is_held = True

    def release(self) -> None:
        """Report changes again after `restore`, once all keyframes and entities are known.

        Snapshots that are still valid are kept.
        """
        self.is_held = False
        self._table.take_changes()
        clusters, shown = self._clusters, self._table.shown
        self._unsure = {
            entity
            for entity in shown | clusters.home.keys()
            if clusters.keyframes.get(clusters.home.get(entity, 0)) not in self._table.images_of(entity)
        }

    # --- output ---------------------------------------------------------------------------------------------

    @property
    def revision(self) -> int:
        """Return the revision of the last commit that changed something."""
        return self._journal.revision

    @property
    def snapshots(self) -> dict[int, Snapshot]:
        """Return the snapshots of the last commit by id; read only."""
        return self._journal.published

    @property
    def wanted(self) -> frozenset[int]:
        """Return the keyframes that are snapshots; a bounded store deletes them last."""
        return frozenset(self._clusters.of_keyframe)

    def keyframe(self, keyframe_id: int) -> Keyframe | None:
        """Return the record of a known keyframe, None for others."""
        return self._table.keyframes.get(keyframe_id)

    @property
    def keyframe_ids(self) -> tuple[int, ...]:
        """Return the ids of the known keyframes."""
        return tuple(self._table.keyframes)

    def image_poses(self) -> dict[int, np.ndarray]:
        """Return the pose (4, 4) map <- camera of each known keyframe, by its id."""
        return {i: keyframe.map_from_camera for i, keyframe in self._table.keyframes.items()}

    def sights(self) -> Sights:
        """Return keyframe id -> entity id -> score of each view that counts; read only.

        It serves to cluster by another rule.
        """
        return self._table.scores

    def since(self, stamp: float, revision: int) -> SnapshotDelta:
        """Return the changes after a revision, for a subscriber that is late or has a gap."""
        return self._journal.since(stamp, revision)

    # --- upkeep ---------------------------------------------------------------------------------------------

    def commit(self, stamp: float) -> SnapshotDelta:
        """Return the change of the snapshots since the last commit.

        Between `restore` and `release` it is empty.
        """
        if self.is_held:
            return SnapshotDelta(stamp, self.revision, self.revision)
        changed, images = self._table.take_changes()
        stale, gone = self._clusters.update(changed | self._unsure, self._table.images_of)
        of_keyframe = self._clusters.of_keyframe
        stale |= {of_keyframe[image] for image in images & of_keyframe.keys()}
        if self._unsure:  # contents of the images may have changed since the state was saved
            stale |= set(of_keyframe.values())
        gone, self._gone, self._unsure = [*self._gone, *gone], [], set()
        return self._journal.publish(stamp, [self._snapshot(identity) for identity in sorted(stale)], gone)

    def _snapshot(self, identity: int) -> Snapshot:
        keyframe, members = self._clusters.keyframes[identity], self._clusters.entities[identity]
        known = self._table.entities
        regions = Counter(known[entity].region_id for entity in sorted(members) if known[entity].region_id)
        region = regions.most_common(1)[0][0] if regions else 0
        scores = self._table.scores[keyframe]
        order = sorted(scores, key=lambda entity: (entity not in members, -scores[entity], entity))
        caption = snapshot_text([(known[e].label, self._table.box(keyframe, e)) for e in order])
        return Snapshot(identity, keyframe, frozenset(members), region, caption)
