"""Tests that people in segmented frames are tracked, and leave no trace in the map."""

import contextlib
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.assembly.config import SemanticVoxelsConfig
from lodestar.assembly.shared import SharedConfig
from lodestar.assembly.voxel_chain import VoxelChain
from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import planar_transform
from lodestar.mapping.admission import FrameRejected
from lodestar.mapping.movers.mover_tracks import (
    FIRST_TRACK,
    MoverTrack,
    MoverTracker,
    is_track,
    without_outdated,
)
from lodestar.mapping.movers.plane_tracks import MOVER_MISSES
from lodestar.perception.config import MoverConfig
from lodestar.perception.frames import Detection, ImageBox, RgbdFrame, SegmentedFrame
from lodestar.perception.movers import moves_by_itself, split_movers

CAMERA = PinholeCamera(80, 60, 60.0, 60.0, 39.5, 29.5)
#: Poses of cameras 1 m over the floor that look along +x.
OPTICAL = np.array([[0.0, 0, 1, 0], [-1, 0, 0, 0], [0, -1, 0, 1], [0, 0, 0, 1]])
WALL = 4.8


def view(stamp, people=(), *, label="person", pose=(0.0, 0.0, 0.0), correction=None, thick=True, score=0.9):
    """Return a view of a wall with a picture labelled as a chair, and people (x, y) before it; pose: of the camera."""
    odom = planar_transform(*pose) @ OPTICAL
    rays = CAMERA.rays() @ odom[:3, :3].T
    with np.errstate(divide="ignore"):
        depth = np.where(rays[..., 0] > 1e-6, (WALL - odom[0, 3]) / rays[..., 0], 0.0).astype(np.float32)
    labels, found = np.zeros(depth.shape, np.uint16), []
    order = sorted(range(len(people)), key=lambda i: -math.dist(people[i], pose[:2]))
    for i in order:
        local = np.linalg.inv(odom) @ (*people[i], 0.9, 1.0)
        x, y, z = local[:3]
        if z < 0.4:
            continue
        columns, rows = np.meshgrid(np.arange(80), np.arange(60))
        across = (columns - CAMERA.cx) * z / CAMERA.fx - x
        up = (rows - CAMERA.cy) * z / CAMERA.fy - y
        own = (np.abs(across) <= 0.25) & (np.abs(up) <= 0.85)
        if own.sum() < 20:
            continue
        if thick:
            depth[own] = z - 0.1 * np.sqrt(np.maximum(1.0 - (across[own] / 0.25) ** 2, 0.0))
        labels[own] = i + 1
    for i in range(len(people)):
        rows, columns = np.nonzero(labels == i + 1)
        if len(rows):
            box = ImageBox(
                int(columns.min()), int(rows.min()), int(np.ptp(columns)) + 1, int(np.ptp(rows)) + 1
            )
            found.append(Detection(i + 1, label, f"a {label}", score, box, len(rows)))
    frame = RgbdFrame(stamp, CAMERA, depth, odom, np.eye(4) if correction is None else correction)
    return frame, SegmentedFrame(stamp, labels, tuple(found))


def follow(frames):
    config = MoverConfig()
    tracker = MoverTracker(config)
    for frame, segmented in frames:
        tracker.take(frame, split_movers(frame, segmented, config))
    return tracker


def test_words_for_people_and_animals_are_movers_and_things_named_after_them_are_not():
    kinds = MoverConfig().kinds
    for label in (
        "person",
        "man",
        "a tall woman",
        "pedestrian",
        "worker",
        "dog",
        "cat",
        "people",
        "kid",
        "baby",
        "lady",
        "nurse",
        "visitor",
        "person walking",
        "man in a red shirt",
        "group of people",
        "crowd",
        "bird",
        "horse",
        "bear",
    ):
        assert moves_by_itself(label, kinds), label
    for label in (
        "chair",
        "dog bed",
        "cat tree",
        "teddy bear",
        "robot",
        "poster",
        "picture of a person",
        "hot dog",
        "toy dog",
        "baby stroller",
        "standing desk",
        "walking stick",
        "bird house",
        "",
    ):
        assert not moves_by_itself(label, kinds), label


