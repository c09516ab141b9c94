"""Question being answered, with its present time, time window, evidence and rooms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from lodestar.grid.paths import path_lengths
from lodestar.language.item_words import item_words, scope_words
from lodestar.language.items import Item
from lodestar.language.question import Occurrence, Question, QuestionKind
from lodestar.language.time_windows import Act
from lodestar.memory.answering.chronicle import Chronicle
from lodestar.memory.answering.config import AnsweringConfig
from lodestar.memory.answering.evidence_scope import EvidenceScope
from lodestar.memory.answering.records import Search
from lodestar.memory.answering.tools import Shown, Tools, unit_rows
from lodestar.memory.evidence.selection import Piece, bottleneck_evidence
from lodestar.memory.records import EventKind, Memory
from lodestar.memory.requests import Hit, Order, Request
from lodestar.query.verdict import PoolCache
from lodestar.scene.captions import clean_text
from lodestar.scene.regions import is_called

ANSWERING_POOL = 400  # captions from which evidence is selected; chosen

#: Event kind for each verb of `Act` that describes an object's change.
_KIND_OF_ACT = {
    "move": EventKind.MOVED,
    "vanish": EventKind.VANISHED,
    "leave": EventKind.VANISHED,
    "appear": EventKind.APPEARED,
    "arrive": EventKind.APPEARED,
}


@dataclass(frozen=True)
class Inquiry:
    """Question being answered, with cached evidence and searches.

    pose: (3,) x, y, yaw of base_link in map; None = unknown. now: present stamp, seconds. shown: object in
    the question's picture or in view. window: (begin, end) in seconds; None = any time. pools: scene as
    arrays, cached between questions. scope: rooms that the question names, None = anywhere. serving: kinds of
    objects that serve the need in the question, such as chairs for sitting.
    """

    question: Question
    now: float
    pose: np.ndarray | None
    tools: Tools
    config: AnsweringConfig
    shown: Shown | None = None
    window: tuple[float, float] | None = None
    pools: PoolCache = field(default_factory=PoolCache)
    scope: EvidenceScope | None = None
    serving: tuple[str, ...] = ()

    def within(self, window: tuple[float, float] | None) -> Inquiry:
        """Return the same question with another time window."""
        return replace(self, window=window)

    @cached_property
    def anytime(self) -> Inquiry:
        """Return the same question without a time window."""
        return self if self.window is None else self.within(None)

    # --- subject ----------------------------------------------------------------------------------------------

    @cached_property
    def chronicle(self) -> Chronicle:
        """Return the objects, stays, changes and visits known in the question's window."""
        return Chronicle(self.tools, self.window, self.memories, lambda: self.anytime.chronicle)

    @cached_property
    def searches(self) -> dict[Any, Search]:
        """Return the cache of searches, which `selection.find` fills."""
        return {}

    @property
    def item(self) -> Item | None:
        """Return the object description (item) from the question's picture, else its words; None = none."""
        item = self.shown.item if self.shown is not None else self.question.item
        return item if item is not None and item.alternatives else None

    @property
    def is_of_robot(self) -> bool:
        """Return whether the question is about an action of the robot."""
        return self.question.act is not None and self.question.act.own

    @property
    def is_of_change(self) -> bool:
        """Return whether the question is about a change of an object."""
        return self.question.act is not None and not self.question.act.own

    @property
    def change(self) -> EventKind | None:
        """Return the kind of event that the question asks about; None = no event, or an unrecorded kind."""
        act = self.question.act
        return None if act is None else kind_of_change(act)

    @property
    def asks_first(self) -> bool:
        """Return whether the question asks for the first of several occurrences."""
        return self.question.occurrence is Occurrence.FIRST

    @property
    def place(self) -> np.ndarray | None:
        """Return the robot's position (2,) in map; None if unknown."""
        return None if self.pose is None else np.asarray(self.pose, float)[:2]

    # --- memory -----------------------------------------------------------------------------------------------

    @cached_property
    def hits(self) -> list[Hit]:
        """Return the captions most similar to the question's words, best first, in its window and near its rooms."""
        phrases = self.cues
        if not phrases:
            return []
        vectors = unit_rows(self.tools, phrases)
        request = Request(phrases=phrases, vectors=vectors, window=self.window, limit=ANSWERING_POOL)
        if self.scope is not None:
            middle, radius = self.scope.circle
            reach = 0.0 if self.scope.visits else self.config.coverage.look_limits.range
            found = self.tools.memories.search(replace(request, near=middle, radius=radius + reach))
            if found:
                return found
        return self.tools.memories.search(request)

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """Return the evidence selected from `hits` by `tools.select` or the Information Bottleneck."""
        if not self.hits:
            return ()
        vectors = unit_rows(self.tools, self.cues)

        def embed(phrases: Sequence[str]) -> np.ndarray:
            return unit_rows(self.tools, phrases)

        config = replace(self.config.evidence, representative=self._representative)
        select = self.tools.select or bottleneck_evidence
        if self.scope is None:
            return select(self.hits, vectors, embed, config).pieces
        whole = {hit.memory.id: hit for hit in self.hits}
        chosen = select(self.scope.within(self.hits), vectors, embed, config).pieces
        return tuple(replace(piece, hit=whole[piece.hit.memory.id]) for piece in chosen)

    @property
    def _representative(self) -> str:
        """Return which caption represents a cluster of evidence: "first", "last" or most "relevant"."""
        match self.question.occurrence:
            case Occurrence.FIRST:
                return "first"
            case Occurrence.LAST:
                return "last"
        return "last" if self.question.kind is QuestionKind.WHEN else "relevant"

    @cached_property
    def cues(self) -> tuple[str, ...]:
        """Return the search phrases: descriptions and kinds of objects, else rooms, else the question's text.

        Kinds of objects that serve the need in the question are added.
        """
        question, said = self.question, []
        items = [self.shown.item if self.shown is not None else question.item, question.other]
        for item in items:
            if item is None or not item.alternatives:
                continue
            said.append(item_words(item).removeprefix("the ") + scope_words(question.scope))
            said += [graph.target.phrase for graph in item.best]
        if not said:
            said = [room.target.phrase for room in question.scope.rooms] or [question.text]
        said += self.serving
        return tuple(dict.fromkeys(text for text in map(clean_text, said) if text))

    def memories(self, request: Request) -> list[Memory]:
        """Return memories that pass a request without search phrases.

        If the scene dictionary may not be used, only memories selected as evidence are searched. Raises
        AnswerCancelled.
        """
        self.tools.check()
        if self.tools.use_scene:
            return [hit.memory for hit in self.tools.memories.search(request)]
        found = [piece.hit.memory for piece in self.pieces if _passes(piece.hit.memory, request)]
        newest = request.order is not Order.OLDEST
        return sorted(found, key=lambda memory: memory.start, reverse=newest)[: request.limit]

    # --- rooms ------------------------------------------------------------------------------------------------

    def region_at(self, point: np.ndarray) -> int:
        """Return the id of the region at a place in map; 0 = unknown."""
        return self.tools.scene.region_at(np.asarray(point, float))

    def room_name(self, region_id: int) -> str:
        """Return the name of a region, "" if it has none."""
        region = self.tools.scene.regions.get(region_id)
        return "" if region is None else clean_text(region.label)

    def room_at(self, point: np.ndarray) -> str:
        """Return the name of the region at a place in map, "" if it has none."""
        return self.room_name(self.region_at(point))

    def rooms_called(self, names: Sequence[str]) -> frozenset[int]:
        """Return the ids of the regions that have one of these names."""
        regions = self.tools.scene.regions.values()
        return frozenset(region.id for region in regions if is_called(region, names))

    def nearest_rooms(self, ids: Iterable[int], near: np.ndarray | None) -> list[int]:
        """Return region ids by distance of their centroids from a place (2+,) in map; by id if there is no place."""
        regions = self.tools.scene.regions

        def away(region: int) -> float:
            middle = np.asarray(regions[region].centroid, float)[:2]
            return 0.0 if near is None else float(np.linalg.norm(middle - np.asarray(near, float)[:2]))

        return sorted(ids, key=lambda region: (away(region), region))

    @cached_property
    def lengths(self) -> np.ndarray | None:
        """Return path lengths to all cells, (rows, columns), metres; None without a grid or a pose."""
        if self.tools.grid is None or self.pose is None:
            return None
        return path_lengths(self.tools.grid, np.asarray(self.pose, float)[:2])


def kind_of_change(act: Act) -> EventKind | None:
    """Return the event kind of an object's change; None for other verbs and actions of the robot."""
    return None if act.own else _KIND_OF_ACT.get(act.verb)


def _passes(memory: Memory, request: Request) -> bool:
    """Return whether a memory passes the filters of a request, as far as answers use them."""
    if request.window is not None and not (
        memory.end >= request.window[0] and memory.start <= request.window[1]
    ):
        return False
    if request.entity_ids and request.entity_ids.isdisjoint(memory.entity_ids):
        return False
    if request.kinds and memory.event not in request.kinds:
        return False
    if request.sources and memory.source not in request.sources:
        return False
    if request.near is not None:
        away = np.asarray(memory.position, float)[:2] - np.asarray(request.near, float)[:2]
        return float(np.linalg.norm(away)) <= request.radius
    return True
