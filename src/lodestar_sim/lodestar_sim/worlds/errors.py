"""What is wrong with a world."""

from __future__ import annotations


class WorldError(ValueError):
    """The world cannot be used; the message says what to change and where."""
