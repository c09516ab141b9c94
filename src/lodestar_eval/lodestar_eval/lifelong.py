"""Successive tasks of one robot in one building (GOAT-Bench's protocol)."""

from __future__ import annotations

from collections.abc import Sequence

from lodestar_eval.episode import Episode, EpisodeRunner
from lodestar_eval.outcomes import EpisodeOutcome
from lodestar_eval.phrase_book import phrase_book
from lodestar_eval.settings import NOISES, EpisodeSettings
from lodestar_eval.subtasks import Asked, subtasks_of
from lodestar_sim.tasks import Task
from lodestar_sim.worlds import world_from_spec
from lodestar_sim.worlds.world import World

# kind of the subtask, one of `subtasks.MODALITIES`, and its outcome
Subtask = tuple[str, EpisodeOutcome]


def lifelong(spec: str, seed: int, settings: EpisodeSettings, remembers: bool) -> list[Subtask]:
    """Run all subtasks of a building; each starts where the previous one ended, even if that failed.

    `settings.time_limit` is per subtask. The bandit keeps learning. Without memory, subtasks begin with an
    empty map. The policy of an outcome is "memory" or "no_memory".
    """
    world = world_from_spec(spec, seed)
    noise = settings.robot.perception.noise
    # Picture tasks need a detection of their object, which a detector that misses three of four would not give.
    asked = subtasks_of(world, seed, NOISES["mild"] if noise.measured else noise)
    return follow_all(world, asked, seed, EpisodeRunner(phrase_book(), settings), remembers, spec)


def follow_all(
    world: World, asked: Sequence[Asked], seed: int, runner: EpisodeRunner, remembers: bool, name: str = ""
) -> list[Subtask]:
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
        outcomes.append((one.modality, outcome))
    return outcomes
