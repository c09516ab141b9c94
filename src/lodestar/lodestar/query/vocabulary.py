"""Unique labels, captions and attributes of a scene, so that a query's cost grows only with their number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lodestar.models.lexicon import load_lexicon, words_of
from lodestar.models.phrases import PhraseBook
from lodestar.perception.sign_text import sign_text
from lodestar.query import categories
from lodestar.query.categories import KIND_OF, SAME, UNRELATED, WIDER, calibrated, caption_noun, noun_score

_RIVALRY = ("colors", "sizes", "materials")
_KEPT = 64  # cached categories; the oldest is dropped first


class Kinds:
    """The unique pairs (K) of label and caption. `scores` equals `categories.category_scores` over them."""

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        lexicon = load_lexicon()
        self.pairs = tuple(pairs)
        self.labels = [label for label, _ in pairs]
        self._said = [frozenset(words_of(f"{label} {caption}")) for label, caption in pairs]
        nouns = [caption_noun(caption) for _, caption in pairs]
        self._padded = [f" {noun} " for noun in nouns]
        self._written: dict[str, list[int]] = {}  # text of a sign -> its pairs
        for i, (_, caption) in enumerate(pairs):
            if written := sign_text(caption):
                self._written.setdefault(" ".join(words_of(written)), []).append(i)
        self._exactly: dict[str, list[int]] = {}
        names: dict[str | None, int] = {None: 0}
        self._canonical = np.zeros((len(pairs), 2), int)
        for i, (label, noun) in enumerate(zip(self.labels, nouns)):
            for k, text in enumerate((label, noun)):
                self._exactly.setdefault(lexicon.singular_phrase(text), []).append(i)
                name = categories.canonical_suffix(text)[0]
                self._canonical[i, k] = names.setdefault(name, len(names))
        self._names = list(names)
        self._vectors: tuple[str, np.ndarray, np.ndarray] | None = None  # model, vectors (U, D), is held (U,)
        self._by_words: dict[str, tuple[np.ndarray, np.ndarray]] = {}  # category -> scores (K,), settled (K,)
        self._scores: dict[tuple[str, str], np.ndarray] = {}  # category and text model -> scores (K,)
        self._label_of = (
            np.unique(self.labels, return_inverse=True) if pairs else (np.zeros(0), np.zeros(0, int))
        )
        self._labelled = np.array([bool(label) for label in self._label_of[0]], bool)

    def scores(self, category: str, phrases: PhraseBook) -> np.ndarray:
        """Return scores (K,) in [0, 1], read-only. Raises MissingPhrases if a needed vector is not available."""
        category = load_lexicon().singular_phrase(category)
        known = self._scores.get((category, phrases.model))
        if known is None:
            by_words, settled = self._worded(category)
            known = by_words.copy()
            self._by_meaning(category, known, settled, phrases)
            _keep(self._scores, (category, phrases.model), known)
        return known

    def named(self, category: str) -> np.ndarray:
        """Return (K,) bool: the label or the caption's noun is exactly the name of the category."""
        found = np.zeros(len(self.labels), bool)
        found[self._exactly.get(load_lexicon().singular_phrase(category), [])] = True
        return found

    def wanted(self, category: str, phrases: PhraseBook) -> tuple[str, ...]:
        """Return the phrases whose vectors `scores` needs; empty if words are sufficient."""
        category = load_lexicon().singular_phrase(category)
        if (category, phrases.model) in self._scores:
            return ()
        is_open = self._open(self._worded(category)[1])
        if not is_open.any():
            return ()
        return (category, *(str(label) for label in self._label_of[0][is_open & ~self._held(phrases)]))

    def _worded(self, category: str) -> tuple[np.ndarray, np.ndarray]:
        """Return scores (K,) from names and words without embeddings, and (K,) whether they are final; cached
        per category.
        """
        known = self._by_words.get(category)
        if known is None:
            known = self._read(category)
            _keep(self._by_words, category, known)
        return known

    def _read(self, category: str) -> tuple[np.ndarray, np.ndarray]:
        lexicon = load_lexicon()
        count = len(self.labels)
        if lexicon.is_generic(category):
            return np.full(count, SAME), np.ones(count, bool)
        asked, before = categories.canonical_suffix(category)
        if asked is None:
            padded = f" {category} "
            scores = np.array([SAME if category and padded in text else UNRELATED for text in self._padded])
            scores[self._written.get(category, [])] = SAME
            settled: np.ndarray = np.zeros(count, bool)
        else:
            by_name = np.array([UNRELATED if n is None else noun_score(asked, n) for n in self._names])
            scores = by_name[self._canonical].max(axis=1) if count else np.zeros(0)
            settled = np.asarray((self._canonical > 0).any(axis=1))
            if before:
                scores, settled = self._qualified(scores, frozenset(before))
        exact = self._exactly.get(category, []) if category else []
        scores[exact], settled[exact] = SAME, True
        return scores, settled

    def _qualified(self, scores: np.ndarray, before: frozenset[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return scores of a noun with unknown words before it, and which are final: the caption contains
        those words.
        """
        settled = np.zeros(len(scores), bool)
        found = np.where(scores >= KIND_OF, WIDER, scores * WIDER)
        for i in np.flatnonzero(scores >= KIND_OF):
            if before <= self._said[i]:
                found[i], settled[i] = scores[i], True
        return found, settled

    def _by_meaning(
        self, category: str, scores: np.ndarray, settled: np.ndarray, phrases: PhraseBook
    ) -> None:
        """Raise the scores that are not final (`settled`) to the calibrated cosine of category and label."""
        is_open = self._open(settled)
        if not is_open.any():
            return
        unique, label_of = self._label_of
        vectors = self._label_vectors(is_open, category, phrases)
        likeness = np.zeros(len(unique))
        likeness[is_open] = calibrated(vectors[is_open] @ phrases.vectors((category,))[0])
        raised = np.maximum(scores, likeness[label_of])
        scores[~settled] = raised[~settled]

    def _open(self, settled: np.ndarray) -> np.ndarray:
        """Return (U,) bool: which of the U unique labels have scores that are not final."""
        unique, label_of = self._label_of
        is_open = np.zeros(len(unique), bool)
        if len(unique):
            is_open[label_of[~settled]] = True
            is_open &= self._labelled
        return is_open

    def _held(self, phrases: PhraseBook) -> np.ndarray:
        """Return (U,) bool: which of the U unique labels have cached vectors of the book's model."""
        if self._vectors is None or self._vectors[0] != phrases.model:
            return np.zeros(len(self._label_of[0]), bool)
        return self._vectors[2]

    def _label_vectors(self, wanted: np.ndarray, category: str, phrases: PhraseBook) -> np.ndarray:
        """Return (U, D) vectors of the U unique labels, with those in `wanted` filled in; fetched once per
        text model.
        """
        unique, _ = self._label_of
        held = self._held(phrases)
        lacking = wanted & ~held
        if lacking.any() or self._vectors is None:
            found = phrases.vectors((category, *(str(label) for label in unique[lacking])))[1:]
            vectors = np.zeros((len(unique), found.shape[1]), np.float32)
            if self._vectors is not None and held.any():
                vectors[held] = self._vectors[1][held]
            vectors[lacking] = found
            self._vectors = (phrases.model, vectors, held | lacking)
        return self._vectors[1]


class Looks:
    """Appearances in a scene: the L unique pairs of known attributes and caption, scored per attribute."""

    def __init__(self, pairs: Sequence[tuple[tuple[str, ...], str]]) -> None:
        lexicon = load_lexicon()
        self.pairs = tuple(pairs)
        self._captions = [f" {' '.join(words_of(caption))} " for _, caption in pairs]
        self._having: dict[str, list[int]] = {}
        self._of_group: dict[str, list[int]] = {}
        for i, (known, caption) in enumerate(pairs):
            for attribute in categories.said(known, caption):
                self._having.setdefault(attribute, []).append(i)
                group = lexicon.attribute_group.get(attribute)
                if group is not None:
                    self._of_group.setdefault(group, []).append(i)

    def scores(self, attribute: str, unknown: float, other: float) -> np.ndarray:
        """Return scores (L,) in [0, 1] for an attribute.

        1 if stated, `other` if another colour (or the opposite size) is known, `unknown` if nothing is known.
        """
        lexicon = load_lexicon()
        wanted = lexicon.attribute(attribute) or attribute
        scores = np.full(len(self.pairs), unknown)
        group = lexicon.attribute_group.get(wanted)
        if group is None:
            said = [i for i, caption in enumerate(self._captions) if wanted and f" {wanted} " in caption]
            scores[said] = 1.0
        elif group in _RIVALRY:
            scores[self._of_group.get(group, [])] = other
        scores[self._having.get(wanted, [])] = 1.0
        return scores


def _keep(memory: dict, key: object, value: object) -> None:
    memory[key] = value
    while len(memory) > _KEPT:
        del memory[next(iter(memory))]
