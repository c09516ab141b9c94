"""Checked lines of append-only files: `CRC-32 of the JSON in 8 hex digits`, a space, the JSON, a newline."""

from __future__ import annotations

import zlib
from typing import Any

from lodestar.storage.records import encode


def format_line(record: Any) -> bytes:
    """Return a record as a line. Raises BadRecord for one that could not be read back."""
    return checked_line(encode(record))


def checked_line(body: bytes) -> bytes:
    """Return the JSON of a record as a line."""
    return b"%08x %s\n" % (zlib.crc32(body), body)


def checked_body(data: bytes) -> bytes | None:
    """Return the JSON of a line without its newline, None where its checksum does not match."""
    try:
        whole = data[8:9] == b" " and int(data[:8], 16) == zlib.crc32(data[9:])
    except ValueError:
        return None
    return data[9:] if whole else None
