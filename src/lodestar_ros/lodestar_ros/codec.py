"""Codecs that convert between records (dataclasses of the core) and ROS messages by field name.

A pair of classes is compiled at its first use: fields are matched by name, each gets the conversion of its two types,
and one function per direction is generated as source, as `dataclasses` does. Messages are converted without
reflection.
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from array import array
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Generic, TypeVar

from lodestar.language.directive_errors import CannotObey, EmptyDirective

R = TypeVar("R")
#: Returns one field's value from the whole record or message and the caller's context.
Part = Callable[[Any, Any], Any]

#: Type codes of the integer sequences that a message stores as arrays.
_CODES = {
    "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q", "uint64": "Q",
}  # fmt: skip
_TO, _OF = 0, 1  # directions: record to message, and message to record

#: (type in the record, type in the message) -> functions that convert a value to the message and back.
_VALUES: dict[tuple[Any, str], tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {}
_CODECS: dict[tuple[Any, str], Codec[Any]] = {}


class BadMessage(ValueError):
    """Raised for a message that is inconsistent or has impossible values; it is dropped and counted."""


def convert_values(kind: Any, name: str, to: Callable[[Any], Any], of: Callable[[Any], Any]) -> None:
    """Register conversions of values of a record's type to fields of a message's type
    ("geometry_msgs/Point"), and back.

    kind: a type, or the name of a field where the type is ambiguous; "stamp" of "std_msgs/Header".
    """
    _VALUES[kind, name] = to, of


class Codec(Generic[R]):
    """Converts records of one class to messages of one class, and back; see `codec`."""

    def __init__(
        self,
        record: type[R],
        message: Any,
        names: Mapping[str, str],
        to: Mapping[str, Part],
        of: Mapping[str, Part],
        alone: tuple[str, ...],
    ) -> None:
        self.record, self.message = record, message
        self._names, self._parts, self._alone = names, (to, of), alone
        self._made: list[Any] = [None, None]

    def to_msg(self, record: R, context: Any = None) -> Any:
        """Return the message of a record. context: passed to the functions of `to`."""
        return (self._made[_TO] or self.compiled(_TO))(record, context)

    def from_msg(self, message: Any, context: Any = None) -> R:
        """Return the record of a message. context: passed to the functions of `of`.

        Raises BadMessage; EmptyDirective and CannotObey where the record, or a function of `of`, does.
        """
        try:
            return (self._made[_OF] or self.compiled(_OF))(message, context)
        except (BadMessage, EmptyDirective, CannotObey):
            raise
        except (ValueError, OverflowError) as error:
            raise BadMessage(str(error)) from error

    def compiled(self, way: int) -> Callable[[Any, Any], Any]:
        """Return the function of (record or message, context) of one direction.

        Raises TypeError for a field without a counterpart, or whose type has no conversion.
        """
        if self._made[way] is None:
            known: dict[str, Any] = {"Made": self.record if way else self.message}
            fields = self._fields() if way else self.message.get_fields_and_field_types()
            values = ((field, self._value(field, way, known)) for field in fields)
            arguments = ", ".join(f"{field}={value}" for field, value in values if value is not None)
            source = f"def convert(x, c):\n    return Made({arguments})\n"
            exec(compile(source, f"<codec of {self.record.__name__}>", "exec"), known)
            self._made[way] = known["convert"]
        return self._made[way]

    def _fields(self) -> list[str]:
        return [field.name for field in dataclasses.fields(self.record)]  # type: ignore[arg-type]

    def _value(self, field: str, way: int, known: dict[str, Any]) -> str | None:
        """Return the Python source that converts a field's value, or None where the field keeps its
        default.
        """
        if field in self._parts[way]:
            return f"{_named(known, self._parts[way][field])}(x, c)"
        if field in self._alone:
            return None
        kinds = self.message.get_fields_and_field_types()
        own = field if way else next((a for a, b in self._names.items() if b == field), field)
        other = self._names.get(own, own)
        if "header" in kinds and ("stamp" not in kinds and field in ("stamp", "header")):
            own, other = "stamp", "header"
        if own in self._fields() and other in kinds:
            kind = typing.get_type_hints(self.record)[own]
            made = _source(kind, kinds[other], own, f"x.{other if way else own}", way, known)
            if made is not None:
                return made
        raise TypeError(
            f"no conversion of {self.record.__name__}.{own} and {self.message.__name__}.{other}: name the counterpart "
            "in `names`, the conversion in `to` and `of`, or the field in `alone`"
        )


def codec(
    record: type[R],
    message: Any,
    *,
    names: Mapping[str, str] | None = None,
    to: Mapping[str, Part] | None = None,
    of: Mapping[str, Part] | None = None,
    alone: tuple[str, ...] = (),
) -> tuple[Callable[..., Any], Callable[..., R]]:
    """Return the functions `to_msg` and `from_msg` of two classes. Other codecs use them for fields of these types.

    names: record's field -> message's field, where they differ. to: message's field -> function of (record, context).
    of: record's field -> function of (message, context). alone: fields that the other side lacks; they keep their
    default. All other fields have the same name on both sides, and are converted by their types.
    """
    made = Codec(record, message, names or {}, to or {}, of or {}, alone)
    _CODECS.setdefault((record, f"{message.__module__.split('.')[0]}/{message.__name__}"), made)
    return made.to_msg, made.from_msg


def all_codecs() -> list[Codec[Any]]:
    """Return all codecs of the imported modules."""
    return list(_CODECS.values())


# --- source of the conversion of one field ------------------------------------------------------------------


def _named(known: dict[str, Any], thing: Any) -> str:
    """Add a function or class to the names of the generated source; return its name."""
    name = f"f{len(known)}"
    known[name] = thing
    return name


def _source(kind: Any, name: str, field: str, value: str, way: int, known: dict[str, Any]) -> str | None:
    """Return the Python source that converts the expression `value`; None where there is no conversion.

    kind: type in the record, name: type in the message. way: _TO or _OF.
    """
    one = _single(kind, name, field, value, way, known)
    if one is not None or not name.startswith("sequence<"):
        return one
    item, _, bound = name[len("sequence<") : -1].partition(", ")
    outer, inner = typing.get_origin(kind), typing.get_args(kind)
    # an optional value is a sequence of at most one element
    if outer in (typing.Union, types.UnionType) and bound == "1":
        given = f"{value}[0]" if way else value
        made = _source(inner[0], item, field, given, way, known)
        return made and (
            f"({made} if {value} else None)" if way else f"([] if {value} is None else [{made}])"
        )
    if outer is frozenset and item in _CODES:
        return f"frozenset({value})" if way else f"{_named(known, array)}('{_CODES[item]}', sorted({value}))"
    if outer is not tuple or inner[1:] != (Ellipsis,):
        return None
    if item in _CODES and inner[0] is int:
        return f"tuple({value})" if way else f"{_named(known, array)}('{_CODES[item]}', {value})"
    each = f"v{len(known)}"
    made = _source(inner[0], item, field, each, way, known)
    if made == each:
        return f"tuple({value})" if way else f"list({value})"
    return made and (f"tuple([{made} for {each} in {value}])" if way else f"[{made} for {each} in {value}]")


def _single(kind: Any, name: str, field: str, value: str, way: int, known: dict[str, Any]) -> str | None:
    """Return the Python source that converts an expression `value` that is not a sequence."""
    if (kind, name) in _CODECS:
        return f"{_named(known, _CODECS[kind, name].compiled(way))}({value}, c)"
    pair = _VALUES.get((field, name)) or _VALUES.get((kind, name))
    if pair is not None:
        return f"{_named(known, pair[way])}({value})"
    if isinstance(kind, type) and issubclass(kind, Enum):
        written = f"int({value})" if issubclass(kind, int) else f"{value}.value"
        return f"{_named(known, kind)}({value})" if way else written
    if kind == float | None and name in ("float", "double"):  # NaN stands for None
        if way:
            return f"(None if {_named(known, math.isnan)}({value}) else {value})"
        return f"({_named(known, math.nan)} if {value} is None else float({value}))"
    plain = {bool: ("boolean",), int: tuple(_CODES), float: ("float", "double"), str: ("string",)}
    if name not in plain.get(kind, ()):
        return None
    return value if way or kind is str else f"{kind.__name__}({value})"
