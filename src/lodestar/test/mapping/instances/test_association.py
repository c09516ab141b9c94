"""Tests of association rules: which masks each joins to one instance, and the data the map keeps for them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.geometry.camera import PinholeCamera
from lodestar.mapping.instances.association import Masks, Match
from lodestar.mapping.instances.samples import Samples
from lodestar.mapping.instances.sights import SightMemory
from lodestar.mapping.instances.split_evidence import SplitEvidence
from lodestar.mapping.instances.tracks import Track, Tracks
from lodestar.mapping.semantic_voxels import SemanticVoxelMap
from lodestar.perception.config import NoiseConfig
from lodestar.perception.frames import Detection, ImageBox


def drive(world, poses, voxels, start=0.0, feature=None):
    """Fuse one frame per pose, 0.25 s apart; `feature` makes the appearance of a detection."""
    for i, pose in enumerate(poses):
        frame, segmented = world.frame(start + 0.25 * (i + 1), *pose)
        if feature is not None:
            found = tuple(replace(d, feature=feature(d)) for d in segmented.detections)
            segmented = replace(segmented, detections=found)
        voxels.fuse(frame, segmented)


def confirmed(voxels, label):
    found = [i for i in voxels.instances().values() if i.confirmed]
    return [i for i in found if i.votes[0].label == label]


def vector_of(detection) -> np.ndarray:
    """Return a different direction for each caption."""
    vector = np.random.default_rng(sum(map(ord, detection.caption))).normal(size=16).astype(np.float32)
    return vector / np.linalg.norm(vector)


def test_two_things_stay_apart_and_each_of_them_is_one(box_world, box, orbit):
    things = [
        box("chair", (-0.25, -0.25, 0), (0.25, 0.25, 0.9)),
        box("plant", (1.5, 1.2, 0), (1.8, 1.5, 0.6)),
    ]
    voxels = SemanticVoxelMap()
    drive(box_world(things), orbit((0.7, 0.5), 2.6, 0, 360, 48), voxels, feature=vector_of)
    assert len(confirmed(voxels, "chair")) == len(confirmed(voxels, "plant")) == 1


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("overlooked", [0, 5])
def test_what_stands_on_a_shelf_is_no_part_of_it(box_world, box, count, overlooked):
    """From afar the shelf's mask includes the objects; from near each has a mask, on the shelf's voxels.

    overlooked: the shelf has no mask in every n-th frame; 0 = never.
    """
    panels = [((1.3, -0.8, 0.0), (1.34, 0.8, 0.9))]
    panels += [((1.0, y, 0.0), (1.3, y + 0.03, 0.9)) for y in (-0.8, 0.77)]
    panels += [((1.0, -0.8, z), (1.3, 0.8, z + 0.03)) for z in (0.0, 0.4, 0.87)]
    shelf = [box("bookshelf", low, high, "a white bookshelf", "shelf") for low, high in panels]
    rows = [
        box("books", (1.05, y, 0.43), (1.28, y + 0.35, 0.75), f"{color} books")
        for y, color in ((-0.7, "red"), (-0.15, "green"), (0.4, "blue"))
    ][:count]
    hidden = [replace(row, label="bookshelf", caption="a white bookshelf", whole="shelf") for row in rows]
    world, voxels = box_world([*shelf, *hidden]), SemanticVoxelMap()
    drive(world, [(-2.5, 0.1 * y, 0.0) for y in range(-3, 4)], voxels)
    (known,) = confirmed(voxels, "bookshelf")
    for n in range(24):
        missed = overlooked and n % overlooked == overlooked - 1
        world.boxes[:] = rows if missed else [*shelf, *rows]
        drive(world, [(-0.6, 0.03 * (n - 12), 0.0)], voxels, start=10.0 + n)
    (still,) = confirmed(voxels, "bookshelf")
    assert still.id == known.id
    assert len(confirmed(voxels, "books")) == count


def test_a_thing_that_was_labelled_wrongly_is_not_two(box_world, box):
    """The only mask of an object sometimes has another label."""
    chair = box("chair", (-0.25, -0.25, 0), (0.25, 0.25, 0.9), "a red chair")
    world, voxels = box_world([chair]), SemanticVoxelMap()
    for n in range(20):
        world.boxes[0] = replace(chair, label="stool", caption="a stool") if n % 3 == 2 else chair
        drive(world, [(-2.0, 0.02 * n, 0.0)], voxels, start=float(n))
    assert [i.votes[0].label for i in voxels.instances().values() if i.confirmed] == ["chair"]


@pytest.fixture
def from_both_sides():
    """Return poses that see a long object at the origin from one side, then from the other, never from an end."""
    sides = []
    for y, yaw in ((-2.2, math.pi / 2), (2.2, -math.pi / 2)):
        sides += [(x, y, yaw) for x in np.linspace(-0.5, 0.5, 10)]
    return sides


def test_a_bed_seen_from_two_sides_becomes_one(box_world, box, from_both_sides):
    """The bed's top is above the camera, so its two sides share no voxel."""
    bed = box("bed", (-1.0, -0.8, 0.0), (1.0, 0.8, 0.7), "a grey bed")
    voxels = SemanticVoxelMap()
    drive(box_world([bed]), from_both_sides, voxels)
    (instance,) = confirmed(voxels, "bed")
    assert (instance.box_max - instance.box_min)[1] > 1.4
    np.testing.assert_allclose(instance.centroid[:2], (0.0, 0.0), atol=0.2)


