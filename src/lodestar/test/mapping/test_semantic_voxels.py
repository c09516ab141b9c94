"""Tests of instances from segmented frames of box worlds."""

import math
import threading
from dataclasses import replace

import cv2
import numpy as np
import pytest

from lodestar.geometry.boxes import box_iou
from lodestar.geometry.poses import planar_transform, transform_points
from lodestar.mapping import semantic_voxels
from lodestar.mapping.follower import pages_of
from lodestar.mapping.instances.samples import sample
from lodestar.mapping.semantic_voxels import FrameRejected, RejectReason, SemanticVoxelMap, VoxelConfig
from lodestar.perception.frames import SegmentedFrame
from lodestar.perception.ground_truth import GroundTruthDetector, NoiseConfig
from lodestar.perception.outlines import parts_of


def drive(world, poses, voxels, start=0.0, **kwargs):
    """Fuse one frame per pose, 0.25 s apart; return the deltas."""
    deltas = []
    for i, pose in enumerate(poses):
        frame, segmented = world.frame(start + 0.25 * (i + 1), *pose, **kwargs)
        deltas.append(voxels.fuse(frame, segmented))
    return deltas


def confirmed(voxels, label=None):
    found = [i for i in voxels.instances().values() if i.confirmed]
    return [i for i in found if label is None or i.votes[0].label == label]


@pytest.fixture
def chair(box):
    return box("chair", (-0.25, -0.25, 0.0), (0.25, 0.25, 0.9), "a red chair")


def test_a_thing_seen_from_around_is_one_instance_of_the_right_box(box_world, chair, orbit):
    voxels = SemanticVoxelMap()
    deltas = drive(box_world([chair]), orbit((0, 0), 2.0, 0, 360, 30), voxels, depth_noise=0.01)
    (instance,) = voxels.instances().values()
    assert instance.confirmed and instance.observation_count == 30
    assert instance.votes[0].caption == "a red chair"
    np.testing.assert_allclose(instance.box_min, chair.low, atol=0.08)
    np.testing.assert_allclose(instance.box_max, chair.high, atol=0.08)
    np.testing.assert_allclose(instance.centroid[:2], (0, 0), atol=0.05)
    assert instance.occupancy_probability > 0.8
    assert [d.revision for d in deltas] == list(range(1, 31))
    assert all(d.previous_revision == d.revision - 1 for d in deltas)


def test_three_observations_confirm(box_world, chair, orbit):
    voxels = SemanticVoxelMap()
    states = [d.updated[0].confirmed for d in drive(box_world([chair]), orbit((0, 0), 2, 0, 40, 4), voxels)]
    assert states == [False, False, True, True]


@pytest.mark.parametrize("gap", [0.05, 0.2, 0.5])
def test_two_chairs_side_by_side_stay_two(box_world, box, orbit, gap):
    chairs = [
        box("chair", (-0.5 - gap / 2, -0.25, 0), (-gap / 2, 0.25, 0.9)),
        box("chair", (gap / 2, -0.25, 0), (0.5 + gap / 2, 0.25, 0.9)),
    ]
    noise = NoiseConfig(miss=0.1, split=0.05, merge=0.1, erode_px=1, min_pixels=8)
    voxels = SemanticVoxelMap()
    world = box_world(chairs, noise=noise, seed=3)
    drive(world, orbit((0, 0), 2.2, 0, 360, 60), voxels, depth_noise=0.015)
    found = confirmed(voxels, "chair")
    assert len(found) == 2
    for truth in chairs:
        best = max(box_iou(i.box_min, i.box_max, truth.low, truth.high) for i in found)
        assert best > 0.6


def test_a_large_thing_seen_in_parts_is_one(box_world, box):
    sofa = box("sofa", (-1.5, 1.0, 0.0), (1.5, 1.9, 0.8))
    voxels = SemanticVoxelMap()
    poses = [(x, -0.2, math.pi / 2) for x in np.linspace(-2.5, 2.5, 40)]
    drive(box_world([sofa]), poses, voxels)
    assert len(confirmed(voxels)) == 1
    (instance,) = confirmed(voxels)
    assert instance.box_max[0] - instance.box_min[0] == pytest.approx(3.0, abs=0.15)


