"""`python -m lodestar_console.typescript`: write the page's types, `page/src/protocol.ts`, from `protocol/`.

With ``--check`` the file is only compared; the exit status is 1 if it is out of date.
"""

from __future__ import annotations

import argparse
import json
import sys
import typing
from pathlib import Path

import msgspec
from msgspec import inspect

from lodestar_console import protocol
from lodestar_console.protocol import items, messages, parts, requests, values

TARGET = Path(__file__).resolve().parents[1] / "page" / "src" / "protocol.ts"
_CONSTANTS = ("VERSION", "MAX_DIRECTIVE", "MAX_MESSAGE", "MAX_PICTURE", "CLOUD", "GRID", "CAMERA", "LOOKS")
_UNIONS = ("ServerMessage", "PageMessage")
_NAMES = ("Role", "PartName", "DeltaName")


def typescript() -> str:
    """Return the TypeScript source of the page's types."""
    lines = [
        "// Written by `python -m lodestar_console.typescript` from lodestar_console.protocol. Do not edit.",
        "",
        *(f"export const {name} = {json.dumps(getattr(protocol, name))};" for name in _CONSTANTS),
        "",
        *(f"export type {name} = {_literal(getattr(protocol, name))};" for name in _NAMES),
    ]
    for record in _records():
        lines += ["", *_interface(record)]
    for name in _UNIONS:
        members = " | ".join(member.__name__ for member in typing.get_args(getattr(protocol, name)))
        lines += ["", f"export type {name} = {members};"]
    return "\n".join(lines) + "\n"


def _literal(alias: object) -> str:
    return " | ".join(json.dumps(value) for value in typing.get_args(alias))


def _records() -> list[type[msgspec.Struct]]:
    """Return all records in order of definition."""
    bases = (protocol.Record, protocol.Request)
    homes = (parts, items, values, messages, requests)
    return [
        value
        for home in homes
        for value in vars(home).values()
        if isinstance(value, type)
        and issubclass(value, msgspec.Struct)
        and value not in bases
        and value.__module__ == home.__name__
    ]


def _interface(record: type[msgspec.Struct]) -> list[str]:
    """Return the TypeScript lines of a record's interface. Request fields with a default are optional."""
    info = inspect.type_info(record)
    assert isinstance(info, inspect.StructType)
    text = " ".join((record.__doc__ or "").split()).replace("*/", "* /")
    lines = [f"/** {text} */", f"export interface {record.__name__} {{"]
    if info.tag_field:
        lines.append(f"  {info.tag_field}: {json.dumps(info.tag)};")
    given = not issubclass(record, protocol.Record)  # sent by the page: fields with a default are optional
    for field in info.fields:
        optional = "?" if given and not field.required else ""
        lines.append(f"  {field.encode_name}{optional}: {_type(field.type)};")
    return [*lines, "}"]


def _type(kind: inspect.Type) -> str:
    if isinstance(kind, inspect.StructType):
        return kind.cls.__name__
    if isinstance(kind, inspect.LiteralType):
        return " | ".join(json.dumps(value) for value in kind.values)
    if isinstance(kind, inspect.UnionType):
        return " | ".join(_type(member) for member in kind.types)
    if isinstance(kind, inspect.TupleType):
        return f"[{', '.join(map(_type, kind.item_types))}]"
    if isinstance(kind, inspect.ListType):
        item = _type(kind.item_type)
        return f"({item})[]" if " | " in item else f"{item}[]"
    if isinstance(kind, inspect.DictType):
        return f"Record<string, {_type(kind.value_type)}>"
    simple = {
        inspect.StrType: "string",
        inspect.IntType: "number",
        inspect.FloatType: "number",
        inspect.BoolType: "boolean",
        inspect.NoneType: "null",
        inspect.RawType: "unknown",
        inspect.AnyType: "unknown",
    }
    if type(kind) not in simple:
        raise TypeError(f"{kind} has no type in the page")
    return simple[type(kind)]


def main(arguments: list[str] | None = None) -> int:
    """Write or compare the file; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only compare")
    options = parser.parse_args(arguments)
    text = typescript()
    if options.check:
        same = TARGET.is_file() and TARGET.read_text() == text
        if not same:
            sys.stderr.write(
                f"{TARGET} is not what the protocol gives; run: python -m lodestar_console.typescript\n"
            )
        return 0 if same else 1
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
