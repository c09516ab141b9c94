"""Queries over maps that a robot perceived on a tour of simulated buildings."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from lodestar.geometry.boxes import box_iou
from lodestar.language.grammar import parse_query
from lodestar.models.phrases import PhraseBook
from lodestar.query.verdict import score_query
from lodestar.scene.records import Entity, EntityState, Region
from lodestar.scene.regions import RegionMap
from lodestar_eval.settings import EpisodeSettings
from lodestar_eval.simulated_robot import SimulatedRobot
from lodestar_sim.simulator import Simulator
from lodestar_sim.worlds.truth import truth_of
from lodestar_sim.worlds.world import World

STATION = 1.6  # m between the stations of the tour
TURNS = 10  # directions in which the robot looks at each station
_SAME = 0.1  # least IoU of a perceived box with a true one


@dataclass(frozen=True)
class PerceivedMap:
    """Map of entities perceived on a tour. truth: entity id -> true object, if one matches."""

    entities: dict[int, Entity]
    regions: dict[int, Region]
    truth: dict[int, int]
    rooms: RegionMap | None = None


def stations(world: World) -> np.ndarray:
    """Return the S stops (S, 2) of a tour, metres, each the nearest to the one before."""
    grid, clearance = truth_of(world).grid, truth_of(world).clearance
    lengths = truth_of(world).lengths((float(world.start[0]), float(world.start[1])))
    free = np.argwhere((clearance > 0.35) & np.isfinite(lengths))
    xy = grid.origin + (free[:, ::-1] + 0.5) * grid.resolution
    cell = np.floor(xy / STATION).astype(int)
    middle = np.linalg.norm(xy - (cell + 0.5) * STATION, axis=1)
    order = np.lexsort((middle, cell[:, 1], cell[:, 0]))
    _, first = np.unique(cell[order], axis=0, return_index=True)
    places = xy[order][first]
    way, left = [np.asarray(world.start[:2], float)], list(range(len(places)))
    while left:
        nearest = min(left, key=lambda k: float(np.linalg.norm(places[k] - way[-1])))
        way.append(places[nearest])
        left.remove(nearest)
    return np.array(way)


def perceive(world: World, seed: int, phrases: PhraseBook, settings: EpisodeSettings) -> PerceivedMap:
    """Return the map of a tour that looks around at every station, from sensor data only."""
    rng = np.random.default_rng([seed, 7])
    simulator = Simulator(world, settings.simulator, seed)
    robot = SimulatedRobot(simulator, settings, phrases, rng)
    for x, y in stations(world):
        for turn in range(TURNS):
            pose = (float(x), float(y), 2.0 * np.pi * turn / TURNS)
            simulator.robot.pose, simulator.robot.odometry = np.array(pose), np.array(pose)
            simulator.step(settings.frame_interval)
            robot.look()
    entities = {i: e for i, e in robot.mirror.entities.items() if e.state != EntityState.ARCHIVED}
    mirror = robot.mirror
    return PerceivedMap(entities, dict(mirror.regions), _matched(entities, world), mirror.rooms)


def _matched(entities: dict[int, Entity], world: World) -> dict[int, int]:
    boxes = {thing.id: world.box(thing) for thing in world.objects}
    truth = {}
    for entity in entities.values():
        overlaps = {i: box_iou(entity.box_min, entity.box_max, *box) for i, box in boxes.items()}
        best = max(overlaps, key=lambda i: overlaps[i])
        if overlaps[best] >= _SAME:
            truth[entity.id] = best
    return truth


def by_embedding(text: str, entities: dict[int, Entity], phrases: PhraseBook) -> list[int]:
    """Return entity ids ranked by the cosine of sentence and caption (FARM table 2b, retrieval without relations)."""
    ids = sorted(entities)
    vectors = phrases.vectors([text, *(entities[i].caption or entities[i].label for i in ids)])
    order = np.argsort(-(vectors[1:] @ vectors[0]), kind="stable")
    return [ids[int(k)] for k in order]


def ask(
    world: str, text: str, relation: str, targets: Collection[int], perceived: PerceivedMap, book: PhraseBook
) -> dict[str, Any]:
    """Return a table row for a sentence, with the rank of the first entity that is an object in `targets`,
    0 = none.
    """
    entities = perceived.entities
    ranked = score_query(parse_query(text), entities, book, regions=perceived.regions, rooms=perceived.rooms)
    baseline = by_embedding(text, entities, book)
    right = {i for i, true in perceived.truth.items() if true in targets}
    first = ranked[0] if ranked else None
    return {
        "world": world, "text": text, "relation": relation, "in_map": bool(right),
        "rank": _rank([c.entity_id for c in ranked], right), "embedding_rank": _rank(baseline, right),
        "answer": perceived.truth.get(first.entity_id, 0) if first else 0, "score": first.score if first else 0.0,
    }  # fmt: skip


def _rank(ranked: list[int], right: set[int]) -> int:
    """Return the rank, from 1, of the first entity that is in `right`; 0 = none."""
    return next((k + 1 for k, i in enumerate(ranked) if i in right), 0)