def test_parts_seen_past_an_obstacle_are_merged_and_the_loser_forwards(box_world, box):
    desk = box("desk", (-1.2, 1.0, 0.3), (1.2, 1.5, 0.75))
    pillar = box("pillar", (-0.55, 0.3, 0.0), (0.55, 0.45, 2.0))
    voxels = SemanticVoxelMap()
    world = box_world([desk, pillar])
    # views of the right end only, then of the left end only
    poses = [(0.0, -1.2, math.radians(a)) for a in (60, 62, 64)]
    poses += [(0.0, -1.2, math.radians(a)) for a in (120, 118, 116)]
    drive(world, poses, voxels)
    assert len(confirmed(voxels, "desk")) == 2
    poses = [(x, 0.1 if abs(x) > 0.7 else -1.2, math.pi / 2) for x in np.linspace(-2.0, 2.0, 33)]
    # from behind, the whole object is visible
    poses += [(x, 2.9, -math.pi / 2) for x in np.linspace(-1.0, 1.0, 12)]
    deltas = drive(world, poses, voxels, start=10.0)
    (instance,) = confirmed(voxels, "desk")
    merges = [m for d in deltas for m in d.merges if voxels.resolve(m.winner) == instance.id]
    assert merges and all(voxels.resolve(m.loser) == instance.id for m in merges)
    page, _ = voxels.delta_since(0)
    assert merges[0] in page.merges


def test_a_mask_that_spills_onto_the_wall_does_not_stretch_its_thing(box_world, chair, orbit):
    class Spilling(box_world):
        def frame(self, *args, **kwargs):
            frame, segmented = super().frame(*args, **kwargs)
            labels = segmented.labels.copy()
            for detection in segmented.detections:
                rows, columns = np.nonzero(segmented.labels == detection.label_value)
                for shift in range(-4, 5):
                    labels[rows, np.clip(columns + shift, 0, labels.shape[1] - 1)] = detection.label_value
            return frame, SegmentedFrame(segmented.stamp, labels, segmented.detections)

    voxels = SemanticVoxelMap()
    drive(Spilling([chair]), orbit((0, 0), 2.0, 0, 180, 20), voxels)
    (instance,) = confirmed(voxels)
    assert (instance.box_max - instance.box_min < (0.8, 0.8, 1.05)).all()


def test_wrong_labels_are_outvoted(box_world, chair, box, orbit):
    things = [chair, box("plant", (1.2, 1.2, 0), (1.5, 1.5, 0.6))]
    voxels = SemanticVoxelMap()
    world = box_world(things, noise=NoiseConfig(wrong_label=0.3, min_pixels=8), seed=5)
    drive(world, orbit((0.5, 0.5), 2.5, 0, 360, 50), voxels)
    assert sorted(i.votes[0].label for i in confirmed(voxels)) == ["chair", "plant"]
    votes = confirmed(voxels, "chair")[0].votes
    assert votes[0].weight > 1.5 * votes[1].weight


def test_a_thing_taken_away_is_reported_absent_and_then_no_more(box_world, chair, orbit):
    world, voxels = box_world([chair]), SemanticVoxelMap()
    drive(world, orbit((0, 0), 2.0, 0, 120, 12), voxels)
    (instance,) = confirmed(voxels)
    world.boxes.clear()
    deltas = drive(world, orbit((0, 0), 2.0, 0, 120, 40), voxels, start=10.0)
    absences = [a for d in deltas for a in d.absences]
    assert len(absences) == 3 and {a.instance_id for a in absences} == {instance.id}
    assert all(a.free_share > 0.6 for a in absences)
    # a confirmed object is kept, as it may be found elsewhere
    assert not [i for d in deltas for i in d.removed]
    assert voxels.instances() == {} and len(voxels.cloud()[0]) == 0
    assert voxels.delta_since(12)[0].updated == ()


def test_a_hidden_or_merely_undetected_thing_is_not_absent(box_world, chair, box, orbit, segment_nothing):
    world, voxels = box_world([chair]), SemanticVoxelMap()
    drive(world, orbit((0, 0), 2.0, -20, 20, 8), voxels)
    before = confirmed(voxels)[0].voxel_count
    world.boxes.append(box("screen", (0.8, -1.0, 0.0), (0.9, 1.0, 2.0)))
    hidden = drive(world, orbit((0, 0), 2.0, -20, 20, 12), voxels, start=10.0)
    assert not [a for d in hidden for a in d.absences]
    world.boxes.pop()
    absences = []
    for i, pose in enumerate(orbit((0, 0), 2.0, -20, 20, 12)):
        frame, _ = world.frame(20.0 + i, *pose)
        absences += [a for a in voxels.fuse(frame, segment_nothing(frame)).absences if a.instance_id == 1]
    assert not absences
    assert confirmed(voxels, "chair")[0].voxel_count > 0.5 * before


