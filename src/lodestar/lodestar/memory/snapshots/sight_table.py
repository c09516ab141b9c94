"""Table of the images that show each entity: links between keyframes and the scene, updated as both change."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from lodestar.keyframes.records import Keyframe
from lodestar.mapping.instances.records import Merge
from lodestar.memory.snapshots.sights import sight_score, still_shown
from lodestar.perception.frames import ImageBox
from lodestar.scene.records import Entity, EntityState

# metres, camera to box in plan; farther sights count only if there is no nearer one (SnapMem 9)
SNAPSHOT_INCLUSION_DISTANCE = 3.5
# metres that a corner of an entity's box moves before its images are checked again; chosen
SNAPSHOT_RECHECK = 0.1


class SightTable:
    """Sights (views of an entity in a stored keyframe) of the entities that are not archived.

    If an entity has sights from within SNAPSHOT_INCLUSION_DISTANCE, only these count, else all. The cost of a
    change depends on the links between entities and keyframes that it touches. `take_changes` returns the
    entities and images that were touched.
    """

    def __init__(self) -> None:
        self.keyframes: dict[int, Keyframe] = {}
        self.entities: dict[int, Entity] = {}  # all entities that are not archived
        self.scores: dict[
            int, dict[int, float]
        ] = {}  # keyframe id -> entity id -> score of a sight that counts
        self._changed: set[int] = set()
        self._renamed: set[int] = set()
        self._changed_images: set[int] = set()
        self._links: dict[int, dict[int, ImageBox]] = {}  # entity id -> keyframe id -> box in that image
        self._sights: dict[
            int, dict[int, tuple[float, bool]]
        ] = {}  # entity id -> keyframe id -> (score, whether seen from near)
        self._counting: dict[
            int, dict[int, float]
        ] = {}  # entity id -> keyframe id -> score of the sights that count
        self._checked: dict[int, np.ndarray] = {}  # entity id -> corners (6,) at the last check
        self._forward: dict[int, int] = {}

    def resolve(self, identity: int) -> int:
        """Return the current id of an entity, which differs from `identity` after a merge."""
        while identity in self._forward:
            identity = self._forward[identity]
        return identity

    @property
    def shown(self) -> set[int]:
        """Return the entities that any image shows."""
        return set(self._counting)

    def images_of(self, identity: int) -> dict[int, float]:
        """Return keyframe id -> score of the images that show an entity."""
        return self._counting.get(identity, {})

    def box(self, keyframe_id: int, identity: int) -> ImageBox:
        """Return the entity's box in an image. Raises KeyError."""
        return self._links[identity][keyframe_id]

    def take_changes(self) -> tuple[set[int], set[int]]:
        """Return entities whose sights, and keyframes whose captions may have changed since the last call."""
        changed, images = self._changed, self._changed_images
        for identity in self._renamed:
            images |= self.images_of(identity).keys()
        self._changed, self._renamed, self._changed_images = set(), set(), set()
        return changed, images

    # --- keyframes ------------------------------------------------------------------------------------------

    def put_keyframe(self, keyframe: Keyframe) -> bool:
        """Add a keyframe, or update a known one. Returns False if its id or pose is invalid."""
        if keyframe.id < 1 or not np.isfinite(keyframe.map_from_camera).all():
            return False
        before = self.keyframes.get(keyframe.id)
        moved = before is not None and not np.array_equal(before.map_from_camera, keyframe.map_from_camera)
        boxes: dict[int, ImageBox] = {}
        for instance, box in keyframe.instances.items():
            identity = self.resolve(instance)
            boxes[identity] = _larger(box, boxes.get(identity))
        old = set() if before is None else {self.resolve(instance) for instance in before.instances}
        self.keyframes[keyframe.id] = keyframe
        for identity in old - boxes.keys():
            self._unlink(identity, keyframe.id)
        for identity, box in boxes.items():
            links = self._links.setdefault(identity, {})
            if moved or links.get(keyframe.id) != box:
                links[keyframe.id] = box
                self._check(identity, (keyframe.id,))
        return True

    def drop_keyframe(self, keyframe_id: int) -> None:
        """Drop a keyframe that the store has deleted."""
        keyframe = self.keyframes.pop(keyframe_id, None)
        if keyframe is not None:
            for identity in {self.resolve(instance) for instance in keyframe.instances}:
                self._unlink(identity, keyframe_id)

    def _unlink(self, identity: int, keyframe_id: int) -> None:
        links = self._links.get(identity, {})
        links.pop(keyframe_id, None)
        if not links:
            self._links.pop(identity, None)
        self._check(identity, (keyframe_id,))

    # --- the scene ------------------------------------------------------------------------------------------

    def merge(self, merge: Merge) -> None:
        """Move the sights of the loser of a merge to the winner; either may be unknown so far."""
        loser, winner = self.resolve(merge.loser), self.resolve(merge.winner)
        if loser == winner:
            return
        self._forward[loser] = winner
        links = self._links.setdefault(winner, {})
        for keyframe_id, box in self._links.pop(loser, {}).items():
            links[keyframe_id] = _larger(box, links.get(keyframe_id))
        self.remove(loser)
        self._check_all(winner)

    def remove(self, identity: int) -> None:
        """Remove an entity; its boxes in the keyframes stay, because the id may return."""
        self.entities.pop(identity, None)
        self._checked.pop(identity, None)
        self._sights.pop(identity, None)
        self._count(identity, {})

    def put_entity(self, entity: Entity) -> None:
        """Update an entity; its sights are checked again if it moved, returned or was archived."""
        if entity.id in self._forward:
            return
        if entity.state is EntityState.ARCHIVED:
            self.remove(entity.id)
            return
        old = self.entities.get(entity.id)
        if old is None or (old.label, old.region_id) != (entity.label, entity.region_id):
            self._renamed.add(entity.id)
        self.entities[entity.id] = entity
        corners, before = np.concatenate([entity.box_min, entity.box_max]), self._checked.get(entity.id)
        if before is None or not np.abs(corners - before).max() <= SNAPSHOT_RECHECK:  # also true for NaN
            self._checked[entity.id] = corners
            self._check_all(entity.id)

    # --- sights ---------------------------------------------------------------------------------------------

    def _check_all(self, identity: int) -> None:
        self._check(identity, tuple(self._links.get(identity, ())))

    def _check(self, identity: int, keyframe_ids: Collection[int]) -> None:
        """Update the entity's sights: whether these images still show it, and from which distance."""
        entity, links = self.entities.get(identity), self._links.get(identity, {})
        if entity is None:
            return
        sights = self._sights.setdefault(identity, {})
        for keyframe_id in keyframe_ids:
            sights.pop(keyframe_id, None)
        known = [i for i in keyframe_ids if i in links]
        keyframes, boxes = [self.keyframes[i] for i in known], [links[i] for i in known]
        shown, distances = still_shown(keyframes, boxes, entity)
        for keyframe, box, is_shown, distance in zip(keyframes, boxes, shown, distances):
            score = sight_score(box, keyframe.camera) if is_shown else 0.0
            if score > 0.0:
                sights[keyframe.id] = (score, bool(distance <= SNAPSHOT_INCLUSION_DISTANCE))
        near = {i: score for i, (score, is_near) in sights.items() if is_near}
        self._count(identity, near or {i: score for i, (score, _) in sights.items()})

    def _count(self, identity: int, scores: dict[int, float]) -> None:
        """Replace an entity's sights that count. scores: keyframe id -> score."""
        before = self._counting.pop(identity, {})
        if scores:
            self._counting[identity] = scores
        if scores == before:
            return
        self._changed.add(identity)
        for keyframe_id in before.keys() - scores.keys():
            own = self.scores[keyframe_id]
            del own[identity]
            if not own:
                del self.scores[keyframe_id]
        self._changed_images |= before.keys() ^ scores.keys()
        for keyframe_id, score in scores.items():
            self.scores.setdefault(keyframe_id, {})[identity] = score


def _larger(box: ImageBox, other: ImageBox | None) -> ImageBox:
    if other is None or box.width * box.height >= other.width * other.height:
        return box
    return other
