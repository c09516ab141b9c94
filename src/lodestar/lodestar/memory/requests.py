"""Search requests to the memory and their results."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from lodestar.memory.records import EventKind, MapName, Memory, Source

EVERY_ROBOT = ("*",)
MAX_LIMIT = 10_000
_FARTHEST = 1e9  # metres, largest coordinate; Milvus does not accept infinity


class Order(str, Enum):
    """Order of the results of a request without search phrases; with phrases, the most similar come first."""

    NEWEST = "newest"
    OLDEST = "oldest"
    NEAREST = "nearest"  # by distance to `near`


@dataclass(frozen=True)
class Request:
    """Filters of a search, which must all hold, and phrases to rank by.

    Without filters, all memories of the map pass. phrases: the score is the best cosine with any of them.
    vectors: (M, D) unit vectors of the M phrases, so that the embedder is not needed. window: (first, last)
    stamp, seconds; memories that overlap it pass. near: (2,) or (3,) in `map`, metres, with `radius` in plan.
    entity_ids: memories with any of them. kinds: only events of these kinds. sources: any of them. map: None
    = the store's current map. robots: () = this robot; EVERY_ROBOT or names need Milvus. Raises ValueError
    for numbers that are not finite or out of range, a window that ends before it starts, a limit outside 1 to
    10,000.
    """

    phrases: tuple[str, ...] = ()
    vectors: np.ndarray | None = None
    window: tuple[float, float] | None = None
    near: tuple[float, ...] | None = None
    radius: float = 5.0  # metres; STaR's tolerance for a place (V)
    floor: int | None = None
    region_id: int | None = None
    region: str = ""  # label of the region at that time; "" = any
    entity_ids: frozenset[int] = frozenset()
    kinds: frozenset[EventKind] = frozenset()
    sources: frozenset[Source] = frozenset()
    map: MapName | None = None
    robots: tuple[str, ...] = ()
    limit: int = 100
    order: Order = Order.NEWEST

    def __post_init__(self) -> None:
        if self.window is not None and not self.window[0] <= self.window[1]:  # also true for NaN
            raise ValueError("the time window must not end before it starts; give (first, last) seconds")
        if self.near is not None:
            known = all(abs(value) <= _FARTHEST for value in (*self.near, self.radius))  # false for NaN
            if len(self.near) not in (2, 3) or not known or not self.radius > 0.0:
                raise ValueError(f"near needs metres (x, y) and a radius above 0, at most {_FARTHEST:g}")
        whole = (self.floor or 0, self.region_id or 0, *self.entity_ids, self.map.map_id if self.map else 0)
        if not all(abs(value) < 2**63 for value in whole):
            raise ValueError("floor and ids need whole numbers of at most 63 bits")
        if not 1 <= self.limit <= MAX_LIMIT:
            raise ValueError(f"limit must be 1 to {MAX_LIMIT}")
        if self.order is Order.NEAREST and self.near is None:
            raise ValueError("the nearest needs a place; give near")

    @property
    def by_words(self) -> bool:
        """Return whether the request has search phrases or vectors, which rank the memories."""
        return self.vectors is not None or bool(self.phrases)

    @property
    def narrowed(self) -> bool:
        """Return whether the request has a filter besides the map."""
        given = (self.window, self.near, self.floor, self.region_id)
        return any(value is not None for value in given) or bool(
            self.region or self.entity_ids or self.kinds or self.sources
        )


@dataclass(frozen=True)
class Hit:
    """Search result. score: largest cosine with the search phrases, 0 without a vector or without phrases.

    vector: (D,) float32 unit vector of the memory's text, None if it is not embedded yet.
    """

    memory: Memory
    score: float = 0.0
    vector: np.ndarray | None = field(default=None, compare=False)