def test_two_of_a_kind_with_room_between_them_stay_two(box_world, box, from_both_sides):
    low = [box("bench", (-1.0, y, 0.0), (1.0, y + 0.1, 0.7), "a bench") for y in (-0.8, 0.7)]
    voxels = SemanticVoxelMap()
    through = [(-2.4, 0.0, a) for a in (-0.1, 0.0, 0.1)]  # views from the end, between both sides
    drive(box_world(low), through + from_both_sides, voxels)
    assert len(confirmed(voxels, "bench")) == 2


def test_beds_side_by_side_stay_two(box_world, box, from_both_sides):
    beds = [box("bed", (-1.0, y, 0.0), (1.0, y + 1.4, 0.7), "a grey bed") for y in (-1.6, 0.2)]
    voxels = SemanticVoxelMap()
    drive(box_world(beds), [(x, 1.8 * y, yaw) for x, y, yaw in from_both_sides], voxels)
    assert len(confirmed(voxels, "bed")) == 2


def test_faces_of_another_caption_stay_apart(box_world, box, from_both_sides):
    bed = box("bed", (-1.0, -0.8, 0.0), (1.0, 0.8, 0.7), "a grey bed")
    world, voxels = box_world([bed]), SemanticVoxelMap()
    drive(world, from_both_sides[:10], voxels)
    world.boxes[0] = replace(bed, caption="a blue bed")
    drive(world, from_both_sides[10:], voxels, start=10.0)
    assert len(confirmed(voxels, "bed")) == 2


def renamed(world, index, label, caption):
    """Change an object's label and caption from now on."""
    world.boxes[index] = replace(world.boxes[index], label=label, caption=caption)


def things(voxels):
    return [i for i in voxels.instances().values() if i.confirmed]


def test_a_sofa_on_one_side_and_a_couch_on_the_other_are_one(box_world, box, from_both_sides):
    """The two sides share no voxel, and the detector gives them different labels."""
    world = box_world([box("sofa", (-1.0, -0.8, 0.0), (1.0, 0.8, 0.7), "a grey sofa")])
    voxels = SemanticVoxelMap()
    drive(world, from_both_sides[:10], voxels)
    renamed(world, 0, "couch", "a gray couch")
    drive(world, from_both_sides[10:], voxels, start=10.0)
    (instance,) = things(voxels)
    assert (instance.box_max - instance.box_min)[1] > 1.4


def test_fragments_called_sofa_and_couch_become_one(box_world, box):
    """A pillar hides the middle; the ends get different labels; then the object is seen whole."""
    sofa = box("sofa", (-1.2, 1.0, 0.0), (1.2, 1.5, 0.75), "a sofa")
    world = box_world([sofa, box("pillar", (-0.55, 0.3, 0.0), (0.55, 0.45, 2.0))])
    voxels = SemanticVoxelMap()
    drive(world, [(0.0, -1.2, math.radians(a)) for a in (60, 62, 64)], voxels)
    renamed(world, 0, "couch", "a couch")
    drive(world, [(0.0, -1.2, math.radians(a)) for a in (120, 118, 116)], voxels, start=5.0)
    assert len(confirmed(voxels, "sofa")) == len(confirmed(voxels, "couch")) == 1
    renamed(world, 0, "settee", "a settee")
    drive(
        world, [(x, 0.1 if abs(x) > 0.7 else -1.2, math.pi / 2) for x in np.linspace(-2, 2, 33)], voxels, 10.0
    )
    drive(world, [(x, 2.9, -math.pi / 2) for x in np.linspace(-1.0, 1.0, 12)], voxels, start=30.0)
    assert len([i for i in things(voxels) if i.votes[0].label != "pillar"]) == 1


