"""Tasks in buildings of two storeys, and their ground truth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from lodestar_sim.judge import Verdict, judge_find, valid_targets
from lodestar_sim.tasks import Task, default_task, described
from lodestar_sim.worlds.errors import WorldError
from lodestar_sim.worlds.flights import Flight
from lodestar_sim.worlds.truth import truth_of
from lodestar_sim.worlds.world import World

_BEFORE = 0.75  # m from a flight's edge at which a path on a storey ends; same as STAIR_WALK_APPROACH


def floor_task(world: World, seed: int) -> Task:
    """Return the task of a two-storey building for a seed, which also selects the storeys of start and target.

    If they differ, the directive fits no object on the start's storey. Raises WorldError if no object qualifies.
    """
    start, target = (seed // 2) % 2, seed % 2
    if start == target:
        task = default_task(world.storeys[target].world, seed)
        return Task(task.directive, task.target_ids, task.start, start)
    other = world.storeys[start].world
    begin = default_task(other, seed).start
    for thing, phrase in described(world.storeys[target].world, seed):
        directive = f"find the {phrase}"
        if not valid_targets(other, directive):
            return Task(directive, (thing.id,), begin, start)
    raise WorldError(f"{world.name}: nothing on one storey has words that fit nothing on the other")


def meant_in(world: World, directive: str) -> tuple[int, ...]:
    """Return the ids of all objects, on any storey, that a directive may mean."""
    return tuple(i for storey in world.storeys for i in valid_targets(storey.world, directive))


def storey_of(world: World, identity: int) -> int:
    """Return the index of the storey that contains the object with this id; -1 if there is none."""
    return next(
        (i for i, s in enumerate(world.storeys) if any(t.id == identity for t in s.world.objects)), -1
    )


def judge_on(world: World, storey: int, pose: Iterable[float], target_ids: Sequence[int]) -> Verdict:
    """Return the verdict on whether a robot at (x, y, yaw) on a storey has found one of the targets there."""
    return judge_find(world.storeys[storey].world, pose, target_ids)


def shortest_over(world: World, start: Sequence[float], storey: int, target_ids: Sequence[int]) -> float:
    """Return the shortest path from (x, y, ...) on a storey to a success pose on any storey, metres; inf if none."""
    best = math.inf
    for index, one in enumerate(world.storeys):
        things = [thing for thing in one.world.objects if thing.id in target_ids]
        if not things:
            continue
        truth = truth_of(one.world)
        if index == storey:
            best = min([best, *(truth.shortest_path((start[0], start[1]), thing) for thing in things)])
            continue
        for flight in world.flights:
            (x0, y0, _), (x1, y1, z1) = flight.foot, flight.head
            length = math.hypot(math.dist((x0, y0), (x1, y1)), z1 - flight.z0)
            near, far = (_landing(flight, i == 1) for i in (storey, index))
            here = truth_of(world.storeys[storey].world)
            row, column = here.grid.cells_of(np.array([near]))[0]
            there = float(here.lengths((start[0], start[1]))[row, column])
            rest = min(truth.shortest_path(far, thing) for thing in things)
            best = min(best, there + length + 2.0 * _BEFORE + rest)
    return best


def _landing(flight: Flight, upper: bool) -> tuple[float, float]:
    """Return the place (x, y), metres, before the stairs' lowest step, or above the top step if `upper`."""
    x, y, _ = flight.head if upper else flight.foot
    by = _BEFORE if upper else -_BEFORE
    return (x, y + by) if flight.along == "y" else (x + by, y)
