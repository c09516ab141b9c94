"""Successive tasks of one robot in one building (GOAT-Bench's protocol)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lodestar_eval.episode import Episode, EpisodeRunner
from lodestar_eval.outcomes import EpisodeOutcome
from lodestar_eval.phrase_book import phrase_book
from lodestar_eval.settings import NOISES, EpisodeSettings
from lodestar_eval.subtasks import Asked, subtasks_of
from lodestar_sim.tasks import Task
from lodestar_sim.worlds import world_from_spec
from lodestar_sim.worlds.world import World


@dataclass(frozen=True)
class SubtaskOutcome:
    """Outcome of one subtask; `number` starts at 1. remembers: whether earlier subtasks' map was kept."""

    number: int
    modality: str
    remembers: bool
    outcome: EpisodeOutcome


def lifelong(spec: str, seed: int, settings: EpisodeSettings, remembers: bool) -> list[SubtaskOutcome]:
    """Run all subtasks of a building; each starts where the previous one ended, even if that failed.

    `settings.time_limit` is per subtask. The bandit keeps learning. Without memory, subtasks begin with an
    empty map.
    """
    world = world_from_spec(spec, seed)
    noise = settings.robot.perception.noise
    # Picture tasks need a detection of their object, which a detector that misses three of four would not give.
    asked = subtasks_of(world, seed, NOISES["mild"] if noise.measured else noise)
    return follow_all(world, asked, seed, EpisodeRunner(phrase_book(), settings), remembers, spec)


def follow_all(
    world: World, asked: Sequence[Asked], seed: int, runner: EpisodeRunner, remembers: bool, name: str = ""
) -> list[SubtaskOutcome]:
    """Run subtasks in sequence in one world; return their outcomes. name: of the world in these."""
    episode: Episode | None = None
    outcomes = []
    for number, one in enumerate(asked, start=1):
        if episode is None:
            task = Task(one.words, one.target_ids, world.start)
            episode = Episode(
                world, task, seed, runner.settings, runner.phrases, runner.policy, directive=one.directive
            )
        else:
            if not remembers:
                episode.forget(number)
            x, y, yaw = (float(v) for v in episode.simulator.true_pose)
            episode.begin(Task(one.words, one.target_ids, (x, y, yaw)), one.directive)
        run = runner.follow(episode)
        outcome = run.outcome.under("lifelong", "memory" if remembers else "no_memory", name or world.name)
        outcomes.append(SubtaskOutcome(number, one.modality, remembers, outcome))
    return outcomes
