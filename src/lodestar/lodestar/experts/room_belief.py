"""Belief over rooms and cells about the target's place, from the known scene (RoboAtlas IV-E, V: priors).

Two kinds of evidence say how much likelier a place is than an average one. A room's likelihood depends on its kind,
inferred from its objects, its plates and the kind of building. A cell's likelihood depends on the objects near it,
and on those that the task names as the target's neighbours. Both are density ratios; their product times the still
hidden area is the distribution of the target, with a share for completely unknown floor.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field

import cv2
import numpy as np
from scipy.special import logsumexp

from lodestar.experts.belief_config import BeliefConfig
from lodestar.experts.protocol import ProposalRequest
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import StepKind
from lodestar.language.priors import CoOccurrence, everyday_words
from lodestar.models.lexicon import load_lexicon
from lodestar.models.phrases import MissingPhrases, PhraseBook
from lodestar.query.categories import category_scores
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity, EntityState, Region
from lodestar.scene.regions import RegionMap

BELIEF_SPREAD = 1.5  # metres, sigma of an object's influence on the cells around it; chosen
BELIEF_DOUBT = 1.0  # weight of the average case, in objects, where few are known; measured: 1, not 3
# factor of an object's evidence for the kind of building; chosen: a room's objects depend on each other
BELIEF_BUILDING_TRUST = 0.1
# metres, sigma around an object that the task names as near to the target, or that has the target's kind and look
# but not (yet) its surroundings; chosen
BELIEF_ANCHOR_SPREAD = 1.0
# added to the weight at a named neighbour or an object that looks like the target; chosen
BELIEF_ANCHOR_WEIGHT = 5.0
BELIEF_CELL = 0.4  # metres, lattice on which the weights are computed; chosen

_EIGHT = np.ones((3, 3), np.uint8)

Reading = tuple[tuple[str, ...], float]  # (words for the target and its neighbours, share of the weight)


@dataclass(frozen=True)
class Belief:
    """Density of a target, relative to a place without any information (1).

    weights: (rows, columns) float32 per cell of the grid. rooms: region id -> density, without the influence of
    nearby objects.
    """

    weights: np.ndarray
    rooms: Mapping[int, float] = field(default_factory=dict)

    def shares(self, hidden: np.ndarray, rest: float) -> np.ndarray:
        """Return the probability (rows, columns) float64 that the target is in a cell; the sum is below 1 by the
        share of `rest`.

        hidden: (rows, columns) share of a cell that is unseen floor, [0, 1]. rest: number of floor cells assumed
        beyond the map; positive.
        """
        mass = self.weights.astype(np.float64) * hidden
        return mass / (float(mass.sum()) + rest)


def hidden_floor(grid: OccupancyGrid2D, left: np.ndarray, unknown_share: float, behind: float) -> np.ndarray:
    """Return the share (rows, columns) float64 of each cell that is floor with the target missed, [0, 1].

    left: (rows, columns) probability of having missed it (`LookedAt.missed`). unknown_share: share of an unknown cell
    within `behind` metres of known floor, through unknown cells only; the share of other unknown cells is 0.
    """
    steps = max(round(behind / grid.resolution), 1)
    near = grid.kept((hidden_floor, steps), lambda: _grown(grid.free, ~grid.occupied, steps))
    return np.where(grid.unknown, unknown_share * near, 1.0) * left


def _grown(mask: np.ndarray, within: np.ndarray, steps: int) -> np.ndarray:
    """Return the mask (rows, columns) bool, dilated by `steps` cells in all eight directions inside another mask."""
    grown, within = mask.astype(np.uint8), within.astype(np.uint8)
    for _ in range(steps):
        grown = cv2.dilate(grown, _EIGHT) & within
    return grown.astype(bool)


class RoomBelief:
    """Beliefs about the targets of tasks. The newest belief of a scene is shared by all experts within one
    round of requests.

    Not thread-safe.
    """

    def __init__(self, phrases: PhraseBook, config: BeliefConfig | None = None) -> None:
        self._config = config or BeliefConfig()
        self._phrases = phrases
        self._sense = CoOccurrence(phrases)
        self._usual: dict[tuple[str, str], float]  # (model, name) -> mean score near an object of any kind
        self._base: dict[str, np.ndarray]  # model -> shares of kinds of rooms
        self._logs: dict[tuple[str, str], np.ndarray]  # (model, word) -> log ratios to these
        self._usual, self._base, self._logs = phrases.derived.setdefault(RoomBelief, ({}, {}, {}))

    def over(self, request: ProposalRequest, grid: OccupancyGrid2D, mirror: SceneMirror) -> Belief | None:
        """Return the belief; None without a specific target, known objects or word vectors."""
        if request.step.kind is not StepKind.FIND or not request.step.graphs:
            return None
        anchors = tuple(request.step.neighbors)
        readings = _readings(request)
        alike = _likenesses(request) if anchors else ()
        regions = tuple((r.id, r.label, r.plates, r.named) for r in mirror.regions.values())
        key = (readings, alike, anchors, mirror.map_id, mirror.session_id, mirror.revision, regions, grid.cells.shape,
               grid.origin, grid.resolution)  # fmt: skip
        shared = (RoomBelief, self._phrases, self._config)
        newest: tuple[object, RegionMap | None, Belief] | None = mirror.derived.get(shared)
        if newest is not None and newest[0] == (key, self._phrases.model) and _same(newest[1], mirror.rooms):
            return newest[2]
        things = [t for t in mirror.entities.values() if t.state is EntityState.ACTIVE and t.label]
        if not readings or not (
            things or any(region.label or region.plates for region in mirror.regions.values())
        ):
            return None
        try:
            belief = self._belief(readings, anchors, alike, grid, mirror, things)
        except MissingPhrases:
            return None
        # the model is only known after it returned vectors; the map of rooms may change in place
        mirror.derived[shared] = (key, self._phrases.model), copy(mirror.rooms), belief
        return belief

    def _belief(
        self, readings: Sequence[Reading], anchors: Sequence[str], alike: Sequence[tuple[str, Sequence[str]]],
        grid: OccupancyGrid2D, mirror: SceneMirror, things: Sequence[Entity],
    ) -> Belief:  # fmt: skip
        """Return the belief: the mean of the target's densities for the interpretations (readings) of the
        task, by the readings' weights.
        """
        config = self._config
        step = max(round(BELIEF_CELL / grid.resolution), 1)
        shape = tuple(-(-size // step) for size in grid.cells.shape)
        places = grid.cells_of(np.array([thing.mean[:2] for thing in things]).reshape(-1, 2)) // step
        places = np.clip(places, 0, np.array(shape) - 1)
        labels = [thing.label for thing in things]
        ids = np.zeros(shape, np.int64)
        if mirror.regions and mirror.rooms is not None:
            cells = np.argwhere(np.ones(shape, bool)) * step + step // 2
            ids = mirror.rooms.at(grid.points_of(cells)).reshape(shape)
        weights = np.zeros(shape)
        rooms = dict.fromkeys(mirror.regions, 0.0)
        for named, share in readings:
            near = self._near(named, places, shape, grid.resolution * step, labels)
            ratios = self._rooms(named, mirror, things)
            table = np.ones(max(int(ids.max()), *ratios, 0) + 1)  # by region id; 0 = outside all rooms
            table[list(ratios)] = list(ratios.values())
            weights += share * near**config.near_trust * table[ids]
            rooms = {identity: rooms[identity] + share * ratio for identity, ratio in ratios.items()}
        if anchors and things:
            beside = self._beside(anchors, alike, places, shape, grid.resolution * step, things)
            weights = weights + BELIEF_ANCHOR_WEIGHT * beside
        weights = np.clip(weights, *config.bounds)
        full = np.repeat(np.repeat(weights, step, axis=0), step, axis=1)
        full = full[: grid.cells.shape[0], : grid.cells.shape[1]]
        return Belief(np.ascontiguousarray(full, np.float32), rooms)

    # --- objects near a cell --------------------------------------------------------------------------------

    def _near(
        self, named: Sequence[str], places: np.ndarray, shape: tuple[int, ...], cell: float, labels: list[str]
    ) -> np.ndarray:
        """Return how much likelier the target is in each block of cells than on average (1), by the objects
        near the block.
        """
        density, evidence = (np.zeros(shape, np.float32) for _ in range(2))
        if labels:
            told = np.mean([self._sense.near(n, labels) / self._usual_near(n) for n in named], axis=0)
            np.add.at(density, tuple(places.T), 1.0)
            np.add.at(evidence, tuple(places.T), told)
        known, said = (_blurred(image, BELIEF_SPREAD / cell) for image in (density, evidence))
        return np.asarray((BELIEF_DOUBT + said) / (BELIEF_DOUBT + known))

    def _beside(
        self, anchors: Sequence[str], alike: Sequence[tuple[str, Sequence[str]]], places: np.ndarray,
        shape: tuple[int, ...], cell: float, things: Sequence[Entity],
    ) -> np.ndarray:  # fmt: skip
        """Return the nearness, [0, 1], of each block of cells to a named neighbour of the target, or to an
        object with the target's kind and appearance, since the named neighbour may be hidden beside it.
        """
        labels, captions = [thing.label for thing in things], [thing.caption for thing in things]
        fits = np.max([category_scores(a, labels, captions, self._phrases) for a in anchors], axis=0)
        for kind, looks in alike:
            has = np.array([set(looks) <= set(caption.casefold().split()) for caption in captions])
            fits = np.maximum(fits, category_scores(kind, labels, captions, self._phrases) * has)
        beside = np.zeros(shape, np.float32)
        np.maximum.at(beside, tuple(places.T), np.where(fits > 0.5, fits, 0.0).astype(np.float32))
        return np.clip(_blurred(beside, BELIEF_ANCHOR_SPREAD / cell), 0.0, 1.0)

    def _usual_near(self, name: str) -> float:
        usual = float(self._usual.get((self._phrases.model, name), 0.0))
        if not usual:
            usual = max(float(self._sense.near(name, everyday_words()).mean()), 1e-3)
            self._usual[self._phrases.model, name] = usual  # of the model that returned the vectors
        return usual

    # --- kinds of rooms -------------------------------------------------------------------------------------

    def _rooms(self, named: Sequence[str], mirror: SceneMirror, things: Sequence[Entity]) -> dict[int, float]:
        """Return how much likelier the target is in each region than in a room without any information."""
        if not mirror.regions:
            return {}
        base = self._kinds_of_rooms()
        inside: dict[int, set[str]] = {}
        for thing in things:
            if thing.region_id in mirror.regions:  # 0 = in no room
                inside.setdefault(thing.region_id, set()).add(thing.label)
        told = {i: self._said(labels) for i, labels in inside.items()}
        prior = _of_building(base, list(told.values()), self._sense.rooms, BELIEF_BUILDING_TRUST)
        likely = np.mean([self._log_ratios(name) for name in named], axis=0)
        lifted = np.exp(likely)
        usual = float(prior @ lifted)
        ratios = {}
        for identity, region in mirror.regions.items():
            kinds = self._kinds_of(region, told.get(identity), prior)
            ratio = float(kinds @ lifted) / usual
            ratios[identity] = float(np.clip(ratio**self._config.room_trust, *self._config.bounds))
        return ratios

    def _kinds_of(self, region: Region, said: np.ndarray | None, prior: np.ndarray) -> np.ndarray:
        """Return the probability (R,) of each kind of room: by its objects, then by a plate or an operator's name."""
        log = np.log(prior) + (0.0 if said is None else self._config.evidence_trust * said)
        kinds = np.exp(log - log.max())
        kinds /= kinds.sum()
        lexicon = load_lexicon()
        words = (region.label,) if region.named else region.plates
        named = next((room for word in words if (room := lexicon.room(word)) in self._sense.rooms), None)
        if named is not None:
            sure = self._config.plate_trust
            kinds = (1.0 - sure) * kinds
            kinds[self._sense.rooms.index(named)] += sure
        return kinds

    def _said(self, labels: set[str]) -> np.ndarray:
        """Return the log likelihood ratios (R,) of a room's labels for each kind of room."""
        return np.sum([self._log_ratios(label) for label in sorted(labels)], axis=0)

    def _log_ratios(self, phrase: str) -> np.ndarray:
        """Return for each kind of room the log ratio (R,) of how much likelier an object with this name is
        there than an object of any name.
        """
        known = self._logs.get((self._phrases.model, phrase))
        if known is None:
            shares = self._sense.room_shares(phrase).astype(np.float64)
            known = np.log(shares / self._kinds_of_rooms())
            self._logs[self._phrases.model, phrase] = known
        return known

    def _kinds_of_rooms(self) -> np.ndarray:
        """Return the share (R,) of each kind of room among all objects of the lexicon."""
        base = self._base.get(self._phrases.model)
        if base is None:
            shares = [self._sense.room_shares(word) for word in sorted(load_lexicon().nouns)]
            base = self._base[self._phrases.model] = np.asarray(np.mean(shares, axis=0), np.float64)
        return base


