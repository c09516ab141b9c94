"""Scenarios of failures on the path to a known object, one per cause, and the criteria for overcoming them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from lodestar.agent.facts.errors import ErrorCode
from lodestar.grid.config import TravelConfig
from lodestar.grid.paths import path_lengths
from lodestar.worldmodel.outcomes import Cause
from lodestar_eval.recovery_trips import NEAREST, Trip, crossed, length_of
from lodestar_sim.worlds.obstructions import (
    crate,
    door_leaf,
    folding_screen,
    free_id,
    glass_pane,
    standing_person,
)
from lodestar_sim.worlds.truth import truth_of
from lodestar_sim.worlds.world import Event, World, WorldObject

# least share of an object's points in view; greatest distance of the view, m; as in `tasks`
_VIEW = (0.2, 0.8)
_LAST = 0.15  # m at the path's end that may be narrower, because the robot approaches the object itself
_BACK = 0.5  # share of the runs in which the failure is undone
_SPARE = 2.0  # m that a failing battery lasts for at least, beyond the path back
_LAST_RELABEL = 4.0  # s, latest time of the event; also the greatest distance of the robot by then, m


@dataclass(frozen=True)
class Scenario:
    """One induced failure.

    mapped: the building as the robot knows it. world: with the failure event. at: seconds of the event.
    targets: ids that count as found. codes: error codes with which the search may end instead.
    navigator_down: seconds (from, until). battery: metres left from `at` on, inf = no limit.
    """

    cause: Cause
    trip: Trip
    world: World
    at: float
    targets: tuple[int, ...]
    codes: tuple[ErrorCode, ...] = ()
    mapped: World | None = None
    navigator_down: tuple[float, float] = (math.inf, math.inf)
    battery: float = math.inf


def scenario_of(trip: Trip, cause: Cause) -> Scenario | None:
    """Return the failure scenario of a cause, reproducible by seed; None if this search does not allow it."""
    rng = np.random.default_rng([trip.seed, 0xCA05E, list(Cause).index(cause)])
    return _MAKERS[cause](trip, rng)


# --- failures of the object ------------------------------------------------------------------------------------


def _at(trip: Trip, rng: np.random.Generator, share: float = 0.5) -> float:
    """Return a random time, s, in the first `share` of the path's duration."""
    return round(float(rng.uniform(0.5, max(share * float(trip.path[-1, 0]), 1.0))), 1)


def _with(trip: Trip, *events: Event) -> World:
    return replace(trip.world, events=tuple(sorted(events, key=lambda e: e.time)))


def _removed(trip: Trip, rng: np.random.Generator) -> Scenario:
    at = _at(trip, rng)
    world = _with(trip, Event(at, "remove", trip.thing.id))
    return Scenario(Cause.TARGET_REMOVED, trip, world, at, (), (ErrorCode.TARGET_GONE,))


def _moved(trip: Trip, rng: np.random.Generator) -> Scenario | None:
    """Return a scenario in which the object stands 1.5 to 6 m of path from its mapped place."""
    at = _at(trip, rng)
    there = _place_near(trip, rng, 1.5, 6.0)
    if there is None:
        return None
    world = _with(trip, Event(at, "move", trip.thing.id, pose=there))
    return Scenario(Cause.TARGET_MOVED, trip, world, at, (trip.thing.id,))


def _place_near(
    trip: Trip, rng: np.random.Generator, least: float, most: float
) -> tuple[float, float, float, float] | None:
    """Return a pose on open floor, `least` to `most` metres of path from the object, that the robot can face."""
    thing, world = trip.thing, trip.world
    others = replace(world, objects=tuple(t for t in world.objects if t.id != thing.id))
    truth, radius = truth_of(others), math.hypot(*thing.size[:2]) / 2.0
    lengths = truth.lengths(tuple(truth_of(world).views(thing, *_VIEW)[0][:2]))
    apart = np.hypot(*(truth.grid.points_of(np.indices(lengths.shape).reshape(2, -1).T) - thing.xy).T)
    near = (lengths >= least) & (lengths <= most) & (apart.reshape(lengths.shape) >= least)
    cells = np.argwhere(near & ~truth.covered & (truth.clearance >= radius + 0.35))
    for x, y in truth.grid.points_of(cells[rng.permutation(len(cells))[:30]]):
        pose = (round(float(x), 3), round(float(y), 3), 0.0, thing.pose[3])
        moved = replace(thing, pose=pose, supported_by=0)
        if len(truth_of(replace(others, objects=(*others.objects, moved))).views(moved, *_VIEW)):
            return pose
    return None