@pytest.mark.parametrize("names", [("chair", "chair"), ("chair", "office chair"), ("couch", "sofa")])
def test_twins_side_by_side_stay_two_whatever_they_are_called(box_world, box, orbit, names):
    """Seen from all sides, with labels that change from frame to frame."""
    boxes = [box("", (-0.55, -0.25, 0), (-0.05, 0.25, 0.9)), box("", (0.05, -0.25, 0), (0.55, 0.25, 0.9))]
    world, voxels = box_world(boxes), SemanticVoxelMap()
    for k, pose in enumerate(orbit((0, 0), 2.2, 0, 360, 48)):
        for index in (0, 1):
            name = names[(k + index) % 2]
            renamed(world, index, name, f"a {name}")
        drive(world, [pose], voxels, start=0.25 * k)
    assert len(things(voxels)) == 2
    centres = sorted(float(i.centroid[0]) for i in things(voxels))
    assert centres == pytest.approx([-0.3, 0.3], abs=0.1)


def test_a_chair_under_a_table_is_not_the_table(box_world, box, orbit):
    """Most of the chair lies inside the table's box."""
    table = box("table", (-0.8, -0.5, 0.68), (0.8, 0.5, 0.75))
    legs = box("table", (0.7, -0.5, 0.0), (0.8, 0.5, 0.68))
    chair = box("chair", (-0.7, -0.25, 0.0), (-0.2, 0.25, 0.6))
    voxels = SemanticVoxelMap()
    drive(box_world([table, legs, chair]), orbit((0, 0), 2.4, 0, 360, 60), voxels)
    assert len(confirmed(voxels, "chair")) == 1
    (found,) = confirmed(voxels, "chair")
    assert (found.box_max - found.box_min < (0.8, 0.8, 0.8)).all()


def test_a_label_that_was_wrong_for_long_gives_way():
    """After 200 images as a barrel, 30 as a rack prevail if 10 votes are kept, and not if all are kept."""
    bounded, unbounded = (Track(1, 0.0, 0.0, np.zeros(3), np.ones(3)) for _ in range(2))
    for track, most in ((bounded, 10.0), (unbounded, np.inf)):
        for label, times in (("barrel", 200), ("rack", 30)):
            for _ in range(times):
                track.vote(label, f"blue {label}", 0.8, 16, most)
    assert (bounded.label, bounded.caption) == ("rack", "blue rack")
    assert sum(bounded.labels.values()) == pytest.approx(10.0)
    assert sum(bounded.shares.values()) == pytest.approx(10.0)
    assert unbounded.label == "barrel"


_PAIRS = st.tuples(st.sampled_from(["barrel", "rack", "toy"]), st.sampled_from(["", "red", "blue", "old"]))


@settings(max_examples=60, deadline=None)
@given(
    runs=st.lists(st.tuples(_PAIRS, st.integers(1, 400)), min_size=1, max_size=8),
    keep=st.integers(1, 4),
    most=st.sampled_from([1.0, 10.0, math.inf]),
)
def test_labels_that_faded_to_nothing_leave_without_harm(runs, keep, most):
    """A label has the sum of its captions' weights, even if that has become too small to subtract from."""
    track = Track(1, 0.0, 0.0, np.zeros(3), np.ones(3))
    for (label, caption), times in runs:
        for _ in range(times):
            track.vote(label, caption, 0.8, keep, most)
    weights = {
        name: sum(w for (own, _), w in track.labels.items() if own == name) for name, _ in track.labels
    }
    assert track.shares == pytest.approx(weights) and len(track.labels) <= keep
    assert track.label in weights


def test_single_wrong_labels_change_nothing():
    track = Track(1, 0.0, 0.0, np.zeros(3), np.ones(3))
    for i in range(400):
        track.vote("rack" if i % 10 == 0 else "barrel", "", 0.8, 16, 10.0)
        assert i == 0 or track.label == "barrel"


def test_synonyms_vote_together():
    track = Track(1, 0.0, 0.0, np.zeros(3), np.ones(3))
    for label, weight in (("table", 2.5), ("sofa", 1.0), ("couch", 2.0)):
        track.vote(label, f"a grey {label}", weight, 16)
    assert track.label == "couch" and track.caption == "a grey couch"
    assert track.agreement("settee") == track.agreement("sofa") == 1.0
    assert track.agreement("table") == pytest.approx(2.5 / 3.0)
    assert track.agreement("lamp") == 0.0


def test_noise_does_not_hide_that_a_bed_is_one(box_world, box, from_both_sides):
    bed = box("bed", (-1.0, -0.8, 0.0), (1.0, 0.8, 0.7), "a grey bed")
    noise = NoiseConfig(miss=0.1, split=0.05, wrong_label=0.1, min_pixels=8)
    voxels = SemanticVoxelMap()
    lamp = box("lamp", (2.0, -0.2, 0), (2.3, 0.2, 1.2))
    drive(box_world([bed, lamp], noise=noise, seed=2), from_both_sides * 2, voxels)
    assert len(confirmed(voxels, "bed")) == 1


