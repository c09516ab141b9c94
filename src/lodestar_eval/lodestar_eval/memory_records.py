"""Memories for benchmarks of the store: captions of a robot's day with times, places and objects."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from lodestar.memory.records import EventKind, Memory, Primitive, Source

_BASES = 200  # number of distinct captions
_WORDS = 30  # most words of a caption
# norm of the noise on a base vector: cosines of 0.94 with it, as between rewordings of a caption
_SPREAD = 0.35
_SIDE = 30.0  # m, side of the building
_THINGS = 400
_NOUNS = (
    "mug", "chair", "pallet", "forklift", "shelf", "box", "door", "sofa", "plant", "ladder", "bin", "printer", "table",
    "cart", "barrel", "lamp", "bottle", "book", "bed", "sink",
)  # fmt: skip
_LOOKS = ("red", "blue", "green", "grey", "wooden", "metal", "small", "large", "dusty", "white")
_ROOMS = ("kitchen", "hall", "office", "storage", "aisle 3", "loading dock", "corridor", "workshop")
_DEEDS = ("driving past", "standing by", "turning at", "waiting near", "approaching")


def base_captions(data: Path | None, rng: np.random.Generator) -> list[str]:
    """Return up to 200 captions, from `captions_real` in the data folder; composed ones if it is missing."""
    file = data / "captions_real" / "captions.jsonl.gz" if data else None
    if file is not None and file.is_file():
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            found = [json.loads(line) for line in lines]
        texts = [
            " ".join(row["caption"].split()[:_WORDS]) for row in found if row["usable"] and row["caption"]
        ]
        return [texts[i] for i in rng.permutation(len(texts))[:_BASES]]
    return [_composed(rng) for _ in range(_BASES)]


def queries(count: int, captions: list[str], rng: np.random.Generator) -> list[str]:
    """Return questions about objects that captions name."""
    found = []
    for _ in range(count):
        words = re.findall(r"[a-z]{4,}", captions[int(rng.integers(len(captions)))].lower())
        chosen = [words[int(i)] for i in rng.integers(len(words), size=3)] if words else ["mug"]
        found.append(f"where did you see the {' '.join(chosen)}?")
    return found


def cues_of(question: str) -> list[str]:
    """Return the cues of a question of `queries`: the question, its noun phrase, and the words of this."""
    named = question.removeprefix("where did you see the ").rstrip("?")
    return [question, named, *named.split()]


def life(
    count: int, span: float, captions: list[str], vectors: np.ndarray, rng: np.random.Generator
) -> Iterator[tuple[Memory, np.ndarray]]:
    """Yield `count` memories of 3 s, each with a unit vector (D,), evenly over `span` seconds of a simulated
    walk.

    captions: N texts. vectors: (N, D) of the captions; a memory's vector is near that of its caption.
    """
    things = rng.uniform(0.0, _SIDE, (_THINGS, 2))
    place, here = np.array([_SIDE / 2, _SIDE / 2]), 0
    for i in range(count):
        if i % 10 == 0:
            here = int(rng.integers(len(captions)))
            place = np.clip(place + rng.normal(0.0, 3.0, 2), 0.0, _SIDE)
        noise = rng.normal(size=vectors.shape[1])
        vector = vectors[here] + _SPREAD * noise / np.linalg.norm(noise)
        near = np.argsort(np.hypot(*(things - place).T))[: int(rng.integers(1, 7))]
        start = span * i / count
        region = int(place[0] // 8) + 4 * int(place[1] > _SIDE / 2)
        event = i % 200 == 199
        memory = Memory(
            id=0,
            text=f"{_DEEDS[i % 5]} the {_ROOMS[region]}, {int(start // 3600)} h in: {captions[here]}",
            start=start,
            end=start + 3.0,
            position=np.array([*place, 0.0]),
            region_id=1 + region,
            region=_ROOMS[region],
            primitives=tuple(_thing(int(k), things[k]) for k in near),
            keyframe_ids=(i,) if i % 10 == 0 else (),
            source=Source.EVENT if event else Source.DETECTOR,
            event=EventKind.MOVED if event else None,
        )
        yield memory, vector / np.linalg.norm(vector)


def _thing(number: int, place: np.ndarray) -> Primitive:
    noun = _NOUNS[number % len(_NOUNS)]
    looks = f"{_LOOKS[number // len(_NOUNS) % len(_LOOKS)]} {noun}"
    return Primitive(number + 1, noun, np.array([*place, 0.5]), np.full(3, 0.4), looks, 900)


def _composed(rng: np.random.Generator) -> str:
    def pick(words: tuple[str, ...]) -> str:
        return words[int(rng.integers(len(words)))]

    parts = [f"a {pick(_LOOKS)} {pick(_NOUNS)} next to a {pick(_LOOKS)} {pick(_NOUNS)}" for _ in range(4)]
    return "The robot sees " + ", ".join(parts) + "."
