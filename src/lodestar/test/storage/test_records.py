"""Tests that records of every kind round-trip; damage gives one error that names the field, and costs one record."""

from __future__ import annotations

import dataclasses
import math
import string
import types
import typing
from enum import Enum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, structs

from lodestar.keyframes.records import AnchoredKeyframe
from lodestar.memory.errors import BadMemory
from lodestar.memory.record_json import from_json, to_json
from lodestar.memory.records import Memory
from lodestar.missions import journal as missions
from lodestar.selection.decisions import Decision
from lodestar.storage.journal_file import JournalFile
from lodestar.storage.records import BadRecord, Until, decode, encode, of_values, to_values
from lodestar.worldmodel import scene_journal, transactions
from lodestar.worldmodel.amendments import ClosedWay
from lodestar.worldmodel.decision_log import DecisionLog, read_records
from lodestar.worldmodel.outcomes import ActionOutcome
from lodestar.worldmodel.records import Trace
from lodestar.worldmodel.way_file import ways_to_archive

KINDS = [
    Memory, Decision, Trace, ActionOutcome, ClosedWay, AnchoredKeyframe, scene_journal.Request,
    *typing.get_args(transactions.Line), *typing.get_args(missions.Line),
]  # fmt: skip
SEEDS = st.integers(0, 2**32 - 1)


