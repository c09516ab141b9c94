"""Records of changes in the world model, for people and for the memory."""

from __future__ import annotations

from dataclasses import dataclass

UNDONE = "UNDONE"
DIAGNOSED = "DIAGNOSED"
REFUSED = "REFUSED"


@dataclass(frozen=True)
class WorldEvent:
    """A change of a belief. kind: name of a Change, or UNDONE, DIAGNOSED, REFUSED. stamp in seconds.

    entry: number in the journal, 0 = none. place: (x, y) in map, None = none. text: for a person.
    """

    stamp: float
    kind: str
    text: str
    entity_ids: tuple[int, ...] = ()
    trace_id: str = ""
    entry: int = 0
    place: tuple[float, float] | None = None
