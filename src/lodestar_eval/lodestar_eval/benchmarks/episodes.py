"""Benchmark: object search in buildings, with success, path length, time, contribution of every expert, and cost."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lodestar_eval.episode_metrics import metrics_of
from lodestar_eval.episode_options import add_options
from lodestar_eval.options import DETECTORS, selection_of
from lodestar_eval.outcomes import EpisodeOutcome
from lodestar_eval.registry import BadOptions, Bar, Benchmark, Plot, Result, Table
from lodestar_eval.report import number, write_csv
from lodestar_eval.stages import StageClock
from lodestar_eval.trials import REFERENCE, Building, Plan, run_buildings

if TYPE_CHECKING:
    from lodestar_sim.simulator import SimConfig

_SUCCESS_BOUND, _SPL_BOUND = 0.95, 0.70  # the bars for the bandit in unmapped buildings
_EPOCH_BOUND = 0.3  # s, bar: p95 of processor time per decision epoch (DESIGN section 6)
_SPEED_BOUND = 8.0  # bar: simulated seconds per processor second of an episode


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar_eval.plots import save_overview

    plan, buildings = _planned(options, folder)
    steps = len(buildings) * (bool(plan.apart) + len(plan.chains))
    began = time.perf_counter()
    outcomes: list[EpisodeOutcome] = []
    for done, found in enumerate(run_buildings(plan, buildings, options.jobs), start=1):
        outcomes += found
        if not found:
            progress(f"[{done:3d}/{steps}] a building in which nothing makes a task is left out")
        for outcome in found:
            progress(_line(outcome, done, steps, plan.is_plain))
    order = {policy: index for index, policy in enumerate(plan.policies)}
    outcomes.sort(key=lambda o: (plan.settings.index(o.setting), order[o.policy], o.world, o.seed))
    _write_rows(outcomes, folder)
    main = [o for o in outcomes if (o.setting, o.policy) == (plan.settings[0], plan.policies[0])]
    save_overview(main, folder / "episodes.png")
    maps = tuple(
        Plot(str(plan.file("maps", b.tag, plan.settings[0], plan.policies[0], b.seed, ".png").relative_to(folder)),
             f"{b.world}, seed {b.seed}")
        for b in buildings
        if (b.world, b.seed) in {(o.world, o.seed) for o in main}
    )  # fmt: skip
    result = _result(main, plan.episode, time.perf_counter() - began, options.jobs, maps)
    return _compared(result, plan, buildings, outcomes)


def _planned(options: argparse.Namespace, folder: Path) -> tuple[Plan, list[Building]]:
    """Return the plan of runs and the buildings. Raises BadOptions."""
    from lodestar.agent.loop.machine import OWN_PARTS
    from lodestar.assembly.config import changed
    from lodestar.perception.frames import DetectorUnavailable
    from lodestar_eval.ablations import UNVALIDATED
    from lodestar_eval.settings import (
        NOISES,
        WITHOUT_WORLD_MODEL,
        EpisodeSettings,
        robot_config,
        with_detector,
    )
    from lodestar_sim.simulator import SimConfig
    from lodestar_sim.worlds import WorldError, world_from_spec

    kinds = [kind for kind in options.world.split(",") if kind]
    try:
        for kind in kinds:
            world_from_spec(kind, options.seeds.first)
    except WorldError as error:
        raise BadOptions(str(error)) from error
    robot = changed(robot_config(NOISES[options.noise]), goal_selector__selection=selection_of(options))
    if options.floor is not None:
        robot = changed(robot, mapping__octomap__floor__enabled=options.floor == "on")
    loop_kinds = OWN_PARTS
    if options.world_model == "off":
        robot, loop_kinds = changed(robot, **WITHOUT_WORLD_MODEL), UNVALIDATED
    settings = EpisodeSettings(
        time_limit=options.limit_time,
        robot=robot,
        kinds=loop_kinds,
        thinking=options.answer_time,
        reasoner_delay=options.think,
        eyes=options.eyes,
        simulator=_drifting() if options.drift else SimConfig(),
    )
    if options.perception in DETECTORS:
        try:
            settings = with_detector(settings, options.perception)
        except DetectorUnavailable as error:
            raise BadOptions(str(error)) from error
    plan = Plan(settings, options.settings, options.policies, folder, options.directive)
    buildings = [
        Building(kind, seed, Path(kind).stem if len(kinds) > 1 else "")
        for seed in options.seeds.values
        for kind in kinds
    ]
    return plan, buildings


def _compared(
    result: Result, plan: Plan, buildings: Sequence[Building], outcomes: list[EpisodeOutcome]
) -> Result:
    """Return the result, extended by metrics, tables, pass thresholds and plots per setting and policy."""
    from dataclasses import replace

    from lodestar.worldmodel.decision_log import read_decisions
    from lodestar_eval import policy_tables as tables
    from lodestar_eval.arms import Pick, picks_of
    from lodestar_eval.looks import look_bars, look_metrics
    from lodestar_eval.plots import save_paths
    from lodestar_eval.time_tables import time_table

    rows = tables.rows_of(outcomes)
    picks: dict[tuple[str, str], list[Pick]] = {}
    for setting, policy in rows:
        floors = {(o.world, o.seed): o.floor_m2 for o in rows[setting, policy]}
        for run, building in enumerate(buildings if policy != REFERENCE else ()):
            floor = floors.get((building.world, building.seed))
            if floor is None:  # the building has no task
                continue
            file = plan.file("decisions", building.tag, setting, policy, building.seed, ".jsonl")
            decisions = list(read_decisions(file)) if file.exists() else []
            picks.setdefault((setting, policy), []).extend(picks_of(decisions, floor, run))
    metrics = (
        tables.row_metrics(rows)
        | tables.kind_metrics(rows)
        | tables.target_metrics(rows)
        | tables.learning_metrics(picks)
    )
    metrics |= look_metrics(rows[plan.settings[0], plan.policies[0]])
    plots = []
    if not plan.is_plain:
        save_paths(plan, buildings[:: max(len(buildings) // 3, 1)][:3], plan.folder / "paths.png")
        plots = [
            Plot("paths.png", "Paths of every policy in the same buildings, by whose goal was driven to")
        ]
    return replace(
        result,
        metrics=result.metrics | metrics,
        bars=(
            *result.bars, *(tables.row_bars(metrics) if not plan.is_plain else ()),
            *tables.learning_bars(metrics),
            *look_bars(metrics, plan.episode.reasoner_delay),
        ),
        tables=(
            tables.main_table(rows, metrics), *tables.kind_tables(rows, metrics),
            tables.target_table(rows, metrics),
            tables.way_table(rows), time_table(rows),
            tables.allocation_table(rows),
            *tables.learning_tables(metrics), *tables.stage_tables(picks), *result.tables,
        ),
        plots=(*plots, *result.plots),
    )  # fmt: skip


def _drifting() -> SimConfig:
    """Return the settings of a robot whose odometry drifts and whose SLAM closes loops."""
    from lodestar_sim.robot import GO2_DRIFT, LocalizationConfig
    from lodestar_sim.simulator import SimConfig
    from lodestar_sim.slam import SlamConfig

    return SimConfig(odometry=GO2_DRIFT, localization=LocalizationConfig(slam=SlamConfig(enabled=True)))


def _line(outcome: EpisodeOutcome, done: int, count: int, plain: bool = True) -> str:
    found = "found " if outcome.success else "FAILED"
    row = f"{outcome.world} " if plain else f"{outcome.world} {outcome.setting} {outcome.policy}, "
    return (
        f"[{done:3d}/{count}] {row}seed {outcome.seed:3d} {found} {outcome.directive!r}: "
        f"{outcome.duration:.0f} s, {outcome.path_length:.1f} m, "
        f"SPL {number(round(outcome.spl, 2))}, {outcome.speed:.1f}x"
        + ("" if outcome.success else f" — {outcome.failure}")
    )


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _result(
    outcomes: list[EpisodeOutcome], settings: object, wall: float, jobs: int, maps: tuple[Plot, ...] = ()
) -> Result:
    metrics = metrics_of(outcomes)
    metrics["wall_s"] = wall
    rows = tuple(
        (
            o.world, str(o.seed), o.directive, _yes(o.success), _yes(o.claimed),
            f"{o.duration:.0f}", f"{o.path_length:.1f}", f"{o.shortest:.1f}", number(round(o.spl, 2)),
            str(o.collisions), f"{o.speed:.1f}", o.failure,
        )
        for o in outcomes
    )  # fmt: skip
    columns = (
        "building", "seed", "directive", "found", "claimed", "s", "m", "shortest m", "SPL", "collisions", "speed",
        "failure",
    )  # fmt: skip
    clock = StageClock.total([o.stages for o in outcomes])
    busy = sum(clock.seconds.values())
    stages = tuple(
        (
            name, str(clock.calls[name]), f"{1e3 * seconds / clock.calls[name]:.2f}",
            f"{100 * seconds / busy:.1f}",
        )
        for name, seconds in sorted(clock.seconds.items(), key=lambda item: -item[1])
    )  # fmt: skip
    return Result(
        metrics=metrics,
        bars=(
            Bar("sr", metrics["sr"], _SUCCESS_BOUND),
            Bar("spl", metrics["spl"], _SPL_BOUND),
            Bar("speed", metrics["speed"], _SPEED_BOUND),
            Bar("epoch_p95_s", metrics["epoch_p95_s"], _EPOCH_BOUND, at_least=False),
        ),
        tables=(
            Table("Episodes", columns, rows),
            Table("Processor time by stage", ("stage", "calls", "ms per call", "% of all"), stages),
        ),
        plots=(
            Plot("episodes.png", "Way driven against the shortest way, success over time, and time by stage"),
            *maps,
        ),
        notes=(
            "Intervals are 95 % bootstrap percentiles over episodes. An episode that begins on a pose of success has "
            "no SPL and is left out of its mean; `spl_left_out` counts these, and SR counts them as every other. "
            "`speed` is simulated seconds per second "
            "of processor time (all threads) of the episode itself; `speed_with_setup` adds making the "
            "building, compiling and loading the text model. Stages are the main thread's processor time. "
            "`epoch_p50_s` and `epoch_p95_s` are processor seconds of a decision epoch, with the experts one after "
            "the other.",
        ),
        config={"settings": repr(settings), "jobs": jobs},
    )


def _write_rows(outcomes: list[EpisodeOutcome], folder: Path) -> None:
    """Write episodes.csv and episodes_runs.json, one row per episode."""
    rows = [outcome.row() for outcome in outcomes]
    write_csv(folder / "episodes.csv", rows, missing=0)
    (folder / "episodes_runs.json").write_text(
        json.dumps(rows, indent=1, default=str) + "\n", encoding="utf-8"
    )


BENCHMARK = Benchmark(
    "episodes",
    "Find something in buildings nobody mapped: success, SPL, time, cost per stage.",
    add_options,
    _run,
)
