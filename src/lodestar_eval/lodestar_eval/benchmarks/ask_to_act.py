"""Benchmark: check questions answered by searching unexplored buildings; half are about absent objects."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lodestar_eval.finished_parts import FinishedParts
from lodestar_eval.metrics import cluster_interval, defined, mean, paired_difference, share_interval
from lodestar_eval.options import add_parts_option, add_search_options
from lodestar_eval.registry import BadOptions, Bar, Benchmark, Result, Table
from lodestar_eval.report import write_csv
from lodestar_eval.time_tables import time_metrics, time_table
from lodestar_eval.trials import run_jobs

if TYPE_CHECKING:
    from lodestar_eval.ask_to_act import CheckOutcome
    from lodestar_eval.settings import EpisodeSettings

_RIGHT, _ABSENT = 0.80, 0.90
# bars: gain in right answers by a vision model; share of its answers that are wrong
_GAIN, _WRONG = 0.30, 0.05
_CASES = ("kind", "look", "absent kind", "absent look")


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--world", default="apartment", help="kind of building (default apartment)")
    add_search_options(parser, "721-730", "mild", 600.0, 0.06, of="of buildings, six questions each")
    parser.add_argument(
        "--eyes", action="store_true",
        help="asks three questions more that need a picture, each without and with a model that looks",
    )  # fmt: skip
    parser.add_argument("--only-visual", action="store_true", help="with --eyes: asks these three alone")
    add_parts_option(parser)


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar_eval.settings import NOISES, EpisodeSettings, robot_config

    settings = EpisodeSettings(
        time_limit=options.limit_time, thinking=options.answer_time, robot=robot_config(NOISES[options.noise])
    )
    if options.only_visual and not options.eyes:
        raise BadOptions("--only-visual is of the questions of --eyes; give both")
    kinds = (not options.only_visual, options.eyes)
    parts = FinishedParts(options.parts, (options.world, settings))
    began, found, left_out = time.perf_counter(), [], []
    jobs = [(options.world, seed, settings, kinds, parts) for seed in options.seeds.values]
    for seed, outcomes in _outcomes(jobs, options.jobs):
        if not outcomes:
            left_out.append(seed)
        for one in outcomes:
            progress(f"{one.world} {one.seed}: {one.question.text} {_said(one)}, {one.path_length:.0f} m")
        found += outcomes
        write_csv(folder / "ask_to_act.csv", [one.row() for one in found])
    if not found:
        raise BadOptions("none of the buildings has a question of each case; take other seeds")
    result = result_of(found, time.perf_counter() - began, left_out)
    return replace(result, notes=(*result.notes, *parts.notes))


def _said(outcome: CheckOutcome) -> str:
    said = "no answer" if outcome.said is None else "yes" if outcome.said else "no"
    return f"{said} ({'right' if outcome.is_right else 'WRONG'})"


#: World, seed, settings, (ask plain questions, ask visual questions), store of finished outcomes.
Job = tuple[str, int, "EpisodeSettings", tuple[bool, bool], FinishedParts]


def _of_building(job: Job) -> tuple[int, list[CheckOutcome]]:
    """Return the seed and outcomes of a building; none if a kind of question cannot be made there."""
    return job[1], list(_one_by_one(job))


def _one_by_one(job: Job) -> Iterator[CheckOutcome]:
    """Yield the outcomes of a building one by one; none if a kind of question cannot be made there."""
    from lodestar_eval.ask_to_act import runs_of
    from lodestar_sim.worlds import WorldError

    spec, seed, settings, (others, visual), parts = job
    with suppress(WorldError):
        for name, run in runs_of(spec, seed, settings, others, visual):
            yield parts.part(name, run)


def _outcomes(jobs: Sequence[Job], workers: int) -> Iterator[tuple[int, list[CheckOutcome]]]:
    """Yield (seed, outcomes): per question in a single process, per building with several workers."""
    if workers == 1:
        for job in jobs:
            is_empty = True
            for outcome in _one_by_one(job):
                is_empty = False
                yield job[1], [outcome]
            if is_empty:
                yield job[1], []
        return
    yield from run_jobs(_of_building, [(job,) for job in jobs], workers)


def result_of(found: Sequence[CheckOutcome], wall: float, left_out: Sequence[int] = ()) -> Result:
    """Return metrics, pass thresholds and tables, separately for visual and other questions.

    Intervals are of 95 %, over buildings.
    """
    from lodestar_eval.ask_to_act import VISUAL

    seen, found = (
        [one for one in found if one.question.case == VISUAL],
        [one for one in found if one.question.case != VISUAL],
    )
    absent = [one for one in found if not one.question.is_there]
    there = [one for one in found if one.question.is_there]
    metrics: dict[str, float] = {"questions": float(len(found)), "questions_absent": float(len(absent))}
    for name, group in (("all", found), ("there", there), ("absent", absent)):
        low, high = _interval(group)
        metrics |= {
            f"right.{name}": mean([float(one.is_right) for one in group]),
            f"right_low.{name}": low,
            f"right_high.{name}": high,
            f"unanswered.{name}": mean([float(one.said is None) for one in group]),
            f"path_m.{name}": mean([one.path_length for one in group]),
            f"time_s.{name}": mean([one.duration for one in group]),
        }
    metrics |= {f"{name}.there": value for name, value in time_metrics(there).items()}
    metrics |= _visual(seen)
    metrics["spl.there"] = mean(defined([one.spl for one in there]))
    driven = sum(one.path_length for one in found)
    metrics["right_per_100m"] = (
        100.0 * sum(one.is_right for one in found) / driven if driven > 0.0 else float("nan")
    )
    metrics |= {"wall_s": wall, "left_out": float(len(left_out))}
    rows = []
    for case in _CASES:
        group = [one for one in found if one.question.case == case]
        spls = defined([one.spl for one in group])
        rows.append(
            (
                case, str(len(group)), f"{mean([float(o.is_right) for o in group]):.2f}",
                f"{mean([float(o.said is None) for o in group]):.2f}",
                f"{mean([o.path_length for o in group]):.1f}", f"{mean([o.duration for o in group]):.0f}",
                f"{mean(spls):.3f}" if spls else "",
            )
        )  # fmt: skip
    wrong = tuple(
        (
            str(one.seed),
            one.question.text,
            one.question.case,
            _said(one),
            f"{one.path_length:.0f}",
            one.words[:200],
        )
        for one in found
        if not one.is_right
    )
    bars: tuple[Bar, ...] = ()
    if found or not seen:  # a run without any question misses the bars
        bars += (
            Bar("right.all", metrics["right.all"], _RIGHT),
            Bar("right.absent", metrics["right.absent"], _ABSENT),
        )
    if seen:
        bars += (
            Bar("visual.gain", metrics["visual.gain"], _GAIN),
            Bar("visual.wrong", metrics["visual.wrong"], _WRONG, at_least=False),
        )
    tables = (
        Table(
            "By case", ("case", "questions", "right", "no answer", "path, m", "time, s", "SPL"), tuple(rows)
        ),
        *((_visual_table(seen),) if seen else ()),
        Table("Wrong or unanswered", ("seed", "question", "case", "said", "path, m", "words"), wrong),
        time_table(
            {("ask-to-act", name): group for name, group in (("there", there), ("absent", absent)) if group}
        ),
    )
    notes = (
        "Each question begins at the building's start with an empty map and no memory. SPL weighs a right yes by the "
        "shortest way to a view of the thing (A-EQA); for what is absent there is no shortest way.",
        f"Left out, because a case had no question: {', '.join(map(str, left_out)) or 'none'}.",
    )
    return Result(metrics, bars, tables, (), notes)


def _visual(seen: Sequence[CheckOutcome]) -> dict[str, float]:
    """Return metrics of visual questions: right answers without and with a model, and its wrong answers."""
    rows = {eyes: [float(one.is_right) for one in seen if one.eyes is eyes] for eyes in (False, True)}
    if not rows[True]:
        return {}
    said = [one for one in seen if one.eyes and one.said is not None]
    gain, low, high = paired_difference(rows[True], rows[False], np.random.default_rng(0))
    wrong = sum(not one.is_right for one in said)
    wrong_low, wrong_high = share_interval(wrong, len(said))
    return {
        "visual.questions": float(len(rows[True])), "visual.right": mean(rows[False]),
        "visual.right_with_eyes": mean(rows[True]), "visual.gain": gain, "visual.gain_low": low,
        "visual.gain_high": high, "visual.answers": float(len(said)),
        "visual.wrong": wrong / len(said) if said else float("nan"), "visual.wrong_low": wrong_low,
        "visual.wrong_high": wrong_high,
    }  # fmt: skip


def _visual_table(seen: Sequence[CheckOutcome]) -> Table:
    rows = tuple(
        (
            str(o.seed),
            o.question.text,
            "yes" if o.eyes else "no",
            _said(o),
            f"{o.path_length:.0f}",
            f"{o.duration:.0f}",
        )
        for o in seen
    )
    return Table(
        "Questions that need a picture", ("seed", "question", "eyes", "said", "path, m", "time, s"), rows
    )


def _interval(group: Sequence[CheckOutcome]) -> tuple[float, float]:
    seeds = sorted({one.seed for one in group})
    clusters = [[float(one.is_right) for one in group if one.seed == seed] for seed in seeds]
    return cluster_interval(clusters, np.random.default_rng(0))


BENCHMARK = Benchmark(
    "ask-to-act",
    "Questions about an unexplored building that are answered by going and looking; half are about absent things.",
    _add_options,
    _run,
)
