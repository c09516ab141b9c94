"""Map picture of a headless episode."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lodestar.scene.records import EntityState
from lodestar_eval.episode_run import EpisodeRun
from lodestar_eval.map_records import MapEntity, MapGoal, MapPicture
from lodestar_eval.maps import save_map
from lodestar_eval.report import number


def picture_of(run: EpisodeRun, file: Path) -> None:
    """Write a PNG of the grid, the path, entities, goals and the true targets of an episode."""
    entities = [
        MapEntity(
            entity.caption or entity.label, entity.box_min, entity.box_max, entity.id in run.result.entity_ids
        )
        for entity in run.map.mirror.entities.values()
        if entity.state is not EntityState.ARCHIVED
    ]
    pursued = {decision.epoch: decision for decision in run.decisions}
    goals = [
        MapGoal(arm.proposal.goal, arm.expert)
        for decision in pursued.values()
        for arm in decision.arms
        if arm.expert == decision.chosen and arm.proposal is not None
    ]
    outcome = run.outcome
    word = "found" if outcome.success else outcome.failure
    save_map(
        MapPicture(
            run.map.grid, run.path[:, 1:3], np.asarray(run.task.start), entities, goals, true_targets(run),
            title=f"“{outcome.directive}”",
            subtitle=f"{outcome.world}, seed {outcome.seed}: {outcome.duration:.0f} s, "
            f"{outcome.path_length:.1f} m, "
            f"SPL {number(round(outcome.spl, 2))}; {word}",
        ),
        file,
        pixels_per_metre=60.0,
    )  # fmt: skip


def true_targets(run: EpisodeRun) -> list[MapEntity]:
    """Return the true boxes of the targets at the end."""
    world = run.world.at(run.outcome.duration)
    things = {thing.id: thing for thing in world.objects}
    return [MapEntity(things[i].caption, *world.box(things[i])) for i in run.task.target_ids if i in things]
