"""Conversion of parameter values to the types of the configuration."""

from __future__ import annotations

import difflib
import types
from collections.abc import Iterable
from enum import Enum
from pathlib import Path
from typing import Any, Union, get_args, get_origin

_NEAR = 0.75  # minimum similarity of two names for a suggestion; chosen


class ValueRefused(ValueError):
    """A value is invalid for its parameter; the message names the parameter and the valid values."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known dotted name that best matches a mistyped or incomplete name; "" if none is similar."""
    names = sorted(known)
    ends = [one for one in names if one.endswith(f".{name}")]  # only the group is missing
    if len(ends) == 1:
        return ends[0]
    found = difflib.get_close_matches(name, names, n=1, cutoff=_NEAR)
    return found[0] if found else ""


def without_none(hint: Any) -> tuple[Any, bool]:
    """Return the type hint without None, and whether it allowed None."""
    if get_origin(hint) in (Union, types.UnionType):
        others = [part for part in get_args(hint) if part is not type(None)]
        if len(others) == 1:
            return others[0], True
    return hint, False


def expressible(hint: Any) -> bool:
    """Return whether a ROS parameter can hold a value of this type."""
    hint, _ = without_none(hint)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (tuple, list):
        return all(part is Ellipsis or part in (int, float, str, bool) for part in arguments)
    return isinstance(hint, type) and issubclass(hint, (bool, int, float, str, Path, Enum))


def describe(hint: Any) -> str:
    """Return the type in words."""
    plain, may_be_none = without_none(hint)
    if isinstance(plain, type) and issubclass(plain, Enum):
        text = " | ".join(member.name for member in plain)
    else:
        text = str(getattr(plain, "__name__", plain) if not get_args(plain) else plain)
    return f"{text}, empty = none" if may_be_none else text


def coerce(name: str, given: Any, hint: Any) -> Any:
    """Return the value converted to its type. Raises ValueRefused, which names the parameter."""
    hint, may_be_none = without_none(hint)
    if may_be_none and given == "":
        return None
    try:
        if get_origin(hint) in (tuple, list):
            parts = [part for part in get_args(hint) if part is not Ellipsis]
            fixed = get_origin(hint) is tuple and Ellipsis not in get_args(hint)
            if isinstance(given, str) or (fixed and len(given) != len(parts)):
                raise ValueError(f"{len(parts) if fixed else 'a list of'} values")
            kinds = parts if fixed else parts[:1] * len(given)
            return get_origin(hint)(_scalar(value, kind) for value, kind in zip(given, kinds))
        return _scalar(given, hint)
    except (TypeError, ValueError, KeyError) as error:
        raise ValueRefused(f"parameter {name} = {given!r} is not {describe(hint)} ({error})") from error


def _scalar(value: Any, hint: Any) -> Any:
    if issubclass(hint, Enum):
        return hint[value]
    if hint is bool or isinstance(value, bool):
        if hint is not bool or not isinstance(value, bool):
            raise TypeError("one is a boolean, the other is not")
        return value
    if hint is int and isinstance(value, float) and not value.is_integer():
        raise TypeError("an integer is expected")
    if issubclass(hint, (str, Path)) != isinstance(value, str):
        raise TypeError(f"it is {type(value).__name__}")
    return hint(value)
