"""Arrays of all entities, prepared once per revision of a scene and used by many queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter, is_

import numpy as np

from lodestar.language.query_graph import QueryGraph
from lodestar.models.lexicon import load_lexicon
from lodestar.models.phrases import PhraseBook
from lodestar.query.config import QUERY_UNKNOWN_ATTRIBUTE, QueryConfig
from lodestar.query.relations import Boxes, gap_in_plan
from lodestar.query.table import PredicateTable, load_table
from lodestar.query.vocabulary import Kinds, Looks
from lodestar.scene.enrichment import CHANNEL
from lodestar.scene.floor_height import floor_of
from lodestar.scene.records import Entity, EntityState, Region, View
from lodestar.scene.regions import ON_PLATE, RegionMap, is_called
from lodestar.scene.room_walls import walled_off

QUERY_UNCERTAIN = 0.75  # factor of entities with uncertain presence; chosen
# score if a contradicting attribute is known; chosen
QUERY_OTHER_ATTRIBUTE = 0.1
# metres in plan; a stated relation of two objects farther apart is ignored, as one was moved since
QUERY_STATED_REACH = 3.0  # the greatest distance at which `correct` accepts a statement
QUERY_STATED = 0.95  # score of a relation that a person stated, 1 minus it where denied; chosen

_ID = attrgetter("id")
UNDECIDED = 0.5
UNVERIFIED = 0.75  # score of predicates that the scene cannot verify: "on the wall", rooms without regions
_EDGE = 1e-3  # metres; least side of a box
#: The inverse of each relation that people may state: "a above b" means "b below a".
_TURNED = {"Near": "Near", "NextTo": "NextTo", "Above": "Below", "Below": "Above"}


@dataclass(frozen=True)
class EntityViews:
    """Saved views of each entity, indexed by its position in `entities`."""

    entities: list[Entity]

    def __getitem__(self, row: int) -> tuple[View, ...]:
        return self.entities[row].views


@dataclass(frozen=True)
class Pool:
    """N entities as arrays. ids: (N,) int64. fronts: (N, 3), NaN if unknown; colors: (N, 3) in [0, 1], NaN if
    unknown.

    room_low, room_high: (N, 2) bounds in plan of the entities in an entity's region. kind_of: (N,) index into
    the unique pairs of label and caption; look_of: (N,) index into the unique pairs of known attributes and
    caption. region_of: (N,) ids. described: (N,) bool, the entity has a vector of its caption. told: (N,)
    bool, people stated a relation of it. rooms: None = walls between entities are unknown.
    """

    entities: list[Entity]
    ids: np.ndarray
    boxes: Boxes
    presence: np.ndarray
    phrases: PhraseBook
    config: QueryConfig
    table: PredicateTable
    fronts: np.ndarray
    colors: np.ndarray
    room_low: np.ndarray
    room_high: np.ndarray
    kinds: Kinds
    kind_of: np.ndarray
    looks: Looks
    look_of: np.ndarray
    region_of: np.ndarray
    described: np.ndarray
    told: np.ndarray
    regions: Mapping[int, Region] | None = None
    observer: np.ndarray | None = None
    rooms: RegionMap | None = None

    @staticmethod
    def of(
        entities: Sequence[Entity],
        phrases: PhraseBook,
        config: QueryConfig,
        regions: Mapping[int, Region] | None = None,
        observer: np.ndarray | None = None,
        table: PredicateTable | None = None,
        ordered: bool = False,
        rooms: RegionMap | None = None,
    ) -> Pool:
        """Return the pool of these entities sorted by id, or in their own order if they are `ordered`.

        Boxes that are not finite or have swapped corners become points at the mean.
        """
        own, ids = (list(entities), _ids(entities)) if ordered else _by_id(entities)
        boxes = _boxes(own)
        presence = np.array([QUERY_UNCERTAIN if e.state == EntityState.UNCERTAIN else 1.0 for e in own])
        kinds, kind_of = _unique(_kind_pairs(own))
        looks, look_of = _unique(_look_pairs(own))
        region_of = np.array([e.region_id for e in own], int)
        low, high = _rooms(boxes, region_of)
        return Pool(
            own, ids, boxes, presence, phrases, config, table or load_table(),
            _vectors([e.front for e in own]), _vectors([e.color for e in own]),
            low, high, Kinds(kinds), kind_of, Looks(looks), look_of, region_of,
            np.array([CHANNEL in e.embeddings for e in own], bool), np.array([bool(e.stated) for e in own], bool),
            regions, observer, rooms,
        )  # fmt: skip

    def renewed(
        self,
        entities: Sequence[Entity],
        regions: Mapping[int, Region] | None = None,
        rooms: RegionMap | None = None,
    ) -> Pool:
        """Return `Pool.of` these entities; rows of unchanged entity objects are copied from this pool."""
        own, ids = _by_id(entities)
        before = self._rows_of(own, ids)
        fresh = np.flatnonzero(before < 0)
        if 2 * len(fresh) > len(own):
            return Pool.of(
                own, self.phrases, self.config, regions, self.observer, self.table, ordered=True, rooms=rooms
            )
        part = Pool.of([own[row] for row in fresh], self.phrases, self.config, table=self.table, ordered=True)

        def merged(old: np.ndarray, new: np.ndarray) -> np.ndarray:
            rows = old[before]
            rows[fresh] = new
            return rows

        kinds, looks = self.kinds, self.looks
        kind_of = merged(self.kind_of, _places(kinds.pairs, part.kinds.pairs)[part.kind_of])
        if not _is_numbering(kind_of, len(kinds.pairs)):
            pairs, kind_of = _unique(_kind_pairs(own))
            kinds = Kinds(pairs)
        look_of = merged(self.look_of, _places(looks.pairs, part.looks.pairs)[part.look_of])
        if not _is_numbering(look_of, len(looks.pairs)):
            known, look_of = _unique(_look_pairs(own))
            looks = Looks(known)
        boxes = Boxes(merged(self.boxes.low, part.boxes.low), merged(self.boxes.high, part.boxes.high))
        region_of = merged(self.region_of, part.region_of)
        low, high = _rooms(boxes, region_of)
        return Pool(
            own, ids, boxes, merged(self.presence, part.presence), self.phrases, self.config, self.table,
            merged(self.fronts, part.fronts), merged(self.colors, part.colors), low, high, kinds, kind_of, looks,
            look_of, region_of, merged(self.described, part.described), merged(self.told, part.told), regions,
            self.observer, rooms,
        )  # fmt: skip

    def _rows_of(self, entities: list[Entity], ids: np.ndarray) -> np.ndarray:
        """Return (N,) int: the row in this pool of each of these entities, which are sorted by id; -1 for new
        objects.
        """
        known = self.ids
        if not len(known) or (np.diff(known) <= 0).any():
            row_of = {id(entity): row for row, entity in enumerate(self.entities)}
            return np.array([row_of.get(id(entity), -1) for entity in entities], int)
        rows = np.minimum(np.searchsorted(known, ids), len(known) - 1)
        own = map(self.entities.__getitem__, rows.tolist())
        same = np.fromiter(map(is_, own, entities), bool, len(entities))
        return np.where(same, rows, -1)

    @property
    def views(self) -> EntityViews:
        """Return the views of each entity."""
        return EntityViews(self.entities)

    @cached_property
    def is_described(self) -> bool:
        """Return whether any entity has a vector of its caption."""
        return bool(self.described.any())

    def seen_by(self, observer: np.ndarray | None) -> Pool:
        """Return a copy of the pool with another observer position."""
        return replace(self, observer=observer)

    def __len__(self) -> int:
        return len(self.entities)

    @cached_property
    def floors(self) -> np.ndarray:
        """Return (N,) heights in map, metres, of the floor at each entity; the median of the others if it has
        no saved view.
        """
        height = self.config.viewpoints.camera_height
        floors = np.array([floor_of(entity, height, np.nan) for entity in self.entities])
        known = floors[np.isfinite(floors)]
        return np.where(np.isfinite(floors), floors, np.median(known) if len(known) else 0.0)

    @cached_property
    def stated(self) -> dict[str, list[tuple[int, int, float]]]:
        """Return the relations that people stated, by predicate, as (row, row of the other object, score).

        Relations of objects that are no longer near each other are left out.
        """
        found: dict[str, list[tuple[int, int, float]]] = {}
        told = np.flatnonzero(self.told).tolist()
        row_of = {entity.id: row for row, entity in enumerate(self.entities)} if told else {}
        for row in told:
            for said in self.entities[row].stated:
                other = row_of.get(said.other)
                if other is None or other == row:
                    continue
                pair = self.boxes.take(np.array([row])), self.boxes.take(np.array([other]))
                if float(gap_in_plan(*pair)[0]) <= QUERY_STATED_REACH:
                    score = 1.0 - QUERY_STATED if said.negated else QUERY_STATED
                    found.setdefault(said.predicate, []).append((row, other, score))
                    if said.predicate in _TURNED:
                        found.setdefault(_TURNED[said.predicate], []).append((other, row, score))
        return found

    @property
    def middles(self) -> np.ndarray:
        """Return (N, 2) the middle of each entity's room, estimated from the entities in it."""
        return (self.room_low + self.room_high) / 2.0

    def category(self, category: str) -> np.ndarray:
        """Return category scores (N,)."""
        return self.kinds.scores(category, self.phrases)[self.kind_of]

    def named(self, category: str) -> np.ndarray:
        """Return (N,) bool: an entity's label, or its caption's noun, is exactly the name of the category."""
        return self.kinds.named(category)[self.kind_of]

    def beside(self, rows: np.ndarray, anchors: np.ndarray) -> np.ndarray:
        """Return (N, M) bool: no wall of a room stands between entities `rows` (N,) and `anchors` (N, M)."""
        if self.rooms is None:
            return np.ones(anchors.shape, bool)
        one, other = np.repeat(rows, anchors.shape[1]), anchors.ravel()
        low, high, region = self.boxes.low, self.boxes.high, self.region_of
        walled = walled_off(
            self.rooms, region[one], region[other], low[one], high[one], low[other], high[other]
        )
        return ~walled.reshape(anchors.shape)

    def attribute(self, attribute: str) -> np.ndarray:
        """Return attribute scores (N,) from stated and captioned attributes, without measuring sizes or
        colours.
        """
        scores = self.looks.scores(attribute, QUERY_UNKNOWN_ATTRIBUTE, QUERY_OTHER_ATTRIBUTE)
        return scores[self.look_of]

    def in_region(self, label: str) -> np.ndarray:
        """Return scores (N,): the entity's region has this label; undecided if its region has no label.

        Without regions the predicate is skipped as unverified (FARM D.2 step 2).
        """
        if not self.regions:
            return np.full(len(self.entities), UNVERIFIED)
        scores = np.full(len(self.entities), UNDECIDED)
        for i, entity in enumerate(self.entities):
            region = self.regions.get(entity.region_id)
            if region is not None and (region.label or region.plates):
                weight = region.label_weight if region.label else ON_PLATE
                scores[i] = 0.6 + 0.4 * weight if is_called(region, (label,)) else 0.5 - 0.4 * weight
        return scores

    def absent(self, graph: QueryGraph) -> tuple[str, ...]:
        """Return the phrases of anchors that match no entity."""
        structure = load_lexicon().structure
        found = []
        for variable in graph.variables[1:]:
            if variable.category in structure:
                continue
            scores = self.category(variable.category)
            if not len(scores) or scores.max() < self.config.accept:
                found.append(variable.phrase)
        return tuple(dict.fromkeys(found))


