"""Checked lines of append-only files: `CRC-32 of the JSON in 8 hex digits`, a space, the JSON, a newline."""

from __future__ import annotations

import os
import zlib
from typing import Any

from lodestar.storage.records import encode


def format_line(record: Any) -> bytes:
    """Return a record as a line. Raises BadRecord for one that could not be read back."""
    body = encode(record)
    return b"%08x %s\n" % (zlib.crc32(body), body)


def checked_body(data: bytes) -> bytes | None:
    """Return the JSON of a line without its newline, None where its checksum does not match."""
    try:
        whole = data[8:9] == b" " and int(data[:8], 16) == zlib.crc32(data[9:])
    except ValueError:
        return None
    return data[9:] if whole else None


def write_all(handle: int, data: bytes) -> None:
    """Write all bytes to an open file. Raises OSError; then a part may be written."""
    done = os.write(handle, data)
    while done < len(data):  # a full disk takes a part, then refuses the rest
        done += os.write(handle, data[done:])
