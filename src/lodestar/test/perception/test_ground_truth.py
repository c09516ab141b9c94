"""Tests of the detector that reads label images, and of its simulated errors."""

import numpy as np
import pytest

from lodestar.perception.frames import ImageBox
from lodestar.perception.ground_truth import GroundTruthDetector, NoiseConfig
from lodestar.perception.segments import SegmentFilter, border_share, filter_segments, label_extents

TABLE = {
    11: {"class": "chair", "caption": "red chair"},
    12: {"class": "desk", "caption": "oak desk"},
    13: {"class": "cup", "caption": "blue cup"},
}


def image():
    labels = np.zeros((120, 160), np.uint16)
    labels[20:60, 10:50] = 11
    labels[20:60, 50:90] = 12
    labels[80:110, 100:130] = 13
    labels[0:5, 0:160] = 99  # missing in the table, like structure
    return labels


def detect(seed=0, labels=None, table=TABLE, frames=1, **noise):
    detector = GroundTruthDetector(NoiseConfig(**noise), np.random.default_rng(seed))
    found = [detector.segment(float(k), image() if labels is None else labels, table) for k in range(frames)]
    return found if frames > 1 else found[0]


def test_without_noise_every_mask_is_found_as_it_is():
    frame = detect()
    assert {(d.label, d.caption) for d in frame.detections} == {
        (e["class"], e["caption"]) for e in TABLE.values()
    }
    for detection in frame.detections:
        source = next(v for v, e in TABLE.items() if e["class"] == detection.label)
        np.testing.assert_array_equal(frame.labels == detection.label_value, image() == source)
        assert detection.pixel_count == (image() == source).sum()
    assert set(np.unique(frame.labels)) == {0} | {d.label_value for d in frame.detections}
    desk = next(d for d in frame.detections if d.label == "desk")
    assert desk.box == ImageBox(50, 20, 40, 40)


def test_values_are_new_in_each_frame_and_tell_nothing_of_the_source():
    frames = detect(frames=40)
    chairs = [next(d.label_value for d in f.detections if d.label == "chair") for f in frames]
    assert len(set(chairs)) > 5


def test_renumbering_the_source_changes_nothing():
    mapping = np.zeros(100, np.uint16)
    mapping[[11, 12, 13, 99]] = 40, 7, 91, 3
    table = {int(mapping[v]): e for v, e in TABLE.items()}
    noise = {"miss": 0.3, "split": 0.3, "merge": 0.3, "wrong_label": 0.3, "score_std": 0.1, "erode_px": 1}
    for seed in range(20):
        one, other = detect(seed, **noise), detect(seed, mapping[image()], table, **noise)
        np.testing.assert_array_equal(one.labels, other.labels)
        assert one.detections == other.detections


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_masks_are_missed_at_the_stated_rate(share):
    count = sum(len(f.detections) for f in detect(frames=400, miss=share))
    assert count / 1200 == pytest.approx(1 - share, abs=0.05)


def test_split_masks_are_two_that_make_up_the_one():
    frame = detect(split=1.0)
    chairs = [d for d in frame.detections if d.label == "chair"]
    assert len(chairs) == 2 and sum(d.pixel_count for d in chairs) == 1600
    assert min(d.pixel_count for d in chairs) > 600


def test_only_touching_masks_merge():
    frame = detect(merge=1.0)
    assert len(frame.detections) == 2
    joined = max(frame.detections, key=lambda d: d.pixel_count)
    assert joined.pixel_count == 3200 and joined.label == "chair"


def test_labels_go_wrong_at_the_stated_rate_and_are_labels_of_the_scene():
    frames = detect(frames=300, wrong_label=0.4)
    at_cup = [d.label for f in frames for d in f.detections if d.box.y == 80]
    assert at_cup.count("cup") / 300 == pytest.approx(0.6, abs=0.1)
    assert set(at_cup) == {"cup", "chair", "desk"}


def test_eroded_edges_and_small_masks():
    frame = detect(erode_px=2)
    assert next(d for d in frame.detections if d.label == "cup").pixel_count == 26 * 26
    assert {d.label for d in detect(min_pixels=1000).detections} == {"chair", "desk"}
    small = detect(min_pixels=1000)
    assert not (small.labels[80:110, 100:130] > 0).any()


def test_scores_spread_within_bounds():
    scores = [d.score for f in detect(frames=200, score_std=0.5) for d in f.detections]
    assert min(scores) >= 0.05 and max(scores) == 1.0 and np.std(scores) > 0.15


def test_the_same_seed_gives_the_same_detections():
    noise = {"miss": 0.2, "split": 0.2, "merge": 0.2, "wrong_label": 0.2}
    first, second = detect(3, frames=10, **noise), detect(3, frames=10, **noise)
    assert [f.detections for f in first] == [f.detections for f in second]


@pytest.mark.parametrize("labels", [np.zeros((4, 4, 3), np.uint16), np.zeros((4, 4), np.float32)])
def test_an_image_of_another_kind_is_refused(labels):
    with pytest.raises(ValueError, match="uint16"):
        detect(labels=labels)


def test_an_empty_image_has_no_detections():
    frame = detect(labels=np.zeros((10, 10), np.uint16))
    assert frame.detections == () and not frame.labels.any()


def test_the_share_of_an_outline_on_the_border():
    assert border_share(ImageBox(0, 0, 10, 10), 10, 10) == 1.0
    assert border_share(ImageBox(0, 5, 10, 10), 100, 100) == 0.25


def test_filter_leaves_a_good_frame_as_it_is():
    frame = detect()
    assert filter_segments(frame, SegmentFilter(1, 0.0)) is frame
    assert filter_segments(frame, SegmentFilter(1, 0.99)).detections == ()


def test_extents_come_in_the_order_of_first_pixels():
    found = label_extents(image())
    assert [v for v, _, _ in found] == [99, 11, 12, 13]
    assert found[3] == (13, ImageBox(100, 80, 30, 30), 900)
