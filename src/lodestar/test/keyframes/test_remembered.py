"""Tests of memories' images, which outlive their run: bounded, private, and deleted when their memory is forgotten."""

from __future__ import annotations

import os
import random
import shutil
import stat

import numpy as np
import pytest

from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.keyframes.config import KeyframeConfig
from lodestar.keyframes.records import ImageName
from lodestar.keyframes.remembered import RememberedImages
from lodestar.keyframes.store import KeyframeStore
from lodestar.perception.frames import RgbdFrame
from lodestar.storage.replacement import replace_all

CAMERA = PinholeCamera(64, 48, 40.0, 40.0, 31.5, 23.5)


class House:
    """A user's folder with several runs. Each image has a different colour."""

    def __init__(self, home, **limits):
        self.home, self.config = home, KeyframeConfig(refresh=0.5, **limits)
        self.shown: dict[ImageName, bytes] = {}

    def run(self, session):
        store = KeyframeStore(
            self.home / "run" / "images", self.config, session_id=session, remembered=self.remembered()
        )
        self.stamp = getattr(self, "stamp", 0.0)
        return store

    def remembered(self):
        return RememberedImages(self.home / "memory" / "images")

    def end(self):
        shutil.rmtree(self.home / "run")

    def look(self, store):
        self.stamp += 1.0
        image = np.random.default_rng(int(self.stamp)).integers(0, 255, (48, 64, 3)).astype(np.uint8)
        pose = planar_transform(self.stamp, 0.0, 0.0, 0.45) @ BODY_FROM_OPTICAL
        kept = store.offer(RgbdFrame(self.stamp, CAMERA, np.ones((48, 64), np.float32), pose, rgb=image))
        name = ImageName(kept.session_id, kept.id)
        self.shown[name] = store.get(kept.id)[1]
        return name

    def holds(self, name):
        """Return whether any file of the user contains the image."""
        found = (path.read_bytes() for path in self.home.rglob("*") if path.is_file())
        return any(self.shown[name] in content for content in found)


@pytest.fixture
def house(tmp_path):
    return House(tmp_path)


def test_the_next_run_shows_the_image_of_a_former_one_of_the_same_number(house):
    first = house.run("one")
    old = house.look(first)
    first.remember("mine", [old])
    house.end()
    second = house.run("two")
    new = house.look(second)
    assert (old.id, new.id) == (1, 1)
    for name in (old, new):
        record, jpeg = second.get(name.id, name.session)
        assert jpeg == house.shown[name] and record.session_id == name.session
    assert second.get(1, "one")[0].map_from_camera[0, 3] == pytest.approx(1.0)
    assert second.get(1)[1] == house.shown[new], "a bare number is of this run"
    assert [keyframe.session_id for keyframe in second.keyframes()] == ["two"], (
        "nothing old is a view of this map"
    )


def test_an_image_that_no_memory_refers_to_ends_with_the_run(house):
    store = house.run("one")
    seen, kept = house.look(store), house.look(store)
    store.remember("mine", [kept])
    house.end()
    with pytest.raises(KeyError, match="not stored any more"):
        house.run("two").get(seen.id, "one")
    assert house.holds(kept) and not house.holds(seen)


def test_erasing_reaches_images_of_former_runs_and_no_others(house):
    first = house.run("one")
    old = [house.look(first), house.look(first)]
    first.remember("mine", old)
    house.end()
    second = house.run("two")
    new = house.look(second)
    second.remember("mine", [new, *old])
    assert second.erase("one", [1]) == (1,)
    assert not house.holds(old[0]) and house.holds(old[1]) and house.holds(new)
    second.remember("mine", [new, *old])  # a request that was already under way
    with pytest.raises(KeyError):
        second.get(1, "one")
    assert second.erase("two", [1]) == (1,) and not house.holds(new)
    assert second.erase("one", [2, 77]) == (2, 77) and not house.holds(old[1])
    assert not list((house.home / "memory" / "images").glob("*/*")), "no empty folders are left"


