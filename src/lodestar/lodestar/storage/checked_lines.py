"""Checked lines of append-only files: `CRC-32 of the JSON in 8 hex digits`, a space, the JSON, a newline."""

from __future__ import annotations

import json
import os
import zlib
from typing import Any

Line = dict[str, Any]


def format_line(line: Line) -> bytes:
    """Return the line as bytes. Raises ValueError for a number that is not finite."""
    body = json.dumps(line, separators=(",", ":"), allow_nan=False).encode("ascii")
    return b"%08x %s\n" % (zlib.crc32(body), body)


def parse_line(data: bytes) -> Line | None:
    """Return the values of a line without its newline, None where its checksum does not match."""
    if len(data) < 10 or data[8:9] != b" ":
        return None
    try:
        if int(data[:8], 16) != zlib.crc32(data[9:]):
            return None
        line = json.loads(data[9:])
    except ValueError:
        return None
    return line if isinstance(line, dict) else None


def write_all(handle: int, data: bytes) -> None:
    """Write all bytes to an open file. Raises OSError; then a part may be written."""
    done = os.write(handle, data)
    while done < len(data):  # a full disk takes a part, then refuses the rest
        done += os.write(handle, data[done:])
