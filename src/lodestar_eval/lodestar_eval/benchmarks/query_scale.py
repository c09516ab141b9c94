"""Benchmark: time of a relational query as the scene grows.

Measures parsing, embedding and scoring, with warm caches and with unseen phrases.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from lodestar_eval.options import positive_int
from lodestar_eval.registry import Bar, Benchmark, Result, Table

_SIZES = (300, 1_000, 3_000, 10_000, 30_000)
_BOUND_MS = 50.0
_SPACING = 1.3  # m, mean spacing of objects in plan
_ADJECTIVES = (
    "dusty", "shiny", "crooked", "sturdy", "fancy", "plain", "curved", "foldable", "rusty", "modern", "antique",
    "spotted", "matte", "wobbly", "compact", "ornate",
)  # fmt: skip
_RELATIONS = (
    "next to", "near", "on", "under", "above", "closest to", "farthest from", "to the left of", "behind",
    "not near",
)  # fmt: skip
_COLORS = ("red", "blue", "green", "white", "black", "gray", "brown", "yellow")


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--queries", type=positive_int, default=60, metavar="N", help="per size")
    parser.add_argument("--seed", type=positive_int, default=1)


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar.language.grammar import parse_query
    from lodestar.models.embedder import SentenceTransformerEmbedder
    from lodestar.models.phrases import PhraseBook
    from lodestar.query.terms import fetch_vectors
    from lodestar.query.verdict import prepare, score_pool

    book = PhraseBook(SentenceTransformerEmbedder())
    rows, metrics, p95 = [], {}, float("nan")
    for size in _SIZES:
        rng = np.random.default_rng([options.seed, size])
        began = time.perf_counter()
        pool = prepare(_scene(size, rng), book)
        prepared = time.perf_counter() - began
        texts = _sentences(options.queries + 3, rng)
        for text in texts[:3]:  # warm up: embeds the labels of the scene
            score_pool(parse_query(text), pool)
        taken: list[float] = []
        busy: list[float] = []
        parts = np.zeros(3)
        for text in texts[3:]:
            times, began_cpu = [time.perf_counter()], time.process_time()
            graphs = parse_query(text)
            times.append(time.perf_counter())
            fetch_vectors(graphs, pool)
            times.append(time.perf_counter())
            score_pool(graphs, pool)
            times.append(time.perf_counter())
            taken.append(times[-1] - times[0])
            busy.append(time.process_time() - began_cpu)
            parts += np.diff(times)
        p95 = 1e3 * float(np.percentile(taken, 95))
        parts *= 1e3 / len(taken)
        metrics[f"p95_ms.{size}"], metrics[f"p50_ms.{size}"] = p95, 1e3 * float(np.median(taken))
        metrics[f"cpu_p95_ms.{size}"] = 1e3 * float(np.percentile(busy, 95))
        metrics[f"prepare_ms.{size}"] = 1e3 * prepared
        rows.append((str(size), *(f"{v:.1f}" for v in (p95, 1e3 * np.median(taken), *parts, 1e3 * prepared))))
        progress(f"{size} entities: p95 {p95:.1f} ms")
    metrics["peak_memory_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    columns = ("entities", "p95 ms", "median ms", "parse ms", "embed ms", "score ms", "prepare ms")
    return Result(
        metrics=metrics,
        bars=(Bar(f"p95 ms at {_SIZES[-1]} entities", p95, _BOUND_MS, at_least=False),),
        tables=(Table("Latency", columns, tuple(rows)),),
        notes=(
            "Wall time; `cpu_p95_ms` is processor time of all threads, which a busy machine stretches less. "
            "Every query has a phrase that no query before it had. The scene's arrays are prepared "
            "once per revision of the scene (`prepare ms`), the vectors of its labels once per label.",
        ),
    )


def _scene(size: int, rng: np.random.Generator) -> list:
    from lodestar.models.lexicon import load_lexicon
    from lodestar.scene.captions import attributes_of
    from lodestar.scene.records import Entity

    lexicon = load_lexicon()
    nouns = sorted(set(lexicon.nouns) - set(lexicon.structure))
    side = _SPACING * size**0.5
    entities = []
    for i in range(size):
        label = nouns[int(rng.integers(len(nouns)))]
        caption = f"{_COLORS[int(rng.integers(len(_COLORS)))]} {label}"
        extent = rng.uniform(0.1, 1.2, 3)
        low = np.array([*rng.uniform(0.0, side, 2), rng.choice([0.0, 0.0, 0.7])])
        entities.append(
            Entity(
                i + 1,
                label,
                caption,
                low + extent / 2,
                np.diag(extent**2 / 12),
                low,
                low + extent,
                attributes=attributes_of(caption),
            )
        )
    return entities


def _sentences(count: int, rng: np.random.Generator) -> list[str]:
    from lodestar.models.lexicon import load_lexicon

    lexicon = load_lexicon()
    nouns = sorted(set(lexicon.nouns) - set(lexicon.structure))
    pick = lambda words: words[int(rng.integers(len(words)))]  # noqa: E731
    return [
        f"the {pick(_ADJECTIVES)} thingamajig{i}-{int(rng.integers(10_000))} {pick(nouns)} {pick(_RELATIONS)} "
        f"the {pick(_COLORS)} {pick(nouns)} {pick(_RELATIONS)} the {pick(_ADJECTIVES)} {pick(nouns)}"
        for i in range(count)
    ]


BENCHMARK = Benchmark(
    "query-scale", "What a relational query costs from 300 to 30,000 entities.", _add_options, _run
)