def test_a_walker_is_one_track_with_its_velocity():
    frames = [view(0.25 * k, [(3.0, -1.0 + 0.2 * k)]) for k in range(10)]
    (track,) = follow(frames).tracks()
    assert is_track(track.id) and track.label == "person"
    assert track.place[:2] == pytest.approx((3.0, 0.8), abs=0.15)
    assert track.velocity == pytest.approx((0.0, 0.8), abs=0.15)
    assert (track.first_seen, track.last_seen) == (0.0, 2.25)


def test_one_sight_is_nobody_and_a_track_ends_a_few_seconds_after_the_last_one():
    frames = [view(0.0, [(3.0, 0.0)])]
    assert follow(frames).tracks() == ()
    away = (0.0, 0.0, math.pi)  # the camera looks away, so the person may still be there
    frames += [view(0.25, [(3.0, 0.0)]), *(view(0.5 + k, [], pose=away) for k in range(4))]
    assert len(follow(frames).tracks()) == 1
    assert follow([*frames, view(6.0, [], pose=away)]).tracks() == ()


def test_a_track_ends_at_once_where_the_camera_sees_through_it():
    seen = [view(0.25 * k, [(3.0, 0.0)]) for k in range(4)]
    gone = [view(1.0 + 0.25 * k, []) for k in range(MOVER_MISSES)]
    assert follow([*seen, *gone]).tracks() == ()


def test_a_correction_of_the_map_moves_tracks_with_it():
    seen = [view(0.25 * k, [(3.0, 0.0)]) for k in range(4)]
    jump = planar_transform(10.0, 0.0, math.pi / 2)
    (track,) = follow([*seen, view(1.0, [(3.0, 0.0)], correction=jump)]).tracks()
    assert track.place[:2] == pytest.approx((10.0, 3.1), abs=0.2)


def test_a_poster_is_nobody():
    """A poster's depth lies in the plane of the surrounding wall, also when seen at an angle."""
    for pose in ((0.0, 0.0, 0.0), (3.0, -1.5, 0.5)):
        frames = [view(0.25 * k, [(WALL, 0.0)], thick=False, pose=pose) for k in range(6)]
        tracker = follow(frames)
        assert tracker.tracks() == () and tracker.pictures == 6


def test_a_person_at_a_wall_is_no_poster():
    tracker = follow([view(0.25 * k, [(WALL - 0.2, 0.0)]) for k in range(6)])
    assert len(tracker.tracks()) == 1 and tracker.pictures == 0


@settings(max_examples=60, deadline=None)
@given(st.floats(4.0, 4.6), st.floats(-0.3, 0.3), st.floats(-0.2, 0.2), st.floats(0.3, 0.8), st.booleans())
def test_somebody_beyond_a_wall_beside_the_view_is_no_poster(x, y, lean, short, left):
    """The plane of a nearer wall may cut a half hidden person beyond the wall's end."""
    frame, segmented = view(0.0, [(x, y)])
    column = CAMERA.cx - CAMERA.fx * y / x
    own = (segmented.labels > 0) & (np.abs(np.arange(80) - column) <= 1.6)
    normal = np.array([-1.0 if left else 1.0, lean, 0.3])
    along = CAMERA.rays() @ normal
    wall = normal @ [-y, 0.1, x - 0.08] / np.where(np.abs(along) > 1e-3, along, np.inf)
    depth = np.where(own, frame.depth, np.where((wall > 0.5) & (wall < x - short), wall, 0.0)).astype(
        np.float32
    )
    shown = replace(segmented, labels=np.where(own, segmented.labels, 0).astype(np.uint16))
    split = split_movers(replace(frame, depth=depth), shown, MoverConfig())
    assert split.pictures == 0 and len(split.sights) == 1


def test_a_mirror_without_depth_shows_nobody():
    frames = []
    for k in range(6):
        frame, segmented = view(0.25 * k, [(3.0, 0.0)])
        depth = np.where(segmented.labels > 0, np.float32(0.0), frame.depth)
        frames.append((replace(frame, depth=depth), segmented))
    assert follow(frames).tracks() == ()


