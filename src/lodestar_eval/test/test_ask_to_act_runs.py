"""Tests of questions answered in two furnished rooms, from the sensors to the answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from quick_episodes import EXACT, QUICK
from small_building import LAPTOP, small_world

from lodestar_eval.ask_to_act import said_in
from lodestar_eval.episode import EpisodeRunner
from lodestar_eval.episode_run import EpisodeRun
from lodestar_eval.phrase_book import phrase_book
from lodestar_sim.tasks import Task

SETTINGS = replace(QUICK, time_limit=300.0, robot=EXACT)
START = (1.0, 1.0, 0.0)


def asked(name: str, targets: tuple[int, ...] = ()) -> EpisodeRun:
    runner = EpisodeRunner(phrase_book(), SETTINGS)
    task = Task(f"is there a {name} in the building?", targets, START)
    return runner.run(small_world(), task, 3)


@pytest.mark.parametrize("name", ["fire extinguisher", "toaster"])
def test_what_is_not_there_is_denied_with_the_share_and_long_before_the_limit(name):
    run = asked(name)
    assert said_in(run) is False and run.outcome.duration < 150.0
    (answer,) = run.result.answers
    assert answer.coverage > 0.85 and answer.confidence >= 0.7
    assert "% of the floor that I can come to" in run.result.report


def test_what_is_there_is_found():
    assert said_in(asked("laptop", (LAPTOP,))) is True
