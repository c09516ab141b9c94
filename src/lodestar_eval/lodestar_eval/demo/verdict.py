"""Verdict on a demo run by ground truth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lodestar.language.directive import Directive, Step, StepKind, main_kind
from lodestar.language.grammar import parse_directive
from lodestar_eval.coverage import known_share, reachable_floor
from lodestar_eval.demo.arrivals import Arrival, arrivals_of
from lodestar_eval.demo.record import RunRecord
from lodestar_eval.map_records import MapEntity
from lodestar_eval.tasks import Prepared
from lodestar_sim.judge import judge_find, shortest_path_length, things_meant
from lodestar_sim.worlds import World

_EXPLORED_SHARE = 0.90  # least share of the reachable floor for an exploration to count as complete
_HOME_DISTANCE = 0.5  # m from the start within which the robot counts as returned
_VISIT_INTERVAL = 0.5  # s between poses that are checked as visits of earlier steps' targets


def judge_run(prepared: Prepared, world: World, record: RunRecord) -> list[Arrival]:
    """Set success, distance, coverage and targets of the record by ground truth; return pictures of the claims."""
    end = float(record.path[-1, 0]) if len(record.path) else 0.0
    world_then = world.at(end)
    record.coverage = known_share(reachable_floor(world_then, record.start), record.grid)
    directive = parse_directive(record.directive)
    kind = main_kind(directive)
    if kind is StepKind.FIND:
        _judge_find(prepared, world, record, directive)
    elif kind is not StepKind.RETURN:
        record.success = record.claimed_success and record.coverage >= _EXPLORED_SHARE
        record.verdict = f"It knows {100 * record.coverage:.0f} % of the floor that can be reached."
    else:
        record.success = record.claimed_success
    if _comes_back(directive):
        away = float(np.linalg.norm(record.final_pose[:2] - record.start[:2]))
        record.success = record.success and away <= _HOME_DISTANCE
        record.verdict = f"{record.verdict} It stands {away:.2f} m from where it started.".strip()
    return arrivals_of(world, record, directive, prepared.task.target_ids)


def _comes_back(directive: Directive) -> bool:
    """Return whether the directive ends with a return to the start."""
    return directive.steps[-1].kind is StepKind.RETURN


def _judge_find(prepared: Prepared, world: World, record: RunRecord, directive: Directive) -> None:
    targets = prepared.task.target_ids
    end = float(record.path[-1, 0]) if len(record.path) else 0.0
    world_then = world.at(end)
    things = {thing.id: thing for thing in world_then.objects}
    record.targets = tuple(
        MapEntity(things[i].caption, *world_then.box(things[i])) for i in targets if i in things
    )
    if not targets:
        record.success = False
        record.verdict = f"Nothing in this building is meant by “{record.directive}”."
        return
    record.shortest = shortest_path_length(world, record.start, targets)
    steps = [step for step in directive.steps if step.kind is StepKind.FIND]
    if _comes_back(directive):
        missed = _missed_step(world, record, steps)
        record.success = record.claimed_success and not missed
        record.verdict = (
            f"It never stood before “{missed}”." if missed else "It stood before what it was to find."
        )
        return
    verdict = judge_find(world_then, record.final_pose, targets)
    record.distance = float(verdict.distance_m)
    record.success, record.verdict = bool(verdict.success), verdict.message
    if record.success and not record.claimed_success:
        record.success = False
        record.verdict += " But the robot did not say that it had found it."
    missed = _missed_step(world, record, steps[:-1])
    if record.success and missed:
        record.success = False
        record.verdict = f"It stands before the last thing, but never stood before “{missed}” on the way."


def _missed_step(world: World, record: RunRecord, steps: Sequence[Step]) -> str:
    """Return the phrase of the first step whose target the robot did not visit in order; "" if none was missed."""
    index = 0
    poses = record.path[_spaced(record.path[:, 0], _VISIT_INTERVAL)] if len(record.path) else record.path
    for step in steps:
        targets = things_meant(world, step)
        while index < len(poses):
            stamp, pose = float(poses[index, 0]), poses[index, 1:4]
            if targets and judge_find(world.at(stamp), pose, targets).success:
                break
            index += 1
        else:
            return step.target
    return ""


def _spaced(stamps: np.ndarray, interval: float) -> np.ndarray:
    """Return the indices of stamps (N,) that are at least `interval` apart."""
    kept, last = [], -np.inf
    for index, stamp in enumerate(stamps):
        if stamp - last >= interval:
            kept.append(index)
            last = stamp
    return np.array(kept, dtype=int)
