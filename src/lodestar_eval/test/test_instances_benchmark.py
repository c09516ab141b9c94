"""Tests of the counts of the benchmark `instances`, and of the images that the robot gets for it."""

from __future__ import annotations

import numpy as np
import pytest

from lodestar.assembly import parts
from lodestar.assembly.config import SemanticVoxelsConfig
from lodestar.geometry.camera import PinholeCamera
from lodestar.mapping.instances.records import CaptionVote, Instance, InstanceDelta, Observation
from lodestar.perception.frames import Detection, ImageBox, RgbdFrame, SegmentedFrame
from lodestar_eval.__main__ import main
from lodestar_eval.instance_metrics import IdentityWatch, f1, masks_of, metrics_of, score
from lodestar_eval.instance_truth import SeenParts, TrueInstances
from lodestar_eval.tour import Tour, TourConfig
from lodestar_sim.worlds import world_from_spec


def instance(identity: int, low, high, label="chair") -> Instance:
    low, high = np.array(low, float), np.array(high, float)
    votes = (CaptionVote(label, label, 1.0),)
    return Instance(identity, 9, (low + high) / 2, np.eye(3), low, high, votes, 1.0, 5, True, 0.0, 1.0)


def truth(*boxes) -> TrueInstances:
    """Return the truth of objects 1, 2 ... with boxes (low, high)."""
    low, high = (np.array([box[k] for box in boxes], float) for k in (0, 1))
    return TrueInstances(np.arange(1, len(boxes) + 1), low, high, (high - low).max(axis=1) < 0.2)


UNIT = ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
FAR = ((5.0, 0.0, 0.0), (6.0, 1.0, 1.0))
SMALL = ((8.0, 0.0, 0.0), (8.1, 0.1, 0.1))


def test_hits_misses_and_duplicates_are_counted():
    found = [instance(1, *UNIT), instance(2, (0, 0, 0), (0.2, 1, 1)), instance(3, *FAR, label="lamp")]
    counts = score(found, {1: 1, 2: 1, 3: 2}, truth(UNIT, FAR, SMALL), {1: "chair", 2: "chair"})
    metrics = metrics_of([counts])
    assert (counts["found_0.25"], counts["spurious_0.25"], counts["missed_0.25"]) == (2, 1, 0)
    assert metrics["f1_0.25"] == pytest.approx(0.8) and metrics["duplicates"] == 1.5
    assert metrics["label_accuracy"] == 0.5 and metrics["objects"] == 2
    assert counts["small_missed_0.25"] == 1 and metrics["small_recall_0.25"] == 0.0


def test_a_box_must_overlap_as_much_as_the_bound_says():
    low_share = instance(1, (0.0, 0.0, 0.0), (1.0, 1.0, 0.4))  # IoU 0.4
    counts = score([low_share], {1: 1}, truth(UNIT), {})
    assert counts["found_0.25"] == 1 and counts["found_0.5"] == 0 and counts["missed_0.5"] == 1


def test_what_was_not_seen_well_enough_counts_neither_way():
    counts = score([instance(1, *FAR)], {1: 77}, truth(UNIT), {})
    assert counts["spurious_0.25"] == 0 and counts["missed_0.25"] == 1
    # no object is there at all
    assert score([instance(1, *FAR)], {1: 0}, truth(UNIT), {})["spurious_0.25"] == 1


def test_a_picture_without_thickness_can_be_found():
    flat = ((0.0, 0.0, 0.0), (1.0, 0.0, 1.0))
    assert score([instance(1, *flat)], {1: 1}, truth(flat), {})["found_0.5"] == 1


def test_counts_add_up_and_nothing_gives_no_number():
    one = score([instance(1, *UNIT)], {1: 1}, truth(UNIT), {1: "chair"})
    assert metrics_of([one, one])["f1_0.25"] == 1.0 and metrics_of([one, one])["objects"] == 2.0
    assert np.isnan(f1(0, 0, 0)) and np.isnan(metrics_of([])["duplicates"])


