"""Ground-truth judgement of a run: success, targets and shortest path."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from lodestar.grid.footprint import GO2
from lodestar.grid.success_pose import MAX_BEARING, MAX_DISTANCE, bearing_to_box, footprint_distance
from lodestar.language.directive import DirectiveError, Step
from lodestar.language.grammar import parse_directive
from lodestar_sim.reference_truth import Scene
from lodestar_sim.worlds.truth import Truth, truth_of
from lodestar_sim.worlds.world import World


@dataclass(frozen=True)
class Verdict:
    """Success of a run, as DESIGN section 3 defines it.

    Of several targets it describes the nearest one that was found or, if none was found, the nearest one.
    distance_m: horizontal, from the robot's footprint to the target's box, inf without a target.
    bearing: of the target from the robot, radians, positive to the left.
    in_sight: the camera sees any of the object's sampled points.
    """

    success: bool
    distance_m: float
    bearing: float
    in_sight: bool
    message: str
    target_id: int = 0


def judge_find(world_at_time: World, robot_pose: Iterable[float], target_ids: Iterable[int]) -> Verdict:
    """Return the verdict on whether a robot at (x, y, yaw) has found one of the targets in the world."""
    pose = np.asarray(list(robot_pose), np.float64)[:3]
    standing = {thing.id: thing for thing in world_at_time.objects}
    targets = [standing[i] for i in target_ids if i in standing]
    if not targets:
        return Verdict(False, math.inf, 0.0, False, "There is no such thing in the building.")
    truth = truth_of(world_at_time)
    verdicts = []
    for thing in targets:
        low, high = world_at_time.box(thing)
        distance = footprint_distance(pose, GO2, low, high)
        bearing = bearing_to_box(pose, low, high)
        near = distance <= 4.0 * MAX_DISTANCE
        in_sight = bool(near and truth.seen(thing, pose[None])[0] > 0.0)
        success = distance <= MAX_DISTANCE and abs(bearing) <= MAX_BEARING and in_sight
        verdicts.append(
            Verdict(
                success,
                distance,
                bearing,
                in_sight,
                _say(thing.caption, distance, bearing, in_sight),
                thing.id,
            )
        )
    return min(verdicts, key=lambda v: (not v.success, v.distance_m))


def _say(caption: str, distance: float, bearing: float, in_sight: bool) -> str:
    place = f"The {caption} is {distance:.2f} m away at {math.degrees(bearing):.0f} degrees"
    if distance > MAX_DISTANCE:
        return f"{place}; it must be within {MAX_DISTANCE:.1f} m."
    if abs(bearing) > MAX_BEARING:
        return f"{place}; it must be within {math.degrees(MAX_BEARING):.0f} degrees of straight ahead."
    return f"{place}, in sight." if in_sight else f"{place}, but out of sight."


def valid_targets(world: World, directive_text: str, time: float = 0.0) -> tuple[int, ...]:
    """Return the ids of the possible targets of a directive's last step with a target; empty if none exist.

    Raises DirectiveError if the text is not a directive with a target.
    """
    steps = parse_directive(directive_text).steps
    step = next((step for step in reversed(steps) if step.graphs), None)
    if step is None:
        raise DirectiveError(f'"{directive_text}" names nothing that could be found')
    return things_meant(world, step, time)


def things_meant(world: World, step: Step, time: float = 0.0) -> tuple[int, ...]:
    """Return the ids of the objects that a step's item may mean, without excluded ones; empty if none exist."""
    scene = Scene(world, time)
    found: dict[int, None] = {}
    for graph in step.graphs:
        found.update(dict.fromkeys(scene.matching(graph)))
    for graph in () if step.item is None else step.item.excluded:
        for identity in scene.matching(graph):
            found.pop(identity, None)
    return tuple(found)


def shortest_path_length(world: World, start: Iterable[float], target_ids: Iterable[int]) -> float:
    """Return the shortest path from (x, y, ...) to a success pose, metres; inf if there is none."""
    xy = tuple(float(v) for v in list(start)[:2])
    wanted = set(target_ids)
    truth: Truth = truth_of(world)
    lengths = [truth.shortest_path((xy[0], xy[1]), thing) for thing in world.objects if thing.id in wanted]
    return min(lengths, default=math.inf)
