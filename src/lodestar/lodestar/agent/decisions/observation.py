"""The loop's knowledge at one moment, in the form that the ledger takes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from lodestar.agent.decisions.targets import TargetView
from lodestar.geometry.boxes import box_distance
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import Step
from lodestar.models.lexicon import load_lexicon, words_of
from lodestar.scene.records import Entity, EntityState
from lodestar.selection.perceived import Match, Perceived


def perceive(
    stamp: float,
    area: float,
    pose: np.ndarray | None,
    grid: OccupancyGrid2D | None,
    entities: Mapping[int, Entity],
    view: TargetView | None,
    step: Step,
) -> Perceived:
    """The moment at `stamp` seconds. view: of `step`, None = nobody looked; a look without a target has no
    matches, and still counts as one.
    """
    matches = None
    if view is not None:
        known = [c for c in view.candidates if c.entity_id in entities]
        matches = _matches(
            [entities[c.entity_id] for c in known], [c.semantic_score for c in known], pose, step
        )
    present = sum(entity.state is not EntityState.ARCHIVED for entity in entities.values())
    return Perceived(stamp, area, pose, present, matches, view.neighbor if view is not None else 0.0, grid)


def _matches(
    entities: Sequence[Entity], similarities: Sequence[float], pose: np.ndarray | None, step: Step
) -> tuple[Match, ...]:
    distances = np.full(len(entities), math.inf)
    if pose is not None and len(entities):
        here = np.asarray(pose[:2], np.float64)
        low, high = np.array([e.box_min for e in entities]), np.array([e.box_max for e in entities])
        distances = box_distance(here, here, low[:, :2], high[:, :2])
    wanted = _words_wanted(step)
    return tuple(
        Match(float(similarity), float(distance), bool(wanted & _kinds(f"{entity.label} {entity.caption}")))
        for entity, similarity, distance in zip(entities, similarities, distances)
    )


def _words_wanted(step: Step) -> frozenset[str]:
    """Kinds that the target may be: the categories of its readings, or the target's last word."""
    categories = [graph.variables[0].category for graph in step.graphs]
    if not categories:
        categories = words_of(step.target)[-1:]
    return frozenset().union(*(_kinds(category) for category in categories))


@lru_cache(maxsize=16384)
def _kinds(text: str) -> frozenset[str]:
    """Every word of a text in the singular, and the lexicon's names of its words."""
    known = load_lexicon()
    singular = {known.singular(word) for word in words_of(text)}
    names = {known.canonical(word) for word in singular} | {known.canonical(text)}
    return frozenset(singular | {name for name in names if name is not None})


def modality_of(step: Step) -> str:
    """Return how the target is given: "image", "description" (with attributes, relations or neighbours) or "object"."""
    if step.item is not None and step.item.images:
        return "image"
    described = step.neighbors or any(
        len(graph.variables) > 1 or any(p.name != "IsCategory" for p in graph.predicates)
        for graph in step.graphs
    )
    return "description" if described else "object"
