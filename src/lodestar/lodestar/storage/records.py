"""Records as JSON and back: the fields, types and bounds of a record's class are the format (ADR 0072).

A record is a dataclass, a NamedTuple (a JSON list) or a `msgspec.Struct`. Arrays are lists of finite numbers, read as
float64. Types are strict: "3" and 3.0 are no int. A field with a default may be missing, and a field that the class
lacks is ignored, so that a version reads what an older or a newer one wrote as long as a field keeps its meaning.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec
import numpy as np
from msgspec import Meta

R = TypeVar("R")

if TYPE_CHECKING:
    Until = float
else:

    class Until(float):
        """Type of a stamp, seconds, up to which something holds; inf = without an end, null in JSON."""


_LATEST = 1e11  # seconds: the year 5138
Stamp = Annotated[float, Meta(ge=-_LATEST, le=_LATEST)]  # seconds
Length = Annotated[float, Meta(ge=-1e7, le=1e7)]  # metres or radians; beyond any place
Number = Annotated[int, Meta(ge=-(2**31) + 1, le=2**31 - 1)]  # of a floor, region or pixel count
Identity = Annotated[int, Meta(ge=-(2**63) + 1, le=2**63 - 1)]  # of what has an id
Share = Annotated[float, Meta(ge=0.0, le=1.0)]


class BadRecord(ValueError):
    """Data is no record of its kind, or a record cannot be written; the message names the field and what is wrong."""


def encode(record: Any) -> bytes:
    """Return a record as JSON. Raises BadRecord for one that `decode` would refuse, such as with a time of 1e300."""
    try:
        data = msgspec.json.encode(record, enc_hook=_written)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadRecord(f"{type(record).__name__} cannot be written: {error}") from error
    _check(record, data)
    return data


def _check(value: Any, data: bytes | None = None) -> None:
    """Raise BadRecord for what could not be read back. data: the value as JSON."""
    kind = type(value)
    if kind in (dict, list, tuple):  # which say nothing of what is in them
        for part in value.values() if kind is dict else value:
            _check(part)
    elif kind is float and not math.isfinite(value):
        raise BadRecord(f"{value} is not finite")
    elif data is not None:
        decode(data, kind)
    elif value is not None and kind not in (str, int, bool, float):
        encode(value)


def decode(data: bytes | str, kind: type[R]) -> R:
    """Return the record of this class, or union of classes, in JSON. Raises BadRecord."""
    try:
        return _decoder(kind).decode(data)  # type: ignore[arg-type]
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise _bad(error) from error


def to_values(record: Any) -> Any:
    """Return a record as JSON values. Raises BadRecord as `encode` does."""
    return msgspec.json.decode(encode(record))


def of_values(values: Any, kind: type[R]) -> R:
    """Return the record of this class, or union of classes, in JSON values. Raises BadRecord."""
    try:
        return msgspec.convert(values, kind, dec_hook=_read, str_keys=True)
    except (msgspec.ValidationError, RecursionError) as error:
        raise _bad(error) from error


@lru_cache(maxsize=256)
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind, dec_hook=_read)


def _written(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    for plain in (str, float):  # of classes of ours
        if isinstance(value, plain):
            return plain(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _read(kind: Any, value: Any) -> Any:
    """Return a value of a type that `msgspec` does not know."""
    if kind is np.ndarray:
        array = np.array(value)
        if array.dtype.kind not in "if":  # NaN is null in JSON
            raise ValueError("Expected a list of finite numbers")
        return array if array.dtype == np.float64 else array.astype(np.float64)
    if kind is Until and (value is None or (isinstance(value, (int, float)) and abs(value) <= _LATEST)):
        return Until(np.inf if value is None else value)
    if issubclass(kind, str) and isinstance(value, str):
        return kind(value)
    raise ValueError(f"Expected {kind.__name__}")


def _bad(error: Exception) -> BadRecord:
    """Return the error with the field first: "map.map_id: expected `int`, got `str`"."""
    what, _, where = str(error).partition(" - at `$")
    if isinstance(error, RecursionError):
        what = "it is nested too deeply"
    field = where.rstrip("`").lstrip(".")
    return BadRecord(f"{field}: {what[:1].lower()}{what[1:200]}" if field else what[:200])
