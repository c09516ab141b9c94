"""Tests that bad input is rejected or corrected, counted, and leaves the map consistent."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lodestar.geometry.poses import planar_transform
from lodestar.mapping.instances.segment_filter import Repair, clean_segments, clean_text
from lodestar.mapping.semantic_voxels import FrameRejected, RejectReason, SemanticVoxelMap, VoxelConfig
from lodestar.perception.frames import Detection, ImageBox, SegmentedFrame
from lodestar.perception.segments import SEGMENTS_MOST


def consistent(voxels: SemanticVoxelMap) -> None:
    """Assert that voxels, tracks and records agree."""
    registry, store = voxels._registry, voxels._store
    tracks = set(registry.tracks)
    owned = store.owned()
    assert set(store.owner[owned].tolist()) <= tracks
    places, start = store.members(np.array(sorted(tracks), np.int64))
    assert len(places) == len(owned) and start[-1] == len(owned)
    assert set(registry.instances) <= tracks
    for instance in registry.instances.values():
        for values in (instance.centroid, instance.covariance, instance.box_min, instance.box_max):
            assert np.isfinite(values).all()
        assert (instance.box_min <= instance.box_max).all()
        assert all(len(v.caption) <= 200 and v.caption.isprintable() for v in instance.votes)
        assert voxels.resolve(instance.id) == instance.id
    for identity in range(1, registry.next_id):
        assert voxels.resolve(identity) < registry.next_id
    points, ids = voxels.cloud()
    assert np.isfinite(points).all() and set(ids.tolist()) <= tracks


def crowd(labels: np.ndarray, count: int) -> SegmentedFrame:
    """Return `count` detections with at most a single pixel each."""
    labels = labels.copy()
    labels[:] = 0
    flat = labels.ravel()
    shown = min(count, len(flat))
    flat[:shown] = np.arange(1, shown + 1)
    found = tuple(Detection(i + 1, "speck", "speck", 0.5, ImageBox(0, 0, 1, 1), 1) for i in range(count))
    return SegmentedFrame(0.0, labels, found)


def spoil(frame, segmented, how):
    """Return a frame with one defect."""

    def each(**changes):
        return replace(segmented, detections=tuple(replace(d, **changes) for d in segmented.detections))

    far = planar_transform(10_000.0, 0.0, 0.0)
    if how == "label shape":
        return frame, replace(segmented, labels=segmented.labels[:-3])
    if how == "label type":
        return frame, replace(segmented, labels=segmented.labels.astype(np.int32))
    if how == "unknown label":
        labels = segmented.labels.copy()
        labels[3:6, 3:6] = 54321
        return frame, replace(segmented, labels=labels)
    if how == "shared value":
        return frame, replace(segmented, detections=segmented.detections * 2)
    if how == "no value":
        return frame, each(label_value=0)
    if how == "depth size":
        return replace(frame, depth=np.ones((33, 44), np.float32)), segmented
    if how == "color size":
        return replace(frame, rgb=np.zeros((33, 44, 3), np.uint8)), segmented
    if how == "depth nan":
        return replace(frame, depth=np.full_like(frame.depth, np.nan)), segmented
    if how == "depth infinite":
        return replace(frame, depth=np.full_like(frame.depth, np.inf)), segmented
    if how == "pose far":
        return replace(frame, odom_from_camera=far @ frame.odom_from_camera), segmented
    if how == "map far":
        return replace(frame, map_from_odom=far), segmented
    if how == "pose nan":
        return replace(frame, odom_from_camera=np.full((4, 4), np.nan)), segmented
    if how == "pose stretched":
        return replace(frame, odom_from_camera=frame.odom_from_camera * 2.0), segmented
    if how == "camera":
        return replace(frame, camera=replace(frame.camera, fx=0.0)), segmented
    if how == "old":
        return replace(frame, stamp=0.1), replace(segmented, stamp=0.1)
    if how == "endless":
        return replace(frame, stamp=np.inf), replace(segmented, stamp=np.inf)
    if how == "long caption":
        return frame, each(caption="chair " * 2_000)
    if how == "control caption":
        return frame, each(caption="a\x00red\x1b[2J\nchair\u202e\x7f", label="cha\x07ir")
    if how == "feature nan":
        return frame, each(feature=np.full(384, np.nan, np.float32))
    if how == "feature shape":
        return frame, each(feature=np.ones((2, 2), np.float32))
    if how == "score":
        return frame, each(score=float("nan"))
    if how == "box":
        return frame, each(box=ImageBox(-40, 90, 100_000, 60))
    if how == "pixel count":
        return frame, each(pixel_count=-(10**9)) if segmented.stamp % 2 else each(pixel_count=10**12)
    if how == "crowd":
        return frame, replace(crowd(segmented.labels, 10_000), stamp=segmented.stamp)
    if how == "one label":
        values = 1 + np.arange(segmented.labels.size) * 4 // segmented.labels.size
        labels = values.reshape(segmented.labels.shape).astype(np.uint16)
        quarter = ImageBox(0, 0, labels.shape[1], labels.shape[0] // 4)
        found = tuple(Detection(k, "chair", "chair", 0.9, quarter, labels.size // 4) for k in range(1, 5))
        return frame, replace(segmented, labels=labels, detections=found)
    raise ValueError(how)


REFUSED = {
    "label shape": RejectReason.LABEL_SHAPE,
    "label type": RejectReason.LABEL_SHAPE,
    "unknown label": RejectReason.UNKNOWN_LABEL,
    "shared value": RejectReason.LABEL_VALUE,
    "no value": RejectReason.LABEL_VALUE,
    "depth size": RejectReason.DEPTH_SHAPE,
    "color size": RejectReason.COLOR_SHAPE,
    "depth nan": RejectReason.NO_DEPTH,
    "depth infinite": RejectReason.NO_DEPTH,
    "pose far": RejectReason.FAR_AWAY,
    "map far": RejectReason.FAR_AWAY,
    "pose nan": RejectReason.POSE,
    "pose stretched": RejectReason.POSE,
    "camera": RejectReason.CAMERA,
    "old": RejectReason.STALE,
    "endless": RejectReason.STALE,
    "crowd": RejectReason.TOO_MANY,
    "one label": RejectReason.EVERYWHERE,
}
OF_DEPTH = {
    "color size", "depth size", "depth nan", "depth infinite", "pose far", "map far", "pose nan", "pose stretched",
    "camera", "endless", "old",
}  # fmt: skip
REPAIRED = {
    "long caption": Repair.TEXT_CLIPPED,
    "control caption": Repair.TEXT_CLIPPED,
    "feature nan": Repair.FEATURE_DROPPED,
    "feature shape": Repair.FEATURE_DROPPED,
    "score": Repair.SCORE_CLIPPED,
    "box": Repair.BOX_CLIPPED,
    "pixel count": Repair.BOX_CLIPPED,
}


@pytest.fixture
def world(box_world, box):
    things = [
        box("chair", (-0.25, -0.25, 0.0), (0.25, 0.25, 0.9)),
        box("plant", (0.9, 0.9, 0.0), (1.2, 1.2, 0.6)),
    ]
    return box_world(things)


def pose_at(step: int) -> tuple[float, float, float]:
    angle = 0.2 * step
    return 2.2 * math.cos(angle), 2.2 * math.sin(angle), angle + math.pi


@pytest.mark.parametrize("how", REFUSED)
def test_a_frame_that_cannot_be_used_is_refused_for_its_reason_and_changes_nothing(world, how):
    voxels = SemanticVoxelMap()
    for step in range(4):
        voxels.fuse(*world.frame(1.0 + step, *pose_at(step)))
    before = voxels.revision, voxels.voxel_count, voxels.cloud()[1].tolist()
    with pytest.raises(FrameRejected) as refused:
        voxels.fuse(*spoil(*world.frame(9.0, *pose_at(5)), how))
    assert refused.value.reason is REFUSED[how] and voxels.rejected[REFUSED[how]] == 1
    assert (voxels.revision, voxels.voxel_count, voxels.cloud()[1].tolist()) == before
    consistent(voxels)
    assert voxels.fuse(*world.frame(9.0, *pose_at(5))).observations


@pytest.mark.parametrize("how", REPAIRED)
def test_a_detection_that_can_be_put_right_is_and_that_is_counted(world, how):
    voxels = SemanticVoxelMap()
    for step in range(4):
        voxels.fuse(*world.frame(1.0 + step, *pose_at(step)))
    delta = voxels.fuse(*spoil(*world.frame(9.0, *pose_at(5)), how))
    assert voxels.repaired[REPAIRED[how]] > 0
    assert all(len(o.caption) <= 200 and o.caption.isprintable() for o in delta.observations)
    assert all(o.feature is None or np.isfinite(o.feature).all() for o in delta.observations)
    for o in delta.observations:
        assert 0 <= o.box.x <= o.box.x + o.box.width <= world.camera.width
        assert 0 <= o.box.y <= o.box.y + o.box.height <= world.camera.height
        assert 0 <= o.pixel_count <= world.camera.width * world.camera.height
    consistent(voxels)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from(["good", "good", *REFUSED, *REPAIRED]), min_size=4, max_size=16),
    st.integers(0, 9),
)
def test_whatever_comes_in_whatever_order_the_map_stays_consistent(world, kinds, seed):
    voxels = SemanticVoxelMap(VoxelConfig(capacity=20_000))
    good = refused = 0
    for step, how in enumerate(["good", *kinds, "good"]):
        frame, segmented = world.frame(1.0 + step, *pose_at(step + seed))
        if how != "good":
            frame, segmented = spoil(frame, segmented, how)
        before = sum(voxels.rejected.values()), voxels.geometry.blocks.live
        try:
            voxels.integrate_depth(frame)
            assert how not in OF_DEPTH
        except FrameRejected as rejection:
            assert how in OF_DEPTH and rejection.reason is REFUSED[how]
            assert (sum(voxels.rejected.values()), voxels.geometry.blocks.live) == (before[0] + 1, before[1])
            refused += 1
        consistent(voxels)
        try:
            delta = voxels.fuse(frame, segmented)
            good += 1
            assert delta.revision == voxels.revision == good
        except FrameRejected:
            refused += 1
            assert how in REFUSED
        consistent(voxels)
    expected = sum((kind in REFUSED) + (kind in OF_DEPTH) for kind in kinds)
    assert sum(voxels.rejected.values()) == refused == expected


@given(st.text(max_size=400), st.integers(1, 60))
def test_any_text_becomes_one_short_printable_line(text, length):
    clean = clean_text(text, length)
    assert len(clean) <= length and (clean.isprintable() or not clean)
    assert clean_text(clean, length) == clean


def test_a_good_frame_is_passed_on_as_it_is(world):
    _, segmented = world.frame(1.0, *pose_at(0))
    same, repairs = clean_segments(segmented)
    assert same is segmented and not repairs


def fronts(count: int, share: float) -> SegmentedFrame:
    """Return `count` cabinet fronts that fill a share of the image, above its floor."""
    labels = np.zeros((100, 120), np.uint16)
    rows = round(100 * share)
    labels[:rows] = 1 + np.arange(120) * count // 120
    box = ImageBox(0, 0, 120 // count, rows)
    found = [Detection(1 + k, "cabinet", "cabinet", 0.9, box, box.width * rows) for k in range(count)]
    return SegmentedFrame(1.0, labels, tuple(found))


@pytest.mark.parametrize(("count", "share"), [(3, 1.0), (8, 0.85)])
def test_things_that_fill_an_image_are_taken_if_they_are_few_or_show_the_floor(box_world, count, share):
    frame, _ = box_world([]).frame(1.0, *pose_at(0))
    camera = replace(frame.camera, width=120, height=100)
    frame = replace(frame, camera=camera, depth=np.full((100, 120), 1.0, np.float32), rgb=None)
    assert len(SemanticVoxelMap().fuse(frame, fronts(count, share)).observations) == count


def test_as_many_detections_as_are_permitted_are_taken(world):
    frame, segmented = world.frame(1.0, *pose_at(0))
    voxels = SemanticVoxelMap()
    voxels.fuse(frame, replace(crowd(segmented.labels, SEGMENTS_MOST), stamp=1.0))
    assert voxels.revision == 1 and not voxels.rejected
