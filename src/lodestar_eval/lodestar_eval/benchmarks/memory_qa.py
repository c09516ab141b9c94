"""Benchmark: questions to a memory after a tour of 25 simulated minutes (STaR's WH-VQA in our buildings)."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lodestar_eval.finished_parts import FinishedParts
from lodestar_eval.memory_qa.rows import EYES, ROWS
from lodestar_eval.memory_qa.wordings import BOTH, CHOICES, DEVELOPMENT
from lodestar_eval.options import (
    MEASURED,
    NOISE_NAMES,
    SeedList,
    add_parts_option,
    positive_seconds,
    seed_list,
)
from lodestar_eval.registry import BadOptions, Benchmark, Plot, Result

if TYPE_CHECKING:
    from lodestar_eval.memory_qa.questions import Question
    from lodestar_eval.memory_qa.recording import Recording
    from lodestar_eval.memory_qa.results import Judged

#: Seeds of the published table: never run during development; they need `--wordings both`.
RESERVED_SEEDS = (11, 12, 13)
WORLDS = ("warehouse", "office")
VISUAL_COUNT = 50  # visual questions besides the 100 others, a third of all
MINUTES = 25.0
_USUAL = tuple(name for name in ROWS if name != EYES)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--worlds", default=",".join(WORLDS), help=f"with commas between them (default {','.join(WORLDS)})"
    )
    parser.add_argument(
        "--seeds",
        type=seed_list,
        default="1-3",
        help="of every kind of world (default 1-3; 11-13 are reserved)",
    )
    parser.add_argument(
        "--wordings", choices=CHOICES, default=DEVELOPMENT,
        help=f"of the questions (default {DEVELOPMENT}; {BOTH} for a table that is reported)",
    )  # fmt: skip
    parser.add_argument(
        "--rows", default=",".join(_USUAL), help=f"of {', '.join(ROWS)} (default {','.join(_USUAL)})"
    )
    parser.add_argument(
        "--eyes", action="store_true",
        help=f"asks {VISUAL_COUNT} questions more that need a picture, and adds the row {EYES}: a model that looks",
    )  # fmt: skip
    parser.add_argument(
        "--noise", choices=NOISE_NAMES, default=MEASURED, help="of perception (default %(default)s)"
    )
    parser.add_argument(
        "--minutes", type=positive_seconds, default=MINUTES, metavar="M",
        help=f"simulated minutes of a tour (default {MINUTES:g}); of a shorter one as many questions as there are",
    )  # fmt: skip
    add_parts_option(parser)
    parser.add_argument(
        "--tours",
        type=Path,
        metavar="FOLDER",
        help="of recorded tours, private (default: in the user's state)",
    )


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar_eval.memory_qa.results import bars_of, metrics_of, save_csv, save_curves, tables_of

    rows = _names(options.rows, tuple(ROWS), "row")
    if options.eyes and EYES not in rows:
        rows = (*rows, EYES)
    worlds = _names(options.worlds, WORLDS, "world")
    seeds: SeedList = options.seeds if isinstance(options.seeds, SeedList) else seed_list(options.seeds)
    if set(seeds.values) & set(RESERVED_SEEDS) and options.wordings != BOTH:
        raise BadOptions(
            f"seeds {min(RESERVED_SEEDS)}-{max(RESERVED_SEEDS)} are reserved; use --wordings {BOTH}"
        )
    results: list[Judged] = []
    facts: dict[str, float] = {}
    parts = FinishedParts(
        options.parts, (rows, options.wordings, options.eyes, options.noise, options.minutes)
    )
    for world in worlds:
        for seed in seeds.values:
            make = partial(_of_building, world, seed, rows, options, progress)
            told, judgements = parts.part(f"{world}-{seed}", make)
            facts.update(told)
            results += judgements
    metrics = metrics_of(results, np.random.default_rng(0))
    save_csv(results, folder / "answers.csv")
    save_curves(results, folder / "risk_coverage.png")
    note = (
        "Redundancy: share of the pairs among six pieces of evidence within 3 m whose entities overlap by half. "
        "Paired intervals: 95 %, bootstrap over questions."
    )
    return Result(
        {**metrics, **facts},
        bars_of(metrics),
        tables_of(metrics, rows),
        (Plot("risk_coverage.png", "Wrong answers over answered questions, least confident answers last"),),
        (note, *parts.notes),
    )


def _of_building(
    world: str, seed: int, rows: Sequence[str], options: argparse.Namespace, progress: Callable[[str], None]
) -> tuple[dict[str, float], list[Judged]]:
    """Return metrics of a building's tour, and the judged answers of all compared methods (`rows`)."""
    recording, questions = _asked(world, seed, options, progress)
    return _facts(recording, questions), _answered(recording, questions, rows, progress)


