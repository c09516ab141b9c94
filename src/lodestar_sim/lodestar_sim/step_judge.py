"""Ground-truth checks of directive steps that go to a place, wait, patrol, count or list."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from lodestar.language.directive import ROBOT_FRAME, Directive, Item, Pose, Step, StepKind
from lodestar.models.lexicon import load_lexicon
from lodestar_sim.judge import judge_find, things_meant
from lodestar_sim.worlds.world import World

REACHED = 0.5  # m, distance at which a pose counts as reached
STILL = 0.05  # m, motion below which the robot counts as standing
LISTED = 0.9  # share of the true objects that a list must contain


@dataclass(frozen=True)
class StepVerdict:
    """Result of a judged step. ended: index into the path at which the next step begins."""

    success: bool
    message: str
    ended: int = 0


def judge_steps(
    world: World, directive: Directive, path: np.ndarray, listed: Collection[int] = ()
) -> StepVerdict:
    """Return whether all steps were done in order, with the message of the first failed step.

    path: (N, 4) stamp, x, y, yaw. listed: ids of the objects in the robot's answer, for COUNT and LIST.
    """
    index, told = 0, []
    todo = [step for step in directive.steps for _ in range(max(step.times, 1))] * max(directive.times, 1)
    for number, step in enumerate(todo, 1):
        is_last = number == len(todo)
        verdict = _judge(world, step, path, index, listed, is_last)
        if not verdict.success:
            return verdict
        index = verdict.ended
        told.append(verdict.message)
    return StepVerdict(True, " ".join(told), index)


def _judge(
    world: World, step: Step, path: np.ndarray, index: int, listed: Collection[int], is_last: bool
) -> StepVerdict:
    if step.kind is StepKind.WAIT:
        return _waited(step.seconds or 0.0, path, index)
    if step.kind in (StepKind.COUNT, StepKind.LIST):
        return _answered(world, step, listed, index)
    if step.kind is StepKind.RETURN and step.item is None:
        return _came_to(path, index, path[0, 1:3], "the start", is_last)
    if step.pose is not None:
        return _came_to(path, index, _place_of(step.pose, path[index, 1:]), "the pose", is_last)
    if step.kind is StepKind.PATROL:
        for stop in step.stops:
            verdict = _visited(world, stop, path, index)
            if not verdict.success:
                return verdict
            index = verdict.ended
        return StepVerdict(True, "It came to every stop.", index)
    if step.item is not None and step.item.best:
        return _visited(world, step.item, path, index)
    return StepVerdict(True, f"{step.kind.name} has no truth of its own.", index)


def rooms_called(world: World, names: Iterable[str]) -> list[np.ndarray]:
    """Return the polygons (K, 2), metres, of the rooms with these names."""
    lexicon = load_lexicon()
    wanted = {lexicon.room(name) or name for name in names}
    return [
        np.array(room.polygon) for room in world.rooms if (lexicon.room(room.label) or room.label) in wanted
    ]


def inside(polygon: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return (N,) bool: whether points (N, 2) lie in a polygon (K, 2)."""
    x, y = points[:, 0], points[:, 1]
    odd = np.zeros(len(points), bool)
    for (x0, y0), (x1, y1) in zip(polygon, np.roll(polygon, -1, axis=0)):
        if y0 == y1:
            continue
        crosses = (y0 > y) != (y1 > y)
        odd ^= crosses & (x < (x1 - x0) * (y - y0) / (y1 - y0) + x0)
    return odd


def _visited(world: World, item: Item, path: np.ndarray, index: int) -> StepVerdict:
    """Return whether the robot entered the room, or found the object, that `item` names, at `index` or later."""
    names = [graph.target.category for graph in item.best]
    lexicon = load_lexicon()
    if all(lexicon.room(name) is not None for name in names):
        polygons = rooms_called(world, names)
        within = np.zeros(len(path), bool)
        for polygon in polygons:
            within |= inside(polygon, path[:, 1:3])
        found = np.flatnonzero(within[index:])
        if not len(found):
            return StepVerdict(False, f"It never came into the {item.phrase}.", index)
        return StepVerdict(True, f"It came into the {item.phrase}.", index + int(found[0]))
    targets = things_meant(world, Step(StepKind.FIND, item))
    for i in range(index, len(path)):
        if judge_find(world.at(float(path[i, 0])), path[i, 1:4], targets).success:
            return StepVerdict(True, f"It stood before the {item.phrase}.", i)
    return StepVerdict(False, f"It never stood before the {item.phrase}.", index)


def _place_of(pose: Pose, robot: np.ndarray) -> np.ndarray:
    """Return the position (2,) in map of a pose given in map or relative to the robot.

    robot: (3,) x, y, yaw at the beginning of the step.
    """
    place = np.array([pose.x, pose.y])
    if pose.frame != ROBOT_FRAME:
        return place
    cos, sin = math.cos(robot[2]), math.sin(robot[2])
    return robot[:2] + np.array([[cos, -sin], [sin, cos]]) @ place


def _came_to(path: np.ndarray, index: int, place: np.ndarray, name: str, is_last: bool) -> StepVerdict:
    """Return whether the robot reached a place (2,) at `index` or later; in the last step it must also end there."""
    away = np.hypot(*(path[index:, 1:3] - place).T)
    near = np.flatnonzero(away <= REACHED)
    if not len(near):
        nearest = float(away.min()) if len(away) else math.inf
        return StepVerdict(False, f"It came no nearer to {name} than {nearest:.2f} m.", index)
    if is_last and away[-1] > REACHED:
        return StepVerdict(False, f"It ended {float(away[-1]):.2f} m from {name}.", index)
    return StepVerdict(True, f"It came to {name}.", index + int(near[0]))


def _waited(seconds: float, path: np.ndarray, index: int) -> StepVerdict:
    """Return whether the robot stood still for `seconds`, at `index` or later."""
    longest = 0.0
    start = index
    for i in range(index, len(path)):
        if np.hypot(*(path[i, 1:3] - path[start, 1:3])) > STILL:
            start = i
        longest = max(longest, float(path[i, 0] - path[start, 0]))
        if longest >= seconds - 0.2:
            return StepVerdict(True, f"It stood for {longest:.0f} s.", i)
    return StepVerdict(False, f"It stood for {longest:.1f} s, not for {seconds:g} s.", index)


def _answered(world: World, step: Step, listed: Collection[int], index: int) -> StepVerdict:
    """Return whether the listed ids match the true objects: exactly for COUNT, 90 % of them for LIST."""
    truth = set(_things_of(world, step))
    right, wrong = truth & set(listed), set(listed) - truth
    said = f"It has {len(right)} of {len(truth)}, and {len(wrong)} that are not meant."
    if step.kind is StepKind.COUNT:
        return StepVerdict(right == truth and not wrong, said, index)
    enough = len(right) >= LISTED * len(truth)
    return StepVerdict(enough and len(wrong) <= (1.0 - LISTED) * max(len(listed), 1), said, index)


def _things_of(world: World, step: Step) -> tuple[int, ...]:
    if step.graphs:
        return things_meant(world, step)
    polygons = rooms_called(world, step.scope.labels)
    things = [thing for thing in world.objects if not thing.contained_in]
    if not polygons:
        return tuple(thing.id for thing in things)
    at = np.array([thing.xy for thing in things])
    within = np.zeros(len(things), bool)
    for polygon in polygons:
        within |= inside(polygon, at)
    return tuple(thing.id for thing, yes in zip(things, within) if yes)