def test_of_a_person_who_fills_the_image_nothing_is_fused():
    frame, _ = view(1.0)
    labels = np.ones(frame.depth.shape, np.uint16)
    seen = Detection(1, "person", "", 0.9, ImageBox(0, 0, 80, 60), labels.size)
    chain = VoxelChain(SemanticVoxelsConfig(), SharedConfig())
    for k in range(4):
        near = replace(frame, depth=np.full_like(frame.depth, 0.6), stamp=1.0 + k)
        with pytest.raises(FrameRejected):
            chain.take_segments(near, SegmentedFrame(1.0 + k, labels, (seen,)))
        with contextlib.suppress(FrameRejected):
            chain.take_depth(replace(near, stamp=1.5 + k))
    assert len(chain.movers.tracks()) == 1 and not chain.map.instances()
    assert len(chain.map.mesh().vertices) == 0


@pytest.mark.parametrize("rate", [1.0, 5.0, 20.0])
def test_a_hidden_walker_slows_down_alike_at_every_rate(rate):
    walks = [view(0.25 * k, [(3.0, -1.0 + 0.2 * k)]) for k in range(9)]
    tracker = follow(
        [*walks, *(view(2.0 + (k + 1) / rate, pose=(0.0, 0.0, math.pi)) for k in range(round(rate)))]
    )
    (track,) = tracker.tracks()
    before = follow(walks).tracks()[0].velocity
    assert np.linalg.norm(track.velocity) == pytest.approx(
        0.5 ** (1.0 / 0.7) * np.linalg.norm(before), rel=0.05
    )


def test_depth_is_left_out_no_longer_than_a_track_lives():
    tracker = follow([view(0.25 * k, [(3.0, 0.0)]) for k in range(4)])
    frame, _ = view(1.0, [(3.0, 0.0)])
    assert (tracker.without_movers(frame).depth != frame.depth).any()
    assert tracker.without_movers(replace(frame, stamp=3600.0)).depth is frame.depth


@pytest.mark.parametrize("field", ["odom_from_camera", "map_from_odom"])
def test_a_pose_that_is_no_number_changes_nothing_also_after_the_clock_went_back(field):
    tracker = follow([view(100.0 + 0.25 * k, [(3.0, 0.0)]) for k in range(4)])
    frame, segmented = view(1.0, [(3.0, 0.0)])
    tracker.take(
        replace(frame, **{field: np.full((4, 4), np.nan)}), split_movers(frame, segmented, tracker.config)
    )
    assert np.isfinite(tracker.tracks()[0].place).all()


@settings(max_examples=40, deadline=None)
@given(
    st.tuples(st.floats(1.2, 4.0), st.floats(-1.0, 1.0)), st.tuples(st.floats(-0.8, 0.8), st.floats(-0.8, 0.8)),
    st.sampled_from([slice(0, 30), slice(25, 60), slice(15, 45)]), st.integers(2, 8),
)  # fmt: skip
def test_nothing_is_left_of_somebody_of_whom_masks_show_a_part(place, velocity, rows, frames):
    """The head above the mask and the legs below it must give no surface either."""
    tracker = MoverTracker(MoverConfig())
    for k in range(frames):
        frame, whole = view(0.25 * k, [np.array(place) + 0.25 * k * np.array(velocity)])
        part = np.zeros_like(whole.labels)
        part[rows] = whole.labels[rows]
        tracker.take(frame, split_movers(frame, replace(whole, labels=part), tracker.config))
        if (part > 0).sum() < 60:  # too few pixels to locate a person
            return
        assert not (tracker.without_movers(frame).depth[whole.labels > 0] > 0.0).any()


def test_a_clock_that_went_back_and_late_frames():
    tracker = follow([view(100.0 + 0.25 * k, [(3.0, 0.0)]) for k in range(4)])
    frame, segmented = view(100.5, [(3.0, 2.0)])  # a late frame
    tracker.take(frame, split_movers(frame, segmented, tracker.config))
    assert len(tracker.tracks()) == 1
    frame, segmented = view(1.0, [(3.0, 0.0)])
    tracker.take(frame, split_movers(frame, segmented, tracker.config))
    assert tracker.tracks() == ()


def test_a_rejected_frame_updates_no_track():
    chain = VoxelChain(SemanticVoxelsConfig(), SharedConfig())
    frame, segmented = view(1.0, [(3.0, 0.0)])
    with pytest.raises(FrameRejected):
        chain.take_segments(frame, replace(segmented, labels=segmented.labels[:-1]))
    with pytest.raises(FrameRejected):
        chain.take_segments(replace(frame, odom_from_camera=np.full((4, 4), np.nan)), segmented)
    chain.take_movers(replace(frame, odom_from_camera=np.full((4, 4), np.nan)), segmented)
    assert chain.movers.tracks() == ()