def _boxes(entities: list[Entity]) -> Boxes:
    low = np.array([e.box_min for e in entities], float).reshape(-1, 3)
    high = np.array([e.box_max for e in entities], float).reshape(-1, 3)
    mean = np.array([e.mean for e in entities], float).reshape(-1, 3)
    mean = np.nan_to_num(mean, nan=0.0, posinf=0.0, neginf=0.0)
    usable = (np.isfinite(low) & np.isfinite(high) & (high >= low)).all(axis=1, keepdims=True)
    low, high = np.where(usable, low, mean), np.where(usable, high, mean)
    return Boxes(low, np.maximum(high, low + _EDGE))


def _ids(entities: Sequence[Entity]) -> np.ndarray:
    return np.fromiter(map(_ID, entities), np.int64, len(entities))


def _by_id(entities: Sequence[Entity]) -> tuple[list[Entity], np.ndarray]:
    """Return the entities sorted by id, and their ids; a scene mostly has them in this order."""
    own, ids = list(entities), _ids(entities)
    if (np.diff(ids) < 0).any():
        order = np.argsort(ids, kind="stable")
        own, ids = [own[row] for row in order.tolist()], ids[order]
    return own, ids


def _kind_pairs(entities: list[Entity]) -> list[tuple[str, str]]:
    return [(e.label, e.caption) for e in entities]


