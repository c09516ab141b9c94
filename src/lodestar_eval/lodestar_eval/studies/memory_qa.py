"""Study: questions to a memory after a tour of 25 simulated minutes (STaR's WH-VQA in our buildings)."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lodestar_eval.memory_qa.questions import DURATION, PLACE, TIME
from lodestar_eval.memory_qa.results import differences, gain_by_eyes, judged, risk_area, save_curves
from lodestar_eval.memory_qa.rows import COSINE, EYES, FULL, OBJECT_CAPTIONS, ROWS
from lodestar_eval.memory_qa.wordings import BOTH, CHOICES, DEVELOPMENT
from lodestar_eval.options import MEASURED, add_search_options, positive_seconds
from lodestar_eval.registry import BadOptions, Plot
from lodestar_eval.study import Limit, Number, Row, Rows, Study, Whole

if TYPE_CHECKING:
    from lodestar_eval.memory_qa.questions import Question
    from lodestar_eval.memory_qa.recording import Recording

#: Seeds of the published table: never run during development; they need `--wordings both`.
RESERVED_SEEDS = (11, 12, 13)
WORLDS = ("warehouse", "office")
VISUAL_COUNT = 50  # visual questions besides the 100 others, a third of all
MINUTES = 25.0
#: Bars of `full` on the share of right answers, by kind (issue 16).
BOUNDS = {"spatial": 0.80, "yes_no": 0.85, "descriptive": 0.75, "temporal": 0.85, "picture": 0.70}
RIVALS = (COSINE, OBJECT_CAPTIONS)  # rows that `ours` must beat
_USUAL = tuple(name for name in ROWS if name != EYES)
_BY = ("row",)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--worlds", default=",".join(WORLDS), help=f"with commas between them (default {','.join(WORLDS)})"
    )
    add_search_options(parser, "1-3", MEASURED, of="of every kind of world (11-13 are reserved)")
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
        "--minutes", type=positive_seconds, default=MINUTES, metavar="M",
        help=f"simulated minutes of a tour (default {MINUTES:g}); of a shorter one as many questions as there are",
    )  # fmt: skip
    parser.add_argument(
        "--tours",
        type=Path,
        metavar="FOLDER",
        help="of recorded tours, private (default: in the user's state)",
    )


def _cases(options: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    from lodestar_eval.memory_qa.tours import default_folder

    names = _names(options.rows, tuple(ROWS), "row")
    if options.eyes and EYES not in names:
        names = (*names, EYES)
    worlds = _names(options.worlds, WORLDS, "world")
    if set(options.seeds.values) & set(RESERVED_SEEDS) and options.wordings != BOTH:
        raise BadOptions(
            f"seeds {min(RESERVED_SEEDS)}-{max(RESERVED_SEEDS)} are reserved; use --wordings {BOTH}"
        )
    # text, because the files of a `Path` belong to the case, and the case writes these
    tours = str(options.tours or default_folder())
    for world in worlds:
        for seed in options.seeds.values:
            yield world, seed, names, options.wordings, options.eyes, options.noise, options.minutes, tours


def _names(text: str, known: Sequence[str], what: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    for name in names:
        if name not in known:
            raise BadOptions(f"there is no {what} {name!r}; there are {', '.join(known)}")
    return names


def _measure(world: str, seed: int, names: tuple[str, ...], *asked: Any) -> list[Row]:
    """Return a row per answer to a question after the tour, by method; the first has the facts of the tour."""
    recording, questions = _asked(world, seed, *asked)
    rows: list[Row] = []
    made: dict[int, tuple] = {}  # (answerer, memory) by id of the maker function
    for name in names:
        method = ROWS[name]
        if id(method.maker) not in made:
            answerer = method.maker(recording, questions)
            made[id(method.maker)] = answerer, answerer.remember(recording.stream)
        answerer, memory = made[id(method.maker)]
        answers = answerer.answer_all(memory, [q.asked for q in questions], method.rule)
        rows += judged(name, recording.spec, recording.seed, questions, answers)
    return [row | {"_tour": {} if k else _facts(recording, questions)} for k, row in enumerate(rows)]


def _asked(
    world: str, seed: int, wordings: str, eyes: bool, noise: str, minutes: float, tours: str
) -> tuple[Recording, list[Question]]:
    from lodestar.storage.private import UnsafeFolder
    from lodestar_eval.memory_qa.question_set import TooFewQuestions, questions_of
    from lodestar_eval.memory_qa.questions import COUNTS, VISUAL
    from lodestar_eval.memory_qa.room_names import with_room_names
    from lodestar_eval.memory_qa.route import LONG_TOUR
    from lodestar_eval.memory_qa.tours import tour_of
    from lodestar_eval.phrase_book import phrase_book
    from lodestar_eval.settings import NOISES

    limit = 60.0 * minutes
    try:
        recording = tour_of(
            world, seed, phrase_book, Path(tours), print, replace(LONG_TOUR, limit=limit), noise=NOISES[noise]
        )
        recording = with_room_names(recording)
        counts = {**COUNTS, VISUAL: VISUAL_COUNT} if eyes else COUNTS
        short = limit < LONG_TOUR.limit
        return recording, questions_of(
            recording.world, recording.glances, seed, wordings, counts, short=short
        )
    except (UnsafeFolder, TooFewQuestions) as error:
        raise BadOptions(str(error)) from error


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


def _tours(rows: Rows) -> dict[str, float]:
    return {name: value for row in rows for name, value in row["_tour"].items()}


def _error_of(*values: str) -> Any:
    """Return a function that reads the error of a row whose gold answer is of one of these kinds, else None."""
    return lambda row: row["error"] if row["value"] in values else None


def _plots(rows: Rows, folder: Path) -> list[Plot]:
    save_curves(rows, folder / "risk_coverage.png")
    return [Plot("risk_coverage.png", "Wrong answers over answered questions, least confident answers last")]


BENCHMARK = Study(
    "memory-qa",
    "Answers of a memory about tours of changing buildings (STaR's WH-VQA)",
    _add_options,
    _cases,
    _measure,
    numbers=(
        Number("sr.all", "right", by=_BY),
        Number("recall.all", "recalled", by=_BY),
        Number("sr", "right", by=("kind", "row")),
        Number("recall", "recalled", by=("kind", "row")),
        Number("sr.look_alikes", lambda row: row["right"] if row["look_alike"] else None, by=_BY),
        Number("error_m", _error_of(PLACE), by=_BY),
        Number("error_s", _error_of(TIME, DURATION), by=_BY),
        Number("redundancy", by=_BY),
        Number("answered", "known", by=_BY),
        Whole(risk_area, _BY),
        Whole(gain_by_eyes),
        Whole(differences),
        Whole(_tours),
    ),
    bars=(
        *(Limit(f"sr.{kind}.{FULL}", bound, name=f"full: {kind}") for kind, bound in BOUNDS.items()),
        Limit("visual.eyes_over_full.difference", 0.30, name="pictures over text, visual questions"),
        Limit("visual.wrong_claims", 0.05, False, "wrong claims about pictures"),
        Limit("visual.numbers_changed", 0.0, False, "numbers of the store that pictures changed"),
        *(
            Limit(f"{what}.ours_over_{name}.low", 1e-9, name=f"ours over {name}, {what}, lower end")
            for name in RIVALS
            for what in ("sr", "recall")
        ),
    ),
    notes=(
        "Redundancy: share of the pairs among six pieces of evidence within 3 m whose entities overlap by half. "
        "Paired intervals: 95 %, bootstrap over questions.",
    ),
    plots=_plots,
)
