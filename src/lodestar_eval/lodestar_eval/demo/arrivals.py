"""Pictures of the robot's claims of success, judged by ground truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lodestar.language.directive import Directive, StepKind
from lodestar_eval.demo.record import RunRecord
from lodestar_sim.judge import judge_find, things_meant
from lodestar_sim.simulator import Simulator
from lodestar_sim.worlds import World

_VIEW_SIZE = (960, 720)  # pixels, width and height


@dataclass(frozen=True)
class Arrival:
    """Picture of a claimed success. view: (H, W, 3) uint8. mask: (H, W) bool, the target's pixels."""

    view: np.ndarray
    mask: np.ndarray
    caption: str


def claims_of(record: RunRecord, directive: Directive) -> list[tuple[int, float]]:
    """Return (index, stamp at which its end was received) of each step in which the robot claimed a find.

    A failed step has an end too, so a step counts only if the robot named as many entities as it and the
    steps before it ask for.
    """
    left = len(record.claimed_entities)
    claims: list[tuple[int, float]] = []
    for step in _finds(directive):
        stamp = record.step_end(step)
        left -= directive.steps[step].count
        if stamp is None or left < 0:
            break
        claims.append((step, stamp))
    return claims


def _finds(directive: Directive) -> list[int]:
    """Return the indices of the steps that find an object."""
    return [i for i, step in enumerate(directive.steps) if step.kind is StepKind.FIND]


def arrivals_of(
    world: World, record: RunRecord, directive: Directive, targets: tuple[int, ...]
) -> list[Arrival]:
    """Return one picture per claim, from the robot's pose at that time.

    Without claims, the only picture is from the final pose. targets: ids of the targets of the last step that
    finds an object.
    """
    finds = _finds(directive)
    arrivals = []
    for index, stamp in claims_of(record, directive):
        step = directive.steps[index]
        meant = targets if index == finds[-1] else things_meant(world, step)
        then = world.at(stamp)
        pose = record.pose_at_claim(stamp)
        verdict = judge_find(then, pose, meant)
        number = f"step {index + 1}: " if len(directive.steps) > 1 else ""
        elapsed = stamp - (float(record.path[0, 0]) if len(record.path) else 0.0)
        truth = f"true, {verdict.distance_m:.2f} m away" if verdict.success else "not true"
        caption = f"{number}“{step.target}” claimed after {elapsed:.0f} s: {truth}"
        arrivals.append(_picture(then, pose, meant, caption))
    if not arrivals:
        end = float(record.path[-1, 0]) if len(record.path) else 0.0
        caption = "at the end" if not finds else "at the end; nothing was claimed to be found"
        arrivals.append(_picture(world.at(end), record.final_pose, targets, caption))
    return arrivals


def _picture(world: World, pose: np.ndarray, targets: tuple[int, ...], caption: str) -> Arrival:
    simulator = Simulator(world, seed=0, start=pose)
    width, height = _VIEW_SIZE
    view, _ = simulator.render_view(pose, width, height)
    return Arrival(view, simulator.object_mask(pose, targets, width, height), caption)