def _look_pairs(entities: list[Entity]) -> list[tuple[tuple[str, ...], str]]:
    return [(e.attributes, e.caption) for e in entities]


def _unique(values: list) -> tuple[list, np.ndarray]:
    places = {value: i for i, value in enumerate(dict.fromkeys(values))}
    return list(places), np.array([places[value] for value in values], int)


def _places(values: Sequence, others: Sequence) -> np.ndarray:
    """Return (M,) int: the index of each of the others among the values, -1 if absent."""
    index = {value: i for i, value in enumerate(values)}
    return np.array([index.get(other, -1) for other in others], int)


def _is_numbering(places: np.ndarray, count: int) -> bool:
    """Return whether the indices (N,) cover each of `count` values at least once, and no other value."""
    return bool((places >= 0).all() and np.bincount(places, minlength=count).all())


def _vectors(values: list[np.ndarray | None]) -> np.ndarray:
    nothing = np.full(3, np.nan)
    return np.array([nothing if v is None else v for v in values], float).reshape(-1, 3)


def _rooms(boxes: Boxes, region: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.zeros((len(region), 2)), np.zeros((len(region), 2))
    if len(region):
        order = np.argsort(region, kind="stable")
        first = np.flatnonzero(np.diff(region[order], prepend=region[order[0]] - 1))
        count = np.diff(np.append(first, len(region)))
        low[order] = np.repeat(np.minimum.reduceat(boxes.low[order, :2], first), count, axis=0)
        high[order] = np.repeat(np.maximum.reduceat(boxes.high[order, :2], first), count, axis=0)
    return low, high
