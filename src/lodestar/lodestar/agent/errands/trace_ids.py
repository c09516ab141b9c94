"""Ids of traces: which process, which of its directives, and which epoch."""

from __future__ import annotations

import re

_TRACE_ID = re.compile(r"(?P<prefix>.*)-d(?P<directive>\d{1,9})-t\d{1,9}")


def trace_id_of(prefix: str, directive: int, epoch: int) -> str:
    """Return the id of the trace of an epoch's action: "q-d2-t17"."""
    return f"{prefix}-d{directive}-t{epoch}"


def directive_of(trace_id: str) -> tuple[str, int] | None:
    """Return the prefix of a trace's id and the number of its directive; None for one that names none."""
    found = _TRACE_ID.fullmatch(trace_id)
    return None if found is None else (found["prefix"], int(found["directive"]))
