"""Tests of comparing maps: by ids within a continued session, by grids in one frame otherwise."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "scene"))
from scene_builders import sighting
from session_builders import DAY, THINGS, loaded, save, thing, today, yesterday

from lodestar.assembly.session_maps import running_session, saved_session
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.mapping.instances.records import Merge
from lodestar.models.category_priors import CategoryPriors
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.session_changes import ChangeKind
from lodestar.scene.session_sights import OtherMap, changes_between
from lodestar.storage.archive import ForeignFile
from lodestar.storage.saved_map import SCENE
from lodestar.storage.snapshot import BadFolder


def kinds(changes):
    return {(c.before or c.after).id: c.kind for c in changes}


def between(before, after, **options):
    return changes_between(before, after, DAY, CategoryPriors(), **options)


@pytest.fixture
def maps(tmp_path):
    return saved_session(save(yesterday(), tmp_path / "a")), saved_session(
        save(today(), tmp_path / "b", 1_000_000.0 + DAY)
    )


def test_a_saved_map_says_when_it_was_saved_and_what_it_holds(maps):
    before, after = maps
    assert after.saved - before.saved == DAY
    assert set(before.entities) == set(THINGS) and before.map_name == after.map_name == (3, "abc")


def test_yesterdays_map_and_todays_differ_by_what_happened(maps):
    changes = between(*maps)
    assert kinds(changes) == {
        1: ChangeKind.MOVED, 2: ChangeKind.VANISHED, 3: ChangeKind.SAME, 4: ChangeKind.SAME, 6: ChangeKind.UNKNOWN,
    }  # fmt: skip
    moved = next(c for c in changes if c.kind is ChangeKind.MOVED)
    assert moved.after.id == 20 and moved.distance == pytest.approx(np.hypot(3.0, 3.0))


def test_people_are_left_out(maps):
    assert 5 not in kinds(between(*maps))


def test_a_map_compared_with_itself_says_nothing_of_what_nobody_looked_at(maps):
    assert set(kinds(between(maps[0], maps[0])).values()) == {ChangeKind.UNKNOWN}


def test_a_running_scene_is_compared_by_its_mirror(maps):
    scene, mirror = today(), SceneMirror()
    mirror.take(replace(scene.delta_since(0)[0], session_id="abc+.f00"))
    assert kinds(between(maps[0], running_session(mirror, 0.0))) == kinds(between(*maps))


def test_an_entity_that_was_merged_into_another_is_no_loss():
    scene, news = loaded(yesterday())
    news(updated=(thing(4, count=9, stamp=5.0),), merges=(Merge(1, 4),))
    before = running_session(mirror_of(yesterday()), 0.0)
    after = running_session(mirror_of(scene), 0.0)
    assert kinds(between(before, after))[4] is ChangeKind.SAME


def mirror_of(scene):
    mirror = SceneMirror()
    mirror.take(scene.delta_since(0)[0])
    return mirror


def test_what_was_known_to_be_gone_and_is_back_appeared():
    scene, news = loaded(today())
    before = running_session(mirror_of(today()), 0.0)
    news(
        updated=(thing(2, (1.0, 4.0, 0.9), count=12, stamp=9.0),),
        observations=(sighting(2, 9.0, label="laptop"),),
    )
    changes = between(before, running_session(mirror_of(scene), 0.0))
    assert [c.kind for c in changes if c.after is not None and c.after.id == 2] == [ChangeKind.APPEARED]


def test_maps_of_other_sessions_are_refused_unless_they_share_a_frame():
    one = running_session(mirror_of(yesterday()), 0.0)
    other = replace(one, session="xyz")
    with pytest.raises(OtherMap, match="--same-frame"):
        between(one, other)
    seen = OccupancyGrid2D(np.zeros((80, 80), np.int8), 0.1, (0.0, 0.0))
    fresh = replace(
        other, grid=seen, entities={i + 50: replace(e, id=i + 50) for i, e in one.entities.items()}
    )
    changes = between(replace(one, grid=seen), fresh, same_frame=True)
    assert set(kinds(changes).values()) == {ChangeKind.SAME}


def test_a_place_that_a_grid_does_not_know_was_not_looked_at():
    one = running_session(mirror_of(yesterday()), 0.0)
    unknown = OccupancyGrid2D(np.full((80, 80), -1, np.int8), 0.1, (0.0, 0.0))
    empty = replace(one, session="xyz", entities={}, grid=unknown)
    assert set(kinds(between(one, empty, same_frame=True)).values()) == {ChangeKind.UNKNOWN}
    seen = replace(empty, grid=OccupancyGrid2D(np.zeros((80, 80), np.int8), 0.1, (0.0, 0.0)))
    assert kinds(between(one, seen, same_frame=True))[1] is ChangeKind.VANISHED


def test_a_running_dictionary_tells_what_changed_since_it_loaded_a_map():
    assert yesterday().changes_since_load(100) == []
    scene = today()
    assert kinds(scene.changes_since_load(100))[2] is ChangeKind.VANISHED
    assert scene.changes_since_load(3) == []  # too many entities to compare


def test_a_folder_without_a_map_is_refused(tmp_path):
    with pytest.raises(BadFolder):
        saved_session(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ForeignFile):
        saved_session(tmp_path / "empty")


def test_a_damaged_map_is_refused(tmp_path):
    folder = save(yesterday(), tmp_path / "a")
    file = next(folder.rglob(SCENE))
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(bytes(data))
    with pytest.raises(ForeignFile):
        saved_session(folder)
