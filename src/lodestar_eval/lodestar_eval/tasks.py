"""Building and its task, prepared from specification, seed and directive."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from lodestar.language.directive import StepKind, main_kind
from lodestar.language.grammar import parse_directive
from lodestar.perception.eyes import Eyes
from lodestar_sim.judge import valid_targets
from lodestar_sim.tasks import Task, default_task
from lodestar_sim.worlds import World, WorldError, WorldObject, world_from_spec


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


SEEN_FROM, SEEN = 1.5, 0.3  # m; least chance that a look from there shows a default task's target; chosen


def prepare(spec: str, seed: int, directive: str | None, eyes: Eyes | None = None) -> Prepared:
    """Return the world of `spec` with the seed's own task, or with the given directive from that task's start.

    eyes: of the detector that must be able to see the target of the seed's own task; None = one that sees all.

    Raises WorldError for an unusable world, or one without its own task if no directive is given, and
    DirectiveError for a directive that cannot be understood.
    """
    world = world_from_spec(spec, seed)
    sees = partial(_seen, eyes) if eyes is not None else None
    if directive is None:
        return Prepared(world, default_task(world, seed, sees))
    kind = main_kind(parse_directive(directive))
    targets = valid_targets(world, directive) if kind is StepKind.FIND else ()
    try:
        start = default_task(world, seed, sees).start
    except WorldError:
        start = world.start
    return Prepared(world, Task(directive, targets, start), kind)


def _seen(eyes: Eyes, thing: WorldObject) -> bool:
    return eyes.chance_from(thing.category, max(thing.size), SEEN_FROM) >= SEEN
