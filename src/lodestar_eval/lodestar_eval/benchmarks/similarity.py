"""Time of similarity fields over the plan: for a new query, and for a change of the scene."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from lodestar.language.grammar import parse_query
from lodestar_eval.options import positive_int
from lodestar_eval.registry import Bar, Benchmark, Result, Table

_BOUND_MS = 50.0  # issue 3: fields for a new query at 30,000 entities
_LAYERS = ("target", "neighbor", "constraint")
_ATTRIBUTES = ("red", "blue", "wooden", "large", "white", "small", "black", "green")
_OPEN = ("sousaphone", "gyroscope", "periscope", "astrolabe", "theremin", "abacus", "sextant", "metronome")
_PARTS = 5  # of the queries, in the order of words of the lexicon
_CHANGED = 64  # entities of one delta


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--entities", type=positive_int, default=30_000, help="in the scene (default 30000)")
    parser.add_argument("--queries", type=positive_int, default=24, help="new ones per row (default 24)")


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar.query.fields import SimilarityFields
    from lodestar_eval.crowded_scenes import crowd, pillars_of
    from lodestar_eval.phrase_book import phrase_book

    metrics: dict[str, float] = {}
    rows = []
    for kinds in sorted({min(300, options.entities), min(3_000, options.entities), options.entities}):
        rng = np.random.default_rng(kinds)
        entities = crowd(options.entities, kinds, rng)
        pillars = pillars_of(entities)
        book = phrase_book()
        book.vectors(sorted({e.label for e in entities.values()}))
        fields = SimilarityFields(book)
        began = time.thread_time()
        fields.follow(entities)
        first = 1e3 * (time.thread_time() - began)
        words = [_query(index) for index in range(options.queries)]
        lexicon = [_timed(fields, pillars, texts) for texts in words]
        opened = [_timed(fields, pillars, (word, "desk", "wet floor")) for word in _OPEN]
        changes = [_change(fields, pillars, entities, words[-1], rng) for _ in range(options.queries)]
        name = f"kinds_{kinds}"
        values = {
            "query_ms": float(np.median(lexicon)), "query_p95_ms": float(np.percentile(lexicon, 95)),
            "open_query_ms": float(np.median(opened)), "change_ms": float(np.median(changes)), "first_ms": first,
        }  # fmt: skip
        metrics |= {f"{name}.{key}": value for key, value in values.items()}
        rows.append((f"{kinds:,}", *(f"{value:.1f}" for value in values.values())))
        progress(f"{options.entities:,} entities of {kinds:,} captions: {values['query_ms']:.1f} ms")
    bars = tuple(
        Bar(
            f"three fields of a new query, {row[0]} different captions, ms",
            float(row[1]),
            _BOUND_MS,
            at_least=False,
        )
        for row in rows
    )
    columns = (
        "captions", "new query, ms", "p95", "with a word for the model, ms", f"{_CHANGED} changed, ms", "first look",
    )  # fmt: skip
    title = f"Target, neighbour and constraint fields at {options.entities:,} entities"
    notes = ("Each query is new; vectors of labels are cached, the text model runs only for the open words.",)
    return Result(metrics, bars, (Table(title, columns, tuple(rows)),), notes=notes)


def _query(index: int) -> tuple[str, str, str]:
    """Return three texts that no other query has."""
    from lodestar_eval.crowded_scenes import labels

    names = labels()
    third = len(names) // _PARTS
    attribute = _ATTRIBUTES[index % len(_ATTRIBUTES)]
    return (
        f"{attribute} {names[index % third]}",
        f"{attribute} {names[third + index % third]}",
        f"{attribute} {names[2 * third + index % third]}",
    )


def _timed(fields: object, pillars: object, texts: tuple[str, ...]) -> float:
    """Return the milliseconds of the three fields."""
    queries = [parse_query(text) for text in texts]
    began = time.thread_time()
    for layer, query in zip(_LAYERS, queries):
        fields.field(layer, (query,), pillars)  # type: ignore[attr-defined]
    return 1e3 * (time.thread_time() - began)


def _change(
    fields: object, pillars: object, entities: dict, texts: tuple[str, ...], rng: np.random.Generator
) -> float:
    """Return the milliseconds in which the fields follow a delta."""
    ids = rng.choice(len(entities), min(_CHANGED, len(entities)), replace=False) + 1
    for identity in ids.tolist():
        other = entities[int(rng.integers(1, len(entities) + 1))]
        entities[identity] = replace(
            entities[identity], label=other.label, caption=other.caption, attributes=other.attributes
        )
    began = time.thread_time()
    fields.follow(entities)  # type: ignore[attr-defined]
    return 1e3 * (time.thread_time() - began) + _timed(fields, pillars, texts)


BENCHMARK = Benchmark("similarity", "Similarity fields for any text over a large scene.", _add_options, _run)
