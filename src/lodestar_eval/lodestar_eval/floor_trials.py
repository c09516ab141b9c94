"""Searches in buildings of two storeys: building, task, run, and judgement by ground truth."""

from __future__ import annotations

import time
from collections.abc import Callable

from lodestar.assembly.config import changed
from lodestar.floors.records import level_name
from lodestar_eval.episode import Episode, selector_of
from lodestar_eval.metrics import spl
from lodestar_eval.phrase_book import phrase_book
from lodestar_eval.settings import EpisodeSettings
from lodestar_eval.study import Row
from lodestar_sim.floor_tasks import floor_task, judge_on, meant_in, shortest_over, storey_of
from lodestar_sim.worlds import world_from_spec

KINDS = ("apartment", "office")  # kinds of building; every four seeds the next one


def world_of(seed: int) -> str:
    """Return the specification of a seed's building."""
    return f"{KINDS[(seed // 4) % 2]}?storeys=2"


def with_stairs(settings: EpisodeSettings, level: int) -> EpisodeSettings:
    """Return the settings of a robot that may take stairs and knows the level on which it starts."""
    return changed(settings, robot__shared__floors__stairs=True, robot__shared__floors__level=level)


def run_floors(seed: int, settings: EpisodeSettings, watch: Callable[[Episode], None] | None = None) -> Row:
    """Return the row of a seed's search. watch(episode): called after every control step.

    start, target, end: storeys of robot start, target and robot end, 0 = lower. named: the report names the storey of
    the found object. path, shortest: metres. crossings: changes of storey. Raises WorldError without a task.
    """
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
    target, path = storey_of(world, task.target_ids[0]), episode.path_length
    return {
        "seed": seed, "world": world_of(seed), "directive": task.directive, "start": task.storey, "target": target,
        "end": simulator.storey, "success": success, "claimed": result.success, "named": named and success,
        "falls": simulator.falls, "collisions": simulator.collisions, "crossings": len(floors) - 1,
        "duration": simulator.time - episode.began, "path": path, "shortest": shortest,
        "cpu": time.process_time() - began, "message": result.report,
        "_spl": spl(success, shortest, path) if shortest > 0.0 else 0.0,
        "_storey": "same storey" if task.storey == target else "another storey",
    }  # fmt: skip
