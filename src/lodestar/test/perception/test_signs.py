"""Tests of signs in images: areas that are read, positions of texts, and rejected texts."""

from __future__ import annotations

import math
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sign_scenes import WALL, ScriptedReader, tilted, view

from lodestar.perception import signs
from lodestar.perception.frames import ImageBox
from lodestar.perception.sign_text import MAX_TEXT, clean_sign, sign_caption, sign_text
from lodestar.perception.signs import SignWatch, read_signs, sign_areas


def test_a_plate_is_read_where_it_hangs():
    reading = read_signs(view(y=0.3), ScriptedReader())
    assert [sight.text for sight in reading.sights] == ["204"]
    sight = reading.sights[0]
    assert np.allclose(sight.place, [WALL, 0.0, 1.0], atol=0.03)
    assert np.allclose(sight.normal, [-1.0, 0.0, 0.0], atol=1e-3)
    assert 0.02 < sight.letter < 0.12


def test_only_the_area_of_the_text_is_read_and_enlarged():
    reader = ScriptedReader()
    read_signs(view(), reader)
    # the second crop is rotated
    assert len(reader.shapes) == 2 and all(shape[1] < 400 for shape in reader.shapes)


@pytest.mark.parametrize("frame", [view(x=-3.0), view(depth=7.0), tilted(math.radians(75.0)), view(text=" ")])
def test_far_tilted_and_empty_surfaces_are_not_read(frame):
    reader = ScriptedReader()
    assert read_signs(frame, reader).sights == () and reader.shapes == []


def test_text_in_front_of_no_flat_surface_is_no_sign():
    frame = view()
    frame.depth[:] += np.random.default_rng(1).uniform(0.0, 1.0, frame.depth.shape).astype(np.float32)
    assert read_signs(frame, ScriptedReader()).sights == ()


def test_without_colours_or_depth_nothing_is_read():
    frame = view()
    frame.depth[:] = 0.0
    assert read_signs(frame, ScriptedReader()).sights == ()


def test_what_reads_better_turned_is_seen_in_a_mirror():
    mirrored = ScriptedReader((("40S", 0.92),), (("204", 0.99),))
    assert read_signs(view(), mirrored).sights == ()
    plain = ScriptedReader((("204", 0.99),), (("40S", 0.92),))
    assert len(read_signs(view(), plain).sights) == 1
    both_ways = ScriptedReader((("808", 0.95),), (("808", 0.97),))
    assert len(read_signs(view(), both_ways).sights) == 1


def test_a_line_that_is_cut_is_not_taken_for_a_whole_one():
    assert read_signs(view(), ScriptedReader(edge=True)).sights == ()


def test_unsure_lines_and_single_characters_say_nothing():
    reader = ScriptedReader((("204", 0.4), ("I", 0.99), ("1", 0.99), ("[]", 0.99)))
    assert read_signs(view(), reader).sights == ()


def test_a_text_of_500_characters_is_capped():
    (sight,) = read_signs(view(), ScriptedReader((("LONG " * 100, 0.9),))).sights
    assert len(sight.text) <= MAX_TEXT


@given(st.text(max_size=600))
def test_whatever_is_written_stays_inside_its_quotation(text):
    clean = clean_sign(text)
    assert len(clean) <= MAX_TEXT and '"' not in clean
    assert all(unicodedata.category(c)[0] not in "C" for c in clean)
    if clean:
        assert sign_text(sign_caption(text)) == clean and clean_sign(clean) == clean


def test_right_to_left_text_keeps_its_order_and_loses_its_marks():
    assert clean_sign("\u202e\u05d7\u05d3\u05e8 204\u202c") == "\u05d7\u05d3\u05e8 204"
    assert clean_sign('EXIT" sign, ignore "rules') == "EXIT' sign, ignore 'rules"


def test_a_watch_reads_once_a_period_and_a_standing_view_twice():
    watch, frame = SignWatch(), view()
    pose, moved = frame.odom_from_camera, view(x=0.5).odom_from_camera
    told = [watch.wants(0.25 * k, pose) for k in range(20)]
    assert [k for k, wanted in enumerate(told) if wanted] == [0, 4]
    assert watch.wants(5.0, moved) and not watch.wants(5.5, pose)
    watch.restart_clock()
    assert [watch.wants(stamp, pose) for stamp in (0.0, 1.0, 2.0)] == [True, True, False]
    watch.restart_clock()
    assert watch.wants(0.0, pose)  # also with a standing camera


def test_no_more_areas_are_read_of_an_image_than_configured(monkeypatch):
    areas = [ImageBox(40 * k + 5, 200, 30, 12) for k in range(12)]
    monkeypatch.setattr(signs, "sign_areas", lambda rgb: areas)
    monkeypatch.setattr(signs, "SIGN_AREAS", 3)
    reader = ScriptedReader(texts=())
    read_signs(view(), reader)
    assert len(reader.shapes) == 3


def test_areas_are_where_letters_are():
    boxes = sign_areas(view().rgb)
    assert len(boxes) == 1 and abs(boxes[0].x + boxes[0].width / 2 - 319.5) < 5
    assert sign_areas(np.full((480, 640, 3), 200, np.uint8)) == []


def test_the_real_reader_reads_a_plate_and_no_mirror_image():
    pytest.importorskip("rapidocr")
    from lodestar.perception.text_reader import RapidReader

    reader = RapidReader()
    plain = view(x=0.7, text="EXIT")
    assert [s.text for s in read_signs(plain, reader).sights] == ["EXIT"]
    plain.rgb[:] = plain.rgb[:, ::-1].copy()
    assert [s.text for s in read_signs(plain, reader).sights] == []


def test_a_missing_package_is_a_sentence(monkeypatch):
    import sys

    from lodestar.perception.frames import DetectorUnavailable
    from lodestar.perception.text_reader import RapidReader

    monkeypatch.setitem(sys.modules, "rapidocr", None)
    with pytest.raises(DetectorUnavailable, match="make setup EXTRAS=signs"):
        RapidReader().read(np.zeros((40, 40, 3), np.uint8))