def _of_building(
    base: np.ndarray, told: Sequence[np.ndarray], rooms: Sequence[str], trust: float
) -> np.ndarray:
    """Return the probability (R,) of each kind of room in this building, whose kind is inferred from the
    objects in all its rooms.

    told: per room the log likelihood ratios (R,) of its objects. trust: factor of this evidence.
    """
    if not told:
        return base
    kinds = np.array([[room in group for room in rooms] for group in BUILDINGS], np.float64)
    kinds = (kinds + 0.05) * base  # chosen: any room may be in any building, with weight one twentieth
    kinds /= kinds.sum(axis=1, keepdims=True)
    evidence = trust * np.asarray(told, np.float64)
    fits = logsumexp(evidence[:, None, :] + np.log(kinds)[None], axis=2).sum(axis=0)
    return np.asarray(np.exp(fits - logsumexp(fits)) @ kinds)


#: Kinds of rooms in each kind of building; common sense, without a source.
BUILDINGS: tuple[frozenset[str], ...] = (
    frozenset({"balcony", "bathroom", "bedroom", "closet", "dining room", "entrance", "garage", "hallway", "kitchen",
               "laundry room", "living room", "nursery", "office"}),
    frozenset({"bathroom", "break room", "hallway", "kitchen", "lobby", "meeting room", "office", "open space",
               "server room", "storage"}),
    frozenset({"bathroom", "break room", "hallway", "loading dock", "office", "storage", "warehouse", "workshop"}),
)  # fmt: skip


