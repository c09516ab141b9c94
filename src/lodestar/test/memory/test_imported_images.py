"""Tests of images of imported memories: they displace none of the robot's own, and their ids fit into messages."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lodestar.memory.store import MemoryStore
from lodestar.memory.transfer import export_jsonl, import_jsonl

import memory_fakes as fakes  # isort: skip


@pytest.mark.parametrize("kind", ["keyframe", "entity"])
@pytest.mark.parametrize("identity", [-1, 2**32, 5_000_000_000, 2**62])
def test_an_id_that_no_message_can_carry_is_a_bad_line(config, store, tmp_path, identity, kind):
    for number in range(3):
        store.add(fakes.memory(f"a mug {number}", keyframe_ids=(6,)))
    exported = tmp_path / "memory.jsonl"
    export_jsonl(store, exported)
    good = exported.read_text().splitlines()
    values = json.loads(good[1])
    thing = [identity, "mug", [1.0, 2.0, 0.8], [0.1, 0.1, 0.1]]
    wrong = {"keyframes": [7, identity]} if kind == "keyframe" else {"primitives": [thing]}
    bad = {**values, "memory": {**values["memory"], **wrong}}
    exported.write_text("\n".join([good[0], json.dumps(bad), *good[2:]]))
    with MemoryStore.open(replace(config, folder=config.folder + "2")) as other:
        done = import_jsonl(other, exported)
        assert (len(done.ids), done.bad_lines, done.bad[0][0]) == (2, 1, 2)
        assert f"{kind} {identity}" in done.bad[0][1] and other.images(9) == [("", 6)]


def test_own_images_come_before_those_of_an_import(config, store, tmp_path):
    """Imported memories have the newest ids, but none of their images exists here."""
    for number in range(30):
        store.add(
            fakes.memory(
                f"theirs {number}", keyframe_ids=(number,), keyframe_session="theirs", pinned=number % 2 == 0
            )
        )
    export_jsonl(store, tmp_path / "theirs.jsonl")
    with MemoryStore.open(replace(config, folder=config.folder + "2")) as other:
        for number in range(4):
            other.add(fakes.memory(f"ours {number}", keyframe_ids=(number,), keyframe_session="ours"))
        assert len(import_jsonl(other, tmp_path / "theirs.jsonl").ids) == 30
        assert other.images(5) == [("ours", 3), ("ours", 2), ("ours", 1), ("ours", 0), ("theirs", 28)]