def test_what_the_memory_does_not_name_any_more_goes(house):
    first = house.run("one")
    names = [house.look(first) for _ in range(3)]
    first.remember("mine", names)
    house.end()
    second = house.run("two")
    second.remember("mine", [names[1]])
    assert [house.holds(name) for name in names] == [False, True, False]


def test_only_their_owner_can_read_them(house):
    store = house.run("one")
    store.remember("mine", [house.look(store)])
    for path in (house.home / "memory").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_old_images_count_and_the_least_important_go_first(tmp_path):
    house = House(tmp_path, max_count=8)
    first = house.run("one")
    old = [house.look(first) for _ in range(6)]
    first.remember("mine", old)
    house.end()
    second = house.run("two")
    assert [house.holds(name) for name in old] == [True] * 4 + [False] * 2, "half of the limit"
    for _ in range(9):
        house.look(second)
    assert len(second) == 4, "and the other half is this run's"
    new = ImageName("two", second.ids[-1])
    second.remember("mine", [new, *old])
    assert [house.holds(name) for name in (new, *old)] == [True] * 4 + [False] * 3
    for _ in range(9):
        house.look(second)
    assert len(second) == 5 and new.id in second.ids, "one of them is the memory's too and counts once"
    assert len({path.stat().st_ino for path in tmp_path.rglob("*.jpg")}) == 8


def test_the_bytes_are_bounded_too(tmp_path):
    probe = House(tmp_path / "probe")
    size = len(probe.shown[probe.look(probe.run("x"))])
    house = House(tmp_path / "house", max_bytes=int(8.6 * size))
    store = house.run("one")
    names = [house.look(store) for _ in range(6)]
    store.remember("mine", names)
    for _ in range(9):
        house.look(store)
    stored = {path.stat().st_ino: path.stat().st_size for path in (tmp_path / "house").rglob("*.jpg")}
    assert sum(stored.values()) <= 8.6 * size
    assert [house.holds(name) for name in names[:4]] == [True] * 4
    house.end()
    assert not house.holds(names[4])


def test_images_of_another_memory_make_room_for_those_of_this_one(tmp_path):
    house = House(tmp_path, max_count=4)
    store = house.run("one")
    theirs, ours = [house.look(store), house.look(store)], [house.look(store), house.look(store)]
    store.remember("theirs", theirs)
    store.remember("ours", ours[:1])
    house.end()
    assert [house.holds(name) for name in (*theirs, *ours)] == [False, True, True, False]


@pytest.mark.parametrize("memory,session", [("../../x", "one"), ("mine", "../../../x"), ("mine", "")])
def test_names_that_come_over_the_network_lead_nowhere_else(tmp_path, memory, session):
    house = House(tmp_path / "home")
    store = house.run(session)
    store.remember(memory, [house.look(store)])
    store.erase(session, [1])
    assert {path.name for path in tmp_path.iterdir()} == {"home"}
    assert not list((house.home / "memory").rglob("*.jpg"))


@pytest.mark.parametrize("memory", ["", "../../x", "bad/name", "x" * 65])
def test_a_memory_without_a_proper_name_deletes_nothing(house, memory):
    store = house.run("one")
    names = [house.look(store) for _ in range(3)]
    store.remember("mine", names)
    store.remember(memory, [])
    store.remember(memory, names[:1])
    house.end()
    assert all(house.holds(name) for name in names)


