"""Search for objects in buildings: success, path length, time, contribution of every expert, and cost."""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from lodestar_eval.episode_metrics import metrics_of
from lodestar_eval.expert_quality import falseness_in, phase_bars, phase_metrics, phase_of, phase_table
from lodestar_eval.options import (
    DETECTORS,
    add_reasoner_options,
    add_selection_options,
    positive_int,
    positive_seconds,
    seed_list,
    selection_of,
)
from lodestar_eval.outcomes import EpisodeOutcome
from lodestar_eval.registry import BadOptions, Bar, Benchmark, Plot, Result, Table
from lodestar_eval.report import number
from lodestar_eval.stages import StageClock
from lodestar_eval.trials import (
    REFERENCE,
    SETTINGS,
    UNDELAYED,
    WARM,
    Building,
    Plan,
    all_rows,
    core_rows,
    learn,
    run_buildings,
)

NOISE_NAMES = ("none", "mild", "strong", "detector")  # of settings.NOISES, which is slow to import
MEASURED = "detector"  # the default where searches are told: a real detector's errors
_SUCCESS_BOUND, _SPL_BOUND = 0.95, 0.70  # of the bandit in unmapped buildings; the bars
_EPOCH_BOUND = 0.3  # s of processor time per decision epoch, p95 (DESIGN section 6)
_SPEED_BOUND = 8.0  # simulated seconds per processor second of the episode


def _names(text: str) -> tuple[str, ...]:
    """Policies of "core", "all" or names with commas between them."""
    groups = {"core": core_rows(), "all": all_rows()}
    chosen = dict.fromkeys(name for part in text.split(",") for name in groups.get(part, (part,)))
    foreign = [name for name in chosen if name not in (*all_rows(), WARM)]
    if foreign:
        raise argparse.ArgumentTypeError(
            f"there is no policy {', '.join(foreign)!r}; there are core, all, {', '.join((*all_rows(), WARM))}"
        )
    return tuple(chosen)


def _settings(text: str) -> tuple[str, ...]:
    """Keys of "unexplored,pre-explored"."""
    foreign = [name for name in text.split(",") if name not in SETTINGS]
    if foreign:
        raise argparse.ArgumentTypeError(f"{', '.join(foreign)!r} is none of {', '.join(SETTINGS)}")
    return tuple(dict.fromkeys(SETTINGS[name] for name in text.split(",")))


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--world", "--worlds", default="apartment,office",
        help="apartment, office, warehouse, a world file, a real map; with commas between them "
        "(default apartment,office)",
    )  # fmt: skip
    parser.add_argument(
        "--seeds", type=seed_list, default="1-30",
        help="such as 1-30 or 1,4,9-12, of every kind (default 1-30: 60 buildings)",
    )  # fmt: skip
    parser.add_argument(
        "--policies", type=_names, default="bandit",
        help="core (the bandit, each expert alone, frontier_led, the reference), all, or names (default bandit)",
    )  # fmt: skip
    parser.add_argument(
        "--settings",
        type=_settings,
        default="unexplored",
        help="unexplored,pre-explored (default unexplored)",
    )
    parser.add_argument(
        "--warm-seeds", type=seed_list, default=None, metavar="SEEDS",
        help="adds the row bandit_warm, which has worked in these worlds; none of them is evaluated",
    )  # fmt: skip
    parser.add_argument(
        "--limit-time",
        type=positive_seconds,
        default=600.0,
        metavar="S",
        help="simulated seconds per episode",
    )
    parser.add_argument(
        "--jobs", type=positive_int, default=1, help="processes that run episodes (default 1)"
    )
    parser.add_argument(
        "--answer-time", type=positive_seconds, default=None, metavar="S",
        help="simulated seconds that an expert takes to answer (default: what it was measured to take)",
    )  # fmt: skip
    parser.add_argument(
        "--noise", choices=NOISE_NAMES, default=MEASURED, help="of perception (default %(default)s)"
    )
    parser.add_argument(
        "--perception",
        choices=("labels", *DETECTORS),
        default="labels",
        help="labels (default): the simulator's, with --noise; on rendered images alone, nanodet: NanoDet (make "
        "detector); network: the packaged network",
    )
    parser.add_argument(
        "--floor",
        choices=("on", "off"),
        default=None,
        help="the floor layer of the map (default: as config/sim.yaml)",
    )
    parser.add_argument(
        "--world-model",
        choices=("on", "off"),
        default="on",
        help="validation of goals, diagnosis and recovery (default on)",
    )
    parser.add_argument(
        "--experts",
        choices=("true", "changing"),
        default="true",
        help="changing: map and view claim false places, by a chance of each kind of building, and another one in each "
        "third of the buildings, which come in random order (default true)",
    )
    add_reasoner_options(parser)
    add_selection_options(parser)
    parser.add_argument("--directive", default=None, help="instead of each seed's own")
    parser.add_argument(
        "--log", type=Path, default=None, metavar="FILE", help="all decisions in one file, for replay-log"
    )


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
    if options.experts == "changing":
        result = _phased(result, plan, buildings, outcomes)
    return _compared(result, plan, buildings, outcomes, options.log)


