"""Memories and vectors as JSON values and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from lodestar.memory.errors import BadMemory
from lodestar.memory.records import EventKind, MapName, Memory, Primitive, Source

_CUT = "… (cut)"
_MAX_WORDS = 500  # characters of a label, caption, name or fact
_MAX_TIME = 1e11  # seconds of a stamp: the year 5138
_MAX_LENGTH = 1e7  # metres or radians; beyond any place
_MAX_NUMBER = 2**31 - 1  # of a floor, region or pixel count
_MAX_ID = 2**63 - 1  # of what has an id
_CONTROL = dict.fromkeys((*range(32), *range(127, 160), 8232, 8233), " ")
_KEPT = str.maketrans({**_CONTROL, 0x0A: "\n"})  # a text may have lines


def to_json(memory: Memory) -> dict[str, Any]:
    """Return the memory as JSON values. Raises BadMemory for a number that is not finite, or beyond
    any sense.
    """
    primitives = [
        [
            _whole(p.entity_id, _MAX_ID),
            p.label,
            _numbers(p.centre, 3),
            _numbers(p.size, 3),
            p.caption,
            _whole(p.pixels),
        ]
        for p in memory.primitives
    ]
    return {
        "id": memory.id,
        "text": memory.text,
        "start": _number(memory.start, _MAX_TIME),
        "end": _number(memory.end, _MAX_TIME),
        "position": _numbers(memory.position, 3),
        "heading": _number(memory.heading),
        "floor": _whole(memory.floor),
        "region_id": _whole(memory.region_id),
        "region": memory.region,
        "primitives": primitives,
        "keyframes": [_whole(identity, _MAX_ID) for identity in memory.keyframe_ids],
        "source": memory.source.value,
        "event": memory.event.value if memory.event else None,
        "facts": dict(memory.facts),
        "robot": memory.robot,
        "session": memory.session,
        "map": [_whole(memory.map.map_id, _MAX_ID), memory.map.fingerprint],
        "pinned": bool(memory.pinned),
        "corrects": int(memory.corrects),
        "keyframe_session": memory.keyframe_session,
    }


def from_json(values: Mapping[str, Any]) -> Memory:
    """Return the memory. Raises BadMemory for what is no memory."""
    try:
        primitives = tuple(
            Primitive(
                int(i), str(label), np.array(centre, float), np.array(size, float), str(caption), int(pixels)
            )
            for i, label, centre, size, caption, pixels in values["primitives"]
        )
        return Memory(
            id=int(values["id"]),
            text=str(values["text"]),
            start=float(values["start"]),
            end=float(values["end"]),
            position=np.array(_numbers(values["position"], 3)),
            heading=float(values["heading"]),
            floor=int(values["floor"]),
            region_id=int(values["region_id"]),
            region=str(values["region"]),
            primitives=primitives,
            keyframe_ids=tuple(int(identity) for identity in values["keyframes"]),
            source=Source(values["source"]),
            event=EventKind(values["event"]) if values["event"] else None,
            facts={str(key): str(value) for key, value in values["facts"].items()},
            robot=str(values["robot"]),
            session=str(values["session"]),
            map=MapName(int(values["map"][0]), str(values["map"][1])),
            pinned=bool(values["pinned"]),
            corrects=int(values["corrects"]),
            keyframe_session=str(values.get("keyframe_session", "")),
        )
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise BadMemory(f"this is no memory: {type(error).__name__}: {error}") from error


def cleaned(memory: Memory, max_text: int, max_primitives: int) -> tuple[Memory, bool]:
    """Return the memory without control characters and within the limits, and whether anything was cut.

    A text that was cut ends with "… (cut)". Raises BadMemory for a text of nothing but control characters.
    """
    text = _printable(memory.text, lines=True).strip()
    if not text:
        raise BadMemory("a memory needs words; this text has only control characters")
    cut = len(text) > max_text or len(memory.primitives) > max_primitives
    kept = memory.primitives
    if len(kept) > max_primitives:
        kept = tuple(sorted(kept, key=lambda primitive: -primitive.pixels)[:max_primitives])
    primitives = tuple(replace(p, label=_words(p.label), caption=_words(p.caption)) for p in kept)
    changed = replace(
        memory,
        text=text if len(text) <= max_text else text[: max(1, max_text - len(_CUT))] + _CUT,
        region=_words(memory.region),
        primitives=primitives,
        facts={_words(key): _words(value) for key, value in list(memory.facts.items())[:64]},
        session=_words(memory.session),
        keyframe_session=_words(memory.keyframe_session),
    )
    return changed, cut


def checked_vector(vector: np.ndarray, dimension: int) -> np.ndarray:
    """Return the vector as (D,) float32 of length 1. Raises BadMemory for another shape, NaN or zero."""
    values = np.asarray(vector, np.float32)
    norm = float(np.linalg.norm(values)) if values.shape == (dimension,) else math.nan
    if not (math.isfinite(norm) and norm > 1e-6):
        raise BadMemory(
            f"a vector needs {dimension} finite values, not all zero; it has shape {values.shape}"
        )
    return values / norm


def _printable(text: str, lines: bool = False) -> str:
    clean = text.translate(_KEPT if lines else _CONTROL)
    return clean.encode("utf-8", "replace").decode("utf-8")  # lone surrogates


def _words(text: str) -> str:
    words = _printable(text).strip()
    return words if len(words) <= _MAX_WORDS else words[: _MAX_WORDS - len(_CUT)] + _CUT


def _number(value: Any, most: float = _MAX_LENGTH) -> float:
    if not abs(number := float(value)) <= most:  # NaN too
        raise BadMemory(
            f"a number of a memory must lie between -{most:g} and {most:g}; {number!r} is not kept"
        )
    return number


def _numbers(values: Any, count: int) -> list[float]:
    numbers = [_number(value) for value in values]
    if len(numbers) != count:
        raise BadMemory(f"a place in a memory needs {count} numbers, this one has {len(numbers)}")
    return numbers


def _whole(value: Any, most: int = _MAX_NUMBER) -> int:
    if not abs(number := int(value)) <= most:
        raise BadMemory(
            f"a whole number of a memory must lie between -{most} and {most}; {number} is not kept"
        )
    return number
