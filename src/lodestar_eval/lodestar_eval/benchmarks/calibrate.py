"""Fits the parameters of the soft spatial predicates to human sentences about one half of the rooms."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml
from scipy.special import logsumexp

from lodestar_eval.options import positive_int
from lodestar_eval.referit import BadData, load_rooms
from lodestar_eval.registry import BadOptions, Benchmark, Result, Table

if TYPE_CHECKING:
    from lodestar.language.query_graph import QueryGraph
    from lodestar.query.pool import Pool
    from lodestar.query.table import PredicateTable

_FACTORS = (0.6, 0.8, 1.25, 1.6)
_SHARES = ("min_scale", "center_share", "beside_share", "front_share", "side_floor", "color_spread", "place")
_STEPS = (-0.25, -0.1, 0.1, 0.25)
#: Parameters kept fixed. They also decide which finds the robot may claim, over boxes seen from one side; the rooms
#: have complete boxes, so any decay would fit them.
_HELD = (
    "next_to", "steepness", "min_scale", "full_size", "over", "between", "rank_power", "single_power", "size_power",
)  # fmt: skip
_LEAST = {"near": 1.5}  # metres, least value in the fit
_TEMPERATURE = 0.1  # temperature of the softmax whose likelihood is maximised
_HEADER = "# Fitted by `python -m lodestar_eval calibrate` to the fitting half of the sentences that it was given.\n"


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="as for `relational`")
    parser.add_argument("--sweeps", type=positive_int, default=2, metavar="N", help="over all parameters")


@dataclass(frozen=True)
class _Case:
    """One sentence: its parsed query graphs, the objects of the room, and the target's entity id."""

    graphs: tuple[QueryGraph, ...]
    pool: Pool
    target: int


def likelihood(cases: list[_Case], table: PredicateTable) -> float:
    """Return the targets' mean log probability if an entity is drawn in proportion to exp(score / temperature)."""
    from lodestar.query.verdict import score_pool

    total = 0.0
    for case in cases:
        candidates = score_pool(case.graphs, replace(case.pool, table=table))
        scores = {one.entity_id: one.score / _TEMPERATURE for one in candidates}
        known = case.target in scores
        chance = np.exp(scores[case.target] - logsumexp([*scores.values()])) if known else 0.0
        total += np.log(max(float(chance), 1e-3))
    return total / max(len(cases), 1)


def _values(name: str, value: float) -> list[float]:
    """Return the candidate values of a parameter, around its current value."""
    if name in _SHARES:
        return [float(np.clip(value + step, 0.0, 1.0)) for step in _STEPS]
    return [max(value * factor, _LEAST.get(name, 0.0)) for factor in _FACTORS]


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar.language.directive import DirectiveError
    from lodestar.language.grammar import parse_query
    from lodestar.models.embedder import SentenceTransformerEmbedder
    from lodestar.models.phrases import PhraseBook
    from lodestar.query.table import PredicateTable
    from lodestar.query.verdict import prepare

    try:
        rooms = load_rooms(options.data, "fit")
    except BadData as error:
        raise BadOptions(str(error)) from error
    book = PhraseBook(SentenceTransformerEmbedder())
    pools = {scan: prepare(entities, book) for scan, entities in rooms.entities.items()}
    cases = []
    for sentence in rooms.sentences:
        try:
            graphs = parse_query(sentence.text)
        except DirectiveError:
            continue
        cases.append(_Case(graphs, pools[sentence.scan], sentence.target))
    table, trail = PredicateTable(), []
    best = start = likelihood(cases, table)
    names = [f.name for f in fields(PredicateTable) if f.type == "float"]
    fitted = [name for name in names if name not in _HELD]
    for sweep in range(options.sweeps):
        for name in fitted:
            for value in _values(name, getattr(table, name)):
                changed: dict[str, Any] = {name: round(value, 4)}
                tried = replace(table, **changed)
                found = likelihood(cases, tried)
                if found > best + 1e-5:
                    best, table = found, tried
            progress(f"sweep {sweep + 1}: {name} {getattr(table, name):g}, log likelihood {best:.4f}")
        trail.append(best)
    (folder / "predicates.yaml").write_text(
        _HEADER + yaml.safe_dump(asdict(table), sort_keys=False), encoding="utf-8"
    )
    before = asdict(PredicateTable())
    rows = tuple((n, f"{before[n]:g}", f"{getattr(table, n):g}") for n in names)
    return Result(
        metrics={"log_likelihood": best, "log_likelihood_before": start, "sentences": float(len(cases))},
        tables=(Table("Parameters", ("parameter", "before", "fitted"), rows),),
        notes=("`predicates.yaml` in this folder is the table; the package's own lies in lodestar/query.",),
    )


BENCHMARK = Benchmark(
    "calibrate", "Fit the table of the soft predicates to human sentences.", _add_options, _run
)
