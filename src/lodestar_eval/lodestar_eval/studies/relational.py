"""Study: accuracy of relational queries, of people over annotated rooms or generated over simulated worlds."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lodestar_eval.farm import QUERIES, WORLD
from lodestar_eval.metrics import mean
from lodestar_eval.options import positive_int
from lodestar_eval.referit import HALVES, BadData, load_rooms
from lodestar_eval.registry import BadOptions
from lodestar_eval.study import Limit, Number, Row, Rows, Study, Whole, count

_WORLDS = ("apartment", "office", "warehouse")


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


def _cases(options: argparse.Namespace) -> list[tuple[Any, ...]]:
    if sum(given is not None for given in (options.data, options.worlds, options.farm)) != 1:
        raise BadOptions("give one of --data FOLDER, --worlds N and --farm N")
    if options.farm is not None:
        return [(WORLD, seed, 0) for seed in range(1, options.farm + 1)]
    if options.worlds is not None:
        return [(_WORLDS[n % len(_WORLDS)], n + 1, options.sentences) for n in range(options.worlds)]
    return [(options.data, options.half)]


def _measure(source: Any, *of: Any) -> Iterator[Row]:
    """Yield a row per sentence over the rooms of a folder, or over the map of a tour of a world."""
    return _perceived(source, *of) if isinstance(source, str) else _rooms(source, *of)


def _rooms(data: Path, half: str) -> Iterator[Row]:
    from lodestar.models.embedder import SentenceTransformerEmbedder
    from lodestar.models.phrases import PhraseBook
    from lodestar.query.table import PAPER
    from lodestar_eval.sentence_answers import PAPER_CONFIG, solve_rooms

    try:
        rooms = load_rooms(data, half)
    except BadData as error:
        raise BadOptions(str(error)) from error
    book = PhraseBook(SentenceTransformerEmbedder())
    for one, paper in zip(solve_rooms(rooms, book), solve_rooms(rooms, book, PAPER, PAPER_CONFIG)):
        said = one.sentence
        yield {
            "scan": said.scan, "text": said.text, "target": said.target, "answer": one.answer, "right": one.is_right,
            "cause": one.cause, "graph": "" if one.graph is None else str(one.graph), "_paper": paper.is_right,
            "_chance": one.chance, "_mode": "rooms", "_hard": said.hard, "_viewed": said.view_dependent,
        }  # fmt: skip


def _perceived(spec: str, seed: int, sentences: int) -> Iterator[Row]:
    """Yield a row per made sentence over the map of a tour; 0 sentences: per query of FARM."""
    import numpy as np

    from lodestar_eval.perceived_maps import ask, perceive
    from lodestar_eval.phrase_book import phrase_book
    from lodestar_eval.sentences import make_sentences
    from lodestar_eval.settings import EpisodeSettings
    from lodestar_sim.worlds import world_from_spec

    world, book = world_from_spec(spec, seed if sentences else 1), phrase_book()
    made = make_sentences(world, sentences, np.random.default_rng([seed, 3])) if sentences else []
    asked: list[tuple[str, str, tuple[int, ...]]] = [(m.text, m.relation, (m.target,)) for m in made]
    asked = asked or [(q.text, q.relation, q.targets) for q in QUERIES]
    perceived = perceive(world, seed, book, EpisodeSettings())
    for text, relation, targets in asked:
        row = ask(f"{spec} {seed}", text, relation, targets, perceived, book)
        yield row | {"_mode": "worlds" if sentences else "farm"}


def _of(mode: str, **columns: Any) -> Callable[[Row], bool]:
    """Return a test of rows of a mode with these values."""
    return lambda row: all(row.get(name) == value for name, value in {"_mode": mode, **columns}.items())


def _paired(rows: Rows) -> dict[str, float]:
    """Return the paired test of both tables, and the number of failures by cause."""
    from lodestar_eval.sentence_answers import CAUSES, mcnemar

    own = list(filter(_of("rooms"), rows))
    if not own:
        return {}
    gained, lost, p_value = mcnemar([row["right"] for row in own], [row["_paper"] for row in own])
    failures = {
        f"failures.{cause.replace(' ', '_')}": sum(row["cause"] == cause for row in own) for cause in CAUSES
    }
    better = {"_better": sum(row["right"] - row["_paper"] for row in own) / len(own)}
    return {"paired.gained": gained, "paired.lost": lost, "paired.p_value": p_value, **failures, **better}


def _farm(rows: Rows) -> dict[str, float]:
    """Return right answers to FARM's queries, of the worst tour and as means."""
    from lodestar.query.config import QueryConfig

    tours: dict[str, list[Row]] = {}
    for row in filter(_of("farm"), rows):
        tours.setdefault(row["world"], []).append(row)
    if not tours:
        return {}
    right = [sum(row["rank"] == 1 for row in own) for own in tours.values()]
    accept = QueryConfig().accept
    accepted = [row["score"] >= accept for own in tours.values() for row in own if row["rank"] == 1]
    alone = sum(row["embedding_rank"] == 1 for own in tours.values() for row in own)
    return {
        "farm.right": float(min(right)), "farm.right_mean": mean(right), "farm.accepted": mean(accepted),
        "farm.embedding_right": alone / len(tours), "farm.tours": float(len(tours)),
    }  # fmt: skip