def _planned(options: argparse.Namespace, folder: Path) -> tuple[Plan, list[Building]]:
    """Return the plan and the buildings; a warm start is learned here. Raises BadOptions."""
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
    from lodestar_sim.worlds import WorldError, world_from_spec

    kinds = [kind for kind in options.world.split(",") if kind]
    try:
        for kind in kinds:
            world_from_spec(kind, options.seeds.first)
    except WorldError as error:
        raise BadOptions(str(error)) from error
    policies = options.policies
    if (WARM in policies) != (options.warm_seeds is not None):
        if options.warm_seeds is None:
            raise BadOptions(f"{WARM} has to have worked somewhere: give --warm-seeds")
        policies = (*policies, WARM)
    if options.against_undelayed:
        if not options.think and not options.late:
            raise BadOptions("--against-undelayed compares with a delay: give --think or --late")
        policies = (*policies, *(f"{policy}{UNDELAYED}" for policy in policies if policy != REFERENCE))
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
        answer_delay=options.late,
        eyes=options.eyes,
    )
    if options.perception in DETECTORS:
        try:
            settings = with_detector(settings, options.perception)
        except DetectorUnavailable as error:
            raise BadOptions(str(error)) from error
    plan = Plan(settings, options.settings, policies, folder, options.directive)
    buildings = [
        Building(kind, seed, Path(kind).stem if len(kinds) > 1 else "")
        for seed in options.seeds.values
        for kind in kinds
    ]
    if options.experts == "changing":
        buildings = _changing(buildings)
    if options.warm_seeds is not None:
        if both := set(options.warm_seeds.values) & set(options.seeds.values):
            raise BadOptions(
                f"seeds {sorted(both)} would be learned from and evaluated; choose other --warm-seeds"
            )
        warm = [Building(kind, seed) for seed in options.warm_seeds.values for kind in kinds]
        plan = Plan(settings, options.settings, policies, folder, options.directive, learn(plan, warm))
    return plan, buildings


def _compared(
    result: Result,
    plan: Plan,
    buildings: Sequence[Building],
    outcomes: list[EpisodeOutcome],
    log: Path | None,
) -> Result:
    """Return the result with the rows of all settings and policies, their tables, bars and plots."""
    from dataclasses import replace

    from lodestar.worldmodel.decision_log import DecisionLog, read_decisions
    from lodestar_eval import policy_tables as tables
    from lodestar_eval.arms import Pick, picks_of
    from lodestar_eval.delay_tables import delay_bars, delay_metrics, delay_tables
    from lodestar_eval.looks import look_bars, look_metrics
    from lodestar_eval.plots import save_paths
    from lodestar_eval.time_tables import time_table

    rows = tables.rows_of(outcomes)
    picks: dict[tuple[str, str], list[Pick]] = {}
    if log is not None:
        log.unlink(missing_ok=True)
    for setting, policy in rows:
        floors = {(o.world, o.seed): o.floor_m2 for o in rows[setting, policy]}
        for run, building in enumerate(buildings if policy != REFERENCE else ()):
            floor = floors.get((building.world, building.seed))
            if floor is None:  # a building without a task
                continue
            file = plan.file("decisions", building.tag, setting, policy, building.seed, ".jsonl")
            decisions = list(read_decisions(file)) if file.exists() else []
            picks.setdefault((setting, policy), []).extend(picks_of(decisions, floor, run))
            if log is not None:
                for decision in decisions:
                    DecisionLog(log).write(decision)
    metrics = (
        tables.row_metrics(rows)
        | tables.kind_metrics(rows)
        | tables.target_metrics(rows)
        | tables.learning_metrics(picks)
    )
    metrics |= delay_metrics(rows) | look_metrics(rows[plan.settings[0], plan.policies[0]])
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
            *delay_bars(metrics, plan.episode.reasoner_delay, plan.episode.answer_delay),
            *look_bars(metrics, plan.episode.reasoner_delay),
        ),
        tables=(
            tables.main_table(rows, metrics), *tables.kind_tables(rows, metrics),
            tables.target_table(rows, metrics), *delay_tables(rows, metrics),
            tables.way_table(rows), time_table(rows),
            tables.allocation_table(rows),
            *tables.learning_tables(metrics), *tables.stage_tables(picks), *result.tables,
        ),
        plots=(*plots, *result.plots),
    )  # fmt: skip


def _changing(buildings: Sequence[Building]) -> list[Building]:
    """Return the buildings in random order, each with the falseness of its phase."""
    from dataclasses import replace

    order = np.random.default_rng(len(buildings)).permutation(len(buildings))
    return [
        replace(buildings[i], falseness=falseness_in(buildings[i].world, phase_of(n, len(buildings))))
        for n, i in enumerate(order)
    ]


def _phased(
    result: Result, plan: Plan, buildings: Sequence[Building], outcomes: Sequence[EpisodeOutcome]
) -> Result:
    """Return the result with the seconds until found by phase of experts that change."""
    from dataclasses import replace

    phases = {(b.world, b.seed): phase_of(i, len(buildings)) for i, b in enumerate(buildings)}
    rows = {p: [o for o in outcomes if o.policy == p] for p in plan.policies if p != REFERENCE}
    metrics = phase_metrics(rows, phases, plan.episode.time_limit)
    return replace(
        result,
        metrics=result.metrics | metrics,
        bars=(*result.bars, *phase_bars(metrics)),
        tables=(phase_table(tuple(rows), metrics), *result.tables),
    )


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
    with (folder / "episodes.csv").open("w", newline="", encoding="utf-8") as file:
        names = dict.fromkeys(name for row in rows for name in row)
        writer = csv.DictWriter(file, fieldnames=list(names), restval=0)
        writer.writeheader()
        writer.writerows(rows)
    (folder / "episodes_runs.json").write_text(
        json.dumps(rows, indent=1, default=str) + "\n", encoding="utf-8"
    )


BENCHMARK = Benchmark(
    "episodes",
    "Find something in buildings nobody mapped: success, SPL, time, cost per stage.",
    _add_options,
    _run,
)
