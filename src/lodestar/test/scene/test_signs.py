"""Tests of signs as entities: agreement of views, map corrections, saving, and rooms named by plates."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.mapping.instances.records import InstanceDelta
from lodestar.perception.frames import ImageBox
from lodestar.perception.sign_text import MAX_TEXT, SIGN, sign_caption, sign_text
from lodestar.perception.signs import SignReading, SignSight
from lodestar.scene.amendments import Edit, EntityEdit
from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.persistence import scene_from_archive, scene_to_archive
from lodestar.scene.records import Region
from lodestar.scene.regions import RegionMap, is_called
from lodestar.scene.signs import FIRST_SIGN, plates_by_region, signs_of

SOUTH = np.array([0.0, -1.0, 0.0])
BOX = ImageBox(300, 200, 60, 20)


def sight(text: str, place=(1.0, 2.0, 1.25), normal=SOUTH, score: float = 0.98) -> SignSight:
    return SignSight(text, score, np.array(place, float), np.array(normal, float), 0.2, 0.07, 0.05, BOX)


def reading(
    *sights: SignSight, x: float = 1.0, y: float = 0.6, stamp: float = 1.0, correction=None
) -> SignReading:
    """Return the reading of a camera at (x, y) that looks along +y."""
    pose = planar_transform(x, y, math.pi / 2, 0.6) @ BODY_FROM_OPTICAL
    return SignReading(stamp, pose, np.eye(4) if correction is None else correction, sights)


def texts(scene: SceneDictionary) -> list[str]:
    return sorted(sign_text(e.caption) for e in scene.entities().values() if e.label == SIGN)


def test_two_views_that_agree_make_an_entity_and_one_view_none():
    scene = SceneDictionary()
    scene.take_signs(reading(sight("204")))
    for k in range(5):  # the same image again does not count as another view
        scene.take_signs(reading(sight("204"), stamp=2.0 + k))
    assert texts(scene) == []
    delta = scene.take_signs(reading(sight("204", place=(1.02, 2.0, 1.26)), x=1.3, stamp=9.0))
    (entity,) = delta.updated
    assert entity.id == FIRST_SIGN and entity.caption == sign_caption("204") and entity.label == SIGN
    assert np.allclose(entity.mean, [1.01, 2.0, 1.255], atol=1e-6) and len(entity.views) == 1
    assert entity.occupancy_probability == 1.0 and entity.attributes == ()


def test_a_wrong_letter_is_outvoted_and_lowers_the_agreement():
    scene = SceneDictionary()
    for k, text in enumerate(("MILLER", "MILLFR", "MILLER", "MILLER")):
        scene.take_signs(reading(sight(text), x=0.5 + 0.3 * k, stamp=float(k)))
    assert texts(scene) == ["MILLER"]
    assert 0.7 < next(iter(scene.entities().values())).occupancy_probability < 0.8


def test_views_that_never_agree_make_no_entity():
    scene = SceneDictionary()
    for k, text in enumerate(("204", "284", "20A", "2O4X", "Z04")):
        scene.take_signs(reading(sight(text), x=0.5 + 0.3 * k, stamp=float(k)))
    assert texts(scene) == []


def test_a_number_and_a_name_below_it_stay_two_signs():
    scene = SceneDictionary()
    for k in range(3):
        lines = sight("204"), sight("MILLER", place=(1.0, 2.0, 1.13))
        scene.take_signs(reading(*lines, x=0.5 + 0.3 * k, stamp=float(k)))
    assert texts(scene) == ["204", "MILLER"]


def test_both_sides_of_a_wall_have_signs_of_their_own():
    scene = SceneDictionary()
    for k in range(3):
        scene.take_signs(reading(sight("EXIT"), x=0.5 + 0.3 * k, stamp=float(k)))
        back = sight("EXIT", place=(1.0, 2.1, 1.25), normal=-SOUTH)
        scene.take_signs(reading(back, x=0.5 + 0.3 * k, y=3.5, stamp=k + 0.5))
    assert texts(scene) == ["EXIT", "EXIT"]


def test_signs_move_with_the_map_before_and_after_they_are_entities():
    scene, jump = SceneDictionary(), planar_transform(0.5, -0.2, 0.3)
    empty = InstanceDelta(0.0, 1, 0, session_id="s")
    scene.update(empty)
    scene.take_signs(reading(sight("204")))
    scene.update(InstanceDelta(2.0, 2, 1, map_from_odom=jump, session_id="s"))
    scene.take_signs(reading(sight("204"), x=1.4, stamp=3.0, correction=jump))
    (entity,) = (e for e in scene.entities().values() if e.label == SIGN)
    assert np.allclose(entity.mean, (jump @ [1.0, 2.0, 1.25, 1.0])[:3], atol=1e-6)


def test_a_saved_scene_keeps_its_signs_and_goes_on_with_them():
    scene = SceneDictionary()
    for k in range(2):
        scene.take_signs(reading(sight("204"), x=0.5 + 0.5 * k, stamp=float(k)))
    saved = scene_from_archive(scene_to_archive(scene), scene.config, 100.0)
    other = SceneDictionary()
    other.replace(saved.state, saved.map_id, saved.session_id)
    other.flush()
    other.take_signs(reading(sight("204"), x=2.0, stamp=50.0))
    other.take_signs(reading(sight("205", place=(5.0, 2.0, 1.25)), x=4.0, stamp=51.0))
    other.take_signs(reading(sight("205", place=(5.0, 2.0, 1.25)), x=5.0, stamp=52.0))
    assert texts(other) == ["204", "205"]
    found = {sign_text(e.caption): e for e in other.entities().values()}
    assert found["204"].id == FIRST_SIGN and found["204"].observation_count == 3
    assert found["205"].id == FIRST_SIGN + 1


def test_a_restarted_voxel_map_does_not_take_signs_for_lost():
    scene = SceneDictionary()
    scene.update(InstanceDelta(0.0, 1, 0, session_id="a"))
    for k in range(2):
        scene.take_signs(reading(sight("204"), x=0.5 + 0.5 * k, stamp=float(k)))
    scene.update(InstanceDelta(3.0, 1, 0, session_id="a+1"))
    scene.claim("a+1", ())
    assert scene.counts["orphans"] == 0 and texts(scene) == ["204"]
    scene.update(InstanceDelta(4.0, 1, 0, session_id="b"))  # a new map session
    assert texts(scene) == []


def test_signs_that_were_read_before_the_first_instance_stay():
    scene = SceneDictionary()
    for k in range(2):
        scene.take_signs(reading(sight("EXIT"), x=0.5 + 0.5 * k, stamp=float(k)))
    scene.update(InstanceDelta(3.0, 1, 0, session_id="a"))
    assert texts(scene) == ["EXIT"]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=80), st.floats(0.0, 4.0), st.floats(0.6, 1.0)), max_size=12))
def test_whatever_is_read_never_ends_the_scene(seen):
    scene = SceneDictionary()
    for k, (text, x, score) in enumerate(seen):
        scene.take_signs(reading(sight(text, place=(x, 2.0, 1.0), score=score), x=0.2 * k, stamp=float(k)))
    for entity in scene.entities().values():
        assert (
            entity.caption.count('"') == 2 and entity.caption.endswith('" sign') and entity.attributes == ()
        )


# --- rooms ---------------------------------------------------------------------------------------------------------


def rooms() -> RegionMap:
    """Return a corridor (1) of 2 m, and behind its wall two rooms (2, 3) with doorways at x = 2 and x = 6."""
    mask = np.zeros((60, 80), np.uint16)
    mask[:20] = 1
    mask[21:, :39], mask[21:, 41:] = 2, 3
    mask[20, 15:25], mask[20, 55:65] = 2, 3
    found = RegionMap(1.0)
    found.set_mask(mask, (0.0, 0.0), 0.1)
    return found


def plate(scene: SceneDictionary, text: str, x: float, normal=SOUTH, y: float = 2.0) -> None:
    for k in range(3):
        one = sight(text, place=(x, y, 1.25), normal=normal)
        scene.take_signs(reading(one, x=x + 0.3 * k, y=y - 1.2, stamp=float(k)))


def test_a_plate_beside_a_door_names_the_room_behind_its_wall():
    scene = SceneDictionary()
    plate(scene, "204", 2.8)
    plate(scene, "MILLER", 2.8, y=2.0)
    plate(scene, "KITCHEN", 5.2)
    plate(scene, "EXIT", 7.9, normal=np.array([-1.0, 0.0, 0.0]), y=1.0)  # a plate at the end of the corridor
    named = plates_by_region(signs_of(scene.state.records), rooms())
    assert set(named[2]) >= {"204"} and named[3] == ("KITCHEN",) and 1 not in named


def test_a_plate_far_from_any_doorway_names_nothing():
    scene = SceneDictionary()
    mask = np.zeros((60, 80), np.uint16)
    mask[:20], mask[21:] = 1, 2
    shut = RegionMap(1.0)
    shut.set_mask(mask, (0.0, 0.0), 0.1)
    plate(scene, "204", 2.8)
    assert plates_by_region(signs_of(scene.state.records), shut) == {}


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("room 204", True), ("office 204", True), ("204", True), ("room 20", False), ("room 205", False),
        ("office miller", True), ("office mill", False), ("kitchen", False), ("office", True),
    ],
)  # fmt: skip
def test_a_region_goes_by_what_its_plates_say(name, called):
    region = Region(1, "office", 0.8, 12.0, np.zeros(2), plates=("204", "A. Miller"))
    assert is_called(region, (name,)) is called


@pytest.mark.parametrize("thing", ["FLOOR", "Level", "EXIT", "gate", "building", "phone"])
def test_a_number_on_a_plate_is_that_of_a_room_unless_another_thing_has_it(thing):
    other = Region(1, "office", 0.8, 12.0, np.zeros(2), plates=(f"{thing} 2",))
    assert not is_called(other, ("room 2",))
    for plate in ("Meeting Room 2", "Dr. Smith 2", "rooms 1 2", "A 2", "2"):
        own = Region(2, "office", 0.8, 12.0, np.zeros(2), plates=(plate,))
        assert is_called(own, ("room 2",)), plate


def test_a_plate_tells_the_kind_of_room_before_what_stands_in_it():
    scene = SceneDictionary()
    plate(scene, "KITCHEN", 2.8)
    found = rooms()
    regions = [(i, 8.0, np.array([1.0, 1.0]), ()) for i in (1, 2, 3)]
    named = scene.assign_regions(found._mask, (0.0, 0.0), 0.1, regions)
    assert [(r.label, r.plates) for r in named] == [("", ()), ("kitchen", ("KITCHEN",)), ("", ())]


def test_a_plate_that_an_operator_archived_names_no_room():
    scene = SceneDictionary()
    plate(scene, "204", 2.8)
    assert plates_by_region(signs_of(scene.state.records), rooms()) == {2: ("204",)}
    scene.amend([EntityEdit(Edit.ARCHIVE, FIRST_SIGN)])
    assert plates_by_region(signs_of(scene.state.records), rooms()) == {}


# --- bounds --------------------------------------------------------------------------------------------------------


def test_more_signs_that_wait_than_are_kept_leave_those_that_are_agreed():
    scene = SceneDictionary()
    for k in range(2):
        scene.take_signs(reading(sight("204"), x=0.5 + 0.5 * k, stamp=float(k)))
    once = [sight(f"SHOP {k}", place=(2.0 + k, 2.0, 1.25)) for k in range(600)]
    scene.take_signs(reading(*once, x=2.0, stamp=5.0))
    scene.take_signs(reading(once[-1], x=3.0, stamp=6.0))  # the newest was still waiting, so it is confirmed
    scene.take_signs(reading(once[0], x=4.0, stamp=7.0))  # the oldest was dropped
    assert texts(scene) == ["204", "SHOP 599"]


def test_a_sign_that_is_read_in_a_hundred_ways_remembers_the_usual_ones():
    scene = SceneDictionary()
    for k in range(300):
        text = "204" if k % 3 == 0 else f"{k}0{k}X"
        scene.take_signs(reading(sight(text), x=0.3 * k, stamp=float(k)))
    for track in scene.state.signs._tracks:
        assert len(track.votes) <= 16 and track.text == "204"


def test_a_sign_on_the_floor_has_a_size_along_each_axis():
    scene = SceneDictionary()
    for k in range(2):
        flat = sight("WET FLOOR", place=(1.0, 2.0, 0.0), normal=(0.0, 0.0, 1.0))
        scene.take_signs(reading(flat, x=0.5 + 0.5 * k, stamp=float(k)))
    (entity,) = scene.entities().values()
    assert np.linalg.eigvalsh(entity.covariance).min() > 0.0


def test_a_text_that_no_reader_cleaned_is_cleaned_and_one_that_says_nothing_is_left_out():
    scene = SceneDictionary()
    for k in range(3):
        long = sight("A" * 5000, place=(1.0, 2.0, 1.25))
        scene.take_signs(reading(long, sight('"\n', place=(3.0, 2.0, 1.25)), x=0.3 * k, stamp=float(k)))
    assert texts(scene) == ["A" * MAX_TEXT]
    assert [set(track.votes) for track in scene.state.signs._tracks] == [{"A" * MAX_TEXT}]


@pytest.mark.parametrize("score", [math.nan, -1.0, 1e9])
def test_a_sign_with_impossible_numbers_is_refused(score):
    with pytest.raises(ValueError, match="score"):
        sight("204", score=score)
    with pytest.raises(ValueError, match="numbers"):
        sight("204", place=(math.inf, 0.0, 0.0))
