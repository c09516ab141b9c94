"""Runs of failure scenarios on a map that the robot toured before, and the run without an event that each is compared
with.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

from lodestar.agent.errors import ErrorCode
from lodestar.grid.energy import EnergyBudget
from lodestar.models.phrases import PhraseBook
from lodestar.scene.saved import SavedMap
from lodestar_eval.episode import Episode, EpisodeRun, EpisodeRunner
from lodestar_eval.prior_map import explored
from lodestar_eval.recovery_scenarios import Scenario, Trip
from lodestar_eval.settings import EpisodeSettings
from lodestar_sim.judge import judge_find
from lodestar_sim.worlds.world import World


def toured(world: World, spec: str, seed: int, settings: EpisodeSettings, phrases: PhraseBook, folder: Path | None) -> SavedMap:
    """Return the map of a building after a tour of it; one that `folder` keeps is read instead."""
    file = None if folder is None else folder / f"{spec}-{seed}"
    if file is not None and file.exists():
        return SavedMap.read(file)
    saved = explored(world, seed, settings, phrases)
    if file is not None:
        saved.write(file)
    return saved


def undisturbed(trip: Trip, saved: SavedMap, settings: EpisodeSettings, phrases: PhraseBook) -> tuple[Trip, EpisodeRun]:
    """Return the trip with its path, and the run without an event."""
    run = EpisodeRunner(phrases, settings).run(trip.world, trip.task, trip.seed, saved)
    return replace(trip, path=run.path), run


def disturbed(scenario: Scenario, saved: SavedMap, settings: EpisodeSettings, phrases: PhraseBook) -> EpisodeRun:
    """Return the run in which the failure is induced."""
    runner = EpisodeRunner(phrases, settings, observer=Faults(scenario).observe)
    trip = scenario.trip
    task = replace(trip.task, target_ids=scenario.targets or trip.task.target_ids)
    return runner.run(scenario.world, task, trip.seed, saved)


class Faults:
    """Induces what no event of the world can: a navigator that dies, a battery that fails."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._emptied = False

    def observe(self, episode: Episode) -> None:
        """Set what fails at this moment."""
        now, scenario = episode.simulator.time, self._scenario
        begun, over = scenario.navigator_down
        episode.navigator_is_down = begun <= now < over
        if math.isfinite(scenario.battery) and not self._emptied and now >= scenario.at:
            self._emptied = True
            episode.loop.on_energy(EnergyBudget(scenario.battery))


@dataclass(frozen=True)
class Judged:
    """Judgement of a run: whether the induced failure was overcome as stated beforehand, and why (not)."""

    success: bool
    reason: str


def judge(scenario: Scenario, run: EpisodeRun) -> Judged:
    """Return whether the search ended as the scenario says: at the thing, or with one of its codes."""
    result = run.result
    if result.success:
        world = run.world.at(run.outcome.duration)
        verdict = judge_find(world, run.path[-1, 1:], scenario.targets)
        return Judged(bool(scenario.targets) and bool(verdict.success), f"claimed; {verdict.message}")
    code = ErrorCode(int(result.error_code))
    return Judged(code in scenario.codes, f"{code.name}: {result.error_msg}")