def test_depth_alone_carves_what_is_gone(box_world, chair, orbit):
    world, voxels = box_world([chair]), SemanticVoxelMap()
    drive(world, orbit((0, 0), 2.0, 0, 90, 8), voxels)
    before = voxels.voxel_count
    world.boxes.clear()
    for i, pose in enumerate(orbit((0, 0), 2.0, 0, 90, 60)):
        voxels.integrate_depth(world.frame(10.0 + 0.1 * i, *pose)[0])
    assert voxels.voxel_count < 0.1 * before


def test_a_jump_of_the_map_moves_everything_rigidly(box_world, chair, orbit):
    world, voxels = box_world([chair]), SemanticVoxelMap()
    drive(world, orbit((0, 0), 2.0, 0, 360, 24), voxels)
    before = confirmed(voxels)[0]
    jump = planar_transform(
        2.6, -0.3, math.radians(5)
    )  # more than odometry drifts in one round, but no loop closure
    (delta,) = drive(world, orbit((0, 0), 2.0, 0, 0, 1), voxels, start=10.0,
                     map_from_odom=jump, true_from_map=np.linalg.inv(jump))  # fmt: skip
    (after,) = delta.updated
    assert after.id == before.id and len(voxels.instances()) == 1
    expected = transform_points(jump, before.centroid[None])[0]
    np.testing.assert_allclose(after.centroid, expected, atol=0.02)
    np.testing.assert_allclose(delta.map_from_odom, jump)
    cloud, ids = voxels.cloud()
    assert set(ids.tolist()) == {before.id}
    np.testing.assert_allclose(np.median(cloud, axis=0), expected, atol=0.1)


def test_slow_drift_that_is_taken_out_leaves_the_map_where_it_is(box_world, chair, orbit):
    world, voxels = box_world([chair]), SemanticVoxelMap()
    for i, pose in enumerate(orbit((0, 0), 2.0, 0, 360, 40)):
        drift = planar_transform(0.02 * i, 0.01 * i, math.radians(0.3 * i))
        voxels.fuse(*world.frame(0.25 * (i + 1), *pose, map_from_odom=drift))
    (instance,) = voxels.instances().values()
    np.testing.assert_allclose(instance.centroid[:2], (0, 0), atol=0.05)


def test_a_slight_turn_about_the_robot_is_no_jump_however_far_odometry_began(box_world, chair, orbit):
    world, voxels = box_world([chair]), SemanticVoxelMap()
    far = planar_transform(40.0, 0.0, 0.0)
    drive(world, orbit((0, 0), 2.0, 0, 90, 8), voxels, map_from_odom=far)
    (before,) = confirmed(voxels)
    turned = planar_transform(0.0, 0.0, math.radians(0.4)) @ far  # 0.28 m at the origin of odom
    drive(world, orbit((0, 0), 2.0, 0, 0, 1), voxels, start=10.0, map_from_odom=turned)
    (after,) = confirmed(voxels)
    assert after.id == before.id
    np.testing.assert_allclose(after.centroid, before.centroid, atol=0.03)


def test_observations_keep_their_odometry_pose_and_outline(box_world, chair, orbit):
    world, voxels = box_world([chair]), SemanticVoxelMap()
    frame, segmented = world.frame(1.0, -2.0, 0.0, 0.0, map_from_odom=planar_transform(1.0, 2.0, 0.3))
    (observation,) = voxels.fuse(frame, segmented).observations
    np.testing.assert_allclose(observation.odom_from_camera, frame.odom_from_camera)
    assert observation.distance == pytest.approx(1.75, abs=0.1)
    (detection,) = segmented.detections
    assert replace(observation.box, outline=()) == detection.box
    mask = np.zeros(segmented.labels.shape, np.uint8)
    cv2.fillPoly(mask, parts_of(observation.box.outline), 1)
    assert np.count_nonzero((mask > 0) != (segmented.labels == detection.label_value)) <= 4