def test_sights_tell_what_was_seen_through_from_what_was_hidden(monkeypatch):
    monkeypatch.setattr("lodestar.mapping.instances.sights.SIGHT_VIEWS", 4)
    camera = PinholeCamera(160, 120, 95.0, 95.0, 79.5, 59.5)
    sights = SightMemory()
    points = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 3.0], [50.0, 0.0, 1.0]])
    assert not sights.empty(points)[0].any()
    for shift in range(9):  # more captions than are kept
        pose = np.eye(4)
        pose[0, 3] = 0.01 * shift if shift % 2 else 0.4 + 0.01 * shift
        sights.add(np.full((120, 160), 2.0, np.float32), camera, pose)
    empty, hidden = sights.empty(points)
    assert empty.tolist() == [True, False, False] and hidden.tolist() == [False, True, False]
    bad = np.full((120, 160), np.nan, np.float32)
    sights.add(bad, camera, np.diag([1.0, -1.0, -1.0, 1.0]))  # without depth, no space is known to be empty
    assert not sights.empty(np.array([[0.0, 0.0, -1.0]]))[0].any()


boxes = st.tuples(*[st.floats(-6, 6) for _ in range(3)], *[st.floats(0.0, 3.0) for _ in range(3)])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["add", "move", "pop", "seen"]), boxes), max_size=40), boxes)
def test_the_index_finds_what_a_search_of_all_finds(steps, wanted):
    tracks, next_id = Tracks(), 1
    for stamp, (what, numbers) in enumerate(steps):
        low, size = np.array(numbers[:3]), np.array(numbers[3:])
        ids = sorted(tracks)
        if what == "add" or not ids:
            tracks.add(Track(next_id, stamp, stamp, low, low + size))
            next_id += 1
        elif what == "move":
            tracks.place(tracks[ids[stamp % len(ids)]], low, low + size)
        elif what == "seen":
            tracks.seen(tracks[ids[stamp % len(ids)]], float(stamp))
        else:
            tracks.pop(ids[stamp % len(ids)])
    low, high = np.array(wanted[:3]), np.array(wanted[:3]) + np.array(wanted[3:])
    found = [t.id for t in tracks.values() if (t.box_min <= high).all() and (t.box_max >= low).all()]
    assert tracks.near(low, high) == sorted(found)
    assert sorted(tracks.next_in_turn(len(tracks))) == sorted(tracks)
    until = float(len(steps) // 2)
    old = sorted(tracks.values(), key=lambda track: track.last_seen)
    expired = tracks.expired(until, confirm=1, most=5)
    assert [tracks[i].last_seen for i in expired] == [t.last_seen for t in old if t.last_seen < until][:5]
    for track in tracks.values():
        track.observation_count = 1
    assert tracks.expired(until, confirm=1, most=5) == []


def masks_in(*boxes) -> Masks:
    """Return masks of 60 points spread over each box ((low), (high)), each with a different caption."""
    rng = np.random.default_rng(0)
    clouds = [
        np.vstack([low, high, rng.uniform(low, high, (58, 3))]).astype(np.float32) for low, high in boxes
    ]
    points = np.vstack(clouds)
    voxels = np.floor(points / 0.05).astype(np.int32)
    low, high = (np.array([f(c, axis=0) for c in clouds]) for f in (np.min, np.max))
    start, depth = 60 * np.arange(len(boxes) + 1), np.ones(len(points), np.float32)
    samples = Samples(start, depth, points, voxels, low, high, np.ones(len(boxes)))
    found = tuple(
        Detection(i, "thing", f"thing {i}", 0.9, ImageBox(0, 0, 9, 9), 60) for i in range(len(boxes))
    )
    return Masks(samples, np.ones(len(boxes), bool), found, SightMemory())


def test_what_is_known_to_be_two_parts_in_a_frame_that_shows_the_whole():
    """A glimpse of a table's far edge and of the box before it does not tell which one the rest belongs to."""
    tracks, evidence = Tracks(), SplitEvidence()
    tracks.add(Track(7, 0.0, 0.0, np.zeros(3), np.array([2.0, 1.0, 0.7])))
    both = [Match(0, 7), Match(1, 7)]
    glimpse = masks_in(((0.0, 0.4, 0.0), (0.3, 0.7, 0.3)), ((0.7, 0.0, 0.6), (0.9, 1.0, 0.7)))
    assert [evidence.look(both, glimpse, tracks) for _ in range(9)] == [[]] * 9
    whole = masks_in(((0.0, 0.0, 0.0), (0.9, 1.0, 0.7)), ((1.2, 0.0, 0.0), (2.0, 0.9, 0.7)))
    assert [split.instance_id for split in evidence.look(both, whole, tracks)] == [7]
    assert evidence.look(both, whole, tracks) == []  # the count restarts
