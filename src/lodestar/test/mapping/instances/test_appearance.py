"""Tests of appearance in association: calibration, other models, and the owner of a mask beside an instance."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.mapping.config import VoxelConfig
from lodestar.mapping.instances.appearance import UNKNOWN, AppearanceCalibration
from lodestar.mapping.instances.tracks import Track
from lodestar.mapping.semantic_voxels import SemanticVoxelMap
from lodestar.perception.frames import Detection, ImageBox

MODEL = "test"


def track_of(
    identity: int, label: str = "chair", appearance: np.ndarray | None = None, model: str = MODEL
) -> Track:
    track = Track(identity, 0.0, 0.0, np.zeros(3), np.ones(3), appearance=appearance, appearance_model=model)
    track.vote(label, label, 1.0, 16)
    return track


def detection_of(feature: np.ndarray | None, label: str = "chair", model: str = MODEL) -> Detection:
    return Detection(1, label, label, 0.9, ImageBox(0, 0, 9, 9), 81, feature, model)


def unit(angle: float) -> np.ndarray:
    return np.array([math.cos(angle), math.sin(angle)], np.float32)


def learned(same: np.ndarray, other: np.ndarray) -> AppearanceCalibration:
    """Return a calibration from angles (N,), radians, of masks to their own instance, and to another of the kind."""
    looks = AppearanceCalibration()
    for a, b in zip(same, other):
        here = detection_of(unit(0.0)), track_of(1, appearance=unit(a))
        beside = detection_of(None), track_of(2, appearance=unit(b))
        looks.learn([here, beside])
    return looks


def likeness(looks: AppearanceCalibration, angle: float) -> float:
    return looks.likeness(track_of(1, appearance=unit(angle)), unit(0.0), MODEL)


def test_features_say_nothing_until_enough_was_seen():
    looks = learned(np.full(39, 0.1), np.full(39, 1.2))
    assert likeness(looks, 0.1) == likeness(looks, 1.2) == UNKNOWN


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.05, 0.6), st.floats(0.0, 0.9))
def test_the_probability_falls_with_the_angle_and_is_half_where_things_look_alike(seed, spread, apart):
    rng = np.random.default_rng(seed)
    angles = np.abs(rng.normal(0.0, spread, (2, 300))).clip(0.0, 1.5)
    looks = learned(angles[0], (angles[1] + apart).clip(0.0, 1.5))
    told = [likeness(looks, angle) for angle in np.linspace(1.55, 0.0, 30)]
    assert (np.diff(told) >= -1e-12).all() and 0.0 < told[0] <= told[-1] + 1e-12 < 1.0
    alike = learned(angles[0], rng.permutation(angles[0]))
    assert [likeness(alike, angle) for angle in angles[1]] == pytest.approx([UNKNOWN] * 300), "no effect"
    other = learned(angles[0], np.abs(rng.normal(0.0, spread, 300)).clip(0.0, 1.5))
    assert abs(np.mean([likeness(other, angle) for angle in angles[1]]) - UNKNOWN) < 0.15


def test_angles_that_only_one_thing_has_decide():
    looks = learned(np.full(200, 0.05), np.full(200, 1.2))
    assert likeness(looks, 0.05) > 0.95 and likeness(looks, 1.2) < 0.05
    assert looks.differ(track_of(1, appearance=unit(0.0)), track_of(2, appearance=unit(1.2)))
    assert not looks.differ(track_of(1, appearance=unit(0.0)), track_of(2, appearance=unit(0.05)))
    assert not looks.differ(track_of(1, appearance=unit(0.0)), track_of(2)), "one without a feature"


def test_another_kind_is_no_sample_of_look_alikes():
    looks = AppearanceCalibration()
    for _ in range(100):
        chair = detection_of(unit(0.0)), track_of(1, appearance=unit(0.05))
        table = detection_of(None, "table"), track_of(2, "table", unit(1.2))
        looks.learn([chair, table])
    assert likeness(looks, 0.05) == UNKNOWN


def test_a_feature_of_another_model_or_dimension_drops_out():
    looks = learned(np.full(200, 0.05), np.full(200, 1.2))
    track = track_of(1, appearance=unit(0.0))
    assert looks.likeness(track, unit(0.0), "another") == UNKNOWN
    assert looks.likeness(track, np.ones(3, np.float32), MODEL) == UNKNOWN
    assert looks.evidence(track, detection_of(None)) == 0.0
    assert track.show(unit(0.1), MODEL) and not track.show(np.ones(3, np.float32), "another")
    assert track.appearance_model == "another" and track.appearance.shape == (3,)
    track.absorb(track_of(2, appearance=unit(0.0)), 16)
    assert track.appearance_model == "another" and track.appearance.shape == (3,)


def seen(world, poses, voxels, features: dict[str, np.ndarray], start: float) -> None:
    """Fuse one frame per pose; a detection's caption selects its feature, and is removed."""
    for i, pose in enumerate(poses):
        frame, segmented = world.frame(start + 0.25 * (i + 1), *pose)
        found = tuple(
            replace(d, caption=d.label, feature=features[d.caption], feature_model=MODEL)
            for d in segmented.detections
        )
        voxels.fuse(frame, replace(segmented, detections=found))


@pytest.mark.parametrize(("shown", "things"), [("near", 2), ("far", 3)])
def test_a_mask_beside_an_instance_belongs_to_it_where_it_looks_like_it(box_world, box, orbit, shown, things):
    """Shows a part that was hidden so far: it shares no voxel with the instance, but touches its box."""
    voxels = SemanticVoxelMap(VoxelConfig())
    features = {"near": unit(0.0), "far": unit(1.4)}
    first = [
        box("crate", (-0.3, -0.3, 0), (0.3, 0.3, 0.5), caption="near"),
        box("crate", (1.6, 1.2, 0), (2.1, 1.7, 0.5), caption="far"),
    ]
    seen(box_world(first), orbit((0.8, 0.6), 2.8, 0, 360, 64), voxels, features, 0.0)
    assert len([i for i in voxels.instances().values() if i.confirmed]) == 2
    part = [box("crate", (-0.3, -0.55, 0), (0.3, -0.38, 0.5), caption=shown)]
    seen(box_world(part), [(-1.2, -1.6, math.radians(45.0))] * 4, voxels, features, 30.0)
    assert len([i for i in voxels.instances().values() if i.confirmed]) == things


def test_features_of_another_model_are_counted_and_replace_the_old(box_world, box, orbit):
    voxels = SemanticVoxelMap(VoxelConfig())
    world = box_world([box("crate", (-0.3, -0.3, 0), (0.3, 0.3, 0.5))])
    path = orbit((0.0, 0.0), 2.0, 0, 90, 6)
    frames = [world.frame(0.25 * (i + 1), *pose) for i, pose in enumerate(path)]
    for number, (frame, segmented) in enumerate(frames):
        model, vector = ("one", unit(0.0)) if number < 3 else ("two", np.ones(3, np.float32))
        found = tuple(replace(d, feature=vector, feature_model=model) for d in segmented.detections)
        delta = voxels.fuse(frame, replace(segmented, detections=found))
        assert all(o.feature_model == model for o in delta.observations)
    assert voxels.features_restarted == 1