def _names(text: str, known: Sequence[str], what: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    for name in names:
        if name not in known:
            raise BadOptions(f"there is no {what} {name!r}; there are {', '.join(known)}")
    return names


def _asked(
    world: str, seed: int, options: argparse.Namespace, progress: Callable[[str], None]
) -> tuple[Recording, list[Question]]:
    from lodestar.storage.private import UnsafeFolder
    from lodestar_eval.memory_qa.question_set import TooFewQuestions, questions_of
    from lodestar_eval.memory_qa.questions import COUNTS, VISUAL
    from lodestar_eval.memory_qa.room_names import with_room_names
    from lodestar_eval.memory_qa.route import LONG_TOUR
    from lodestar_eval.memory_qa.tours import default_folder, tour_of
    from lodestar_eval.phrase_book import phrase_book
    from lodestar_eval.settings import NOISES

    limit = 60.0 * options.minutes
    try:
        recording = tour_of(
            world, seed, phrase_book, options.tours or default_folder(), progress,
            replace(LONG_TOUR, limit=limit), noise=NOISES[options.noise],
        )  # fmt: skip
        recording = with_room_names(recording)
        counts = {**COUNTS, VISUAL: VISUAL_COUNT} if options.eyes else COUNTS
        short = limit < LONG_TOUR.limit
        questions = questions_of(
            recording.world, recording.glances, seed, options.wordings, counts, short=short
        )
    except (UnsafeFolder, TooFewQuestions) as error:
        raise BadOptions(str(error)) from error
    return recording, questions


def _answered(
    recording: Recording, questions: list[Question], rows: Sequence[str], progress: Callable[[str], None]
) -> list[Judged]:
    from lodestar_eval.memory_qa.results import judged

    made: dict[int, tuple] = {}  # (answerer, memory) by id of the maker function
    results = []
    for name in rows:
        row = ROWS[name]
        if id(row.maker) not in made:
            answerer = row.maker(recording, questions)
            made[id(row.maker)] = answerer, answerer.remember(recording.stream)
        answerer, memory = made[id(row.maker)]
        answers = answerer.answer_all(memory, [q.asked for q in questions], row.rule)
        found = judged(name, recording.spec, recording.seed, questions, answers)
        progress(
            f"{recording.spec} {recording.seed}: {name} {sum(j.score.right for j in found)} of {len(found)}"
        )
        results += found
    return results


def _facts(recording: Recording, questions: Sequence[Question]) -> dict[str, float]:
    """Return metrics of the tour: minutes, events, events in view, objects, look-alikes and questions about these."""
    from lodestar_eval.memory_qa.truth import TourTruth

    truth = TourTruth(recording.world, recording.glances)
    alike, things = truth.count_look_alikes()
    name = f"{recording.spec}.{recording.seed}"
    return {
        f"tour.minutes.{name}": truth.end / 60.0,
        f"tour.events.{name}": float(len(recording.world.events)),
        f"tour.events_in_view.{name}": float(sum(truth.in_view_of(e) for e in recording.world.events)),
        f"tour.things.{name}": float(things),
        f"tour.look_alikes.{name}": float(alike),
        f"tour.questions_about_look_alikes.{name}": float(sum(q.look_alike for q in questions)),
    }


BENCHMARK = Benchmark(
    "memory-qa", "Answers of a memory about tours of changing buildings (STaR's WH-VQA)", _add_options, _run
)
