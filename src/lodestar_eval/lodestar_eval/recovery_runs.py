"""Runs of failure scenarios on a map from an earlier tour, and a comparison run without a failure event."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lodestar.agent.facts.errors import ErrorCode
from lodestar.assembly.config import changed
from lodestar.grid.energy import EnergyBudget
from lodestar.models.phrases import PhraseBook
from lodestar.storage.saved_map import SavedMap
from lodestar.worldmodel.cause_table import Recovery
from lodestar.worldmodel.outcomes import Cause
from lodestar_eval.ablations import ROW_KINDS
from lodestar_eval.episode import Episode, EpisodeRunner
from lodestar_eval.episode_run import EpisodeRun
from lodestar_eval.phrase_book import phrase_book
from lodestar_eval.prior_map import explored
from lodestar_eval.recovery_scenarios import Scenario, scenario_of
from lodestar_eval.recovery_trips import Trip, trip_of
from lodestar_eval.settings import EpisodeSettings
from lodestar_eval.studies.recovery import FULL, NO_EVENT
from lodestar_eval.study import Row
from lodestar_sim.judge import judge_find
from lodestar_sim.worlds.world import World

_TOLD_EVERY = 1.0  # simulated seconds between two reports of the battery; chosen
# m, greatest true distance from the charger; `loop.charger_reach` and the localisation error; chosen
_AT_CHARGER = 0.8

#: Changes of the robot's settings by row, besides replaced parts of its loop.
ROW_CHANGES: dict[str, dict[str, Any]] = {
    "blind_retry": {"goal_selector__loop__recovery__enabled": False},
    "no_belief_correction": {"scene_dictionary__archive_moved": False},
}


def runs_of(
    seed: int, settings: EpisodeSettings, names: tuple[str, ...], causes: tuple[Cause, ...], maps: Path | None
) -> Iterator[Row]:
    """Yield the rows of one seed's runs, that of the full robot without a failure event first.

    names: of robot variants. maps: folder that stores the maps of the tours, None = not stored. diagnoses: made
    after the event, in order. recoveries: taken after them. lost_s, lost_m: extra time and path against the run
    without an event, if both found the object; else NaN. Raises WorldError.
    """
    phrases = phrase_book()
    trip = trip_of(seed)
    saved = toured(trip.world, trip.spec, seed, settings, phrases, maps)
    trip, base = undisturbed(trip, saved, settings, phrases)
    yield _row(trip, FULL, None, base, base)
    for cause in causes:
        scenario = scenario_of(trip, cause)
        if scenario is None:
            continue
        known = saved
        if scenario.mapped is not None:
            known = toured(scenario.mapped, f"{trip.spec}-{cause.value}", seed, settings, phrases, maps)
        for name in names:
            run = disturbed(scenario, known, variant(settings, name), phrases)
            yield _row(trip, name, scenario, run, base)


def variant(settings: EpisodeSettings, name: str) -> EpisodeSettings:
    """Return the settings of a robot variant."""
    return replace(
        settings, robot=changed(settings.robot, **ROW_CHANGES.get(name, {})), kinds=ROW_KINDS[name]
    )


def _row(trip: Trip, name: str, scenario: Scenario | None, run: EpisodeRun, base: EpisodeRun) -> Row:
    ours, plain = run.outcome, base.outcome
    if scenario is None:
        judged, cause, at = Judged(ours.success, ours.failure), NO_EVENT, 0.0
    else:
        judged, cause, at = judge(scenario, run), scenario.cause.value, scenario.at
    done = [o for o in run.outcomes if o.diagnosis is not None and o.stamp >= at]
    named = [o.diagnosis.cause.value for o in done if o.diagnosis is not None]
    idle = ("", Recovery.ASK_AGAIN.value)
    compared = scenario is not None and plain.success and judged.success and run.result.success
    return {
        "spec": trip.spec, "seed": trip.seed, "row_name": name, "cause": cause, "success": judged.success,
        "reason": judged.reason, "code": int(run.result.error_code), "duration": ours.duration,
        "path": ours.path_length, "collisions": ours.collisions, "diagnoses": " ".join(named),
        "recoveries": " ".join(o.recovery for o in done if o.recovery not in idle),
        "lost_s": ours.duration - plain.duration if compared else math.nan,
        "lost_m": ours.path_length - plain.path_length if compared else math.nan,
    }  # fmt: skip


def toured(
    world: World, name: str, seed: int, settings: EpisodeSettings, phrases: PhraseBook, folder: Path | None
) -> SavedMap:
    """Return the map of a building after a tour; it is read from `folder` if stored there."""
    file = None if folder is None else folder / f"{name}-{seed}"
    if file is not None and file.exists():
        return SavedMap.read(file)
    saved = explored(world, seed, settings, phrases)
    if file is not None:
        saved.write(file)
    return saved


def undisturbed(
    trip: Trip, saved: SavedMap, settings: EpisodeSettings, phrases: PhraseBook
) -> tuple[Trip, EpisodeRun]:
    """Run the search without a failure event; return the trip with the driven path, and the run."""
    run = EpisodeRunner(phrases, settings).run(trip.world, trip.task, trip.seed, saved)
    return replace(trip, path=run.path), run


def disturbed(
    scenario: Scenario, saved: SavedMap, settings: EpisodeSettings, phrases: PhraseBook
) -> EpisodeRun:
    """Return the run in which the failure is induced."""
    runner = EpisodeRunner(phrases, settings, observer=Faults(scenario).observe)
    trip = scenario.trip
    task = replace(trip.task, target_ids=scenario.targets or trip.task.target_ids)
    return runner.run(scenario.world, task, trip.seed, saved)


class Faults:
    """Induces failures that world events cannot: a navigator that dies, and a battery that runs empty."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._driven_before = math.nan  # metres driven when the battery limit took effect
        self._told = -math.inf  # simulated time of the last battery report to the loop

    def observe(self, episode: Episode) -> None:
        """Apply the failures that are due now; called after every control step."""
        now, scenario = episode.simulator.time, self._scenario
        begun, over = scenario.navigator_down
        episode.navigator_is_down = begun <= now < over
        if math.isfinite(scenario.battery) and now >= scenario.at:
            self._drain(episode, now)

    def _drain(self, episode: Episode, now: float) -> None:
        """Drain the battery by the metres driven; at zero the robot stops. Report the charge to the
        decision loop once a second.
        """
        if math.isnan(self._driven_before):
            self._driven_before = episode.path_length
        left = max(self._scenario.battery - (episode.path_length - self._driven_before), 0.0)
        episode.is_empty = left <= 0.0
        if now - self._told >= _TOLD_EVERY:
            self._told = now
            episode.loop.on_energy(EnergyBudget(left))


@dataclass(frozen=True)
class Judged:
    """Judgement of a run: whether the failure was overcome by the scenario's criteria, and the reason."""

    success: bool
    reason: str


def judge(scenario: Scenario, run: EpisodeRun) -> Judged:
    """Judge whether a search ended as the scenario requires: at the object or with an allowed code; after a battery
    failure, at the charger.
    """
    result = run.result
    if math.isfinite(scenario.battery):  # the charger stands where the search began
        away = math.dist(run.path[-1, 1:3], scenario.trip.task.start[:2])
        words = f"{away:.1f} m from the charger, {ErrorCode(int(result.error_code)).name}: {result.error_msg}"
        return Judged(not result.success and away <= _AT_CHARGER, words)
    if result.success:
        world = run.world.at(run.outcome.duration)
        verdict = judge_find(world, run.path[-1, 1:], scenario.targets)
        return Judged(bool(scenario.targets) and bool(verdict.success), f"claimed; {verdict.message}")
    code = ErrorCode(int(result.error_code))
    return Judged(code in scenario.codes, f"{code.name}: {result.error_msg}")
