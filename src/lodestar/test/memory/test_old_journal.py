"""A journal of an older version becomes a database once; one that cannot be read is refused and left as it is."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lodestar.memory.errors import ForeignStore, OtherStoreVersion
from lodestar.memory.record_json import to_json
from lodestar.memory.requests import Request
from lodestar.memory.store import MemoryStore
from lodestar.storage.checked_lines import format_line

import memory_fakes as fakes  # isort: skip


def head(config, **changes):
    values = {"format": "lodestar-memory", "version": 1, "store": "old", "robot": config.robot}
    return {"op": "head", **values, "dimension": config.dimension, **changes}


def added(identity, text, vector=None, origin="", **more):
    line = {"op": "add", "memory": to_json(replace(fakes.memory(text, float(identity), **more), id=identity))}
    if vector is not None:
        line["vector"] = base64.b64encode(np.asarray(vector, "<f2").tobytes()).decode()
    return {**line, "origin": origin} if origin else line


def write(config, number, lines, tail=b""):
    folder = Path(config.folder)
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"journal-{number:08d}.log"
    path.write_bytes(b"".join(map(format_line, lines)) + tail)
    return path


@pytest.fixture
def journal(config):
    vector = fakes.embed(["a mug"])[0]
    text = base64.b64encode(vector.astype("<f2").tobytes()).decode()
    first = [
        head(config),
        added(1, "a mug", vector, things=(4,), keyframe_ids=(1, 2), keyframe_session="s"),
        added(2, "a dog"), {"op": "vector", "id": 2, "vector": text}, {"op": "pin", "id": 2, "pinned": True},
        added(3, "a cat", corrects=2), added(4, "a cow", corrects=2), added(5, "from afar", origin="spot:9"),
    ]  # fmt: skip
    second = [
        head(config),
        added(6, "XSECRETX", vector, keyframe_ids=(2, 7), keyframe_session="s"), added(7, "thinned"),
        {"op": "forget", "id": 6, "origin": "", "images": [["s", 7]]}, {"op": "drop", "ids": [7]},
        {"op": "forget", "id": 11, "origin": "spot:3", "images": [["s", 8]]}, {"op": "erased", "id": 11},
        added(8, "no floor"), {"op": "rest", "of": "a newer minor version"},
    ]  # fmt: skip
    second[7]["memory"]["floor"] = 3_000_000_000
    paths = [write(config, 1, first, b"00000000 {damaged}\n"), write(config, 2, second, b'0000 {"half')]
    (Path(config.folder) / "index.json").write_text("{}")
    (Path(config.folder) / "milvus.db").mkdir()
    (Path(config.folder) / "milvus.db" / "data").write_text("XSECRETX")
    return paths


def test_everything_is_taken_over_and_the_journal_goes(config, journal):
    erased: list[tuple[str, int]] = []
    for _ in range(2):
        with MemoryStore.open(config, on_erased=erased.extend) as store:
            assert store.name == "old" and store.identities() == [1, 2, 3, 4, 5]
            assert [hit.memory.text for hit in store.search(Request())] == ["from afar", "a cow", "a mug"]
            assert store.get(2).pinned and store.get(1).keyframe_ids == (1, 2)
            found = store.search(Request(vectors=fakes.embed(["a mug"]), entity_ids=frozenset({4})))
            assert found[0].memory.id == 1 and found[0].score == pytest.approx(1.0, abs=1e-3)
            assert store.identity_of("spot:9") == 5 and store.identity_of("old:6") == 6
            assert store.identity_of("spot:3") == 11 and not store.has(11)
            assert store.flush() and store.statistics().forgotten == 2
        assert erased == [("s", 7)]
        files = {path.name: path.read_bytes() for path in Path(config.folder).rglob("*") if path.is_file()}
        assert set(files) == {"LOCK", "memory.db"} and b"XSECRETX" not in files["memory.db"]
    with MemoryStore.open(config) as store:
        assert store.add(fakes.memory("next")) == 12, "no id is used again"


def test_damaged_lines_are_counted(config, journal):
    with MemoryStore.open(config) as store:
        assert store.statistics().unreadable == 2  # the checksum, the floor


@pytest.mark.parametrize("left", [slice(None), slice(1), slice(1, None)])
def test_an_owner_that_dies_while_the_journal_is_deleted_takes_nothing_twice(config, journal, left):
    kept = [(path, path.read_bytes()) for path in journal]
    MemoryStore.open(config).close()
    for path, content in kept[left]:
        path.write_bytes(content)
    with MemoryStore.open(config) as store:
        assert len(store.identities()) == 5
    assert not any(path.exists() for path, _ in kept)


def test_what_cannot_be_taken_over_is_refused_and_left(config, journal):
    original = journal[0].read_bytes()
    for line, error, advice in (
        (head(config, version=2), OtherStoreVersion, "export the memory with the version"),
        (head(config, robot="spot"), ForeignStore, "memory of the robot 'spot'"),
        (head(config, dimension=3), ForeignStore, "text model"),
        ({"op": "shopping"}, ForeignStore, "is no journal"),
    ):
        journal[0].write_bytes(format_line(line) + original.split(b"\n", 1)[1])
        for _ in range(2):
            with pytest.raises(error, match=advice):
                MemoryStore.open(config)
        assert journal[0].exists() and journal[1].exists()
    journal[0].write_bytes(original)
    with MemoryStore.open(config) as store:
        assert len(store.identities()) == 5


def test_a_journal_beside_a_database_that_has_memories_is_refused_and_both_stay(config, tmp_path):
    with MemoryStore.open(config) as store:
        store.add(fakes.memory("new"))
    path = write(config, 1, [head(config), added(1, "old")])
    with pytest.raises(ForeignStore, match="export them with the older version"):
        MemoryStore.open(config)
    path.rename(tmp_path / path.name)
    with MemoryStore.open(config) as store:
        assert [hit.memory.text for hit in store.search(Request())] == ["new"]
