"""Benchmark: accuracy of relational queries, of people over annotated rooms or generated over simulated worlds."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

from lodestar_eval.options import positive_int
from lodestar_eval.referit import HALVES, BadData, load_rooms
from lodestar_eval.registry import BadOptions, Bar, Benchmark, Result, Table

_BOUND = 0.50
_WORLD_BOUNDS = (0.70, 0.90)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", type=Path, metavar="FOLDER", help="a folder with utterances.csv and objects.json"
    )
    parser.add_argument("--half", choices=HALVES, default="all", help="rooms by a hash of their name")
    parser.add_argument(
        "--worlds", type=positive_int, metavar="N", help="simulator worlds instead, seeds 1-N"
    )
    parser.add_argument(
        "--farm", type=positive_int, metavar="N", help="FARM's eight robot queries after tours of seeds 1-N"
    )
    parser.add_argument("--sentences", type=positive_int, default=20, metavar="N", help="per world at most")


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    if sum(given is not None for given in (options.data, options.worlds, options.farm)) != 1:
        raise BadOptions("give one of --data FOLDER, --worlds N and --farm N")
    if options.farm is not None:
        return _run_farm(options, folder, progress)
    if options.worlds is not None:
        return _run_worlds(options, folder, progress)
    return _run_rooms(options, folder, progress)


def _run_rooms(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar.models.embedder import SentenceTransformerEmbedder
    from lodestar.models.phrases import PhraseBook
    from lodestar.query.table import PAPER
    from lodestar_eval.sentence_answers import CAUSES, PAPER_CONFIG, accuracies, mcnemar, solve_rooms

    try:
        rooms = load_rooms(options.data, options.half)
    except BadData as error:
        raise BadOptions(str(error)) from error
    progress(f"{len(rooms.sentences)} sentences over {len(rooms.entities)} rooms")
    book = PhraseBook(SentenceTransformerEmbedder())
    solved = solve_rooms(rooms, book)
    progress("the same with the paper's constants")
    paper = solve_rooms(rooms, book, PAPER, PAPER_CONFIG)
    metrics = accuracies(solved)
    metrics.update({f"paper.{name}": value for name, value in accuracies(paper).items()})
    gained, lost, p_value = mcnemar([s.is_right for s in solved], [s.is_right for s in paper])
    metrics.update({"paired.gained": gained, "paired.lost": lost, "paired.p_value": p_value})
    causes = {cause: sum(s.cause == cause for s in solved) for cause in CAUSES}
    metrics.update({f"failures.{cause.replace(' ', '_')}": count for cause, count in causes.items()})
    rows = [
        {
            "scan": s.sentence.scan, "text": s.sentence.text, "target": s.sentence.target, "answer": s.answer,
            "right": s.is_right, "cause": s.cause, "graph": "" if s.graph is None else str(s.graph),
        }
        for s in solved
    ]  # fmt: skip
    (folder / "sentences.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    wrong = len(solved) - sum(s.is_right for s in solved)
    return Result(
        metrics=metrics,
        bars=(
            Bar("acc", metrics["acc"], _BOUND),
            Bar("acc over the paper's constants", metrics["acc"] - metrics["paper.acc"], 1e-9),
        ),
        tables=(
            Table(
                "Failures by cause",
                ("cause", "sentences", "% of failures"),
                tuple((c, str(n), f"{100 * n / max(wrong, 1):.0f}") for c, n in causes.items()),
            ),
        ),
        notes=(
            "The solver gets the sentence and the objects (id, label, box, colour, front), nothing else. "
            "`random` is a guess among the objects of the target's class. The paired test is McNemar's, exact, "
            "between the calibrated table and the paper's constants (FARM D.2) on the same sentences.",
        ),
    )


def _run_worlds(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar_eval.perceived_maps import run_worlds

    metrics, rows = run_worlds(options.worlds, options.sentences, progress)
    (folder / "sentences.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return Result(
        metrics=metrics,
        bars=(
            Bar("accuracy_at_1", metrics["accuracy_at_1"], _WORLD_BOUNDS[0]),
            Bar("recall_at_10", metrics["recall_at_10"], _WORLD_BOUNDS[1]),
        ),
        notes=(
            "Sentences are made from the true world so that each means one object; queries run over the map that "
            "the robot perceived on a tour. A target that never entered the map is a miss everywhere. "
            "`embedding.*` ranks entities by the cosine of the whole sentence and their captions alone.",
        ),
    )


def _run_farm(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar_eval.farm import QUERIES, run_farm

    metrics, rows = run_farm(options.farm, progress)
    (folder / "sentences.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    found = {query: [row for row in rows if row["text"] == query.text] for query in QUERIES}
    return Result(
        metrics=metrics,
        bars=(Bar("farm.right", metrics["farm.right"], len(QUERIES)),),
        tables=(
            Table(
                "The queries of FARM's table 10",
                ("query", "relation", "right", "without relations"),
                tuple(
                    (
                        query.text,
                        query.relation,
                        f"{sum(row['rank'] == 1 for row in own)} of {len(own)}",
                        f"{sum(row['embedding_rank'] == 1 for row in own)} of {len(own)}",
                    )
                    for query, own in found.items()
                ),
            ),
        ),
        notes=(
            "Asked of the map that the robot perceived on a tour of the packaged world `laboratory`; another seed is "
            "another tour's noise. `farm.right` is of the worst tour. `farm.accepted` is the share of right answers "
            "that are good enough for the robot to say that this is it. `farm.embedding_right` ranks entities by the "
            "cosine of the whole sentence and their captions alone (mean).",
        ),
    )


BENCHMARK = Benchmark(
    "relational",
    "Find what a sentence means by its relations, in real rooms or in perceived worlds.",
    _add_options,
    _run,
)
