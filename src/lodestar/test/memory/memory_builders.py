"""Memories, entities and hits for tests of the memory."""

from __future__ import annotations

import hashlib

import numpy as np

from lodestar.memory.records import Memory, Primitive
from lodestar.memory.requests import Hit
from lodestar.scene.records import Entity, Region, SceneDelta


def word_vector(word):
    """Return a fixed unit vector of a word."""
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
    vector = np.random.default_rng(seed).normal(size=64)
    return vector / np.linalg.norm(vector)


def embed(phrases):
    """Return the means of the words' vectors as unit rows; phrases with common words are similar."""
    rows = [sum(word_vector(word.strip(".,")) for word in phrase.casefold().split()) for phrase in phrases]
    rows = np.array(rows, np.float32).reshape(-1, 64)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def primitive(identity, label="mug", centre=(0.0, 0.0, 0.5), size=0.2, caption="", pixels=100):
    return Primitive(identity, label, np.array(centre, float), np.full(3, float(size)), caption, pixels)


def memory(identity, text, start=0.0, things=(), **changes):
    values = {"position": np.zeros(3), "primitives": tuple(things)} | changes
    return Memory(identity, text, start, start + 3.0, **values)


def hits_of(memories, question):
    """Return hits scored by the cosine of their text and a question."""
    vectors = embed([each.text for each in memories])
    asked = embed([question])[0]
    return [Hit(each, float(vector @ asked), vector) for each, vector in zip(memories, vectors)]


def entity(identity, label="mug", centre=(0.0, 0.0, 0.5), size=(0.2, 0.2, 0.2), caption="", **changes):
    centre, size = np.array(centre, float), np.broadcast_to(np.array(size, float), (3,))
    values = {
        "mean": centre,
        "covariance": np.eye(3) * 0.01,
        "box_min": centre - size / 2,
        "box_max": centre + size / 2,
        "first_seen": 0.0,
        "last_seen": 1.0,
    } | changes
    return Entity(identity, label, caption or label, **values)


def region(identity, label):
    return Region(identity, label, 1.0, 10.0, np.zeros(2))


class SceneFeed:
    """Applies deltas with rising revisions to a mirror."""

    def __init__(self, mirror):
        self.mirror = mirror

    def __call__(self, *updated, stamp=0.0, **changes):
        before = self.mirror.revision
        delta = SceneDelta(stamp, before + 1, before, tuple(updated), **changes)
        assert self.mirror.apply(delta)
        return delta