def _mislabelled(trip: Trip, rng: np.random.Generator) -> Scenario | None:
    """Return a scenario in which the map shows another object with the target's label until time `at`.

    The robot cannot reach the other object before `at`, because the path is too long, so it cannot claim it.
    """
    thing, world, truth = trip.thing, trip.world, truth_of(trip.world)
    own = truth.shortest_path(trip.task.start[:2], thing)
    rivals = [
        t
        for t in world.objects
        if t.category != thing.category and not t.supported_by and not t.contained_in and t.sensed
        and max(t.size) >= 0.3 and math.dist(t.xy, thing.xy) > 3.0
        and _LAST_RELABEL <= truth.shortest_path(trip.task.start[:2], t) < 0.8 * own and len(truth.views(t, *_VIEW))
    ]  # fmt: skip
    if not rivals:
        return None
    rival = rivals[int(rng.integers(len(rivals)))]
    wrong = replace(rival, category=thing.category, caption=thing.caption)
    mapped = replace(world, objects=tuple(wrong if t.id == rival.id else t for t in world.objects))
    at = round(float(rng.uniform(0.5, _LAST_RELABEL)), 1)
    event = Event(at, "relabel", rival.id, category=rival.category, caption=rival.caption)
    return Scenario(
        Cause.TARGET_MISLABELLED, trip, replace(mapped, events=(event,)), at, (thing.id,), mapped=mapped
    )


def _occluded(trip: Trip, rng: np.random.Generator) -> Scenario | None:
    """Return a scenario with a screen between the object and the robot's final place of the undisturbed run."""
    at, (x, y), thing = _at(trip, rng), trip.path[-1, 1:3], trip.thing
    heading = math.atan2(thing.xy[1] - y, thing.xy[0] - x)
    radius = math.hypot(*thing.size[:2]) / 2.0
    for beyond in (radius + 0.12, radius + 0.3, radius + 0.5):
        place = (thing.xy[0] - beyond * math.cos(heading), thing.xy[1] - beyond * math.sin(heading))
        screen = folding_screen(trip.world, (round(place[0], 3), round(place[1], 3)), heading)
        after = replace(trip.world, objects=(*trip.world.objects, screen))
        if len(truth_of(after).views(thing, *_VIEW)):
            world = _with(trip, Event(at, "add", screen.id, object=screen))
            return Scenario(Cause.TARGET_OCCLUDED, trip, world, at, (thing.id,))
    return None


def _duplicate(trip: Trip, rng: np.random.Generator) -> Scenario | None:
    """Return a scenario in which a look-alike appears 1.2 to 4 m from the object.

    Either object fits the directive, and the robot may ask which is meant.
    """
    at, there = _at(trip, rng), _place_near(trip, rng, 1.2, 4.0)
    if there is None:
        return None
    twin = replace(trip.thing, id=free_id(trip.world), pose=there, supported_by=0)
    world = _with(trip, Event(at, "add", twin.id, object=twin))
    return Scenario(
        Cause.DUPLICATE_APPEARED, trip, world, at, (trip.thing.id, twin.id), (ErrorCode.AMBIGUOUS,)
    )


# --- failures of the path --------------------------------------------------------------------------------------


def _on_way(trip: Trip, index: int, rng: np.random.Generator) -> float:
    """Return a random time, at most 6 s before the robot comes within NEAREST m of a place on its path."""
    path = trip.path
    far = np.flatnonzero(np.hypot(*(path[: index + 1, 1:3] - path[index, 1:3]).T) >= NEAREST)
    latest = float(path[far[-1], 0]) if len(far) else 0.1
    return round(float(rng.uniform(max(latest - 6.0, 0.1), latest)), 1)


def _blocked(
    trip: Trip,
    rng: np.random.Generator,
    cause: Cause,
    index: int,
    thing: WorldObject,
    until: float = math.inf,
) -> Scenario:
    """Return a scenario in which an object blocks the path at a place."""
    at = _on_way(trip, index, rng)
    events = [Event(at, "add", thing.id, object=thing)]
    if math.isfinite(until):
        events.append(Event(round(at + until, 1), "remove", thing.id))
    return Scenario(
        cause, trip, _with(trip, *events), at, trip.task.target_ids, _unreachable(trip, thing, until),
    )  # fmt: skip


