"""Tests of saving and loading complete maps: all or nothing on any fault, and people's statements are kept."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import numpy as np
import pytest
from failing_disk import every_failure
from permissions import permissions_enforced
from scene_builders import Feed, instance

from lodestar.assembly.config import RobotConfig
from lodestar.assembly.local_map import LocalMap
from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import planar_transform
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.keyframes.folder import KeyframeSet
from lodestar.keyframes.store import KeyframePart, KeyframeStore
from lodestar.mapping.persistence import map_to_arrays
from lodestar.models.phrases import PhraseBook
from lodestar.perception.frames import RgbdFrame
from lodestar.scene.persistence import scene_from_archive
from lodestar.scene.records import EntityState
from lodestar.storage.archive import ForeignFile
from lodestar.storage.replacement import Replacement, exchange, replace_all, told, undone_by
from lodestar.storage.saved_map import GRID, KEYFRAMES, SCENE, VOXELS, WAYS, SavedMap, load_map, save_map
from lodestar.storage.snapshot import SnapshotFolder
from lodestar.worldmodel.amendments import Amendment, Change, ClosedWay
from lodestar.worldmodel.scene_journal import journal_of_run
from lodestar.worldmodel.way_file import way_part

CAMERA = PinholeCamera(32, 24, 30.0, 30.0, 16.0, 12.0)
DOOR = ClosedWay((1.0, 0.0), (2.0, 0.0), 500.0, "shut", False)
NAMES = {"Anna's room"}


class Robot:
    """Parts of a map as in the nodes, without ROS."""

    def __init__(self, folder: Path, thing: int, offset: float, names: bool = False) -> None:
        self.folder = folder
        self.map = LocalMap(RobotConfig(), PhraseBook())
        wall = np.column_stack([np.full(50, 2.0 + offset), np.linspace(-1.0, 1.0, 50), np.full(50, 0.3)])
        self.map.plan.mapper.insert_points(
            wall, planar_transform(0.0, 0.0, 0.0, 0.4), planar_transform(0.0, 0.0, 0.0)
        )
        self.map.voxels.map.session_id = f"s{thing}"
        self.scene = self.map.scene.dictionary
        self.feed = Feed()
        self.scene.update(self.feed(updated=(instance(thing),), session_id=f"s{thing}"))
        self.find_rooms()
        if names:
            self.scene.name_region(1, None, "Anna's room")
        self.keyframes = KeyframeStore(folder / "images")
        for step in range(3):
            pose = np.eye(4)
            pose[0, 3] = offset + step
            image = np.full((24, 32, 3), thing, np.uint8)
            nothing = np.zeros((0, 0), np.float32)
            self.keyframes.offer(RgbdFrame(1.0 + step, CAMERA, nothing, pose, rgb=image))
        self.map.follow_ways((DOOR,) if names else ())
        assert self.map.scene.replay(journal_of_run(folder / "run", "run")) == ()
        self.journal = self.map.scene.journal

    def find_rooms(self) -> None:
        self.scene.find_regions(OccupancyGrid2D(np.zeros((60, 60), np.int8), 0.1, (-3.0, -3.0)))

    @property
    def ways(self) -> tuple[ClosedWay, ...]:
        return self.map.plan.ways

    def parts(self) -> tuple:
        plan, later = self.map.plan, lambda: 1e9
        ways = way_part(lambda: plan.ways, self.map.replace_ways, lambda: 0.0)
        chains = self.map.scene.part(later), plan.part(lambda: 0.0), self.map.voxels.part(later)
        return (*chains, KeyframePart(self.keyframes), ways)

    def save(self, path: Path) -> None:
        save_map(SnapshotFolder(path, keep=2), self.parts(), {"saved": 1.0})

    def load(self, path: Path, *more: object) -> tuple[str, ...]:
        journal = ("journal", exchange(lambda _: self.journal.clear(), None))
        return load_map(path, (*self.parts(), *more), [journal])[1]  # type: ignore[arg-type]

    def content(self) -> dict[str, object]:
        """Return all data that a load replaces, in memory and on disk."""
        scene = self.scene
        with scene.lock:
            names = {word for word, *_ in scene.state.names.to_meta()}
            things = {i: (r.label, r.state) for i, r in scene.state.records.items()}
        stores = self.keyframes, KeyframeStore(self.folder / "images")
        return {
            "names": names, "things": things, "ways": self.ways, "base": scene.session_id.split("+")[0],
            "free": self.map.plan.mapper.project(0.0).cells.tobytes(),
            "voxels": self.map.voxels.map.session_id.split("+")[0],
            "images": [[store.get(i)[1] for i in store.ids] for store in stores],
            "journal": len(journal_of_run(self.folder / "run", "run").lines),
        }  # fmt: skip


@pytest.fixture
def yesterday(tmp_path):
    robot = Robot(tmp_path / "yesterday", 7, 0.0, names=True)
    robot.save(tmp_path / "map")
    return robot


def fresh(tmp_path: Path, number: int = 0) -> Robot:
    """Return a robot in another building, whose operator has reported an absent object."""
    robot = Robot(tmp_path / f"today-{number}", 3, 5.0)
    robot.journal.amend(robot.scene, (Amendment(Change.ARCHIVE, "gone", "operator", 3),))
    return robot


def test_everything_goes_on_also_what_people_said(yesterday, tmp_path):
    robot = fresh(tmp_path)
    assert robot.load(tmp_path / "map") == ()
    assert robot.content() == {**yesterday.content(), "journal": 0}
    assert robot.ways == (DOOR,)
    robot.scene.flush()
    robot.find_rooms()
    assert {region.label for region in robot.scene.regions.values() if region.named} == NAMES
    robot.save(tmp_path / "again")
    third = Robot(tmp_path / "third", 4, 1.0)
    third.load(tmp_path / "again")
    assert third.content()["names"] == NAMES, "names outlive any number of saves"


def test_a_map_without_ways_opens_those_of_the_map_before(yesterday, tmp_path):
    part, _ = SnapshotFolder(tmp_path / "map").open()
    fresh(tmp_path).save(tmp_path / "other")
    other, _ = SnapshotFolder(tmp_path / "other").open()
    (other / WAYS).unlink()
    manifest = other / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"ways.lodestar"', '"keyframes/none"'))
    yesterday.load(tmp_path / "other")
    assert yesterday.ways == () and (part / WAYS).exists()


def test_a_load_that_fails_at_any_operation_changes_nothing(yesterday, tmp_path):
    robots = [fresh(tmp_path)]
    before, loaded, failed = robots[0].content(), yesterday.content(), 0
    assert before["journal"] == 1
    for disk, error in every_failure(lambda: robots[-1].load(tmp_path / "map")):
        wanted = before if error else {**loaded, "journal": 0}
        assert robots[-1].content() == wanted, f"operation {disk.at}: {error}"
        failed += error is not None
        if error is None:
            robots.append(fresh(tmp_path, len(robots)))
    assert failed > 15


class Stubborn:
    """Part whose node refuses at the last moment."""

    name, is_optional = "stubborn", False

    def prepare(self, path: Path) -> Replacement:
        def undo() -> None:
            raise RuntimeError("it is still dead")

        with undone_by(undo):
            yield ()
            raise RuntimeError("its node died")


def test_a_part_that_refuses_at_the_last_moment_undoes_all_and_is_told(yesterday, tmp_path):
    robot = fresh(tmp_path)
    before = robot.content()
    with pytest.raises(RuntimeError, match="its node died") as raised:
        robot.load(tmp_path / "map", Stubborn())
    assert robot.content() == before
    assert told(raised.value) == "its node died; it could not go back to what it had: it is still dead"
    assert robot.scene.state.records[3].state is EntityState.ARCHIVED, "what was acknowledged holds"


def test_a_checkpoint_that_finds_no_room_is_told_once_and_its_part_is_back():
    """The previous checkpoint still exists, and need not be replaced."""
    content, written = ["own"], []

    def kept():
        raise OSError("no space left")

    def put(name):
        content.append(name)
        return content.pop

    parts = [
        ("ways", exchange(put, "shut", lambda: written.append(content[-1]))),
        ("grid", exchange(put, "g", kept)),
    ]
    with pytest.raises(OSError, match="no space left") as raised:
        replace_all(parts)
    assert content == ["own"] and written == ["shut", "own"]
    assert told(raised.value) == "no space left"


def test_the_error_of_each_part_is_told(yesterday, tmp_path):
    part, _ = SnapshotFolder(tmp_path / "map").open()
    for name in (VOXELS, GRID):
        content = (part / name).read_bytes()
        (part / name).write_bytes(content[:-100] + bytes(100))
    robot = fresh(tmp_path)
    before = robot.content()
    with pytest.raises(ForeignFile) as raised:
        robot.load(tmp_path / "map")
    assert GRID in told(raised.value) and VOXELS in told(raised.value) and SCENE not in told(raised.value)
    assert robot.content() == before


def test_an_emptied_image_is_told_and_the_map_loads(yesterday, tmp_path):
    part, _ = SnapshotFolder(tmp_path / "map").open()
    image = part / KEYFRAMES / "00000002.jpg"
    image.unlink()
    image.write_bytes(b"")  # as after a power cut without a sync
    robot = fresh(tmp_path)
    (note,) = robot.load(tmp_path / "map")
    assert "00000002" in note and robot.keyframes.ids == (1, 3)
    assert robot.content()["names"] == NAMES


def test_a_save_that_fails_at_any_operation_leaves_the_one_before(yesterday, tmp_path):
    other, failed = fresh(tmp_path), 0
    wanted = [yesterday.content()["things"], other.content()["things"]]
    for disk, error in every_failure(lambda: other.save(tmp_path / "map")):
        part, _ = SnapshotFolder(tmp_path / "map").open()
        saved = scene_from_archive(SavedMap.read(tmp_path / "map").parts[SCENE], other.scene.config, 1e9)
        things = {i: (r.label, r.state) for i, r in saved.state.records.items()}
        kept = KeyframeSet.read(part / KEYFRAMES)
        assert things in wanted and len(kept.keyframes) == 3, f"operation {disk.at}: {error}"
        assert not kept.damaged and (error is not None or things == wanted[1])
        failed += error is not None
        yesterday.save(tmp_path / "map")
    assert failed > 30


def test_every_file_is_synced_before_the_manifest_and_its_owner_s_alone(yesterday, tmp_path, monkeypatch):
    order, real, replace = [], os.fsync, os.replace
    name_of = lambda handle: os.readlink(f"/proc/self/fd/{handle}")  # noqa: E731
    monkeypatch.setattr(os, "fsync", lambda handle: (order.append(name_of(handle)), real(handle)))
    monkeypatch.setattr(os, "replace", lambda a, b: (order.append(f"-> {b}"), replace(a, b)))
    before = os.umask(0)
    try:
        yesterday.save(tmp_path / "deep" / "map")
    finally:
        os.umask(before)
    part, _ = SnapshotFolder(tmp_path / "deep" / "map").open()
    manifest = order.index(f"-> {part / 'manifest.json'}")
    synced = set(order[:manifest])
    written = {str(path) for path in part.rglob("*") if path.name != "manifest.json"}
    assert written and written <= synced and str(part) in synced
    assert order.index(f"-> {tmp_path / 'deep' / 'map' / 'CURRENT'}") > manifest
    for path in [tmp_path / "deep", *(tmp_path / "deep").rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_a_read_only_folder_is_refused_and_the_next_save_works(yesterday, tmp_path):
    (tmp_path / "map").chmod(0o500)
    with permissions_enforced(), pytest.raises(PermissionError):
        yesterday.save(tmp_path / "map")
    (tmp_path / "map").chmod(0o700)
    yesterday.save(tmp_path / "map")


def test_voxels_that_are_taken_back_are_those_there_were(yesterday, tmp_path):
    robot = fresh(tmp_path)
    before = map_to_arrays(robot.map.voxels.map)[0]
    with pytest.raises(RuntimeError):
        robot.load(tmp_path / "map", Stubborn())
    assert map_to_arrays(robot.map.voxels.map)[0] == before