def invented(kind: typing.Any, rng: np.random.Generator) -> typing.Any:
    """Return a random value of a type within its bounds."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        bounds = next(one for one in inner[1:] if isinstance(one, Meta))
        if bounds.max_length is not None:
            return invented(inner[0], rng)[: bounds.max_length]
        if inner[0] is int:
            return int(rng.integers(max(bounds.ge, -(2**62)), min(bounds.le, 2**62)))
        return float(rng.choice([bounds.ge, bounds.le, rng.uniform(bounds.ge, bounds.le), 0.0]))
    if origin in (typing.Union, types.UnionType):
        return None if rng.random() < 0.3 else invented(inner[0], rng)
    if origin is tuple:
        items = [inner[0]] * int(rng.integers(0, 4)) if inner[1:] == (Ellipsis,) else inner
        return tuple(invented(item, rng) for item in items)
    if origin is dict:
        return {invented(inner[0], rng): invented(inner[1], rng) for _ in range(rng.integers(0, 4))}
    if kind is Until:
        return math.inf if rng.random() < 0.3 else float(rng.uniform(0, 1e9))
    if kind is np.ndarray:
        return rng.normal(0.0, 100.0, 3)
    if kind is typing.Any:
        return invented([int, str, bool][rng.integers(3)], rng)
    if issubclass(kind, Enum):
        return list(kind)[rng.integers(len(kind))]
    if issubclass(kind, str):
        letters = [*string.printable, *"üß°–😀\x00\x7f"]
        return kind("".join(rng.choice(letters, rng.integers(1, 30))) + "x")
    plain = {bool: lambda: bool(rng.integers(2)), int: lambda: int(rng.integers(0, 2**31)), float: rng.normal}
    if kind in plain:
        return plain[kind]()
    hints = typing.get_type_hints(kind, include_extras=True)
    if dataclasses.is_dataclass(kind):
        names = [field.name for field in dataclasses.fields(kind)]
    elif issubclass(kind, tuple):
        names = list(kind._fields)
    else:
        names = [field.name for field in structs.fields(kind)]
    values = {name: invented(hints[name], rng) for name in names}
    if kind is Memory:
        values["end"] = max(values["start"], values["end"])
    return kind(**values)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@given(seed=SEEDS)
def test_a_record_of_any_kind_reads_as_the_same(kind, seed):
    record = invented(kind, np.random.default_rng(seed))
    line = encode(record)
    again = decode(line, kind)
    assert type(again) is kind and encode(again) == line and b"\n" not in line
    assert repr(again) == repr(record)
    assert encode(of_values(to_values(record), kind)) == line


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@given(seed=SEEDS)
def test_a_damaged_line_is_one_error_or_a_record(kind, seed):
    rng = np.random.default_rng(seed)
    line = bytearray(encode(invented(kind, rng)))
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(0, len(line)))
        if rng.random() < 0.5:
            line[at] = rng.integers(0, 256)
        else:
            line[at : at + int(rng.integers(1, 20))] = rng.bytes(int(rng.integers(0, 3)))
        line = line or bytearray(b"x")
    try:
        read = decode(bytes(line), kind)
    except BadRecord:
        return
    assert type(read) is kind


@given(seed=SEEDS)
def test_a_memory_reads_as_the_same_from_the_names_of_its_lines(seed):
    memory = invented(Memory, np.random.default_rng(seed))
    values = to_json(memory)
    assert "keyframes" in values and repr(from_json(values)) == repr(memory)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("start", math.nan), ("end", math.inf), ("start", 1e300), ("floor", 2**31), ("corrects", 2**63),
        ("position", np.array([0.0, math.nan, 0.0])), ("heading", "north"),
    ],
)  # fmt: skip
def test_what_could_not_be_read_back_is_not_written(field, value):
    memory = invented(Memory, np.random.default_rng(1))
    object.__setattr__(memory, field, value)
    with pytest.raises(BadMemory):
        to_json(memory)
    with pytest.raises(BadRecord, match=field):
        encode(memory)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 100_000, "", "null", "\ud800", "NaN", "{" + '"' * 9]
)
def test_what_is_no_json_of_a_record_is_one_error(text):
    for kind in (Memory, dict[str, typing.Any]):
        with pytest.raises(BadRecord):
            decode(text.encode("utf-8", "surrogatepass"), kind)


@given(seed=SEEDS)
def test_damaged_lines_of_a_journal_cost_only_themselves(seed, tmp_path_factory):
    rng, path = np.random.default_rng(seed), tmp_path_factory.mktemp("run") / "private" / "journal"
    kinds = typing.get_args(transactions.Line)
    lines = [invented(kinds[rng.integers(len(kinds))], rng) for _ in range(8)]
    journal = JournalFile(path, "test", 1, transactions.Line)
    for line in lines:
        journal.append(line)
    journal.close()
    data = path.read_bytes().split(b"\n")
    hit = int(rng.integers(1, 9))
    data[hit] = rng.bytes(12).replace(b"\n", b"?") if rng.random() < 0.5 else data[hit][:-3]
    path.write_bytes(b"\n".join(data))
    again = JournalFile(path, "test", 1, transactions.Line)
    again.close()
    assert again.problems == [f"line {hit + 1} is damaged and was left out"]
    assert list(map(repr, again.lines)) == [repr(line) for i, line in enumerate(lines, 1) if i != hit]


def test_the_texts_of_a_log_are_bounded_and_its_errors_name_file_line_and_field(tmp_path):
    trace = invented(Trace, np.random.default_rng(3))
    log = DecisionLog(tmp_path / "decisions.jsonl")
    log.write(dataclasses.replace(trace, reason="x" * 5000, confidence=1.0000001))
    (read,) = read_records(log.path)
    assert (len(read.reason), read.confidence) == (2000, 1.0)
    log.path.write_text(
        log.path.read_text() + log.path.read_text().replace('"stamp":', '"stamp":"soon","x":')
    )
    with pytest.raises(
        ValueError, match=r"decisions.jsonl:2 .*stamp: expected `float`, got `str`.*delete the line"
    ):
        list(read_records(log.path))


@pytest.mark.parametrize("bad", [math.nan, math.inf, 1e400])
def test_what_is_not_finite_is_refused_in_bare_containers_too(bad):
    for record in ({"a": bad}, [1, [bad]], ({"b": (None, "x", bad)},)):
        with pytest.raises(BadRecord, match="not finite"):
            encode(record)
    assert encode({"a": [1.0, None, True, "x"]}) == b'{"a":[1.0,null,true,"x"]}'


def test_a_way_that_could_not_be_read_back_is_not_saved():
    way = dataclasses.replace(invented(ClosedWay, np.random.default_rng(3)), end=(1.0, 2e7))
    with pytest.raises(BadRecord):
        ways_to_archive([way], 0.0)
