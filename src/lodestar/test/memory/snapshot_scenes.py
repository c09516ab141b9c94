"""Objects on a floor, and keyframes of them as from a camera."""

from __future__ import annotations

import numpy as np

from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.keyframes.records import Keyframe
from lodestar.memory.snapshots.upkeep import SnapshotUpkeep
from lodestar.perception.frames import ImageBox
from lodestar.scene.records import Entity, EntityState, SceneDelta

CAMERA = PinholeCamera(320, 240, 190.0, 190.0, 159.5, 119.5)


def thing(identity, x, y, size=0.4, label="chair", state=EntityState.ACTIVE, region=0):
    middle = np.array([x, y, 0.4])
    return Entity(
        identity, label, label, middle, np.eye(3) * 0.01, middle - size / 2, middle + size / 2,
        state=state, region_id=region,
    )  # fmt: skip


def camera_at(x, y, yaw):
    return planar_transform(x, y, yaw, 0.45) @ BODY_FROM_OPTICAL


def box_in(pose, entity):
    """Return the entity's box in the image of a camera at this pose; None if out of view."""
    picks = (np.arange(8)[:, None] >> np.arange(3)) & 1
    corners = np.where(picks, entity.box_max, entity.box_min)
    inside = (corners - pose[:3, 3]) @ pose[:3, :3]
    if (inside[:, 2] < 0.1).any():
        return None
    pixels, _ = CAMERA.project(inside)
    low = np.clip(np.floor(pixels.min(axis=0)), 0, (CAMERA.width, CAMERA.height)).astype(int)
    high = np.clip(np.ceil(pixels.max(axis=0)), 0, (CAMERA.width, CAMERA.height)).astype(int)
    return None if (high - low < 2).any() else ImageBox(*map(int, low), *map(int, high - low))


def shot(identity, pose, things):
    """Return the keyframe of a camera at this pose, with all objects in view."""
    boxes = {each.id: box_in(pose, each) for each in things}
    return Keyframe(
        identity, float(identity), pose, CAMERA, {i: b for i, b in boxes.items() if b is not None}
    )


def delta(*updated, merges=(), removed=()):
    return SceneDelta(1.0, 1, 0, tuple(updated), tuple(merges), tuple(removed))


def upkeep(things=(), keyframes=()):
    made = SnapshotUpkeep()
    made.apply(delta(*things))
    for keyframe in keyframes:
        made.put_keyframe(keyframe)
    return made


def snapshot_of(made, identity):
    """Return the snapshot of an entity; None if no stored image shows it."""
    return next((one for one in made.snapshots.values() if identity in one.entity_ids), None)


def holds(made):
    """Assert the invariant after a commit: each entity in any image has exactly one snapshot, whose image shows it."""
    sights = made.sights()
    visible = {entity for scores in sights.values() for entity in scores}
    homes = [entity for snapshot in made.snapshots.values() for entity in snapshot.entity_ids]
    assert sorted(homes) == sorted(visible), "each entity that is shown belongs to one snapshot"
    for snapshot in made.snapshots.values():
        assert snapshot.entity_ids <= sights[snapshot.keyframe_id].keys()
        for entity in snapshot.entity_ids:
            assert snapshot_of(made, entity) == snapshot
    assert made.wanted == {snapshot.keyframe_id for snapshot in made.snapshots.values()}
    assert len(made.wanted) == len(made.snapshots), "one snapshot per image"


PAIR = (thing(1, 2.0, 0.3), thing(2, 2.0, -0.3, label="table"))
FIRST = shot(1, camera_at(0.0, 0.0, 0.0), PAIR)
