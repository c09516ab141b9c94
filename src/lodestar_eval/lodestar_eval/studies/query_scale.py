"""Study: time of a relational query as the scene grows.

Measures parsing, embedding and scoring, with warm caches and with unseen phrases.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from lodestar_eval.options import positive_int
from lodestar_eval.study import EACH, Limit, Number, Row, Study

if TYPE_CHECKING:
    from lodestar.models.phrases import PhraseBook

_SIZES = (300, 1_000, 3_000, 10_000, 30_000)
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


@lru_cache(maxsize=1)
def _book() -> PhraseBook:
    """Return text vectors that all sizes share."""
    from lodestar.models.embedder import SentenceTransformerEmbedder
    from lodestar.models.phrases import PhraseBook

    return PhraseBook(SentenceTransformerEmbedder())


def _measure(size: int, queries: int, seed: int) -> Iterator[Row]:
    from lodestar.language.grammar import parse_query
    from lodestar.query.terms import fetch_vectors
    from lodestar.query.verdict import prepare, score_pool

    rng, book = np.random.default_rng([seed, size]), _book()
    began = time.perf_counter()
    pool = prepare(_scene(size, rng), book)
    prepared = time.perf_counter() - began
    texts = _sentences(queries + 3, rng)
    for text in texts[:3]:  # warm up: embeds the labels of the scene
        score_pool(parse_query(text), pool)
    taken: list[list[float]] = []  # of parsing, embedding and scoring, s
    busy: list[float] = []
    for text in texts[3:]:
        times, began_cpu = [time.perf_counter()], time.process_time()
        graphs = parse_query(text)
        times.append(time.perf_counter())
        fetch_vectors(graphs, pool)
        times.append(time.perf_counter())
        score_pool(graphs, pool)
        times.append(time.perf_counter())
        taken.append(np.diff(times).tolist())
        busy.append(time.process_time() - began_cpu)
    whole = 1e3 * np.sum(taken, axis=1)
    parts = 1e3 * np.mean(taken, axis=0)
    yield {
        "size": size, "p95_ms": np.percentile(whole, 95), "p50_ms": np.median(whole),
        "cpu_p95_ms": 1e3 * np.percentile(busy, 95), "prepare_ms": 1e3 * prepared,
        "_memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0,
        "_parse_ms": parts[0], "_embed_ms": parts[1], "_score_ms": parts[2],
    }  # fmt: skip


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


BENCHMARK = Study(
    "query-scale",
    "What a relational query costs from 300 to 30,000 entities.",
    _add_options,
    lambda options: ((size, options.queries, options.seed) for size in _SIZES),
    _measure,
    numbers=(
        Number(EACH, by=("size",), digits=1),
        *(Number(f"_{part}_ms", by=("size",), digits=1) for part in ("parse", "embed", "score")),
        Number("peak_memory_mib", "_memory", max),
    ),
    bars=(Limit("p95_ms.{last}", 50.0, False, "p95 ms at {last} entities"),),
    notes=(
        "Wall time; `cpu_p95_ms` is processor time of all threads, which a busy machine stretches less. "
        "Every query has a phrase that no query before it had. The scene's arrays are prepared "
        "once per revision of the scene (`prepare ms`), the vectors of its labels once per label.",
    ),
)