def _unreachable(trip: Trip, thing: WorldObject, until: float) -> tuple[ErrorCode, ...]:
    """Return the error code with which the search may end; () if a path remains or the obstacle goes."""
    after = replace(trip.world, objects=(*trip.world.objects, thing))
    views = truth_of(trip.world).views(trip.thing, *_VIEW)
    left = math.isfinite(until) or leads_to(after, trip.task.start[:2], views)
    return () if left else (ErrorCode.TARGET_UNREACHABLE,)


def leads_to(world: World, start: tuple[float, float], views: np.ndarray) -> bool:
    """Return whether a path leads to one of the poses (N, 3).

    The path has the planner's clearance plus one cell, because a measured map may close a narrower gap.
    """
    if not len(views):
        return False
    truth = truth_of(world)
    roomy = TravelConfig(clearance=TravelConfig().clearance + truth.grid.resolution)
    reached = np.isfinite(path_lengths(truth.grid, start, roomy))
    away = np.hypot(
        *(truth.grid.points_of(np.argwhere(reached))[None] - views[:, None, :2]).transpose(2, 0, 1)
    )
    return bool((away <= _LAST).any())


def _door(trip: Trip, rng: np.random.Generator) -> Scenario | None:
    """Return a scenario in which a door closes; in part of the runs it opens again after 15 to 40 s."""
    found = crossed(trip.world, trip.path[:, 1:3])
    if found is None:
        return None
    doorway, index = found
    until = float(rng.uniform(15.0, 40.0)) if rng.random() < _BACK else math.inf
    return _blocked(trip, rng, Cause.DOOR_CLOSED, index, door_leaf(trip.world, doorway), until)


