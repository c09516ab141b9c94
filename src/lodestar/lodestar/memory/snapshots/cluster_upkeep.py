"""Clusters that follow changing sights: only what is near a change is clustered anew (SnapMem 3.2.2)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from lodestar.memory.config import SnapshotConfig
from lodestar.memory.records import Snapshot
from lodestar.memory.snapshots.clusters import cover_clusters


class ClusterUpkeep:
    """Snapshots by id: a keyframe and the entities for which it is the image. `home`: entity id -> snapshot id.

    Afterwards each entity that any image shows is in one snapshot, and no two snapshots have one keyframe.
    """

    def __init__(self, config: SnapshotConfig) -> None:
        self._config = config
        self.home: dict[int, int] = {}
        self.of_keyframe: dict[int, int] = {}  # keyframe id -> snapshot id
        self.keyframes: dict[int, int] = {}  # snapshot id -> keyframe id
        self.entities: dict[int, set[int]] = {}  # snapshot id -> entity ids
        self.next_id = 1

    def clear(self) -> None:
        """Forget all clusters; their ids are not given again."""
        for held in (self.home, self.of_keyframe, self.keyframes, self.entities):
            held.clear()

    def restore(self, snapshots: Collection[Snapshot], next_id: int) -> None:
        """Go on from a predecessor's clusters."""
        self.clear()
        for one in snapshots:
            self.of_keyframe[one.keyframe_id], self.keyframes[one.id] = one.id, one.keyframe_id
            self.entities[one.id] = set(one.entity_ids)
            self.home.update(dict.fromkeys(one.entity_ids, one.id))
        self.next_id = max([next_id, *(one.id + 1 for one in snapshots)])

    def update(
        self, changed: set[int], images_of: Callable[[int], Mapping[int, float]]
    ) -> tuple[set[int], list[int]]:
        """Cluster the changed entities and those of their snapshots over the images that show them; return the ids of
        the snapshots that were clustered anew, and of those that are gone.
        """
        touched = {self.home[entity] for entity in changed if entity in self.home}
        entities = changed.union(*(self.entities[identity] for identity in touched))
        local: dict[int, dict[int, float]] = {}
        for entity in entities:
            for keyframe, score in images_of(entity).items():
                local.setdefault(keyframe, {})[entity] = score
        held = self.of_keyframe.keys() & local.keys()
        config = self._config
        clusters = cover_clusters(entities, local, config.quality_weight, held, config.keep_bonus)
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
        """Return the snapshot of a keyframe, a new one where it has none."""
        identity = self.of_keyframe.get(keyframe)
        if identity is None:
            identity, self.next_id = self.next_id, self.next_id + 1
            self.of_keyframe[keyframe], self.keyframes[identity] = identity, keyframe
            self.entities[identity] = set()
        return identity
