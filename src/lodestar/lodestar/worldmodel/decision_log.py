"""The log of decisions, traces and outcomes: a file of JSON lines."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from lodestar.selection.decisions import Decision
from lodestar.storage.files import append_line
from lodestar.storage.records import BadRecord, decode, encode, of_values, to_values
from lodestar.worldmodel.old_layouts import outcome_of_1
from lodestar.worldmodel.outcomes import ActionOutcome
from lodestar.worldmodel.records import Trace

VERSION = 2  # of a line; version 1 did not tell its version, nor that it is a decision
_MAX_TEXT = 2000  # characters of a text of a line

Record = Decision | Trace | ActionOutcome
_KINDS: dict[str, Any] = {"decision": Decision, "trace": Trace, "outcome": ActionOutcome}


class DecisionLog:
    """Append one JSON line per record to `path`. A crash loses the line that it cuts off, and no other."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)

    def write(self, record: Record) -> None:
        """Write a record to disk. Raises OSError, BadRecord, and then nothing of it is kept."""
        append_line(self.path, encode(values_of(record)))


def values_of(record: Record) -> dict[str, Any]:
    """Return the JSON values of a line; texts are cut to 2000 characters. Raises BadRecord."""
    if isinstance(record, Trace):
        record = replace(record, confidence=min(max(record.confidence, 0.0), 1.0))
    (kind,) = (name for name, made in _KINDS.items() if isinstance(record, made))
    return {"kind": kind, "version": VERSION, **_cut(to_values(record))}


def _cut(value: Any) -> Any:
    """Return JSON values with texts of bounded length."""
    if isinstance(value, dict):
        return {name: _cut(part) for name, part in value.items()}
    if isinstance(value, list):
        return list(map(_cut, value))
    return value[:_MAX_TEXT] if isinstance(value, str) else value


def read_records(path: str | Path) -> Iterator[Record]:
    """Yield the records of a log. Raises OSError, and ValueError with the line's number for one that is none."""
    return _records(path, _KINDS)


def _records(path: str | Path, kinds: Collection[str]) -> Iterator[Record]:
    """Yield the records of these kinds; a line that says that it is of another kind is passed over."""
    with Path(path).open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                values = decode(line, dict[str, Any])
                if kinds is _KINDS or values.get("kind", "decision") in kinds:
                    yield _record(values)
            except (ValueError, LookupError, TypeError, AttributeError) as error:
                raise ValueError(
                    f"{path}:{number} is neither a decision nor a trace nor an outcome ({error}); delete the line to "
                    "read the rest"
                ) from error


def _record(values: dict[str, Any]) -> Record:
    kind, version = values.get("kind", "decision"), values.get("version", 1)
    if kind not in _KINDS or version not in (1, VERSION):
        raise BadRecord(f"it is a {kind!r} of version {version}, and this version reads {VERSION}")
    if kind == "outcome" and version == 1:
        values = outcome_of_1(values)
    record: Record = of_values(values, _KINDS[kind])
    return record


def read_decisions(path: str | Path) -> Iterator[Decision]:
    """Yield the decisions of a log; the last record of an epoch in a run holds its outcome. See `read_records`.

    Lines of other kinds are not read.
    """
    return (record for record in _records(path, ("decision",)) if isinstance(record, Decision))
