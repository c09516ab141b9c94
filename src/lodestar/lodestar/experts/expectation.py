"""Prior weight of each cell for the target, from the objects known around it (RoboAtlas V: priors)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import numpy as np

from lodestar.experts.config import ExpectedConfig
from lodestar.experts.protocol import ProposalRequest
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import StepKind
from lodestar.language.priors import CoOccurrence, everyday_words
from lodestar.models.lexicon import load_lexicon
from lodestar.models.phrases import MissingPhrases, PhraseBook
from lodestar.query.categories import category_scores
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity, EntityState


class Expectation:
    """Weights of cells for a task's target; 1 is the average."""

    def __init__(self, phrases: PhraseBook, config: ExpectedConfig = ExpectedConfig()) -> None:
        self._config = config
        self._phrases = phrases
        self._sense = CoOccurrence(phrases, config.prior)
        self._usual: dict[str, float] = {}  # mean score near an object of any kind
        self._newest: tuple[object, np.ndarray] | None = None

    def over(self, request: ProposalRequest, grid: OccupancyGrid2D, mirror: SceneMirror) -> np.ndarray | None:
        """Return weights, (rows, columns) float32; None without a particular target, known objects or word
        vectors.
        """
        if request.step.kind is not StepKind.FIND or not request.step.graphs:
            return None
        target, anchors = request.step.graphs[0].target.category, tuple(request.step.neighbors)
        named = tuple(n for n in (target, *anchors) if n and not load_lexicon().is_generic(n))
        alike = _likenesses(request) if anchors else ()
        key = named, alike, mirror.session_id, mirror.revision, grid.cells.shape, grid.origin
        if self._newest is not None and self._newest[0] == key:
            return self._newest[1]
        things = [t for t in mirror.entities.values() if t.state is EntityState.ACTIVE and t.label]
        if not named or not things:
            return None
        try:
            weights = self._weights(named, anchors, alike, grid, things)
        except MissingPhrases:
            return None
        self._newest = key, weights
        return weights

    def _weights(
        self,
        named: Sequence[str],
        anchors: Sequence[str],
        alike: Sequence[tuple[str, Sequence[str]]],
        grid: OccupancyGrid2D,
        things: Sequence[Entity],
    ) -> np.ndarray:
        config = self._config
        labels = [thing.label for thing in things]
        told = np.mean([self._sense.near(name, labels) / self._usual_near(name) for name in named], axis=0)
        step = max(round(config.cell / grid.resolution), 1)
        shape = tuple(-(-size // step) for size in grid.cells.shape)
        at = grid.cells_of(np.array([thing.mean[:2] for thing in things])) // step
        at = np.clip(at, 0, np.array(shape) - 1)
        density, evidence = (np.zeros(shape, np.float32) for _ in range(2))
        np.add.at(density, tuple(at.T), 1.0)
        np.add.at(evidence, tuple(at.T), told)
        spread = config.spread / (grid.resolution * step)
        known, said = (_blurred(image, spread) for image in (density, evidence))
        weights = (config.doubt + said) / (config.doubt + known)
        if anchors:
            captions = [thing.caption for thing in things]
            fits = np.max([category_scores(a, labels, captions, self._phrases) for a in anchors], axis=0)
            for (
                kind,
                looks,
            ) in alike:  # possibly the target: the object it should stand by may be hidden beside it
                has = [set(looks) <= set(caption.casefold().split()) for caption in captions]
                fits = np.maximum(
                    fits, category_scores(kind, labels, captions, self._phrases) * np.array(has)
                )
            beside = np.zeros(shape, np.float32)
            np.maximum.at(beside, tuple(at.T), np.where(fits > 0.5, fits, 0.0).astype(np.float32))
            near = np.clip(_blurred(beside, config.anchor_spread / (grid.resolution * step)), 0.0, 1.0)
            weights = weights + config.anchor_weight * near
        weights = np.clip(weights**config.trust, *config.bounds)
        full = np.repeat(np.repeat(weights, step, axis=0), step, axis=1)
        return np.ascontiguousarray(full[: grid.cells.shape[0], : grid.cells.shape[1]], np.float32)

    def _usual_near(self, name: str) -> float:
        if name not in self._usual:
            self._usual[name] = max(float(self._sense.near(name, everyday_words()).mean()), 1e-3)
        return self._usual[name]


def _likenesses(request: ProposalRequest) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the target's kind and look in words, for each reading of the task that describes its look."""
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
