"""Study: changes detected between two visits to one room, with missed, misplaced and mislabelled objects."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lodestar_eval.options import positive_int
from lodestar_eval.registry import BadOptions
from lodestar_eval.study import Limit, Number, Paired, Row, Rows, Study, Whole

if TYPE_CHECKING:
    from lodestar.models.category_priors import CategoryPriors
    from lodestar_eval.change_scores import Tally
    from lodestar_eval.visited_rooms import Noise, Visits

_PARTS = ("told", "development", "all")
_MISSED = (0.0, 0.10, 0.30)
_ERRORS = (0.02, 0.05, 0.10)  # metres, standard deviations of the positions
_BAR = (0.10, 0.05)
_RIVALS = ("nearest", "last_seen")
_SILENT = (*_RIVALS, "vlm_dewm")  # rows that report no probabilities
_ROWS = ("lodestar", "table_alone", *_SILENT)
_KINDS = ("moved", "vanished", "appeared")  # those of change_scores.SCORED
_BY = ("row", "level")
# standard deviations of position above which an object counts as moved; best for `nearest` on development scenes
_THRESHOLD = 5.0


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="it holds episodes.jsonl")
    parser.add_argument(
        "--part", choices=_PARTS, default="told", help="every second scene by name is for development"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the noise (default 1)")
    parser.add_argument(
        "--draws", type=positive_int, default=5, metavar="N", help="of the noise per episode (default 5)"
    )
    parser.add_argument(
        "--hours", type=float, default=2.0, help="between the visits, for the priors (default 2)"
    )


def _cases(options: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    if not options.hours > 0.0:
        raise BadOptions("--hours needs a number above 0")
    for missed in _MISSED:
        for error in _ERRORS:
            yield (
                missed,
                error,
                options.data,
                options.part,
                options.draws,
                3600.0 * options.hours,
                options.seed,
            )


def _measure(
    missed: float, error: float, data: Path, part: str, draws: int, elapsed: float, seed: int
) -> Iterator[Row]:
    """Yield a row per method and scene, at one level of noise."""
    from lodestar.assembly.parts import category_priors
    from lodestar_eval.visited_rooms import BadVisits, Noise, load_visits

    try:
        episodes = load_visits(data, part)
        priors = {"lodestar": _lessons(data, elapsed, seed), "table_alone": category_priors()}
    except BadVisits as bad:
        raise BadOptions(str(bad)) from bad
    noise = Noise(missed, error)
    for row, scenes in _tallies(episodes * draws, noise, priors, elapsed, seed).items():
        for scene, tally in scenes.items():
            found: Row = {"row": row, "level": noise.name, "scene": scene, "identity": tally.identity}
            for kind in _KINDS:
                found |= {f"{of}_{kind}": getattr(tally, of)(kind) for of in ("f1", "precision", "recall")}
            if row not in _SILENT:
                found |= {"calibration_error": tally.calibration_error, "brier": tally.brier}
            yield found | {"_episodes": len(episodes)}


@lru_cache(maxsize=1)
def _lessons(data: Path, elapsed: float, seed: int) -> CategoryPriors:
    """Return category priors learned from the changes that Lodestar reports on the development scenes."""
    from lodestar.assembly.parts import category_priors
    from lodestar.scene.session_changes import compare_sessions, watchings_of
    from lodestar_eval.visited_rooms import Noise, load_visits, observe

    episodes = load_visits(data, "development")
    priors, labels, noise = category_priors(), _labels(episodes), Noise(*_BAR)
    found = []
    for number, visits in enumerate(episodes):
        observed = observe(visits, noise, labels[visits.room], np.random.default_rng((seed, 7, number)))
        changes = compare_sessions(observed.before, observed.after, elapsed, priors)
        found += watchings_of(changes, elapsed)
    return priors.learned(found)


def _labels(episodes: Sequence[Visits]) -> dict[str, list[str]]:
    found: dict[str, set[str]] = {}
    for visits in episodes:
        found.setdefault(visits.room, set()).update(thing.label for thing in visits.things)
    return {room: sorted(labels) for room, labels in found.items()}


def _tallies(
    episodes: Sequence[Visits], noise: Noise, priors: dict[str, CategoryPriors], elapsed: float, seed: int
) -> dict[str, dict[str, Tally]]:
    """Return the counts by method and scene; every method gets the same observations."""
    from lodestar.scene.session_changes import compare_sessions
    from lodestar_eval.change_scores import Tally, last_seen_is_true, nearest_of_same_label, score, vlm_dewm
    from lodestar_eval.visited_rooms import observe, shuffled

    scenes = sorted({visits.scene for visits in episodes})
    tallies = {row: {scene: Tally() for scene in scenes} for row in _ROWS}
    labels = _labels(episodes)
    threshold = _THRESHOLD * noise.error
    for number, visits in enumerate(episodes):
        rng = np.random.default_rng((seed, number))
        observed = observe(visits, noise, labels[visits.room], rng)
        before, rows_before = shuffled(observed.before, rng)
        after, rows_after = shuffled(observed.after, rng)
        found = {name: compare_sessions(before, after, elapsed, known) for name, known in priors.items()}
        found["nearest"] = nearest_of_same_label(before, after, threshold)
        found["last_seen"] = last_seen_is_true(before, after, threshold)
        found["vlm_dewm"] = vlm_dewm(before, after)
        for row, changes in found.items():
            tallies[row][visits.scene].add(score(changes, rows_before, rows_after, observed))
    return tallies


def _bars(rows: Rows) -> list[Limit]:
    from lodestar_eval.visited_rooms import Noise

    harder = [Noise(m, e).name for m in _MISSED for e in _ERRORS if m >= _BAR[0] and e >= _BAR[1]]
    better = [Limit(f"better_than_{r}_low.{name}", 1e-6) for name in harder for r in _RIVALS]
    return [Limit(f"f1_moved.lodestar.{Noise(*_BAR).name}", 0.85), *better]


def _notes(rows: Rows) -> tuple[str, ...]:
    from lodestar_eval.visited_rooms import ADDED, CONFUSED, TAKEN

    return (
        f"Scenes: {', '.join(sorted({row['scene'] for row in rows}))}. Every number is a mean over scenes. Names are "
        f"hidden. {TAKEN:.0%} of the things are taken away between the visits, {ADDED:.0%} are added, and "
        f"{CONFUSED:.0%} of the labels are another's of the room. Of the missed things, half were out of view, "
        "which the robot knows, and half were overlooked. The error is a standard deviation per axis.",
        "moved: things seen at both visits, with the right partner; a wrong partner makes a report wrong. "
        "vanished, appeared: things whose place was in view at the other visit. identity: things seen twice that "
        "share their observed kind with another, paired with themselves. lodestar: the table of priors joined with "
        "counts of our own reports on the development scenes; table_alone: without them. The data has no times: "
        "--hours was chosen on the development scenes. vlm_dewm: the paper's association, with boxes of 0.2 m.",
    )


BENCHMARK = Study(
    "changes",
    "Rooms visited twice: what moved, vanished and appeared, with missed, misplaced and mislabelled things.",
    _add_options,
    _cases,
    _measure,
    numbers=(
        Whole(lambda rows: {"episodes": rows[0]["_episodes"]}),
        *(Number(f"{of}_{kind}", by=_BY) for of in ("f1", "precision", "recall") for kind in _KINDS),
        *(Number(name, by=_BY) for name in ("identity", "calibration_error", "brier")),
        *(
            Paired(f"better_than_{rival}", "f1_moved", "row", ("lodestar", rival), ("level",), "scene")
            for rival in _RIVALS
        ),
    ),
    bars=_bars,
    notes=_notes,
    config={"threshold": _THRESHOLD},
)
