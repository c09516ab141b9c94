"""Minimal text models, which need no weights."""

from __future__ import annotations

from itertools import pairwise

import numpy as np


class LetterEmbedder:
    """Embeds phrases by counts of letter pairs: phrases that share words are similar."""

    model = "letters"
    dimension = 128

    def embed(self, phrases):
        vectors = np.full((len(phrases), self.dimension), 1e-3, np.float32)
        for row, phrase in enumerate(phrases):
            for a, b in pairwise(phrase):
                vectors[row, (ord(a) * 31 + ord(b)) % self.dimension] += 1.0
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


class SingleLetters:
    """Embeds phrases by counts of letters: phrases that share words are similar."""

    model = "letters"
    dimension = 64

    def embed(self, phrases):
        vectors = np.full((len(phrases), self.dimension), 1e-3, np.float32)
        for row, phrase in enumerate(phrases):
            for letter in phrase:
                vectors[row, ord(letter) % self.dimension] += 1.0
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