walkers = st.lists(
    st.tuples(st.floats(1.0, 4.0), st.floats(-2.0, 2.0), st.floats(-1.5, 1.5), st.floats(-1.5, 1.5)),
    max_size=6,
)


@settings(max_examples=12, deadline=None)
@given(walkers, st.sampled_from(["person", "woman", "dog"]), st.integers(1, 12))
def test_whatever_walkers_do_nothing_of_them_is_in_the_map_and_tracks_are_bounded(paths, label, steps):
    chain = VoxelChain(SemanticVoxelsConfig(geometry_period=0.0), SharedConfig(movers=MoverConfig(most=4)))
    known, ended, followed = set(), set(), len(paths) <= 4
    for k in range(steps):
        now = 0.25 * (k + 1)
        people = [(x + vx * now, y + vy * now) for x, y, vx, vy in paths]
        shown = [p for p in people if p[0] < WALL - 0.5]
        frame, segmented = view(now, shown, label=label)
        sights = split_movers(frame, segmented, chain.movers.config).sights
        followed &= len(sights) == len(shown)  # false once a person is mostly hidden or outside the image
        try:
            delta = chain.take_segments(frame, segmented)
        except FrameRejected:  # people fill the image, so the frame is rejected
            continue
        finally:
            with contextlib.suppress(FrameRejected):
                chain.take_depth(replace(frame, stamp=now + 0.01))
        assert all(is_track(one.id) for one in delta.updated)
        assert all(is_track(one.instance_id) for one in delta.observations)
        assert set(delta.removed) <= known
        known |= {one.id for one in delta.updated}
        ended |= set(delta.removed)
        assert len(chain.movers.tracks()) <= 4
        assert not ended & {one.id for one in delta.updated}  # ids are never reused
    assert not chain.map.instances()
    assert not len(chain.map.cloud()[0])
    for k in range(24):  # the camera keeps viewing the place where they were
        now = 0.25 * (steps + 1 + k)
        frame, segmented = view(now)
        ended |= set(chain.take_segments(frame, segmented).removed)
        chain.take_depth(replace(frame, stamp=now + 0.01))
    assert chain.movers.tracks() == () and ended == known
    vertices = chain.map.mesh().vertices
    assert not followed or not (vertices[:, 0] < WALL - 0.3).any()  # no surface except the wall
    assert all(FIRST_TRACK <= identity < 1 << 31 for identity in known)


def _track(number, x, y, seen):
    """Return a track as of 10 s."""
    return MoverTrack(number, "", "", np.array([x, y, 0.9]), np.zeros(2), np.ones(3), 0.0, seen, 10.0)


#: (x, y, time last seen) of tracks.
TRACKS = st.lists(st.tuples(*[st.floats(-4.0, 4.0)] * 2, st.floats(6.0, 10.0)), max_size=4)


@given(seen=TRACKS, ranged=TRACKS)
def test_each_track_of_the_range_sensor_outdates_at_most_one_of_the_camera_and_none_that_it_sees(
    seen, ranged
):
    seen = [_track(k, *one) for k, one in enumerate(seen)]
    ranged = [_track(10 + k, *one) for k, one in enumerate(ranged)]
    kept = without_outdated(seen, ranged)
    dropped = [one for one in seen if one not in kept]
    assert kept[len(kept) - len(ranged) :] == tuple(ranged) and len(dropped) <= len(ranged)
    newest = max((one.last_seen for one in ranged), default=0.0)
    assert all(one.last_seen < newest for one in dropped)


@given(away=st.floats(0.7, 3.4), way=st.floats(0.0, 2.0 * math.pi))
def test_somebody_who_left_the_view_and_is_followed_by_the_range_sensor_is_one(away, way):
    """A person at up to 1.4 m/s is at most 3.4 m away after 2 s; another one stands in view."""
    lost, other = _track(1, 0.0, 0.0, 8.0), _track(2, 9.0, 0.0, 10.0)
    walked = _track(3, away * math.cos(way), away * math.sin(way), 10.0)
    assert without_outdated([lost, other], [walked]) == (other, walked)
    beside = _track(4, *(walked.place[:2] + 0.1), 10.0)
    assert lost in without_outdated([lost, beside], [walked]), "the range sensor follows the one in view"
