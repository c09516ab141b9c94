"""Public records of the semantic voxel map's instances and observations."""

from __future__ import annotations

import numpy as np

from lodestar.mapping.instances.extraction import Geometry
from lodestar.mapping.instances.records import CaptionVote, Instance, Observation
from lodestar.mapping.instances.tracks import Track
from lodestar.perception.frames import Detection


def to_instance(track: Track, geometry: Geometry, row: int, confirm: int) -> Instance:
    """Return the public record of a track (an instance's mutable state), with the heaviest captions first.

    geometry, row: geometry of a batch of instances, and this instance's row in it. confirm: number of
    observations from which an instance is confirmed.
    """
    votes = sorted(track.labels.items(), key=lambda item: (-item[1], item[0]))
    return Instance(
        id=track.id,
        voxel_count=int(geometry.count[row]),
        centroid=geometry.centroid[row],
        covariance=geometry.covariance[row],
        box_min=geometry.box_min[row],
        box_max=geometry.box_max[row],
        votes=tuple(CaptionVote(label, caption, weight) for (label, caption), weight in votes),
        occupancy_probability=float(geometry.occupancy[row]),
        observation_count=track.observation_count,
        confirmed=track.observation_count >= confirm,
        first_seen=track.first_seen,
        last_seen=track.last_seen,
    )


def to_observation(
    instance_id: int, stamp: float, odom_from_camera: np.ndarray, detection: Detection, distance: float
) -> Observation:
    """Return the record of a detection that shows an instance. distance: metres from the camera."""
    return Observation(
        instance_id=instance_id,
        stamp=stamp,
        odom_from_camera=odom_from_camera,
        box=detection.box,
        pixel_count=detection.pixel_count,
        label=detection.label,
        caption=detection.caption,
        score=detection.score,
        distance=distance,
        feature=detection.feature,
        feature_model=detection.feature_model,
    )