def _ranks(prefix: str, column: str) -> Iterator[Number]:
    """Yield metrics of ranks, 0 = not found."""

    def within(most: int) -> Callable[[Row], bool]:
        return lambda row: 1 <= row[column] <= most

    for name, most in (("accuracy_at_1", 1), ("recall_at_5", 5), ("recall_at_10", 10)):
        yield Number(prefix + name, within(most), where=_of("worlds"))
    yield Number(f"{prefix}mrr", lambda row: 1.0 / row[column] if row[column] else 0.0, where=_of("worlds"))


_KINDS = {
    "acc": {}, "acc.easy": {"_hard": False}, "acc.hard": {"_hard": True}, "acc.view_dependent": {"_viewed": True},
    "acc.view_independent": {"_viewed": False},
}  # fmt: skip

BENCHMARK = Study(
    "relational",
    "Find what a sentence means by its relations, in real rooms or in perceived worlds.",
    _add_options,
    _cases,
    _measure,
    numbers=(
        *(
            Number(prefix + name, of, where=_of("rooms", **columns))
            for prefix, of in (("", "right"), ("paper.", "_paper"))
            for name, columns in _KINDS.items()
        ),
        *(Number(f"{prefix}random", "_chance") for prefix in ("", "paper.")),
        *(Number(f"{prefix}sentences", "_chance", count) for prefix in ("", "paper.")),
        Whole(_paired),
        Number("sentences", "rank", count, where=_of("worlds")),
        Number("never_in_map", lambda row: not row["in_map"], where=_of("worlds")),
        *_ranks("", "rank"),
        *_ranks("embedding.", "embedding_rank"),
        Number("accuracy_at_1", lambda row: row["rank"] == 1, where=_of("worlds"), by=("relation",)),
        Whole(_farm),
        Number("farm.never_in_map", lambda row: not row["in_map"], where=_of("farm")),
        Number("_right", lambda row: row["rank"] == 1, where=_of("farm"), by=("text",)),
        Number("_without relations", lambda row: row["embedding_rank"] == 1, where=_of("farm"), by=("text",)),
    ),
    bars=(
        Limit("acc", 0.50),
        Limit("_better", 1e-9, name="acc over the paper's constants"),
        Limit("accuracy_at_1", 0.70),
        Limit("recall_at_10", 0.90),
        Limit("farm.right", len(QUERIES)),
    ),
    notes=(
        "Rooms: the solver gets the sentence and the objects (id, label, box, colour, front), nothing else. "
        "`random` is a guess among the objects of the target's class. The paired test is McNemar's, exact, "
        "between the calibrated table and the paper's constants (FARM D.2) on the same sentences.",
        "Worlds: sentences are made from the true world so that each means one object; queries run over the map that "
        "the robot perceived on a tour. A target that never entered the map is a miss everywhere. "
        "`embedding.*` ranks entities by the cosine of the whole sentence and their captions alone.",
        "FARM's table 10: asked of the map that the robot perceived on a tour of the packaged world `laboratory`; "
        "another seed is another tour's noise. `farm.right` is of the worst tour. `farm.accepted` is the share of "
        "right answers that are good enough for the robot to say that this is it. `farm.embedding_right` ranks "
        "entities by the cosine of the whole sentence and their captions alone (mean).",
    ),
)