def test_another_process_that_deletes_what_it_knows_leaves_the_rest(tmp_path):
    house = House(tmp_path)
    first = house.run("one")
    names = [house.look(first)]
    first.remember("mine", names)
    other = House(tmp_path / "other")
    other.remembered = house.remembered
    second = other.run("two")
    names += [house.look(first), house.look(first)]
    first.remember("mine", names)
    second.remember("theirs", [])
    second.erase("one", [names[0].id])
    kept = RememberedImages(house.home / "memory" / "images")
    assert kept.sizes.keys() == {names[1], names[2]} and not kept.damaged
    second.erase("one", [name.id for name in names])
    names.append(house.look(first))
    first.remember("mine", names[3:])  # the folder was removed meanwhile
    assert RememberedImages(house.home / "memory" / "images").sizes.keys() == {names[3]}


def test_lowered_limits_hold_from_the_start_without_a_memory(tmp_path):
    house = House(tmp_path, max_count=20)
    store = house.run("one")
    names = [house.look(store) for _ in range(8)]
    store.remember("mine", names)
    house.end()
    house.config = KeyframeConfig(refresh=0.5, max_count=6)
    house.run("two")
    assert [house.holds(name) for name in names] == [False] * 5 + [True] * 3, "the newest, half of the limit"


def test_a_folder_that_cannot_be_used_costs_no_run_and_is_tried_again(house):
    """Without a link, images end with their run; none is reported as erased that may still exist."""
    first = house.run("one")
    old = house.look(first)
    first.remember("mine", [old])
    house.end()
    folder = house.home / "memory" / "images"
    folder.chmod(0o777)
    store = house.run("two")
    assert any("do not outlive this run" in problem and "chmod" in problem for problem in store.damaged)
    new = house.look(store)
    with pytest.raises(OSError, match="chmod"):
        store.remember("mine", [new])
    with pytest.raises(OSError, match="chmod"):
        store.erase("one", [old.id])
    folder.chmod(0o700)
    store.remember("mine", [new, old])
    assert RememberedImages(folder).sizes.keys() == {new, old}
    assert store.get(old.id, "one")[1] == house.shown[old]
    assert store.erase("one", [old.id]) == (1,) and not house.holds(old)


def test_a_share_of_nothing_makes_no_folder(tmp_path):
    house = House(tmp_path, remembered_share=0.0)
    store = house.run("one")
    store.remember("mine", [house.look(store)])
    store.erase("one", [1])
    assert not (tmp_path / "memory").exists()


def test_a_power_cut_brings_no_erased_image_back(house, monkeypatch):
    """The folders of both links are synced after the files are deleted, before the call returns."""
    store = house.run("one")
    name = house.look(store)
    store.remember("mine", [name])
    synced = []

    def sync(path):
        synced.append((path, list(path.glob("*.jpg"))))

    for module in ("store", "remembered"):
        monkeypatch.setattr(f"lodestar.keyframes.{module}.sync_path", sync)
    store.erase("one", [name.id])
    folders = [house.home / "run" / "images", house.home / "memory" / "images" / "mine" / "one"]
    assert synced == [(folder, []) for folder in folders]


@pytest.mark.parametrize("damage", ["emptied", "cut", "missing", "no record", "record", "no index", "index"])
@pytest.mark.parametrize("while_open", [False, True])
def test_a_damaged_image_is_told_and_the_others_are_shown(house, damage, while_open):
    store = house.run("one")
    broken, whole = house.look(store), house.look(store)
    store.remember("mine", [broken, whole])
    house.end()
    if while_open:
        store = house.run("two")
    folder = house.home / "memory" / "images" / "mine" / "one"
    jpeg, record, index = folder / "00000001.jpg", folder / "00000001.json", folder / "keyframes.json"
    does = {
        "emptied": lambda: jpeg.write_bytes(b""),
        "cut": lambda: jpeg.write_bytes(jpeg.read_bytes()[:200]),
        "missing": jpeg.unlink,
        "no record": record.unlink,
        "record": lambda: record.write_text('{"id": 1'),
        "no index": index.unlink,
        "index": lambda: index.write_text("{"),
    }
    does[damage]()
    if not while_open:
        store = house.run("two")
    assert store.get(whole.id, "one")[1] == house.shown[whole]
    if damage in ("emptied", "cut", "missing") or (damage in ("no record", "record") and not while_open):
        with pytest.raises(KeyError, match=r"image|not stored"):
            store.get(broken.id, "one")
        assert while_open or any("damaged" in problem for problem in store.damaged)
    else:
        assert store.get(broken.id, "one")[1] == house.shown[broken]
    store.erase("one", [1, 2])
    assert not house.holds(broken) and not house.holds(whole)


