"""Scenes with any number of objects, at the density of a furnished building."""

from __future__ import annotations

import math

import numpy as np

from lodestar.models.lexicon import load_lexicon
from lodestar.scene.captions import attributes_of
from lodestar.scene.records import Entity


def labels() -> tuple[str, ...]:
    """Return object names from the lexicon, in alphabetical order."""
    lexicon = load_lexicon()
    return tuple(
        sorted(n for n in lexicon.nouns if n not in lexicon.structure and n not in lexicon.generic_nouns)
    )


def crowd(count: int, kinds: int, rng: np.random.Generator) -> dict[int, Entity]:
    """Return `count` entities by id, with `kinds` different captions, 8 per m^2 of a square floor."""
    names, colors = labels(), ("red", "blue", "green", "white", "black", "brown", "yellow", "gray")
    side = math.sqrt(count / 8.0)
    centers = np.column_stack([rng.uniform(0.0, side, (count, 2)), rng.uniform(0.1, 1.5, count)])
    halves = rng.uniform(0.05, 0.25, (count, 3))
    entities = {}
    for index in range(count):
        kind = index % kinds
        label, color = names[kind % len(names)], colors[kind // len(names) % len(colors)]
        number = kind // (len(names) * len(colors))
        caption = f"{color} {label}" + (f" with the number {number}" if number else "")
        low, high = centers[index] - halves[index], centers[index] + halves[index]
        entities[index + 1] = Entity(
            index + 1, label, caption, centers[index], np.diag(halves[index] ** 2 / 3.0), low, high,
            attributes=attributes_of(caption),
        )  # fmt: skip
    return entities