def observed(identity: int, box: ImageBox) -> Observation:
    return Observation(identity, 0.0, np.eye(4), box, box.width * box.height, "chair", "chair", 1.0, 1.0)


def test_an_id_that_changes_is_a_switch_unless_it_was_merged():
    watch, forward = IdentityWatch(), {}
    box = ImageBox(0, 0, 10, 10)
    seen = (Detection(1, "chair", "chair", 1.0, box, 100),)

    def resolve(identity: int) -> int:
        return forward.get(identity, identity)

    for identity in (1, 1, 2):
        watch.add(InstanceDelta(0.0, 1, 0, observations=(observed(identity, box),)), seen, [5], resolve)
    assert (watch.switches, watch.sightings) == (1, 3)
    forward[2] = 3
    watch.add(InstanceDelta(0.0, 1, 0, observations=(observed(3, box),)), seen, [5], resolve)
    assert watch.switches == 1
    assert watch.objects_of([1, 3], resolve) == {1: 5, 3: 5}


def test_a_map_s_observations_are_recognised_as_the_frame_s_masks():
    """A map gives its observations outlines, which the detections do not have."""
    labels, depth = np.zeros((120, 160), np.uint16), np.full((120, 160), 2.0, np.float32)
    labels[40:80, 50:90] = 1
    seen = (Detection(1, "chair", "red chair", 1.0, ImageBox(50, 40, 40, 40), 1600),)
    frame = RgbdFrame(1.0, PinholeCamera(160, 120, 120.0, 120.0, 80.0, 60.0), depth, np.eye(4))
    voxels, watch = parts.voxel_map(SemanticVoxelsConfig()), IdentityWatch()
    delta = voxels.fuse(frame, SegmentedFrame(1.0, labels, seen))
    assert delta.observations[0].box.outline
    watch.add(delta, seen, [5], voxels.resolve)
    assert watch.sightings == 1 and watch.objects_of([delta.observations[0].instance_id], voxels.resolve) == {
        1: 5
    }


def test_a_mask_shows_the_object_of_most_of_its_pixels():
    labels = np.zeros((4, 4), np.uint16)
    labels[:2], labels[3] = 40, 7
    ids = np.zeros((4, 4), np.int32)
    ids[0], ids[1, 0] = 3, 9
    found = tuple(Detection(value, "a", "a", 1.0, ImageBox(0, 0, 4, 2), 8) for value in (40, 7))
    assert masks_of(SegmentedFrame(0.0, labels, found), ids) == [3, 0]


def test_a_tour_shows_the_truth_of_what_the_camera_sees(monkeypatch):
    monkeypatch.setattr("lodestar_eval.instance_truth.TRUTH_PIXELS", 20)
    monkeypatch.setattr("lodestar_eval.instance_truth.TRUTH_FRAMES", 1)
    tour = Tour(
        world_from_spec("apartment", 3), 3, TourConfig(limit=4.0, frame_interval=1.0, width=160, height=120)
    )
    seen = SeenParts(max(tour.world.labels()))
    frames = list(tour.frames())
    assert len(frames) >= 4 and frames[-1].image.stamp <= 4.2
    for frame in frames:
        seen.add(frame)
        both = (frame.depth < 5.0) & (frame.image.depth > 0)
        assert np.median(np.abs(frame.depth - frame.image.depth)[both]) < 0.03
        assert ((frame.ids > 0) == (frame.image.labels > 0)).all()
    result = seen.result()
    assert len(result.ids) >= 3
    for identity, low, high in zip(result.ids, result.low, result.high):
        thing = next((t for t in tour.world.objects if t.id == identity), None)
        if thing is not None:
            true_low, true_high = tour.world.box(thing)
            assert (low >= true_low - 0.02).all() and (high <= true_high + 0.02).all()


def test_bad_options_are_refused_in_words(tmp_path, capsys):
    assert main(["instances", "--scenarios", "fog", "--worlds", "1", "--out", str(tmp_path)]) == 2
    assert "jump" in capsys.readouterr().err
