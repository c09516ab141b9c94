"""Tests of votes against voxels outside masks, which spare overlooked objects (ADR 0081)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lodestar.mapping.semantic_voxels import SemanticVoxelMap


@pytest.fixture
def chair(box):
    return box("chair", (-0.25, -0.25, 0.0), (0.25, 0.25, 0.9), "a red chair")


def confirmed(voxels):
    return [i for i in voxels.instances().values() if i.confirmed]


def called_a_chair(segmented, *masks):
    """Replace the segments by chairs with these masks (H, W) bool."""
    labels = np.zeros_like(segmented.labels)
    detections = []
    for value, mask in enumerate(masks, 1):
        labels[mask] = value
    for value in range(1, len(masks) + 1):
        of = replace(segmented.detections[0], label="chair", caption="", label_value=value)
        detections.append(replace(of, pixel_count=int((labels == value).sum())))
    return replace(segmented, labels=labels, detections=tuple(detections))


def chair_mask(segmented):
    (own,) = (d for d in segmented.detections if d.label == "chair")
    return segmented.labels == own.label_value


def beyond(voxels, thing):
    """Return the number of instance voxels 0.1 m or more outside of an object."""
    points = voxels.cloud()[0]
    return ((points < np.array(thing.low) - 0.1) | (points > np.array(thing.high) + 0.1)).any(axis=1).sum()


@pytest.mark.parametrize("alone", [True, False], ids=["itself", "beside_it"])
def test_a_mask_that_was_too_large_is_outvoted_by_those_that_show_its_end(
    box_world, box, chair, orbit, alone, monkeypatch
):
    monkeypatch.setattr("lodestar.mapping.instances.association_rule.largest", lambda label: np.inf)
    wall = box("wall", (0.4, -2.0, 0.0), (0.5, 2.0, 2.0))
    world, voxels = box_world([chair, wall]), SemanticVoxelMap()
    for number, pose in enumerate(orbit((0, 0), 2.0, 178, 182, 60)):
        frame, segmented = world.frame(0.25 * (number + 1), *pose)
        own = chair_mask(segmented)
        large = own.copy()
        # two thirds of the image are labelled a chair, an error of real detectors
        large[:, large.shape[1] // 3 :] = True
        masks = [own] if number >= 15 else [large] if alone else [large & ~own, own]
        voxels.fuse(frame, called_a_chair(segmented, *masks))
        if number == 14:
            early = beyond(voxels, chair)
    assert early > 3000 and beyond(voxels, chair) < 0.1 * early


@pytest.mark.parametrize("width", [1.0, 6.0])
def test_a_mask_that_no_chair_can_fill_is_no_chair(box_world, box, orbit, width):
    wall = box("sofa", (0.4, -width / 2.0, 0.0), (0.5, width / 2.0, 2.0))
    world, voxels = box_world([wall]), SemanticVoxelMap()
    for number, pose in enumerate(orbit((0, 0), 3.0, 178, 182, 20)):
        frame, segmented = world.frame(0.25 * (number + 1), *pose)
        voxels.fuse(frame, called_a_chair(segmented, segmented.labels > 0))
    assert len(voxels.instances()) == (width < 2.0)


@pytest.mark.parametrize("seen_every", [2, 6, 9])
def test_a_thing_that_is_mostly_overlooked_stays_as_large_as_it_is(box_world, chair, orbit, seen_every):
    world, voxels = box_world([chair]), SemanticVoxelMap()
    for number, pose in enumerate(orbit((0, 0), 2.0, 0, 360, 20 * seen_every)):
        frame, segmented = world.frame(0.2 * (number + 1), *pose)
        if number % seen_every:
            segmented = replace(segmented, labels=np.zeros_like(segmented.labels), detections=())
        voxels.fuse(frame, segmented)
        if number > 2 * seen_every:
            assert confirmed(voxels), number
    (instance,) = confirmed(voxels)
    np.testing.assert_allclose(instance.box_min, chair.low, atol=0.1)
    np.testing.assert_allclose(instance.box_max, chair.high, atol=0.1)


@pytest.mark.parametrize("depths", range(4))
def test_every_third_frame_with_segments_votes_however_much_depth_comes_between(
    box_world, chair, orbit, depths, monkeypatch
):
    world, voxels, unseen = box_world([chair]), SemanticVoxelMap(), []
    look = voxels._store.look

    def noted(*arguments):
        unseen.extend([] if arguments[-1] is None else [arguments[-1].unseen])
        return look(*arguments)

    monkeypatch.setattr(voxels._store, "look", noted)
    for number, pose in enumerate(orbit((0, 0), 2.0, 0, 90, 12)):
        for part in range(depths):
            voxels.integrate_depth(world.frame(0.2 * (number + 1) + 0.01 * part, *pose)[0])
        voxels.fuse(*world.frame(0.2 * (number + 1) + 0.1, *pose))
    assert unseen == [0, 0, 1] * 4