def _readings(request: ProposalRequest) -> tuple[Reading, ...]:
    """Return the specific words of each interpretation (reading) of the task, with its share of the total
    weight.
    """
    weights: dict[tuple[str, ...], float] = {}
    for graph in request.step.graphs:
        words = (graph.target.category, *request.step.neighbors)
        named = tuple(word for word in words if word and not load_lexicon().is_generic(word))
        if named:
            weights[named] = weights.get(named, 0.0) + graph.weight
    total = sum(weights.values())
    return tuple((named, weight / total) for named, weight in weights.items()) if total > 0.0 else ()


def _same(before: RegionMap | None, now: RegionMap | None) -> bool:
    return before is None if now is None else now.is_as(before)


def _likenesses(request: ProposalRequest) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return (kind, attributes) of the target for each interpretation of the task that describes the target's
    appearance.
    """
    found = []
    for graph in request.step.graphs:
        own = (p for p in graph.predicates if p.name == "HasAttribute" and p.arguments == (0,))
        looks = tuple(p.value.casefold() for p in own)
        if looks and graph.target.category and not load_lexicon().is_generic(graph.target.category):
            found.append((graph.target.category, looks))
    return tuple(found)


def _blurred(image: np.ndarray, sigma: float) -> np.ndarray:
    """Return the image with each value spread as a Gaussian of peak 1. sigma: cells."""
    blurred = cv2.GaussianBlur(image, (0, 0), sigma, borderType=cv2.BORDER_CONSTANT)
    return blurred * (2.0 * math.pi * sigma**2)
