"""Table of the images that show each entity: links between keyframes and the scene, kept true as both change."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from lodestar.keyframes.records import Keyframe
from lodestar.mapping.records import Merge
from lodestar.memory.config import SnapshotConfig
from lodestar.memory.snapshots.sights import sight_score, still_shown
from lodestar.perception.frames import ImageBox
from lodestar.scene.records import Entity, EntityState


class SightTable:
    """Sights of the entities that are not archived, in the keyframes that the store still has.

    Only sights from within `inclusion_distance` count, for an entity that has one; else all of its sights.
    Every change costs the links that it touches; `take_changes` tells which entities and images it touched.
    """

    def __init__(self, config: SnapshotConfig) -> None:
        self._config = config
        self.keyframes: dict[int, Keyframe] = {}
        self.entities: dict[int, Entity] = {}  # that are not archived
        self.scores: dict[
            int, dict[int, float]
        ] = {}  # keyframe id -> entity id -> score of a sight that counts
        self._changed: set[int] = set()
        self._renamed: set[int] = set()
        self._changed_images: set[int] = set()
        self._links: dict[int, dict[int, ImageBox]] = {}  # entity id -> keyframe id -> box, seen once
        self._sights: dict[
            int, dict[int, tuple[float, bool]]
        ] = {}  # entity id -> keyframe id -> score, from near
        self._counting: dict[
            int, dict[int, float]
        ] = {}  # the same, without those from afar that do not count
        self._checked: dict[int, np.ndarray] = {}  # entity id -> corners (6,) at the last check
        self._forward: dict[int, int] = {}

    def resolve(self, identity: int) -> int:
        """Return the current id of an entity."""
        while identity in self._forward:
            identity = self._forward[identity]
        return identity

    @property
    def shown(self) -> set[int]:
        """Return the entities that any image shows now."""
        return set(self._counting)

    def images_of(self, identity: int) -> dict[int, float]:
        """Return the images that show an entity now, with their scores."""
        return self._counting.get(identity, {})

    def box(self, keyframe_id: int, identity: int) -> ImageBox:
        """Return where an image shows an entity. Raises KeyError."""
        return self._links[identity][keyframe_id]

    def take_changes(self) -> tuple[set[int], set[int]]:
        """Return the entities whose sights changed since the last call, and the keyframes whose words may have."""
        changed, images = self._changed, self._changed_images
        for identity in self._renamed:
            images |= self.images_of(identity).keys()
        self._changed, self._renamed, self._changed_images = set(), set(), set()
        return changed, images

    # --- keyframes ------------------------------------------------------------------------------------------

    def put_keyframe(self, keyframe: Keyframe) -> bool:
        """Take a keyframe, or the newer record of a known one. Returns False for a pose that is not finite."""
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
        """Forget a keyframe that the store does not have any more."""
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
        """Give the sights of the loser to the winner; both may have been told of before, or never."""
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
        """Forget an entity; its links stay, because the id may come back."""
        self.entities.pop(identity, None)
        self._checked.pop(identity, None)
        self._sights.pop(identity, None)
        self._count(identity, {})

    def put_entity(self, entity: Entity) -> None:
        """Take the newest record of an entity; its sights are checked again if it moved, came back or was archived."""
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
        if (
            before is None or not np.abs(corners - before).max() <= self._config.recheck
        ):  # nor where one is NaN
            self._checked[entity.id] = corners
            self._check_all(entity.id)

    # --- sights ---------------------------------------------------------------------------------------------

    def _check_all(self, identity: int) -> None:
        self._check(identity, tuple(self._links.get(identity, ())))

    def _check(self, identity: int, keyframe_ids: Collection[int]) -> None:
        """Look anew whether these images show the entity, and from how far."""
        entity, links = self.entities.get(identity), self._links.get(identity, {})
        if entity is None:
            return
        sights = self._sights.setdefault(identity, {})
        for keyframe_id in keyframe_ids:
            sights.pop(keyframe_id, None)
        known = [i for i in keyframe_ids if i in links]
        keyframes, boxes = [self.keyframes[i] for i in known], [links[i] for i in known]
        shown, distances = still_shown(keyframes, boxes, entity, self._config)
        for keyframe, box, is_shown, distance in zip(keyframes, boxes, shown, distances):
            score = sight_score(box, keyframe.camera, self._config) if is_shown else 0.0
            if score > 0.0:
                sights[keyframe.id] = (score, bool(distance <= self._config.inclusion_distance))
        near = {i: score for i, (score, is_near) in sights.items() if is_near}
        self._count(identity, near or {i: score for i, (score, _) in sights.items()})

    def _count(self, identity: int, scores: dict[int, float]) -> None:
        """Let these sights of the entity count, and no others."""
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
