"""Tests of the record codec: round trips, refusal of garbage, and compatibility with earlier conversions."""

from __future__ import annotations

import base64
import dataclasses
import importlib
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from hypothesis import given, reject, settings
from hypothesis import strategies as st
from random_records import Records
from rclpy.serialization import deserialize_message, serialize_message

from lodestar.language.directive import CannotObey, NotUnderstood
from lodestar.mapping.instances.records import InstanceDelta
from lodestar.scene.records import SceneDelta
from lodestar_interfaces import msg
from lodestar_ros import (
    conversions_agent,
    conversions_language,
    conversions_memory,
    conversions_news,
    conversions_regions,
    conversions_scene,
    conversions_world,
    query_server,
)
from lodestar_ros.codec import BadMessage, Codec, all_codecs, codec

MODULES = (
    conversions_agent, conversions_language, conversions_memory, conversions_news, conversions_regions,
    conversions_scene, conversions_world, query_server,
)  # fmt: skip
RECORDED = Path(__file__).parent / "data" / "recorded_messages.txt"
#: Records that are only written or only read.
ONE_WAY = {"Feedback", "DirectiveResult", "Candidate", "DirectiveNews"}
WITH_ROWS = {"Detection", "Observation", "Entity", "SceneDelta", "InstanceDelta"}
#: Fields read only in some records: `yes` only if the answer is a known yes or no.
PARTLY_READ = {"Answer": ("yes",)}
BOTH_WAYS = [one for one in all_codecs() if one.record.__name__ not in ONE_WAY]


def name_of(one: Codec[Any]) -> str:
    return f"{one.record.__name__}-{one.message.__name__}"


def written(one: Codec[Any], record: Any) -> tuple[Any, np.ndarray]:
    """Return the message of a record, and its vectors as rows."""
    rows: list[np.ndarray] = []
    names = ("frontier",) if one.message is msg.Question else None
    message = one.to_msg(record, rows if one.record.__name__ in WITH_ROWS else names)
    return message, np.array(rows) if rows else np.zeros((0, 0), np.float32)


def read(one: Codec[Any], message: Any, rows: np.ndarray) -> Any:
    """Return the record of a message, with its vectors given as rows, if any."""
    return one.from_msg(message, rows if one.record.__name__ in WITH_ROWS else None)


@pytest.mark.parametrize("one", all_codecs(), ids=name_of)
def test_every_field_has_its_counterpart(one):
    if one.record.__name__ != "DirectiveNews":
        one.compiled(0)
    if one.record.__name__ not in ONE_WAY - {"DirectiveNews"}:
        one.compiled(1)


@pytest.mark.parametrize("one", BOTH_WAYS, ids=name_of)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_all_that_is_in_a_message_is_in_its_record(one, seed):
    message, rows = written(one, Records(seed).record(one.record))
    try:
        record = read(one, message, rows)
    except BadMessage as error:  # few random records may be impossible to send
        assert any(
            word in str(error) for word in ("names no keyframe", "comes before", "subtask", "denial")
        ), error
        reject()
    again, rows_again = written(one, record)
    for field in PARTLY_READ.get(one.record.__name__, ()):
        setattr(message, field, getattr(again, field))
    alike(again, message, one.message.__name__)
    assert np.array_equal(rows, rows_again)


@pytest.mark.parametrize("one", BOTH_WAYS, ids=name_of)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_garbage_is_read_or_refused_with_a_sentence(one, seed):
    message, rows = written(one, Records(seed).record(one.record))
    spoil(message, random.Random(seed))
    try:
        read(one, message, rows)
    except (BadMessage, CannotObey, NotUnderstood) as error:
        assert str(error)


def spoil(message: Any, draw: random.Random) -> None:
    """Set one field of a message, or of a nested message, to garbage."""
    kinds = message.get_fields_and_field_types()
    field = draw.choice(sorted(kinds))
    value, kind = getattr(message, field), kinds[field]
    if hasattr(value, "get_fields_and_field_types"):
        spoil(value, draw)
    elif isinstance(value, list) and value and hasattr(value[0], "get_fields_and_field_types"):
        spoil(draw.choice(value), draw)
    elif kind in ("float", "double"):
        setattr(message, field, draw.choice([math.nan, math.inf, -math.inf, 1e30, -1.0]))
    elif kind.startswith(("uint", "int")) and "[" not in kind:
        setattr(message, field, draw.choice([0, 99, 200]))
    elif kind == "string":
        setattr(message, field, draw.choice(["", "XYZ", "NOPE(1)"]))


def recorded() -> list[tuple[str, str, str, bytes]]:
    lines = [line.split() for line in RECORDED.read_text().splitlines() if not line.startswith("#")]
    return [(module, reader, kind, base64.b64decode(data)) for module, reader, kind, data in lines]


@pytest.mark.parametrize(
    ("module", "name", "kind", "data"),
    [pytest.param(*one, id=f"{one[1]}{n}") for n, one in enumerate(recorded())],
)
def test_messages_of_the_hand_written_conversions_are_read_and_written_alike(module, name, kind, data):
    """Serialized messages of random records from before the codec; every field is set in some of them."""
    conversions = importlib.import_module(f"lodestar_ros.{module}")
    package, _, message_name = kind.rpartition(".")
    message_type: Any = importlib.import_module(package.split(":")[0])
    for part in message_name.split(":"):
        message_type = getattr(message_type, part)
    message = deserialize_message(data, message_type)
    record = getattr(conversions, f"{name}_from_{'goal' if name == 'request' else 'msg'}")(message)
    again = getattr(conversions, f"{name}_to_{'goal' if name == 'request' else 'msg'}")(record)
    alike(deserialize_message(serialize_message(again), message_type), message, kind)


def alike(a: Any, b: Any, path: str) -> None:
    """Assert equality up to the last bits of doubles, which differ after conversion of rotations by matrices."""
    if hasattr(a, "get_fields_and_field_types"):
        for field in a.get_fields_and_field_types():
            alike(getattr(a, field), getattr(b, field), f"{path}.{field}")
    elif isinstance(a, list):
        assert len(a) == len(b), path
        for index, (x, y) in enumerate(zip(a, b)):
            alike(x, y, f"{path}[{index}]")
    elif isinstance(a, np.ndarray):
        assert np.allclose(a, b), path
    elif isinstance(a, float):
        assert a == pytest.approx(b, rel=1e-9, abs=1e-9, nan_ok=True), path
    else:
        assert a == b, path


@dataclasses.dataclass(frozen=True)
class _Longer:
    label: str
    caption: str
    weight: float
    new: int = 0


@dataclasses.dataclass(frozen=True)
class _Other:
    label: str
    caption: str
    weight: str


@pytest.mark.parametrize(
    ("kind", "way", "field"), [(_Longer, 1, "new"), (_Other, 0, "weight"), (_Other, 1, "weight")]
)
def test_a_field_without_counterpart_is_told_and_not_dropped(kind, way, field):
    to_msg, _ = codec(kind, msg.CaptionVote)
    with pytest.raises(TypeError, match=field):
        to_msg.__self__.compiled(way)


def test_sequences_of_numbers_are_arrays_and_take_numpy_numbers():
    delta = SceneDelta(1.0, 2, 1, removed=tuple(np.arange(3, dtype=np.int64)))
    message, _ = conversions_scene.scene_to_msg(delta)
    assert message.removed.typecode == "I" and message.removed.tolist() == [0, 1, 2]
    assert conversions_scene.instances_to_msg(InstanceDelta(1.0, 2, 1)).features.encoding == "32FC1"