def spoil(frame, segmented, how):
    changes = {
        "zero": {"depth": np.zeros_like(frame.depth)},
        "nan": {"depth": np.full_like(frame.depth, np.nan)},
        "shape": {"depth": frame.depth[:-1]},
        "pose": {"odom_from_camera": np.full((4, 4), np.nan)},
        "old": {"stamp": 0.25},
    }
    labels = segmented.labels
    if how in changes:
        frame = type(frame)(**{**frame.__dict__, **changes[how]})
    elif how == "labels":
        labels = labels[:, :-2]
    elif how == "unknown":
        labels = labels.copy()
        labels[0, 0] = 60000
    stamp = frame.stamp if how != "stamp" else frame.stamp + 0.1
    return frame, SegmentedFrame(stamp, labels, segmented.detections)


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("zero", RejectReason.NO_DEPTH),
        ("nan", RejectReason.NO_DEPTH),
        ("shape", RejectReason.DEPTH_SHAPE),
        ("pose", RejectReason.POSE),
        ("old", RejectReason.STALE),
        ("labels", RejectReason.LABEL_SHAPE),
        ("unknown", RejectReason.UNKNOWN_LABEL),
        ("stamp", RejectReason.STAMP_MISMATCH),
    ],
)
def test_a_bad_frame_is_refused_counted_and_changes_nothing(box_world, chair, orbit, how, reason):
    world, voxels = box_world([chair]), SemanticVoxelMap()
    drive(world, orbit((0, 0), 2.0, 0, 40, 4), voxels)
    before, count = voxels.revision, voxels.voxel_count
    with pytest.raises(FrameRejected) as refused:
        voxels.fuse(*spoil(*world.frame(5.0, 2.0, 0.0, math.pi), how))
    assert refused.value.reason is reason
    assert voxels.rejected[reason] == 1
    assert (voxels.revision, voxels.voxel_count) == (before, count)
    voxels.fuse(*world.frame(5.0, 2.0, 0.0, math.pi))  # a valid frame with that stamp is still accepted


def test_partly_invalid_depth_is_used_where_it_is_valid(box_world, chair, orbit):
    world, voxels = box_world([chair]), SemanticVoxelMap()
    for i, pose in enumerate(orbit((0, 0), 2.0, 0, 90, 8)):
        frame, segmented = world.frame(1.0 + i, *pose)
        frame.depth[::2] = np.nan
        frame.depth[:, ::3] = 0.0
        voxels.fuse(frame, segmented)
    (instance,) = confirmed(voxels)
    assert np.isfinite(instance.centroid).all() and instance.voxel_count > 50


def test_the_batch_is_bounded_and_goes_round_all_instances(box_world, box):
    boxes = [box(f"box {k}", (0.5 * k - 4, 2, 0), (0.5 * k - 3.8, 2.2, 0.3)) for k in range(16)]
    voxels = SemanticVoxelMap(VoxelConfig(batch=6, round_robin=2))
    world = box_world(boxes)
    poses = [(x, 0.3, math.pi / 2) for x in np.linspace(-4, 4, 40)]
    deltas = drive(world, poses, voxels)
    deltas += drive(world, [(0, 0, -math.pi / 2)] * 20, voxels, start=50.0)  # views with no object in them
    assert max(len(d.updated) for d in deltas) <= 8
    late = {i.id for d in deltas[-10:] for i in d.updated}
    assert late == set(voxels.instances())