def test_a_full_disk_keeps_what_there_was_and_the_next_wish_goes_on(house, monkeypatch):
    store = house.run("one")
    names = [house.look(store) for _ in range(3)]
    store.remember("mine", names[:1])
    link, calls = os.link, []

    def full(*paths, **_):
        calls.append(paths)
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "link", full)
        patched.setattr("lodestar.keyframes.folder.write_file", full)
        patched.setattr("lodestar.storage.files.write_file", full)
        with pytest.raises(OSError, match="No space"):
            store.remember("mine", names)
    assert calls and os.link is link
    assert RememberedImages(house.home / "memory" / "images").sizes.keys() == {names[0]}
    store.remember("mine", names)
    house.end()
    assert all(house.run("two").get(name.id, "one")[1] == house.shown[name] for name in names)


def test_a_session_of_a_newer_version_is_told_and_can_be_erased(house):
    store = house.run("one")
    name = house.look(store)
    store.remember("mine", [name])
    house.end()
    index = house.home / "memory" / "images" / "mine" / "one" / "keyframes.json"
    index.write_text(index.read_text().replace('"version":2', '"version":99'))
    later = house.run("two")
    assert any("cannot be shown" in problem and "99" in problem for problem in later.damaged)
    later.remember("mine", [name])
    assert house.holds(name), "it is left for the version that can read it"
    later.erase("one", [name.id])
    assert not house.holds(name)


@pytest.mark.parametrize("seed", range(6))
def test_runs_of_any_course_show_what_is_remembered_and_hold_nothing_else(tmp_path, seed):
    """Random looks, memories, forgetting, restarts, ends of runs, and processes that end without notice."""
    random_ = random.Random(seed)
    house = House(tmp_path, max_count=24)
    memories: list[ImageName] = []
    forgotten: set[ImageName] = set()
    number = 0
    store = house.run("run0")
    for _ in range(150):
        what = random_.choice(
            ["look", "look", "look", "remember", "forget", "wish", "restart", "end", "load"]
        )
        if what == "look":
            house.look(store)
        elif what == "remember" and store.ids:
            kept = store.keyframes()[random_.randrange(len(store))]
            name = ImageName(kept.session_id, kept.id)
            if name not in memories:
                memories.insert(0, name)
                store.remember("mine", memories)
        elif what == "forget" and memories:
            name = memories.pop(random_.randrange(len(memories)))
            forgotten.add(name)
            store.erase(name.session, [name.id])
            assert not house.holds(name)
        elif what == "wish":
            store.remember("mine", [*memories, *forgotten])  # a late request
            store.remember("mine", memories)
        elif what == "restart":
            store = house.run(store.session_id)
        elif what == "load" and store.ids:
            folder = house.home / "saved"
            shutil.rmtree(folder, ignore_errors=True)
            store.save_to(folder)
            replace_all([("keyframes", store.replace(folder))])
            shutil.rmtree(folder)
        elif what == "end":
            house.end()
            number += 1
            store = house.run(f"run{number}")
        beyond = len(store._shares()[1])
        assert beyond <= 12 and len(store._shares()[0]) + beyond <= 24
        for name in forgotten:
            assert not house.holds(name)
    for name in memories[: min(12, len(memories))]:
        try:
            assert store.get(name.id, name.session)[1] == house.shown[name]
        except KeyError:  # dropped by the limit in favour of more important images
            assert len(memories) > 12 or name.session == store.session_id
