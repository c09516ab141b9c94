"""Lines with checksums for append-only files.

A line is the CRC-32 of the JSON in 8 hex digits, a space, the JSON and a newline.
"""

from __future__ import annotations

import zlib
from typing import Any

from lodestar.storage.records import encode


def format_line(record: Any) -> bytes:
    """Return a record as a line with its checksum. Raises BadRecord if it could not be read back."""
    return checked_line(encode(record))


def checked_line(body: bytes) -> bytes:
    """Return the JSON of a record as a line with its checksum."""
    return b"%08x %s\n" % (zlib.crc32(body), body)


def checked_body(data: bytes) -> bytes | None:
    """Return the JSON in a line (given without its newline), None if its checksum does not match."""
    try:
        whole = data[8:9] == b" " and int(data[:8], 16) == zlib.crc32(data[9:])
    except ValueError:
        return None
    return data[9:] if whole else None