def test_pages_hold_every_change_once(box_world, box):
    boxes = [box(f"box {k}", (0.5 * k - 2, 2, 0), (0.5 * k - 1.8, 2.2, 0.3)) for k in range(8)]
    voxels = SemanticVoxelMap()
    drive(box_world(boxes), [(0, y, math.pi / 2) for y in np.linspace(-1, 0, 6)], voxels)
    total = len(voxels.instances())
    assert total >= 5
    pages = list(pages_of(voxels.delta_since, size=2))
    assert len(pages) == -(-total // 2) and pages[-1].revision == voxels.revision
    ids = [i.id for page in pages for i in page.updated]
    assert sorted(ids) == sorted(voxels.instances())
    assert voxels.delta_since(voxels.revision)[0].updated == ()


def test_full_memory_refuses_new_voxels_and_counts_them(box_world, chair, orbit):
    voxels = SemanticVoxelMap(VoxelConfig(capacity=200))
    drive(box_world([chair]), orbit((0, 0), 2.0, 0, 360, 20), voxels)
    assert voxels.voxel_count == 200 and voxels.voxels_refused > 0
    assert (
        "200 of 200 voxels" in voxels.shortage and "raise semantic_voxels.voxels.capacity" in voxels.shortage
    )
    assert f"{voxels.voxels_refused:,} were refused" in voxels.shortage and not SemanticVoxelMap().shortage


def test_what_was_glimpsed_once_is_forgotten(box_world, chair):
    world, voxels = box_world([chair]), SemanticVoxelMap(VoxelConfig(forget=5.0))
    drive(world, [(-2, 0, 0)], voxels)
    deltas = drive(world, [(-2, 0, math.pi)] * 40, voxels, start=1.0)
    assert [i for d in deltas for i in d.removed] == [1]
    assert voxels.voxel_count == 0


def test_the_same_frames_give_the_same_map_whatever_the_label_values(box_world, chair, box, orbit):
    things = [chair, box("plant", (1.2, 1.2, 0), (1.5, 1.5, 0.6))]
    results = []
    for order in (things, things[::-1]):
        voxels = SemanticVoxelMap()
        noise = NoiseConfig(miss=0.1, split=0.1, wrong_label=0.1, min_pixels=8)
        drive(box_world(order, noise=noise, seed=9), orbit((0.5, 0.5), 2.5, 0, 300, 25), voxels)
        results.append(voxels.instances())
    assert results[0].keys() == results[1].keys()
    for i, instance in results[0].items():
        np.testing.assert_array_equal(instance.box_min, results[1][i].box_min)
        assert instance.votes == results[1][i].votes


def test_two_things_that_one_mask_once_joined_are_parted_again(box_world, box, orbit, monkeypatch):
    monkeypatch.setattr("lodestar.perception.ground_truth.NOISE_MERGE_GAP_PX", 6)
    chairs = [
        box("chair", (-0.55, -0.25, 0), (-0.05, 0.25, 0.9), "a black chair"),
        box("chair", (0.05, -0.25, 0), (0.55, 0.25, 0.9), "an orange chair"),
    ]
    world, voxels = box_world(chairs), SemanticVoxelMap()
    clean = world.detector
    world.detector = GroundTruthDetector(NoiseConfig(merge=1.0, min_pixels=8))
    drive(world, orbit((0, 0), 2.2, -70, -50, 4), voxels)
    assert len(confirmed(voxels)) == 1
    world.detector = clean
    drive(world, orbit((0, 0), 2.2, -110, 150, 30), voxels, start=10.0)
    found = {i.votes[0].caption: i for i in confirmed(voxels)}
    assert found.keys() == {"a black chair", "an orange chair"}
    for truth in chairs:
        instance = found[truth.caption]
        assert box_iou(instance.box_min, instance.box_max, truth.low, truth.high) > 0.55


def test_masks_split_now_and_then_do_not_part_a_thing(box_world, chair, orbit):
    voxels = SemanticVoxelMap()
    world = box_world([chair], noise=NoiseConfig(split=0.3, min_pixels=8), seed=4)
    drive(world, orbit((0, 0), 2.0, 0, 360, 60), voxels)
    assert len(confirmed(voxels)) == 1
    world.detector = GroundTruthDetector(NoiseConfig(split=0.05, min_pixels=8), np.random.default_rng(1))
    # a standing camera with part of the object in view
    drive(world, [(-2.0, 0.9, 0.0)] * 200, voxels, start=100.0)
    assert len(confirmed(voxels)) == 1


def test_depth_goes_in_while_masks_become_points(box_world, chair, monkeypatch):
    world, voxels, waited = box_world([chair]), SemanticVoxelMap(), []

    def slow(*args):
        thread = threading.Thread(target=lambda: voxels.integrate_depth(world.frame(1.1, -2, 0, 0)[0]))
        thread.start()
        thread.join(30.0)
        waited.append(thread.is_alive())
        return sample(*args)

    monkeypatch.setattr(semantic_voxels, "sample", slow)
    delta = voxels.fuse(*world.frame(1.0, -2, 0, 0))
    assert waited == [False] and delta.observations and voxels.geometry.blocks.live > 0


def test_segments_that_come_after_the_depth_that_jumped_are_taken_in_where_the_map_is_now(
    box_world, chair, orbit
):
    world, voxels = box_world([chair]), SemanticVoxelMap()
    drive(world, orbit((0, 0), 2.0, 0, 90, 8), voxels)
    (before,) = confirmed(voxels)
    jump = planar_transform(1.5, 0.4, math.radians(20))
    moved = {"map_from_odom": jump, "true_from_map": np.linalg.inv(jump)}
    voxels.integrate_depth(world.frame(5.0, -2, 0, 0, **moved)[0])
    late = voxels.fuse(*world.frame(4.8, 0, -2, math.pi / 2))
    (after,) = confirmed(voxels)
    assert after.id == before.id == late.observations[0].instance_id
    np.testing.assert_allclose(late.map_from_odom, jump)
    expected = transform_points(jump, before.centroid[None])[0]
    np.testing.assert_allclose(after.centroid, expected, atol=0.06)
    drive(world, orbit((0, 0), 2.0, 90, 120, 3), voxels, start=6.0, **moved)
    assert [i.id for i in confirmed(voxels)] == [before.id]
