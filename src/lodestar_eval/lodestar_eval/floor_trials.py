"""Searches in buildings of two storeys: building, task, run, and judgement by ground truth."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from lodestar.assembly.config import changed
from lodestar.floors.records import level_name
from lodestar_eval.episode import Episode, selector_of
from lodestar_eval.floor_outcome import FloorOutcome
from lodestar_eval.phrase_book import phrase_book
from lodestar_eval.settings import EpisodeSettings
from lodestar_eval.trials import run_jobs
from lodestar_sim.floor_tasks import floor_task, judge_on, meant_in, shortest_over, storey_of
from lodestar_sim.worlds import WorldError, world_from_spec

KINDS = ("apartment", "office")  # kinds of building; every four seeds the next one


def world_of(seed: int) -> str:
    """Return the specification of a seed's building."""
    return f"{KINDS[(seed // 4) % 2]}?storeys=2"


def with_stairs(settings: EpisodeSettings, level: int) -> EpisodeSettings:
    """Return the settings of a robot that may take stairs and knows the level on which it starts."""
    return changed(settings, robot__shared__floors__stairs=True, robot__shared__floors__level=level)


def run_floors(
    seed: int, settings: EpisodeSettings, watch: Callable[[Episode], None] | None = None
) -> FloorOutcome:
    """Run the task of a seed. watch(episode): called after every control step. Raises WorldError without a task."""
    world = world_from_spec(world_of(seed), seed)
    task = floor_task(world, seed)
    targets = meant_in(world, task.directive) or task.target_ids
    shortest = shortest_over(world, task.start, task.storey, targets)
    began = time.process_time()
    settings = with_stairs(settings, task.storey)
    episode = Episode(world, task, seed, settings, phrase_book(), selector_of(settings))
    floors = [episode.simulator.storey]
    while episode.result is None:
        episode.step()
        if episode.simulator.storey != floors[-1]:
            floors.append(episode.simulator.storey)
        if watch is not None:
            watch(episode)
    result, simulator = episode.result, episode.simulator
    verdict = judge_on(world, simulator.storey, simulator.true_pose, targets)
    found = storey_of(world, verdict.target_id)
    success = result.success and verdict.success and not simulator.falls
    named = f"on the {level_name(max(found, 0))}" in result.report
    return FloorOutcome(
        seed, world_of(seed), task.directive, task.storey, storey_of(world, task.target_ids[0]), simulator.storey,
        success, result.success, named and success, simulator.falls, simulator.collisions, len(floors) - 1,
        simulator.time - episode.began, episode.path_length, shortest, time.process_time() - began, result.report,
    )  # fmt: skip


def run_all(seeds: Sequence[int], settings: EpisodeSettings, jobs: int) -> Iterator[FloorOutcome]:
    """Yield outcomes of the seeds as they finish; a building without a task is left out."""
    found = run_jobs(_one, [(seed, settings) for seed in seeds], jobs)
    yield from (outcome for outcome in found if outcome is not None)


def _one(seed: int, settings: EpisodeSettings) -> FloorOutcome | None:
    try:
        return run_floors(seed, settings)
    except WorldError:
        return None
