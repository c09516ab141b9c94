"""Conversion of records to JSON and back: the fields and types of a record's class are the format (ADR 0001).

A record is a dataclass, a NamedTuple (a JSON list) or a `msgspec.Struct`. Arrays are lists of finite numbers,
read as float64. Types are strict: "3" and 3.0 are no int. A field with a default may be missing, and a field
that the class lacks is ignored, so that a version reads records of older and newer versions as long as a
field keeps its meaning.
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
        """Type of a stamp, seconds, until which something is valid; inf = for ever, null in JSON."""


_LATEST = 1e11  # seconds: the year 5138
Stamp = Annotated[float, Meta(ge=-_LATEST, le=_LATEST)]  # seconds
Length = Annotated[float, Meta(ge=-1e7, le=1e7)]  # metres or radians; wider than any map
Number = Annotated[int, Meta(ge=-(2**31) + 1, le=2**31 - 1)]  # a floor, region or pixel count
Identity = Annotated[int, Meta(ge=-(2**63) + 1, le=2**63 - 1)]  # an id
Share = Annotated[float, Meta(ge=0.0, le=1.0)]


class BadRecord(ValueError):
    """Error: data is no record of its class, or a record cannot be written.

    The message names the field and the problem.
    """


def encode(record: Any) -> bytes:
    """Return a record as JSON.

    Raises BadRecord for a record that `decode` would refuse, such as one with a time of 1e300.
    """
    try:
        data = msgspec.json.encode(record, enc_hook=_written)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadRecord(f"{type(record).__name__} cannot be written: {error}") from error
    _check(record, data)
    return data


def _check(value: Any, data: bytes | None = None) -> None:
    """Raise BadRecord for a value that could not be read back. data: the value as JSON."""
    kind = type(value)
    if kind in (dict, list, tuple):  # containers have no element types to check against
        for part in value.values() if kind is dict else value:
            _check(part)
    elif kind is float and not math.isfinite(value):
        raise BadRecord(f"{value} is not finite")
    elif data is not None:
        decode(data, kind)
    elif value is not None and kind not in (str, int, bool, float):
        encode(value)


def decode(data: bytes | str, kind: type[R]) -> R:
    """Return the record that JSON describes. kind: its class, or a union. Raises BadRecord."""
    try:
        return _decoder(kind).decode(data)  # type: ignore[arg-type]
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise _bad(error) from error


def to_values(record: Any) -> Any:
    """Return a record as JSON values. Raises BadRecord as `encode` does."""
    return msgspec.json.decode(encode(record))


def of_values(values: Any, kind: type[R]) -> R:
    """Return the record that JSON values describe. kind: its class, or a union. Raises BadRecord."""
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
    for plain in (str, float):  # subclasses of str and float
        if isinstance(value, plain):
            return plain(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _read(kind: Any, value: Any) -> Any:
    """Return a JSON value converted to a type that `msgspec` does not know."""
    if kind is np.ndarray:
        array = np.array(value)
        if array.dtype.kind not in "if":  # other dtypes: not numbers, or null, which is how JSON writes NaN
            raise ValueError("Expected a list of finite numbers")
        return array if array.dtype == np.float64 else array.astype(np.float64)
    if kind is Until and (value is None or (isinstance(value, (int, float)) and abs(value) <= _LATEST)):
        return Until(np.inf if value is None else value)
    if issubclass(kind, str) and isinstance(value, str):
        return kind(value)
    raise ValueError(f"Expected {kind.__name__}")


def _bad(error: Exception) -> BadRecord:
    """Return a BadRecord whose message begins with the field: "map.map_id: expected `int`, got `str`"."""
    what, _, where = str(error).partition(" - at `$")
    if isinstance(error, RecursionError):
        what = "it is nested too deeply"
    field = where.rstrip("`").lstrip(".")
    return BadRecord(f"{field}: {what[:1].lower()}{what[1:200]}" if field else what[:200])
