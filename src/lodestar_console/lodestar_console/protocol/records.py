"""Limits, names and the base of all records."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

VERSION = 1
MAX_DIRECTIVE = 2000  # largest number of characters of a directive or question
MAX_MESSAGE = 32 * 1024  # largest size of a page's message, bytes
MAX_PICTURE = 8 * 2**20  # largest size of a picture of a target, bytes

Role: TypeAlias = Literal["look", "stop", "command"]
Point: TypeAlias = tuple[float, float]
Point3: TypeAlias = tuple[float, float, float]
Outline: TypeAlias = list[tuple[float, float]]
DeltaName: TypeAlias = Literal["entities", "decisions", "beliefs", "events", "memories"]


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=False):
    """A record of the protocol; equal by value."""
