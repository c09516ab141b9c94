"""Instances, observations and deltas for tests of the scene."""

from __future__ import annotations

import numpy as np

from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.mapping.instances.records import (
    Absence,
    CaptionVote,
    Instance,
    InstanceDelta,
    Miss,
    Observation,
)
from lodestar.perception.frames import ImageBox
from lodestar.scene.records import EntityState


def instance(
    identity, center=(0.0, 0.0, 0.5), label="chair", caption="red chair", stamp=1.0, size=0.5, **changes
):
    center = np.array(center, float)
    values = {
        "id": identity,
        "voxel_count": 100,
        "centroid": center,
        "covariance": np.eye(3) * (size / 4) ** 2,
        "box_min": center - size / 2,
        "box_max": center + size / 2,
        "votes": (CaptionVote(label, caption, 3.0),),
        "occupancy_probability": 0.9,
        "observation_count": 5,
        "confirmed": True,
        "first_seen": 0.5,
        "last_seen": stamp,
    }
    return Instance(**(values | changes))


def camera_at(x, y, yaw, z=0.5):
    """Return (4, 4) odom <- optical frame of a camera that looks along yaw."""
    return planar_transform(x, y, yaw, z) @ BODY_FROM_OPTICAL


def sighting(identity, stamp=1.0, pose=None, pixels=2500, label="chair", caption="red chair", score=0.9):
    pose = camera_at(-2.0, 0.0, 0.0) if pose is None else pose
    distance = 2.0
    return Observation(
        identity, stamp, pose, ImageBox(10, 10, 50, 50), pixels, label, caption, score, distance
    )


def miss(identity, stamp):
    """Return a miss: the instance was in clear view and not detected."""
    return Miss(identity, stamp, 0.9, 6400)


class Feed:
    """Makes deltas with rising revisions."""

    def __init__(self):
        self.revision = 0

    def __call__(self, stamp=None, **changes):
        self.revision += 1
        values = {"stamp": float(self.revision) if stamp is None else stamp, "revision": self.revision}
        return InstanceDelta(previous_revision=self.revision - 1, **(values | changes))


def archive(scene, feed, identity):
    for _ in range(3):
        scene.update(feed(absences=(Absence(identity, 2.0, 1.0),)))
    entity = scene.entities().get(identity)
    assert entity is None or entity.state == EntityState.ARCHIVED
