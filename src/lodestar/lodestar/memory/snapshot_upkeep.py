"""The memory's images of the scene, kept true while keyframes come and go and entities appear, move, merge and end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from lodestar.keyframes.records import Keyframe
from lodestar.memory.config import SnapshotConfig
from lodestar.memory.records import Snapshot, SnapshotDelta
from lodestar.memory.sight_table import SightTable
from lodestar.memory.snapshot_journal import SnapshotJournal
from lodestar.memory.snapshot_text import snapshot_text
from lodestar.memory.snapshots import Sights, cover_clusters
from lodestar.scene.records import SceneDelta


class SnapshotUpkeep:
    """Snapshots of a scene (SnapMem 3.2.2). Not thread-safe.

    Changes are told by `put_keyframe`, `drop_keyframe` and `apply`; `commit` returns what they change. It clusters the
    changed entities and those of the snapshots that hold them, and costs their sights, not the scene. Afterwards, every
    entity that any stored keyframe shows belongs to exactly one snapshot, whose image shows it. A snapshot keeps its id
    while its keyframe stays the same.
    """

    def __init__(self, config: SnapshotConfig) -> None:
        self.config = config
        self._clear()

    def _clear(self) -> None:
        self._table = SightTable(self.config)
        self._journal = SnapshotJournal(self.config.history)
        self._home: dict[int, int] = {}  # entity id -> snapshot id
        self._of_keyframe: dict[int, int] = {}  # keyframe id -> snapshot id
        self._entities: dict[int, set[int]] = {}  # snapshot id -> entity ids
        self._keyframe: dict[int, int] = {}  # snapshot id -> keyframe id
        self._next_id = 1
        self.refused = 0  # keyframes with a pose that is not finite

    # --- facts ----------------------------------------------------------------------------------------------

    def put_keyframe(self, keyframe: Keyframe) -> None:
        """Take a keyframe, or a newer record of one: instances are linked later, and poses are corrected."""
        if not self._table.put_keyframe(keyframe):
            self.refused += 1

    def drop_keyframe(self, keyframe_id: int) -> None:
        """Forget a keyframe that the store deleted; its entities get other images, where there are some."""
        self._table.drop_keyframe(keyframe_id)

    def keep_only(self, keyframe_ids: Iterable[int]) -> None:
        """Forget the keyframes that are not among these, which the store has."""
        for identity in self._table.keyframes.keys() - set(keyframe_ids):
            self._table.drop_keyframe(identity)

    def apply(self, delta: SceneDelta) -> None:
        """Take a change of the scene; the caller closes gaps between revisions (`SceneMirror` shows how)."""
        for merge in delta.merges:
            self._table.merge(merge)
        for identity in delta.removed:
            self._table.remove(identity)
        for entity in delta.updated:
            self._table.put_entity(entity)

    def restart(self) -> None:
        """Forget everything: another map or session begins, whose ids mean other things."""
        self._clear()

    # --- what holds -----------------------------------------------------------------------------------------

    @property
    def revision(self) -> int:
        """Return the revision of the last commit that changed something."""
        return self._journal.revision

    @property
    def snapshots(self) -> dict[int, Snapshot]:
        """Return the snapshots of the last commit by id. Do not change it."""
        return self._journal.published

    @property
    def wanted(self) -> frozenset[int]:
        """Return the keyframes that are snapshots; a bounded store deletes them last."""
        return frozenset(self._of_keyframe)

    def snapshot_of(self, entity_id: int) -> Snapshot | None:
        """Return the snapshot of an entity after all merges, None where no stored image shows it."""
        home = self._home.get(self._table.resolve(entity_id))
        return None if home is None else self._journal.published.get(home)

    def shown_by(self, keyframe_id: int) -> dict[int, float]:
        """Return the entities that an image shows now, with the score of each; more than those of its snapshot."""
        return dict(self._table.scores.get(keyframe_id, {}))

    def sights(self) -> Sights:
        """Return all sights that count, to cluster them by another rule. Do not change them."""
        return self._table.scores

    def since(self, stamp: float, revision: int) -> SnapshotDelta:
        """Return the changes after a revision, for a subscriber that is late or has a gap."""
        return self._journal.since(stamp, revision)

    # --- upkeep ---------------------------------------------------------------------------------------------

    def commit(self, stamp: float) -> SnapshotDelta:
        """Return the change of the snapshots by all that was told since the last commit."""
        changed, images = self._table.take_changes()
        touched = {self._home[entity] for entity in changed if entity in self._home}
        entities = changed.union(*(self._entities[identity] for identity in touched))
        clusters = self._clustered(entities)
        stale = touched | self._settle(entities, clusters)
        stale |= {self._of_keyframe[image] for image in images & self._of_keyframe.keys()}
        gone = sorted(identity for identity in stale if not self._entities.get(identity))
        for identity in gone:
            self._entities.pop(identity, None)
            keyframe = self._keyframe.pop(identity)
            del self._of_keyframe[keyframe]
        updated = [self._snapshot(identity) for identity in sorted(stale.difference(gone))]
        return self._journal.publish(stamp, updated, gone)

    def _clustered(self, entities: set[int]) -> dict[int, frozenset[int]]:
        """Cluster these entities anew over the images that show them."""
        local: dict[int, dict[int, float]] = {}
        for entity in entities:
            for keyframe, score in self._table.images_of(entity).items():
                local.setdefault(keyframe, {})[entity] = score
        config = self.config
        held = self._of_keyframe.keys() & local.keys()
        return cover_clusters(entities, local, config.quality_weight, held, config.keep_bonus)

    def _settle(self, entities: set[int], clusters: dict[int, frozenset[int]]) -> set[int]:
        """Move the entities to the snapshots of their clusters; return the snapshots that changed."""
        changed = set()
        for entity in entities:
            home = self._home.pop(entity, None)
            if home is not None:
                self._entities[home].discard(entity)
                changed.add(home)
        for keyframe, members in clusters.items():
            identity = self._of_keyframe.get(keyframe)
            if identity is None:
                identity, self._next_id = self._next_id, self._next_id + 1
                self._of_keyframe[keyframe], self._keyframe[identity] = identity, keyframe
                self._entities[identity] = set()
            self._entities[identity] |= members
            self._home.update(dict.fromkeys(members, identity))
            changed.add(identity)
        return changed

    def _snapshot(self, identity: int) -> Snapshot:
        keyframe, members = self._keyframe[identity], self._entities[identity]
        known = self._table.entities
        regions = Counter(known[entity].region_id for entity in sorted(members) if known[entity].region_id)
        region = regions.most_common(1)[0][0] if regions else 0
        scores = self._table.scores[keyframe]
        order = sorted(scores, key=lambda entity: (entity not in members, -scores[entity], entity))
        caption = snapshot_text([(known[e].label, self._table.box(keyframe, e)) for e in order])
        return Snapshot(identity, keyframe, frozenset(members), region, caption)
