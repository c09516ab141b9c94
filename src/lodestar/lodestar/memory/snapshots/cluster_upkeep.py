"""Clusters of entities per image, updated only where views of entities changed (SnapMem 3.2.2)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from lodestar.memory.records import Snapshot
from lodestar.memory.snapshots.clusters import cover_clusters

# 0..1, weight of how well an image shows an entity; 0 = only how many entities it shows; chosen (ADR 0037)
SNAPSHOT_QUALITY_WEIGHT = 0.9
# factor on the worth of an image that is a snapshot already; chosen: fewer changes
SNAPSHOT_KEEP_BONUS = 1.15


class ClusterUpkeep:
    """Clusters of entities, each with an image that shows them (snapshot). `home`: entity id -> snapshot id.

    After an update each entity in any image is in one snapshot, and no two snapshots have the same keyframe.
    """

    def __init__(self) -> None:
        self.home: dict[int, int] = {}
        self.of_keyframe: dict[int, int] = {}  # keyframe id -> snapshot id
        self.keyframes: dict[int, int] = {}  # snapshot id -> keyframe id
        self.entities: dict[int, set[int]] = {}  # snapshot id -> entity ids
        self.next_id = 1

    def clear(self) -> None:
        """Forget all clusters; their ids are not reused."""
        for held in (self.home, self.of_keyframe, self.keyframes, self.entities):
            held.clear()

    def restore(self, snapshots: Collection[Snapshot], next_id: int) -> None:
        """Restore clusters that were saved by an earlier process."""
        self.clear()
        for one in snapshots:
            self.of_keyframe[one.keyframe_id], self.keyframes[one.id] = one.id, one.keyframe_id
            self.entities[one.id] = set(one.entity_ids)
            self.home.update(dict.fromkeys(one.entity_ids, one.id))
        self.next_id = max([next_id, *(one.id + 1 for one in snapshots)])

    def update(
        self, changed: set[int], images_of: Callable[[int], Mapping[int, float]]
    ) -> tuple[set[int], list[int]]:
        """Cluster the changed entities, and those that share their snapshots, over the images that show them.

        images_of: entity id -> keyframe id -> score. Returns the ids of the snapshots that were clustered
        anew, and of those that no longer exist.
        """
        touched = {self.home[entity] for entity in changed if entity in self.home}
        entities = changed.union(*(self.entities[identity] for identity in touched))
        local: dict[int, dict[int, float]] = {}
        for entity in entities:
            for keyframe, score in images_of(entity).items():
                local.setdefault(keyframe, {})[entity] = score
        held = self.of_keyframe.keys() & local.keys()
        clusters = cover_clusters(entities, local, SNAPSHOT_QUALITY_WEIGHT, held, SNAPSHOT_KEEP_BONUS)
        for entity in entities:
            home = self.home.pop(entity, None)
            if home is not None:
                self.entities[home].discard(entity)
        for keyframe, members in clusters.items():
            identity = self._of(keyframe)
            self.entities[identity] |= members
            self.home.update(dict.fromkeys(members, identity))
            touched.add(identity)
        gone = sorted(identity for identity in touched if not self.entities[identity])
        for identity in gone:
            del self.entities[identity], self.of_keyframe[self.keyframes.pop(identity)]
        return touched.difference(gone), gone

    def _of(self, keyframe: int) -> int:
        """Return the id of a keyframe's snapshot, which is created if there is none."""
        identity = self.of_keyframe.get(keyframe)
        if identity is None:
            identity, self.next_id = self.next_id, self.next_id + 1
            self.of_keyframe[keyframe], self.keyframes[identity] = identity, keyframe
            self.entities[identity] = set()
        return identity
