"""A building and what is to be found in it."""

from __future__ import annotations

from dataclasses import dataclass

from lodestar_sim.judge import valid_targets
from lodestar_sim.tasks import Task, default_task
from lodestar_sim.worlds import World, world_from_spec


class NoTask(ValueError):
    """There is nothing to do in this world; the message says why."""


@dataclass(frozen=True)
class Prepared:
    """A world and a task in it; `task.target_ids` is empty where nothing in the building is meant."""

    world: World
    task: Task


def prepare(spec: str, seed: int, directive: str | None) -> Prepared:
    """The world of `spec` with the seed's own task, or with the given directive from the world's start.

    Raises WorldError, NoTask where the world offers no task of its own, and DirectiveError for a directive
    that cannot be used.
    """
    world = world_from_spec(spec, seed)
    if directive is None:
        try:
            return Prepared(world, default_task(world, seed))
        except ValueError as error:
            raise NoTask(f"{error}; say what to look for with --directive") from error
    return Prepared(world, Task(directive, tuple(valid_targets(world, directive)), world.start))