def _narrow(trip: Trip, rng: np.random.Generator) -> tuple[int, float, float]:
    """Return a narrow place of the path: its index, the path's heading and the free width."""
    path, truth = trip.path, truth_of(trip.world)
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path[:, 1:3], axis=0), axis=1))])
    middle = np.flatnonzero((along > NEAREST + 0.7) & (along < along[-1] - 1.5))
    if not len(middle):
        middle = np.array([len(path) // 2])
    picked = rng.choice(middle, min(len(middle), 40), replace=False)
    cells = truth.grid.cells_of(path[picked, 1:3])
    index = int(picked[int(truth.clearance[cells[:, 0], cells[:, 1]].argmin())])
    later = min(int(np.searchsorted(along, along[index] + 0.3)), len(path) - 1)
    ahead = path[later, 1:3] - path[max(index - 3, 0), 1:3]
    width = 2.0 * float(truth.clearance[tuple(truth.grid.cells_of(path[index : index + 1, 1:3])[0])])
    return index, math.atan2(ahead[1], ahead[0]), width


def _static(trip: Trip, rng: np.random.Generator) -> Scenario:
    index, heading, width = _narrow(trip, rng)
    xy = (round(float(trip.path[index, 1]), 3), round(float(trip.path[index, 2]), 3))
    thing = crate(trip.world, xy, heading, round(min(max(width - 0.1, 0.5), 1.4), 2))
    return _blocked(trip, rng, Cause.WAY_BLOCKED_STATIC, index, thing)


def _person(trip: Trip, rng: np.random.Generator) -> Scenario:
    """Return a scenario in which a person stands in the path for 10 to 30 s."""
    index, heading, _ = _narrow(trip, rng)
    xy = (round(float(trip.path[index, 1]), 3), round(float(trip.path[index, 2]), 3))
    person = standing_person(trip.world, xy, heading + math.pi)
    return _blocked(trip, rng, Cause.WAY_BLOCKED_MOVING, index, person, float(rng.uniform(10.0, 30.0)))


def _unseen(trip: Trip, rng: np.random.Generator) -> Scenario:
    """Return a scenario with a clean pane of glass across the path."""
    index, heading, width = _narrow(trip, rng)
    xy = (round(float(trip.path[index, 1]), 3), round(float(trip.path[index, 2]), 3))
    pane = glass_pane(trip.world, xy, heading, round(min(max(width - 0.1, 0.6), 1.4), 2))
    return _blocked(trip, rng, Cause.UNSEEN_OBSTACLE, index, pane)


def _goal_occupied(trip: Trip, rng: np.random.Generator) -> Scenario:
    """Return a scenario with a crate at the robot's final place of the undisturbed run.

    The object may or may not be reachable from elsewhere.
    """
    at, (_, x, y, yaw) = _at(trip, rng, 0.6), trip.path[-1]
    thing = crate(trip.world, (round(float(x), 3), round(float(y), 3)), float(yaw), 0.5)
    after = replace(trip.world, objects=(*trip.world.objects, thing))
    codes = () if len(truth_of(after).views(trip.thing, *_VIEW)) else (ErrorCode.TARGET_UNREACHABLE,)
    return Scenario(
        Cause.GOAL_OCCUPIED, trip, _with(trip, Event(at, "add", thing.id, object=thing)), at,
        trip.task.target_ids, codes,
    )  # fmt: skip


# --- failures of the robot -------------------------------------------------------------------------------------


def _lost(trip: Trip, rng: np.random.Generator) -> Scenario:
    """Return a scenario in which localisation jumps by 1 to 2 m and 20 to 60 degrees.

    In part of the runs it recovers after 6 to 12 s.
    """
    at = _at(trip, rng)
    bearing, away = float(rng.uniform(-math.pi, math.pi)), float(rng.uniform(1.0, 2.0))
    turn = math.radians(float(rng.uniform(20.0, 60.0))) * float(rng.choice([-1.0, 1.0]))
    jump = (round(away * math.cos(bearing), 3), round(away * math.sin(bearing), 3), 0.0, round(turn, 4))
    events, back = [Event(at, "shift", pose=jump)], bool(rng.random() < _BACK)
    if back:
        events.append(Event(round(at + float(rng.uniform(6.0, 12.0)), 1), "mend"))
    codes = () if back else (ErrorCode.TF_ERROR,)
    return Scenario(Cause.LOCALISATION_LOST, trip, _with(trip, *events), at, trip.task.target_ids, codes)


def _energy(trip: Trip, rng: np.random.Generator) -> Scenario:
    """Return a scenario in which the battery lasts for the path back, but not for the target first."""
    at = _at(trip, rng)
    back = length_of(trip.path[trip.path[:, 0] <= at, 1:3])
    left = length_of(trip.path[:, 1:3]) - back
    battery = back + _SPARE + float(rng.uniform(0.2, 0.8)) * left
    return Scenario(Cause.OUT_OF_ENERGY, trip, trip.world, at, (), (ErrorCode.ENERGY,), battery=battery)


def _navigator(trip: Trip, rng: np.random.Generator) -> Scenario:
    """Return a scenario in which the navigator dies; in part of the runs it is back after 3 to 7 s."""
    at, back = _at(trip, rng), bool(rng.random() < _BACK)
    until = at + float(rng.uniform(3.0, 7.0)) if back else math.inf
    codes = () if back else (ErrorCode.NAVIGATOR_UNAVAILABLE,)
    return Scenario(
        Cause.NAVIGATOR_DOWN, trip, trip.world, at, trip.task.target_ids, codes,
        navigator_down=(at, until),
    )  # fmt: skip


def _sensors(trip: Trip, rng: np.random.Generator) -> Scenario:
    """Return a scenario in which the camera stops; in part of the runs it is back after 4 to 8 s."""
    at, back = _at(trip, rng), bool(rng.random() < _BACK)
    events = [Event(at, "mute", sensor="camera")]
    if back:
        events.append(Event(round(at + float(rng.uniform(4.0, 8.0)), 1), "unmute", sensor="camera"))
    codes = () if back else (ErrorCode.NO_EXPERT, ErrorCode.NO_MAP)
    return Scenario(Cause.SENSOR_FAULT, trip, _with(trip, *events), at, trip.task.target_ids, codes)


_MAKERS: dict[Cause, Callable[[Trip, np.random.Generator], Scenario | None]] = {
    Cause.TARGET_MOVED: _moved,
    Cause.TARGET_REMOVED: _removed,
    Cause.TARGET_MISLABELLED: _mislabelled,
    Cause.TARGET_OCCLUDED: _occluded,
    Cause.DUPLICATE_APPEARED: _duplicate,
    Cause.DOOR_CLOSED: _door,
    Cause.WAY_BLOCKED_STATIC: _static,
    Cause.WAY_BLOCKED_MOVING: _person,
    Cause.UNSEEN_OBSTACLE: _unseen,
    Cause.LOCALISATION_LOST: _lost,
    Cause.GOAL_OCCUPIED: _goal_occupied,
    Cause.OUT_OF_ENERGY: _energy,
    Cause.NAVIGATOR_DOWN: _navigator,
    Cause.SENSOR_FAULT: _sensors,
}
CAUSES = tuple(_MAKERS)
