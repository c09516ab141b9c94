"""Conversion of memories and vectors to JSON values and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from lodestar.keyframes.records import MAX_KEYFRAME
from lodestar.memory.errors import BadMemory
from lodestar.memory.records import Memory
from lodestar.storage.records import BadRecord, of_values, to_values

_CUT = "… (cut)"
_MAX_WORDS = 500  # most characters of a label, caption, name or fact
_MAX_LENGTH = 1e7  # metres, largest coordinate; as `Length`
_NAMES = {"keyframe_ids": "keyframes"}  # field name -> its name in JSON
_CONTROL = dict.fromkeys((*range(32), *range(127, 160), 8232, 8233), " ")
_KEPT = str.maketrans({**_CONTROL, 0x0A: "\n"})  # control characters to remove; a text may have line ends


def to_json(memory: Memory) -> dict[str, Any]:
    """Return the memory as JSON values. Raises BadMemory for a number that is not finite or out of range."""
    _check_places(memory)
    try:
        values = to_values(memory)
    except BadRecord as error:
        raise BadMemory(f"this memory is not kept: {error}") from error
    return {_NAMES.get(name, name): value for name, value in values.items()}


def from_json(values: Mapping[str, Any]) -> Memory:
    """Return the memory that JSON values describe. Raises BadMemory for malformed values."""
    names = {name: field for field, name in _NAMES.items()}
    try:
        memory = of_values({names.get(name, name): value for name, value in values.items()}, Memory)
    except (BadRecord, AttributeError) as error:
        raise BadMemory(f"this is no memory: {error}") from error
    _check_places(memory)
    return memory


def _check_places(memory: Memory) -> None:
    """Raise BadMemory unless all places of the memory and its primitives are three numbers in range."""
    boxes = (array for primitive in memory.primitives for array in (primitive.centre, primitive.size))
    try:
        places = np.array([memory.position, *boxes], np.float64)
    except ValueError:
        places = np.empty(0)
    if places.shape[1:] != (3,):
        raise BadMemory("a place in a memory, or a size, is not three numbers")
    if not np.abs(places).max() <= _MAX_LENGTH:  # also true for NaN
        raise BadMemory(f"a place in a memory lies beyond {_MAX_LENGTH:g} metres, or nowhere")


def cleaned(memory: Memory, max_text: int, max_primitives: int) -> tuple[Memory, bool]:
    """Return the memory without control characters and within the limits, and whether anything was cut.

    Only the largest primitives are kept; a cut text ends with "… (cut)". Raises BadMemory for a text of
    control characters only, and for an invalid id of a keyframe or an entity.
    """
    for kind, identities in (("keyframe", memory.keyframe_ids), ("entity", memory.entity_ids)):
        for identity in identities:
            if not 0 <= identity <= MAX_KEYFRAME:  # all are uint32 in the messages
                raise BadMemory(f"a memory names {kind} {identity}: ids are 0 to {MAX_KEYFRAME}")
    text = _printable(memory.text, lines=True).strip()
    if not text:
        raise BadMemory("a memory needs words; this text has only control characters")
    cut = len(text) > max_text or len(memory.primitives) > max_primitives
    kept = memory.primitives
    if len(kept) > max_primitives:
        kept = tuple(sorted(kept, key=lambda primitive: -primitive.pixels)[:max_primitives])
    primitives = tuple(p._replace(label=_words(p.label), caption=_words(p.caption)) for p in kept)
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
    return clean.encode("utf-8", "replace").decode("utf-8")  # replaces lone surrogates


def _words(text: str) -> str:
    words = _printable(text).strip()
    return words if len(words) <= _MAX_WORDS else words[: _MAX_WORDS - len(_CUT)] + _CUT
