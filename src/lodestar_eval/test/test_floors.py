"""Tests of the benchmark `floors`: its result rows, its tasks, and one short search."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar_eval.floor_trials import run_floors, world_of
from lodestar_eval.settings import NOISES, EpisodeSettings, robot_config
from lodestar_eval.studies.floors import BENCHMARK
from lodestar_sim.floor_tasks import floor_task, meant_in, storey_of
from lodestar_sim.worlds import WorldError, world_from_spec

FOUND = {
    "seed": 1, "world": "apartment?storeys=2", "directive": "find the mug", "start": 0, "target": 1, "end": 1,
    "success": True, "claimed": True, "named": True, "falls": 0, "collisions": 0, "crossings": 1, "duration": 200.0,
    "path": 60.0, "shortest": 30.0, "cpu": 80.0, "message": "", "_spl": 0.5, "_storey": "another storey",
}  # fmt: skip


@given(
    outcomes=st.lists(
        st.tuples(st.booleans(), st.booleans(), st.integers(0, 2), st.integers(0, 1), st.integers(0, 1)),
        min_size=1, max_size=20,
    )
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_the_row_counts_what_was_found_named_and_fallen(outcomes) -> None:
    runs = [
        FOUND
        | {
            "seed": i,
            "success": found,
            "named": found and named,
            "falls": falls,
            "start": start,
            "target": target,
        }
        for i, (found, named, falls, start, target) in enumerate(outcomes)
    ]
    result = BENCHMARK.result(runs)
    found = sum(one["success"] for one in runs)
    assert result.metrics["sr"] == pytest.approx(found / len(runs))
    assert result.metrics["falls"] == sum(one["falls"] for one in runs)
    holds = {bar.name: bar.holds for bar in result.bars}
    assert holds["falls"] == (not any(one["falls"] for one in runs))
    assert holds["success rate"] == (found / len(runs) >= 0.9)
    assert holds["reports that name the right floor"] == all(one["named"] for one in runs)
    assert len(result.tables[1].rows) == len(runs)


def test_of_four_seeds_in_a_row_two_lead_to_another_storey_and_words_fit_one_alone() -> None:
    crossed = []
    for seed in range(24, 28):
        world = world_from_spec(world_of(seed), seed)
        try:
            task = floor_task(world, seed)
        except WorldError:
            continue
        target = storey_of(world, task.target_ids[0])
        crossed.append(target != task.storey)
        if target != task.storey:
            assert {storey_of(world, one) for one in meant_in(world, task.directive)} == {target}
    assert sum(crossed) == 2


def test_a_search_that_is_cut_short_is_no_success_and_says_why() -> None:
    settings = EpisodeSettings(robot=robot_config(NOISES["none"]), time_limit=2.0, thinking=0.06)
    outcome = run_floors(24, settings)
    assert not outcome["success"] and not outcome["named"] and outcome["message"]
    assert outcome["falls"] == 0 and outcome["duration"] >= 2.0 and math.isfinite(outcome["shortest"])
