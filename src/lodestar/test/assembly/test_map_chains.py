"""Tests of voxel and scene chains, as in nodes and headless robot: rates, rejected frames, failed loads, clocks."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from unittest.mock import Mock

import cv2
import numpy as np
import pytest
from closed_areas import closed_area
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.assembly.config import RobotConfig, SceneDictionaryConfig, SemanticVoxelsConfig, changed
from lodestar.assembly.local_map import LocalMap
from lodestar.assembly.parts import plan_mapper
from lodestar.assembly.plan_chain import PlanChain
from lodestar.assembly.scene_chain import SceneChain
from lodestar.assembly.shared import SharedConfig
from lodestar.assembly.voxel_chain import VoxelChain
from lodestar.floors.records import UNKNOWN, Building, Floor
from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.grammar import parse_directive
from lodestar.mapping.admission import FrameRejected, RejectReason
from lodestar.models.phrases import MissingPhrases, PhraseBook
from lodestar.perception.frames import Detection, ImageBox, RgbdFrame, SegmentedFrame
from lodestar.perception.signs import SignReading, SignSight
from lodestar.query.keep_out import KeepOutZones
from lodestar.scene.amendments import AmendmentRefused
from lodestar.scene.records import Refusal
from lodestar.storage.archive import Archive, ForeignFile
from lodestar.storage.saved_map import VOXELS, SavedMap, base_session
from lodestar.worldmodel.amendments import Amendment, Change, ClosedWay
from lodestar.worldmodel.world_model import Reply

CAMERA = PinholeCamera(64, 48, 40.0, 40.0, 31.5, 23.5)
ROBOT = changed(RobotConfig(), mapping__source="depth")
VOXELS_OF, SCENE_OF, SHARED = ROBOT.semantic_voxels, ROBOT.scene_dictionary, ROBOT.shared
FLOOR = OccupancyGrid2D(np.zeros((60, 60), np.int8), 0.1, (-3.0, -3.0))


def view(stamp: float, label: str = "chair") -> tuple[RgbdFrame, SegmentedFrame]:
    """Return a view of an object 2 m before the camera, and its segment."""
    pose = planar_transform(0.0, 0.0, 0.0, 0.5) @ BODY_FROM_OPTICAL
    depth = np.full((48, 64), 4.0, np.float32)
    labels = np.zeros((48, 64), np.uint16)
    depth[16:32, 24:40], labels[16:32, 24:40] = 2.0, 1
    seen = Detection(1, label, label, 0.9, ImageBox(24, 16, 16, 16), 256)
    return RgbdFrame(stamp, CAMERA, depth, pose), SegmentedFrame(stamp, labels, (seen,))


def look(chain: LocalMap, first: float = 1.0, count: int = 8, label: str = "chair") -> float:
    """Process `count` views at 2 Hz; return the stamp of the last one."""
    stamp = first
    for number in range(count):
        stamp = first + 0.5 * number
        frame, segmented = view(stamp, label)
        chain.take_depth(frame)
        assert chain.take_segments(frame, segmented)
        chain.work(stamp)
    return stamp


@pytest.fixture
def chain() -> LocalMap:
    return LocalMap(ROBOT, PhraseBook())


def content(chain: LocalMap) -> dict[str, object]:
    """Return the parts that a load replaces."""
    dictionary = chain.scene.dictionary
    return {
        "voxels": (chain.voxels.map, chain.voxels.map.session_id, chain.voxels.map.revision),
        "scene": (dictionary.session_id, sorted(dictionary.entities())),
        "mapper": chain.plan.mapper,
        "ways": chain.plan.ways,
        "mirror": sorted(chain.mirror.entities),
        "plan": chain.plan.grid.cells.tobytes(),
    }


# --- voxels ---------------------------------------------------------------------------------------------


def test_depth_without_segments_is_taken_at_its_period() -> None:
    chain = VoxelChain(SemanticVoxelsConfig(geometry_period=1.0), SHARED)
    wanted = [stamp for stamp in np.arange(0.0, 5.0, 0.25) if chain.wants_depth(float(stamp))]
    assert wanted == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_a_clock_that_is_set_back_holds_up_neither_depth_nor_segments() -> None:
    chain = VoxelChain(SemanticVoxelsConfig(geometry_period=1.0), SHARED)
    frame, segmented = view(1000.0)
    assert chain.wants_depth(1000.0)
    chain.take_depth(frame)
    chain.take_segments(frame, segmented)
    early, seen = view(10.0)
    with pytest.raises(FrameRejected) as rejected:
        chain.take_segments(early, seen)
    assert rejected.value.reason is RejectReason.STALE and chain.map.rejected[RejectReason.STALE] == 1
    chain.restart_clock()
    assert chain.wants_depth(10.0), "the period counts from the stamp that came back"
    chain.take_depth(early)
    assert chain.take_segments(early, seen).revision > 0


def test_a_successor_gives_no_id_again_with_or_without_its_predecessors_map() -> None:
    first = VoxelChain(VOXELS_OF, SHARED, "run")
    for number in range(4):
        first.take_segments(*view(1.0 + number))
    notes, archive = first.notes, first.part(lambda: 0.0).capture()
    assert notes["next_id"] > 1
    lost, kept = VoxelChain(VOXELS_OF, SHARED), VoxelChain(VOXELS_OF, SHARED)
    lost.succeed(notes)
    assert kept.resume(archive, {**notes, "next_id": 40})
    for chain, least in ((lost, notes["next_id"]), (kept, 40)):
        assert (
            chain.map.next_id >= least and base_session(chain.map.session_id) == "run" != chain.map.session_id
        )
    assert set(kept.map.instances()) == set(first.map.instances()) and not lost.map.instances()


def test_a_damaged_checkpoint_leaves_the_map_in_use() -> None:
    chain = VoxelChain(VOXELS_OF, SHARED, "run")
    before = chain.map
    with pytest.raises(ForeignFile):
        chain.resume(Archive("voxels", 1, {}, {}), chain.notes)
    assert chain.map is before


# --- scene ----------------------------------------------------------------------------------------------


def test_rooms_are_found_once_per_grid_and_again_when_asked() -> None:
    chain = SceneChain(SCENE_OF, SHARED, PhraseBook())
    assert not chain.rooms_wait and chain.find_rooms() is None
    chain.grid = FLOOR
    assert chain.rooms_wait
    found = chain.find_rooms()
    assert found is not None and found.grid is FLOOR and found.mask.shape == FLOOR.cells.shape
    assert not chain.rooms_wait and chain.find_rooms() is None
    chain.divide_again()
    assert chain.rooms_wait and chain.find_rooms() is not None
    chain.grid = replace(FLOOR, stamp=2.0)
    assert chain.rooms_wait


def test_rooms_are_found_again_where_a_sign_says_something_new_and_not_at_each_look() -> None:
    chain = SceneChain(SCENE_OF, SHARED, PhraseBook())
    chain.grid = FLOOR

    def look(number: int, text: str) -> bool:
        """Process a view of a sign; return whether the rooms need an update."""
        pose = planar_transform(0.3 * number, 0.0, math.pi / 2, 0.6) @ BODY_FROM_OPTICAL
        place, normal = np.array([1.0, 2.0, 1.2]), np.array([0.0, -1.0, 0.0])
        box = ImageBox(300, 200, 60, 20)
        sight = SignSight(text, 0.98, place, normal, 0.2, 0.07, 0.05, box)
        chain.take_signs(SignReading(float(number), pose, np.eye(4), (sight,)))
        again = chain.rooms_wait
        chain.find_rooms()
        return again

    chain.find_rooms()
    assert [look(number, "204") for number in range(5)] == [False, True, False, False, False]
    assert True in [look(number, "205") for number in range(5, 14)], "the plate was changed"
    chain.forget_layers()
    chain.find_rooms()
    assert look(14, "205"), "another map is in use"


def test_zones_follow_grid_and_directive_and_nothing_is_told_twice() -> None:
    fenced = changed(RobotConfig(), shared__fence__corners=(-1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 1.0))
    chain = SceneChain(fenced.scene_dictionary, fenced.shared, PhraseBook())
    assert chain.refresh(1.0) is not None and chain.zones is None, "no grid yet"
    chain.grid = FLOOR
    update = chain.refresh(2.0)
    assert update is not None and update.zones is chain.zones is not None and chain.zones.occupied.any()
    assert chain.refresh(3.0) is None


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-2.8, 2.8), st.floats(-2.8, 2.8)), min_size=3, max_size=8, unique=True),
    st.lists(st.tuples(st.floats(-2.8, 2.8), st.floats(-2.8, 2.8)), min_size=1, max_size=20),
)
def test_an_area_of_an_operator_is_forbidden_inside_and_open_again_without_it(corners, places) -> None:
    chain = SceneChain(SCENE_OF, SHARED, PhraseBook())
    chain.grid = FLOOR
    assert chain.follow_ways([closed_area(corners, "wet floor"), ClosedWay((0.0, 0.0), (1.0, 0.0))])
    assert not chain.follow_ways([closed_area(corners, "wet floor")])
    update = chain.refresh(1.0)
    assert update is not None and update.zones is not None
    barred, polygon = update.zones.occupied, np.array(corners, np.float32)
    for place in places:
        edge = cv2.pointPolygonTest(polygon, place, True)  # m from the polygon's edge, positive inside
        row, column = FLOOR.cells_of(np.array([place]))[0]
        if abs(edge) > 0.25:  # 2.5 cells: beyond the rasterised edge
            assert barred[row, column] == (edge > 0.0), (place, edge)
    assert chain.follow_ways([])
    again = chain.refresh(2.0)
    assert again is not None and again.zones is not None and not again.zones.occupied.any()


def test_a_thing_downstairs_bars_nothing_upstairs(chain: LocalMap) -> None:
    """Zones of a floor come from its objects only; while the floor is unknown, no rooms are segmented."""
    scene, floors = chain.scene, (Floor(1, 0, 0.0), Floor(2, 1, 3.0))
    look(chain)
    scene.change_floor(Building(floors[:1], active=1))
    scene.grid, scene.directive = FLOOR, parse_directive("find the mug but keep away from the chair")
    scene.pillars = chain.voxels.pillars()
    first = scene.refresh(10.0)
    assert first is not None and first.zones is not None and first.zones.occupied.any()
    assert scene.find_rooms() is not None and not scene.is_elsewhere

    scene.change_floor(Building(floors[:1], active=UNKNOWN))
    scene.grid = replace(FLOOR, stamp=15.0)  # a grid of no known floor
    assert not scene.rooms_wait and scene.find_rooms() is None
    landed = Building(floors, active=2, since=20.0)
    scene.change_floor(landed)
    assert scene.grid is None and scene.zones is None and scene.is_elsewhere, "a grid of before is forgotten"
    scene.grid = replace(FLOOR, stamp=20.0)
    scene.pillars = chain.voxels.pillars(landed.band)
    second = scene.refresh(21.0)
    assert second is not None and second.zones is not None and not second.zones.occupied.any()
    assert scene.find_rooms() is not None and not scene.is_elsewhere

    scene.change_floor(Building(floors, active=1, since=20.0))  # the update arrived late
    assert scene.grid is not None
    scene.pillars = chain.voxels.pillars(scene.building.band)
    back = scene.refresh(31.0)
    assert back is not None and back.zones is not None and back.zones.occupied.any()


def test_areas_are_laid_and_removed_while_a_directive_lacks_vectors(
    chain: LocalMap, monkeypatch: pytest.MonkeyPatch
) -> None:
    look(chain)
    chain.follow(parse_directive("find the mug but keep away from the chair"))
    chain.work(10.0)
    scene = chain.scene
    assert scene.zones is not None
    told = scene.zones.occupied.sum()
    assert told
    missing = MissingPhrases(("frobnicator",))
    monkeypatch.setattr(KeepOutZones, "mask", Mock(side_effect=missing))
    scene.follow_ways([closed_area(((0.0, -3.0), (4.0, -3.0), (4.0, 3.0)), "wet floor")])
    update = scene.refresh(20.0)
    assert update is not None and update.missing is missing and update.zones is not None
    assert update.zones.occupied.sum() > told, "the area, and what the directive forbade before"
    again = scene.refresh(21.0)
    assert again is not None and again.missing is missing and again.zones is None, "tried again, told once"
    scene.follow_ways([])
    update = scene.refresh(22.0)
    assert update is not None and update.zones is not None and update.zones.occupied.sum() == told
    scene.directive = parse_directive("find the mug")
    update = scene.refresh(23.0)
    assert update is not None and update.zones is not None and not update.zones.occupied.any()


def test_a_first_area_is_laid_while_a_thing_to_find_has_no_vector(chain: LocalMap) -> None:
    look(chain)
    scene = SceneChain(SCENE_OF, SHARED, PhraseBook())
    scene.grid, scene.pillars = FLOOR, chain.voxels.pillars()
    scene.take_instances(chain.voxels.map.delta_since(0)[0])
    scene.directive = parse_directive("find the frobnicator")
    scene.follow_ways([closed_area(((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0)), "wet floor")])
    update = scene.refresh(1.0)
    assert update is not None and update.missing is not None, "nobody embeds"
    assert update.zones is not None and update.zones.occupied.any()


def test_moved_things_are_off_where_the_configuration_says_so() -> None:
    assert (
        SceneChain(SceneDictionaryConfig(archive_moved=False), SharedConfig(), PhraseBook()).archive_moved()
        == []
    )


# --- all in one process ---------------------------------------------------------------------------------


def test_what_is_seen_is_in_mirror_rooms_and_every_followers_news(chain: LocalMap) -> None:
    told: list[int] = []
    chain.followers.append(lambda delta: told.extend(entity.id for entity in delta.updated))
    look(chain)
    assert [entity.label for entity in chain.mirror.entities.values()] == ["chair"]
    assert set(told) == set(chain.mirror.entities) == set(chain.scene.dictionary.entities())
    assert chain.mirror.regions == {} or chain.mirror.regions == chain.scene.dictionary.regions
    assert chain.seen is not None and chain.seen.observations


def test_a_rejected_frame_is_counted_and_changes_nothing(chain: LocalMap) -> None:
    last = look(chain)
    before, seen = content(chain), chain.seen
    assert not chain.take_segments(*view(last - 0.2))
    frame, segmented = view(last + 1.0)
    assert not chain.take_segments(frame, replace(segmented, stamp=frame.stamp + 9.0))
    assert content(chain) == before and chain.seen is seen
    assert chain.rejected == {"STALE": 1, "STAMP_MISMATCH": 1}
    assert chain.take_segments(*view(last + 2.0))


def test_periodic_work_goes_on_after_the_clock_went_back(chain: LocalMap) -> None:
    look(chain, first=1000.0)
    chain.follow(parse_directive("find the chair but keep away from the table"))
    chain.work(1010.0)
    assert chain.scene.pillars is not None
    before, divided = chain.scene.pillars, chain.scene.grid
    chain.plan.restart_clock()
    chain.voxels.restart_clock()
    chain.take_depth(view(5.0)[0])
    assert chain.take_segments(*view(5.0))
    chain.work(5.0)
    assert chain.scene.pillars is not before, "layers are made again"
    assert chain.scene.grid is not divided and not chain.scene.rooms_wait, "and rooms found"


def test_a_map_goes_on_in_another_process_with_its_ids_and_closed_ways(chain: LocalMap) -> None:
    last = look(chain)
    way = ClosedWay((1.0, 0.0), (2.0, 0.0), last, "shut", False)
    chain.follow_ways((way,))
    other = LocalMap(ROBOT, PhraseBook())
    other.go_on_from(chain.saved(), last)
    assert set(other.mirror.entities) == set(chain.mirror.entities) and other.plan.ways == (way,)
    assert other.grid is other.scene.grid is other.plan.grid and not other.scene.rooms_wait
    known = set(other.mirror.entities)
    look(other, first=last + 1.0)
    assert set(other.mirror.entities) == known, "the same thing keeps its id"


def test_zones_and_views_of_before_are_not_laid_over_a_loaded_map(chain: LocalMap) -> None:
    last = look(chain)
    chain.scene.zones, chain.scene.pillars = FLOOR, chain.voxels.pillars()
    chain.go_on_from(chain.saved(), last)
    assert chain.scene.zones is None and chain.scene.pillars is None and chain.seen is None


def test_a_grid_that_is_taken_back_has_the_stamp_of_that_moment() -> None:
    plan, clock = PlanChain(ROBOT.mapping), [10.0]
    take_back = plan.use(plan_mapper(ROBOT.mapping), lambda: clock[0])
    assert plan.grid.stamp == 10.0
    clock[0] = 50.0
    take_back()
    assert plan.grid.stamp == 50.0


def _fails(name: str) -> SavedMap:
    """Return a map whose part of this name is invalid."""
    chain = LocalMap(ROBOT, PhraseBook())
    look(chain, label="table")
    chain.follow_ways((ClosedWay((3.0, 0.0), (4.0, 0.0), 1.0, "", False),))
    saved = chain.saved()
    return SavedMap({**saved.parts, name: replace(saved.parts[name], arrays={}, meta={})})


@pytest.mark.parametrize("name", ["scene.lodestar", "voxels.lodestar", "grid.lodestar"])
def test_a_load_of_a_damaged_part_leaves_all_former_parts(chain: LocalMap, name: str) -> None:
    last = look(chain)
    before = content(chain)
    with pytest.raises(ForeignFile):
        chain.go_on_from(_fails(name), last)
    assert content(chain) == before
    known = set(chain.mirror.entities)
    look(chain, first=last + 1.0)
    assert set(chain.mirror.entities) == known, "the map goes on as if nothing had been loaded"


def test_a_load_that_fails_while_parts_are_swapped_takes_all_of_them_back() -> None:
    def refuse(ways: tuple[ClosedWay, ...]) -> object:
        raise OSError("the disk is full")

    chain = LocalMap(ROBOT, PhraseBook(), use_ways=refuse)  # type: ignore[arg-type]
    last = look(chain)
    before = content(chain)
    with pytest.raises(OSError, match="full"):
        chain.go_on_from(LocalMap(ROBOT, PhraseBook()).saved(), last)
    assert content(chain) == before
    known = set(chain.mirror.entities)
    look(chain, first=last + 1.0)
    assert set(chain.mirror.entities) == known and chain.scene.dictionary.counts["source_restarts"] == 0


def test_amendments_are_carried_out_or_refused_at_once(chain: LocalMap) -> None:
    look(chain)
    (identity,) = chain.mirror.entities
    replies: list[Reply] = []
    chain.amend([Amendment(Change.RELABEL, "it is not", "operator", identity, "stool")], replies.append)
    chain.amend([Amendment(Change.RELABEL, "it is not", "operator", 99, "stool")], replies.append)
    assert (
        replies[0].problem is None and replies[0].inverse and chain.mirror.entities[identity].label == "stool"
    )
    assert replies[1].problem is Refusal.UNKNOWN_ENTITY
    with pytest.raises(AmendmentRefused) as refused:
        chain.scene.amend([])
    assert refused.value.refusal is Refusal.BAD_REQUEST


@settings(max_examples=15, deadline=None)
@given(st.randoms(use_true_random=False))
def test_whatever_comes_in_whatever_order_the_mirror_is_the_scene(rng: random.Random) -> None:
    """Applies views with odd stamps, directives, paths, clocks set back, loads and work in random order."""
    chain, stamp = LocalMap(ROBOT, PhraseBook()), 1.0
    saved = chain.saved()
    for _ in range(25):
        stamp += rng.choice([0.0, 0.3, 1.5])
        deed = rng.choice(
            ["view"] * 6 + ["odd", "work", "back", "save", "load", "bad load", "ways", "follow"]
        )
        if deed == "view":
            frame, segmented = view(stamp, rng.choice(["chair", "table"]))
            chain.take_depth(frame)
            chain.take_segments(frame, segmented)
        elif deed == "odd":
            chain.take_segments(*view(rng.choice([-1.0, np.nan, np.inf])))
        elif deed == "back":
            stamp -= 50.0
            chain.plan.restart_clock()
            chain.voxels.restart_clock()
        elif deed == "save":
            saved = chain.saved()
        elif deed == "load":
            chain.go_on_from(saved, stamp)
        elif deed == "bad load":
            broken = {**saved.parts, VOXELS: replace(saved.parts[VOXELS], arrays={})}
            with pytest.raises(ForeignFile):
                chain.go_on_from(SavedMap(broken), stamp)
        elif deed == "ways":
            chain.follow_ways((ClosedWay((1.0, 0.0), (2.0, 0.0), stamp, "", False),))
        elif deed == "follow":
            chain.follow(rng.choice([None, parse_directive("find the chair but avoid the table")]))
        chain.work(stamp)
        chain.tell(*chain.scene.flush())
        assert dict(chain.mirror.entities) == chain.scene.dictionary.entities()
        assert chain.scene.grid is chain.plan.grid
        assert chain.grid.cells.shape == chain.plan.grid.cells.shape
