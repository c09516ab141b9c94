"""Records of what changed in the world model, for people and for the memory."""

from __future__ import annotations

from dataclasses import dataclass

UNDONE = "UNDONE"
DIAGNOSED = "DIAGNOSED"
REFUSED = "REFUSED"


@dataclass(frozen=True)
class WorldEvent:
    """A change of what is believed. kind: name of a Change, or UNDONE, DIAGNOSED, REFUSED. stamp in seconds.

    entry: number in the journal, 0 = none. place: (x, y) in map; None = of no place. text: for a person.
    """

    stamp: float
    kind: str
    text: str
    entity_ids: tuple[int, ...] = ()
    trace_id: str = ""
    entry: int = 0
    place: tuple[float, float] | None = None
