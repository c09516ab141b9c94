"""What the entities of a scene are called, prepared so that a question costs what differs and not what there is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lodestar.models.lexicon import load_lexicon, words_of
from lodestar.models.phrases import PhraseBook
from lodestar.query import categories
from lodestar.query.categories import KIND_OF, SAME, UNRELATED, WIDER, calibrated, caption_noun, noun_score

_RIVALRY = ("colors", "sizes", "materials")


class Kinds:
    """The unique pairs (K) of label and caption. `scores` equals `categories.category_scores` over them."""

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        lexicon = load_lexicon()
        self.labels = [label for label, _ in pairs]
        self._said = [f"{label} {caption}" for label, caption in pairs]
        nouns = [caption_noun(caption) for _, caption in pairs]
        self._padded = [f" {noun} " for noun in nouns]
        self._exactly: dict[str, list[int]] = {}
        names: dict[str | None, int] = {None: 0}
        self._canonical = np.zeros((len(pairs), 2), int)
        for i, (label, noun) in enumerate(zip(self.labels, nouns)):
            for k, text in enumerate((label, noun)):
                self._exactly.setdefault(lexicon.singular_phrase(text), []).append(i)
                name = categories.canonical_suffix(text)[0]
                self._canonical[i, k] = names.setdefault(name, len(names))
        self._names = list(names)
        self._vectors: tuple[str, np.ndarray, np.ndarray] | None = None  # model, (U, D), held
        self._label_of = (
            np.unique(self.labels, return_inverse=True) if pairs else (np.zeros(0), np.zeros(0, int))
        )

    def scores(self, category: str, phrases: PhraseBook) -> np.ndarray:
        """(K,) in [0, 1]. Raises MissingPhrases where a vector is needed that cannot be had."""
        lexicon = load_lexicon()
        category = lexicon.singular_phrase(category)
        count = len(self.labels)
        if lexicon.is_generic(category):
            return np.full(count, SAME)
        asked, before = categories.canonical_suffix(category)
        if asked is None:
            padded = f" {category} "
            scores = np.array([SAME if category and padded in text else UNRELATED for text in self._padded])
            settled: np.ndarray = np.zeros(count, bool)
        else:
            by_name = np.array([UNRELATED if n is None else noun_score(asked, n) for n in self._names])
            scores = by_name[self._canonical].max(axis=1) if count else np.zeros(0)
            settled = np.asarray((self._canonical > 0).any(axis=1))
            if before:
                scores, settled = self._qualified(scores, set(before))
        exact = self._exactly.get(category, []) if category else []
        scores[exact], settled[exact] = SAME, True
        self._by_meaning(category, scores, settled, phrases)
        return scores

    def _qualified(self, scores: np.ndarray, before: set[str]) -> tuple[np.ndarray, np.ndarray]:
        """Scores of a noun with words before it that no table knows: what is said to be so, and what may be."""
        settled = np.zeros(len(scores), bool)
        found = np.where(scores >= KIND_OF, WIDER, scores * WIDER)
        for i in np.flatnonzero(scores >= KIND_OF):
            if before <= set(words_of(self._said[i])):
                found[i], settled[i] = scores[i], True
        return found, settled

    def _by_meaning(
        self, category: str, scores: np.ndarray, settled: np.ndarray, phrases: PhraseBook
    ) -> None:
        """Words that do not tell leave it to the cosine of category and label."""
        unique, label_of = self._label_of
        if not len(unique) or settled.all():
            return
        is_open = np.zeros(len(unique), bool)
        is_open[label_of[~settled]] = True
        is_open &= np.array([bool(label) for label in unique])
        if not is_open.any():
            return
        vectors = self._label_vectors(is_open, category, phrases)
        likeness = np.zeros(len(unique))
        likeness[is_open] = calibrated(vectors[is_open] @ phrases.vectors((category,))[0])
        raised = np.maximum(scores, likeness[label_of])
        scores[~settled] = raised[~settled]

    def _label_vectors(self, wanted: np.ndarray, category: str, phrases: PhraseBook) -> np.ndarray:
        """(U, D) of the unique labels, those `wanted` filled in; fetched once per text model."""
        unique, _ = self._label_of
        if self._vectors is None or self._vectors[0] != phrases.model:
            self._vectors = None
        held = np.zeros(len(unique), bool) if self._vectors is None else self._vectors[2]
        lacking = wanted & ~held
        if lacking.any() or self._vectors is None:
            found = phrases.vectors((category, *(str(label) for label in unique[lacking])))[1:]
            vectors = np.zeros((len(unique), found.shape[1]), np.float32)
            if self._vectors is not None:
                vectors[held] = self._vectors[1][held]
            vectors[lacking] = found
            self._vectors = (phrases.model, vectors, held | lacking)
        return self._vectors[1]


class Looks:
    """The unique pairs (L) of known attributes and caption. `scores` equals `categories.attribute_scores`."""

    def __init__(self, pairs: Sequence[tuple[tuple[str, ...], str]]) -> None:
        lexicon = load_lexicon()
        self._count = len(pairs)
        self._captions = [f" {' '.join(words_of(caption))} " for _, caption in pairs]
        self._having: dict[str, list[int]] = {}
        self._of_group: dict[str, list[int]] = {}
        for i, (known, caption) in enumerate(pairs):
            for attribute in {*known, *lexicon.attributes_in(caption)}:
                self._having.setdefault(attribute, []).append(i)
                group = lexicon.attribute_group.get(attribute)
                if group is not None:
                    self._of_group.setdefault(group, []).append(i)

    def scores(self, attribute: str, unknown: float, other: float) -> np.ndarray:
        """(L,) in [0, 1]."""
        lexicon = load_lexicon()
        wanted = lexicon.attribute(attribute) or attribute
        scores = np.full(self._count, unknown)
        group = lexicon.attribute_group.get(wanted)
        if group is None:
            said = [i for i, caption in enumerate(self._captions) if wanted and f" {wanted} " in caption]
            scores[said] = 1.0
        elif group in _RIVALRY:
            scores[self._of_group.get(group, [])] = other
        scores[self._having.get(wanted, [])] = 1.0
        return scores
