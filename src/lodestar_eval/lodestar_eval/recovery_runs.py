"""Runs of failure scenarios on a map from an earlier tour, and a comparison run without a failure event."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lodestar.agent.facts.errors import ErrorCode
from lodestar.assembly.config import changed
from lodestar.grid.energy import EnergyBudget
from lodestar.models.phrases import PhraseBook
from lodestar.storage.saved_map import SavedMap
from lodestar.worldmodel.cause_table import Recovery
from lodestar.worldmodel.outcomes import ActionOutcome, Cause, Diagnosis
from lodestar_eval.ablations import ROW_KINDS
from lodestar_eval.episode import Episode, EpisodeRunner
from lodestar_eval.episode_run import EpisodeRun
from lodestar_eval.phrase_book import phrase_book
from lodestar_eval.prior_map import explored
from lodestar_eval.recovery_scenarios import Scenario, scenario_of
from lodestar_eval.recovery_trips import Trip, trip_of
from lodestar_eval.settings import NOISES, EpisodeSettings, robot_config
from lodestar_eval.trials import run_jobs
from lodestar_sim.judge import judge_find
from lodestar_sim.worlds import WorldError
from lodestar_sim.worlds.world import World

FULL = "full"
NO_EVENT = "NO_EVENT"  # used as the cause of runs without an event
_LOOKS = 3
_TOLD_EVERY = 1.0  # simulated seconds between two reports of the battery; chosen
# m, greatest true distance from the charger; `loop.charger_reach` and the localisation error; chosen
_AT_CHARGER = 0.8

#: Changes of the robot's settings by row, besides replaced parts of its loop.
ROW_CHANGES: dict[str, dict[str, Any]] = {
    **{row: {} for row in ROW_KINDS},
    "blind_retry": {"goal_selector__loop__recovery__enabled": False},
    "no_belief_correction": {"scene_dictionary__archive_moved": False},
}


@dataclass(frozen=True)
class Job:
    """Settings of all runs of one seed.

    rows: names of robot variants. limit, answer: simulated seconds of a run and of an expert's answer. maps:
    folder that stores the maps of the tours, None = not stored. noise: of perception, a name in `NOISES`.
    """

    seed: int
    rows: tuple[str, ...]
    causes: tuple[Cause, ...]
    limit: float
    answer: float
    maps: Path | None
    noise: str = "mild"


@dataclass(frozen=True)
class RecoveryRun:
    """Search with an induced failure, or without a failure event (`cause` NO_EVENT).

    diagnoses: made after the event, in order. recoveries: taken after them. lost_s, lost_m: extra time and
    path against the full robot's search without an event, if both found the object; else NaN.
    """

    spec: str
    seed: int
    row_name: str
    cause: str
    success: bool
    reason: str
    code: int
    duration: float
    path: float
    collisions: int
    diagnoses: tuple[str, ...]
    recoveries: tuple[str, ...]
    lost_s: float = math.nan
    lost_m: float = math.nan

    @property
    def first(self) -> bool | None:
        """Return whether the first diagnosis names the true cause; None without a diagnosis."""
        return self.diagnoses[0] == self.cause if self.diagnoses else None

    @property
    def within(self) -> bool | None:
        """Return whether one of the first four diagnoses names the true cause; None if there are none."""
        return self.cause in self.diagnoses[: 1 + _LOOKS] if self.diagnoses else None

    @property
    def line(self) -> str:
        """Return the run as a line of progress."""
        said = "ok" if self.success else "FAILED"
        return (
            f"{self.spec} {self.seed} {self.row_name} {self.cause}: {said} in {self.duration:.0f} s, "
            f"{self.path:.1f} m; diagnosed {', '.join(self.diagnoses) or 'nothing'}; "
            f"did {', '.join(self.recoveries) or 'nothing'}; {self.reason}"
        )

    def row(self) -> dict[str, Any]:
        """Return the run as a row of a CSV file."""
        record = dict(vars(self))
        record["diagnoses"], record["recoveries"] = " ".join(self.diagnoses), " ".join(self.recoveries)
        return record


def outcomes_of(jobs: Sequence[Job], workers: int) -> Iterator[list[RecoveryRun]]:
    """Yield the runs of each seed; with one worker, each run separately."""
    if workers == 1:
        yield from ([run] for job in jobs for run in each_run(job))
        return
    yield from run_jobs(runs_of, [(job,) for job in jobs], workers)


def runs_of(job: Job) -> list[RecoveryRun]:
    """Return all runs of one seed; empty if its building has no suitable search."""
    return list(each_run(job))


def each_run(job: Job) -> Iterator[RecoveryRun]:
    """Yield the runs of one seed, the run without a failure event first."""
    phrases = phrase_book()
    plain = settings_of(job, FULL)
    try:
        trip = trip_of(job.seed)
    except WorldError:
        return
    saved = toured(trip.world, trip.spec, job.seed, plain, phrases, job.maps)
    trip, base = undisturbed(trip, saved, plain, phrases)
    yield _recorded(trip, FULL, None, base, None)
    for cause in job.causes:
        scenario = scenario_of(trip, cause)
        if scenario is None:
            continue
        known = saved
        if scenario.mapped is not None:
            known = toured(scenario.mapped, f"{trip.spec}-{cause.value}", job.seed, plain, phrases, job.maps)
        for row in job.rows:
            run = disturbed(scenario, known, settings_of(job, row), phrases)
            yield _recorded(trip, row, scenario, run, base)


def settings_of(job: Job, row: str) -> EpisodeSettings:
    """Return the settings of a robot variant. row: name of the variant."""
    robot = changed(robot_config(NOISES[job.noise]), **ROW_CHANGES[row])
    return EpisodeSettings(time_limit=job.limit, thinking=job.answer, robot=robot, kinds=ROW_KINDS[row])


def _recorded(
    trip: Trip, row: str, scenario: Scenario | None, run: EpisodeRun, base: EpisodeRun | None
) -> RecoveryRun:
    if scenario is None:
        judged, cause, at = Judged(run.outcome.success, run.outcome.failure), NO_EVENT, 0.0
    else:
        judged, cause, at = judge(scenario, run), scenario.cause.value, scenario.at
    diagnoses = [(o, o.diagnosis) for o in run.outcomes if o.diagnosis is not None and o.stamp >= at]
    lost = math.nan, math.nan
    if base is not None and base.outcome.success and judged.success and run.result.success:
        lost = (
            run.outcome.duration - base.outcome.duration,
            run.outcome.path_length - base.outcome.path_length,
        )
    return RecoveryRun(
        trip.spec, trip.seed, row, cause, judged.success, judged.reason, int(run.result.error_code),
        run.outcome.duration, run.outcome.path_length, run.outcome.collisions,
        _named(diagnoses), _done(diagnoses), *lost,
    )  # fmt: skip


def _named(diagnoses: Sequence[tuple[ActionOutcome, Diagnosis]]) -> tuple[str, ...]:
    return tuple(diagnosis.cause.value for _, diagnosis in diagnoses)


def _done(diagnoses: Sequence[tuple[ActionOutcome, Diagnosis]]) -> tuple[str, ...]:
    idle = ("", Recovery.ASK_AGAIN.value)
    return tuple(outcome.recovery for outcome, _ in diagnoses if outcome.recovery not in idle)


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
