"""Building and its task, prepared from specification, seed and directive."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lodestar.language.directive import StepKind, main_kind
from lodestar.language.grammar import parse_directive
from lodestar_sim.judge import valid_targets
from lodestar_sim.starts import start_pose
from lodestar_sim.tasks import Task, default_task
from lodestar_sim.worlds import World, world_from_spec


@dataclass(frozen=True)
class Prepared:
    """A world and a task in it; `task.target_ids` is empty if the building has no target."""

    world: World
    task: Task
    kind: StepKind = StepKind.FIND

    @property
    def start(self) -> np.ndarray:
        """Return the start (3,) x, y, yaw."""
        return np.asarray(self.task.start, dtype=float)


def prepare(spec: str, seed: int, directive: str | None) -> Prepared:
    """Return the world of `spec` with the seed's own task, or with the given directive from that task's start.

    Raises WorldError for an unusable world, or one without its own task if no directive is given, and
    DirectiveError for a directive that cannot be understood.
    """
    world = world_from_spec(spec, seed)
    if directive is None:
        return Prepared(world, default_task(world, seed))
    kind = main_kind(parse_directive(directive))
    targets = valid_targets(world, directive) if kind is StepKind.FIND else ()
    return Prepared(world, Task(directive, targets, start_pose(world, seed, "default")), kind)
