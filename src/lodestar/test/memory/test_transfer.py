"""Tests of export to JSONL and import: round trip, repetition, and reports of bad lines."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest

from lodestar.memory import transfer
from lodestar.memory.errors import StoreFull
from lodestar.memory.records import EventKind, MapName, Source
from lodestar.memory.requests import Request
from lodestar.memory.store import MemoryStore
from lodestar.memory.transfer import export_file, export_jsonl, import_jsonl

import memory_fakes as fakes  # isort: skip


@pytest.fixture
def exported(store, tmp_path):
    store.add(
        fakes.memory("a mug", 1.0, (1.0, 2.0, 3.0), things=(4, 5), keyframe_ids=(6,), map=MapName(1, "abc"))
    )
    event = {"event": EventKind.MOVED, "source": Source.EVENT, "facts": {"from": "hall", "to": "kitchen"}}
    old = store.add(fakes.memory("the mug moved", 2.0, pinned=True, region="Küche", **event))
    store.correct(old, "the cup moved")
    path = tmp_path / "memory.jsonl"
    assert export_jsonl(store, path) == tuple(store.identities())
    assert path.stat().st_mode & 0o777 == 0o600
    return path


def test_there_and_back_and_the_second_time_nothing(exported, config, store):
    with MemoryStore.open(replace(config, folder=config.folder + "2")) as other:
        other.add(fakes.memory("their own", 0.5))
        first, second = import_jsonl(other, exported), import_jsonl(other, exported)
        assert (len(first.ids), first.bad_lines, second.ids) == (3, 0, ())
        assert [other.origin_of(i) for i in first.ids] == [store.origin_of(i) for i in store.identities()]
        assert (len(second.ids), second.known) == (0, 3)
        other.use_map(MapName(1, "abc"))
        (hit,) = other.search(Request(entity_ids=frozenset({5})))
        assert hit.memory.position.tolist() == [1.0, 2.0, 3.0] and hit.memory.keyframe_ids == (6,)
        other.use_map(MapName(1))
        (hit,) = other.search(Request(kinds=frozenset({EventKind.TOLD})))
        corrected = other.get(hit.memory.corrects)
        assert corrected.text == "the mug moved" and corrected.facts["to"] == "kitchen" and corrected.pinned
        other.forget(hit.memory.id)
        assert import_jsonl(other, exported).forgotten == 2  # the correction and the corrected memory
        onward = exported.with_name("onward.jsonl")
        export_jsonl(other, onward)
    known = import_jsonl(store, onward)
    # the memory "their own" is new here; the mug's came from here
    assert (len(known.ids), known.known) == (1, 1)
    with MemoryStore.open(replace(config, folder=config.folder + "2")) as other:
        assert len(import_jsonl(other, exported).ids) == 0


def test_bad_lines_are_told_with_their_number_and_skipped(exported, config):
    good = exported.read_text().splitlines()
    values = json.loads(good[1])
    lines = [
        good[0],
        "no JSON",
        json.dumps({**values, "origin": "nowhere"}),
        json.dumps({**values, "memory": {**values["memory"], "start": "soon"}}),
        json.dumps({**values, "memory": {**values["memory"], "position": [0.0, None, 0.0]}}),
        "[" * 100_000,
        "[1, 2]",
        "x" * (5 * 2**20),
        "",
        json.dumps({**values, "memory": {**values["memory"], "end": float("nan")}}),
        good[1],
    ]
    with MemoryStore.open(replace(config, folder=config.folder + "2")) as other:
        lines.insert(3, json.dumps({**values, "origin": f"{other.name}:{'9' * 40}"}))
        exported.write_text("\n".join(lines))
        done = import_jsonl(other, exported)
        assert len(done.ids) == 1 and len(other.identities()) == 1
        assert [number for number, _ in done.bad] == [2, 3, 4, 5, 6, 7, 8, 9, 11] and done.bad_lines == 9


@pytest.mark.parametrize(
    "wrong",
    [
        {"floor": 3_000_000_000}, {"start": -1e300}, {"end": 1e300}, {"heading": float("nan")}, {"id": 2**70},
        {"position": [1e300, 0.0, 0.0]}, {"region_id": 2**64}, {"map": [2**64, ""]}, {"keyframes": [10**30]},
        {"text": 7 * "\u0000"}, {"robot": None, "corrects": "x"}, {"primitives": [[1, "a", [0, 0], [1, 1, 1], "", 1]]},
    ],
)  # fmt: skip
def test_no_line_of_a_file_makes_the_memory_unusable(exported, config, wrong):
    good = exported.read_text().splitlines()
    values = json.loads(good[1])
    bad = json.dumps({**values, "origin": "other:1", "memory": {**values["memory"], **wrong}})
    exported.write_text("\n".join([good[0], bad, *good[2:]]))
    config = replace(config, folder=config.folder + "2")
    with MemoryStore.open(config) as other:
        done = import_jsonl(other, exported)
        assert (len(done.ids), done.bad_lines) in ((2, 1), (3, 0))  # the foreign id is not adopted
        count = len(other.identities())
        other.add(fakes.memory("next", 9.0))
    with MemoryStore.open(config) as other:
        assert len(other.identities()) == count + 1 and other.statistics().unreadable == 0
        assert len(other.search(Request())) + other.statistics().other_maps >= count


def test_an_export_stays_in_its_folder_and_replaces_nothing(store, tmp_path):
    folder, other = tmp_path / "exports", tmp_path / "other"
    other.mkdir()
    assert export_file("a/b.jsonl", folder) == folder / "a" / "b.jsonl"
    assert export_file(str(folder / "c.jsonl"), folder) == folder / "c.jsonl"
    assert folder.stat().st_mode & 0o777 == (folder / "a").stat().st_mode & 0o777 == 0o700
    (folder / "there").write_text("mine")
    (folder / "link").symlink_to(other)
    (folder / "file").symlink_to(other / "file")
    for name in (
        "",
        " ",
        ".",
        "..",
        "../x",
        "/etc/passwd",
        str(tmp_path / "x"),
        "link/x",
        "file",
        "there",
        "a\0b",
    ):
        with pytest.raises(ValueError, match="give a new name"):
            export_file(name, folder)
    with pytest.raises(FileExistsError):
        export_jsonl(store, folder / "there")
    assert (folder / "there").read_text() == "mine" and not list(other.iterdir())


def test_a_binary_file_adds_nothing(config, store, tmp_path):
    path = tmp_path / "picture.jpg"
    path.write_bytes(bytes(range(256)) * 40)
    done = import_jsonl(store, path)
    assert len(done.ids) == 0 and done.bad_lines > 0


@pytest.mark.parametrize("seed", range(8))
def test_lines_that_are_kept_together_become_what_single_ones_become(tmp_path, config, monkeypatch, seed):
    """Good lines, bad ones, corrections and repetitions in any order, in groups of any size."""
    chance, path = random.Random(seed), tmp_path / "in.jsonl"
    with MemoryStore.open(replace(config, folder=str(tmp_path / "from"))) as source:
        for number in range(60):
            source.add(fakes.memory(f"thing {number}", float(number)))
            if chance.random() < 0.2:
                source.correct(chance.choice(source.identities()), f"no, {number}")
        path.unlink(missing_ok=True)
        export_jsonl(source, path)
    lines = path.read_text().splitlines()
    late = json.loads(lines[1])
    late["origin"], late["memory"]["start"] = "other:10000", 1e300
    for bad in ("no JSON", "[" * 100_000, "[1]", json.dumps(late), lines[3]):
        lines.insert(chance.randrange(1, len(lines)), bad)
    path.write_text("\n".join(lines) + "\n")

    def taken(size):
        monkeypatch.setattr(transfer, "_TOGETHER", size)
        with MemoryStore.open(replace(config, folder=str(tmp_path / f"to-{size}"))) as store:
            done = import_jsonl(store, path)
            again = import_jsonl(store, path)
            assert len(again.ids) == 0 and again.known == len(done.ids) + done.known
            assert done.bad_lines == 4, done.bad
            return done, [(m.id, m.text, m.corrects, m.start) for m in map(store.get, store.identities())]

    assert taken(1) == taken(chance.randrange(2, 9)) == taken(100)


def test_a_disk_that_fills_up_in_an_import_keeps_whole_groups_and_a_repetition_completes(
    tmp_path, config, monkeypatch
):
    path = tmp_path / "in.jsonl"
    with MemoryStore.open(replace(config, folder=str(tmp_path / "from"))) as source:
        for number in range(30):
            source.add(fakes.memory(f"thing {number}", float(number)))
        export_jsonl(source, path)
    monkeypatch.setattr(transfer, "_TOGETHER", 7)
    with MemoryStore.open(replace(config, folder=str(tmp_path / "to"))) as store:
        add, left = store.add, [12]

        def full(*given, **more):
            left[0] -= 1
            if not left[0]:
                raise StoreFull("the disk is full")
            return add(*given, **more)

        monkeypatch.setattr(store, "add", full)
        with pytest.raises(StoreFull):
            import_jsonl(store, path)
        assert [store.get(i).text for i in store.identities()] == [f"thing {i}" for i in range(7)]
        assert len(import_jsonl(store, path).ids) == 23 and len(store.identities()) == 30
