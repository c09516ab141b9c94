"""Tests of mask outlines, which have few corners close to the mask's border."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.perception.frames import Detection, ImageBox
from lodestar.perception.outlines import CORNERS, outline_of, outlined, parts_of

SHAPE = (240, 320)


def filled(outline):
    """Return the mask (H, W) bool that an outline encloses."""
    mask = np.zeros(SHAPE, np.uint8)
    for part in parts_of(outline):
        cv2.fillPoly(mask, [part], 1)
    return mask > 0


def overlap(a, b):
    return np.count_nonzero(a & b) / np.count_nonzero(a | b)


@st.composite
def furniture(draw):
    """Draw a mask of an ellipse or a polygon, with posts in front of it."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    mask = np.zeros(SHAPE, np.uint8)
    centre = rng.uniform((80, 60), (240, 180))
    if draw(st.booleans()):
        size = rng.uniform(20, 60, 2).astype(int)
        cv2.ellipse(mask, centre.astype(int).tolist(), size.tolist(), rng.uniform(0, 180), 0, 360, 1, -1)
    else:
        turns = np.sort(rng.uniform(0, 2 * np.pi, draw(st.integers(4, 12))))
        away = rng.uniform(25, 60, len(turns))
        corners = centre + away[:, None] * np.stack([np.cos(turns), np.sin(turns)], 1)
        cv2.fillPoly(mask, [corners.astype(np.int32)], 1)
    for _ in range(draw(st.integers(0, 3))):
        left = int(rng.integers(0, 310))
        mask[:, left : left + 8] = 0
    return mask


@given(furniture())
@settings(deadline=None, max_examples=150)
def test_an_outline_has_few_corners_and_encloses_what_the_mask_does(mask):
    outline = outline_of(mask)
    assert len(outline) <= 2 * CORNERS and all(type(value) is int for value in outline)
    parts = parts_of(outline)
    if np.count_nonzero(mask) < 200:
        return
    count, _, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    assert 1 <= len(parts) <= 4
    for part in parts:
        assert (part >= 0).all() and (part < SHAPE[::-1]).all()
    kept = sorted(stats[1:, cv2.CC_STAT_AREA])[-4:]
    if count <= 5 and min(kept) > 0.2 * max(kept):
        assert overlap(filled(outline), mask > 0) > 0.85
    shifted = parts_of(outline_of(mask[20:, 30:], 30, 20))
    assert (mask[:20] > 0).any() or (mask[:, :30] > 0).any() or np.array_equal(shifted[0], parts[0])


def test_a_thing_behind_a_post_has_two_parts_and_specks_have_none():
    mask = np.zeros(SHAPE, np.uint8)
    mask[100:160, 100:200] = 1
    mask[:, 145:155] = 0
    mask[10:12, 10:12] = 1
    parts = parts_of(outline_of(mask))
    assert sorted(sorted({tuple(corner) for corner in part.tolist()}) for part in parts) == [
        [(100, 100), (100, 159), (144, 100), (144, 159)],
        [(155, 100), (155, 159), (199, 100), (199, 159)],
    ]


@pytest.mark.parametrize("mask", [np.zeros((4, 4)), np.eye(1), np.ones((1, 9)), np.zeros((0, 0))], ids=repr)
def test_what_has_no_area_has_no_outline(mask):
    assert outline_of(mask.astype(np.uint8)) == ()


def test_noise_of_a_thousand_specks_stays_within_the_corners():
    mask = (np.random.default_rng(3).random(SHAPE) < 0.4).astype(np.uint8)
    assert 0 < len(outline_of(mask)) <= 2 * CORNERS


@given(st.lists(st.integers(-(2**15), 2**15 - 1), max_size=64))
def test_damaged_outlines_are_read_as_parts_or_nothing(values):
    for part in parts_of(tuple(values)):
        assert part.shape[1] == 2 and len(part) >= 3


def test_a_detection_gets_the_outline_of_its_own_pixels():
    labels = np.zeros(SHAPE, np.uint16)
    labels[50:90, 60:120] = 7
    labels[50:70, 60:90] = 8  # another object before its corner
    found = outlined(Detection(7, "desk", "", 0.9, ImageBox(60, 50, 60, 40), 1800), labels)
    assert overlap(filled(found.box.outline), labels == 7) > 0.95
    assert (found.box.x, found.box.width) == (60, 60)
