"""Log of decisions, traces and outcomes: a file of JSON lines."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from lodestar.selection.decisions import Decision
from lodestar.storage.files import append_line
from lodestar.storage.records import BadRecord, decode, encode, of_values, to_values
from lodestar.worldmodel.outcomes import ActionOutcome
from lodestar.worldmodel.records import Trace

VERSION = 2  # of the format of a line; lines of version 1 carry no version
_MAX_TEXT = 2000  # characters per text

Record = Decision | Trace | ActionOutcome
_KINDS: dict[str, Any] = {"decision": Decision, "trace": Trace, "outcome": ActionOutcome}


class DecisionLog:
    """Appends one JSON line per record to `path`. A crash loses at most the line being written."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)

    def write(self, record: Record) -> None:
        """Append a record. Raises OSError, BadRecord; then nothing is written."""
        append_line(self.path, encode(values_of(record)))


def values_of(record: Record) -> dict[str, Any]:
    """Return a record as the JSON values of a line, with texts cut to 2000 characters. Raises BadRecord."""
    if isinstance(record, Trace):
        record = replace(record, confidence=min(max(record.confidence, 0.0), 1.0))
    (kind,) = (name for name, made in _KINDS.items() if isinstance(record, made))
    return {"kind": kind, "version": VERSION, **_cut(to_values(record))}


def _cut(value: Any) -> Any:
    """Return JSON values with texts cut to `_MAX_TEXT`."""
    if isinstance(value, dict):
        return {name: _cut(part) for name, part in value.items()}
    if isinstance(value, list):
        return list(map(_cut, value))
    return value[:_MAX_TEXT] if isinstance(value, str) else value


def read_records(path: str | Path) -> Iterator[Record]:
    """Yield the records of a log. Raises OSError, and ValueError with the number of an invalid line."""
    return _records(path, _KINDS)


def _records(path: str | Path, kinds: Collection[str]) -> Iterator[Record]:
    """Yield the records of these kinds; lines of other kinds are skipped."""
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
    if kind not in _KINDS or version != VERSION:
        raise BadRecord(f"it is a {kind!r} of version {version}, and this version reads {VERSION}")
    record: Record = of_values(values, _KINDS[kind])
    return record


def read_decisions(path: str | Path) -> Iterator[Decision]:
    """Yield the decisions of a log, skipping lines of other kinds. See `read_records`.

    A decision (equal epoch and run) may have several records; the last one has the outcome.
    """
    return (record for record in _records(path, ("decision",)) if isinstance(record, Decision))
