"""Choice of the snapshots relevant to a text: prefiltering by categories (SnapMem 3.2.3), then ranking."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from lodestar.models.phrases import PhraseBook

Name = TypeVar("Name")

_WORD = re.compile(r"[^\W\d_]+(?:'\w+)?")
#: Words that neither begin nor end a phrase for a category.
_FUNCTION_TEXT = (
    "a an the this that these those to of in on at by with from into up down out over near next and or then is are was "
    "it its there here me my you your please go walk turn head move get bring take find left right straight through "
    "one two three four first second third fourth last room floor level"
)
_FUNCTION_WORDS = frozenset(_FUNCTION_TEXT.split())
CATEGORIES = 10  # K, number of categories kept per text (SnapMem 3.2.3 and 4.1)
_MOST_WORDS = 64  # most words of a text that are used
_LONGEST = 2  # most words of a phrase
_FLOOR = 0.4  # cosine below which two phrases are unrelated; chosen on reverie_dev


@dataclass(frozen=True)
class Described:
    """Description of a snapshot for the ranking. labels: of the entities in it. text: its caption."""

    labels: tuple[str, ...]
    text: str


def phrases_of(text: str) -> tuple[str, ...]:
    """Return the phrases of one and two words of a text that may name a category, each once.

    If there are none, returns the text's first word. The text is untrusted data and is only compared.
    """
    words = [word.casefold() for word in _WORD.findall(text)[:_MOST_WORDS]]
    found: dict[str, None] = {}
    for first in range(len(words)):
        for length in range(1, _LONGEST + 1):
            phrase = words[first : first + length]
            if len(phrase) == length and not {phrase[0], phrase[-1]} & _FUNCTION_WORDS:
                found[" ".join(phrase)] = None
    return tuple(found) or tuple(text.split()[:1])


class Prefilter:
    """Ranks categories and snapshots for a text by the cosines of their words.

    It replaces a language model offline. Raises MissingPhrases if the book lacks vectors and has no embedder.
    """

    def __init__(self, phrases: PhraseBook, categories: int = CATEGORIES) -> None:
        self._count = categories
        self._phrases = phrases

    def categories(self, text: str, categories: Iterable[str]) -> list[str]:
        """Return the categories most relevant to the text, best first, at most K (default CATEGORIES)."""
        return self._best(self._likeness(text, categories))

    def choose(self, text: str, snapshots: Mapping[Name, Described]) -> list[Name]:
        """Return the names of the snapshots that show one of the K best categories, best first.

        The score is the cosine of text and caption, plus for each category in the image the square of the
        amount by which its cosine with the text's best phrase exceeds `_FLOOR`. A text without words has no
        snapshots.
        """
        if not text.strip() or not snapshots:
            return []
        scores = self._likeness(text, (label for one in snapshots.values() for label in one.labels))
        kept = set(self._best(scores))
        ids = [identity for identity, one in snapshots.items() if kept.intersection(one.labels)]
        if not ids:
            return []
        whole = self._phrases.vectors([text])[0]
        captions = self._phrases.vectors([snapshots[i].text or snapshots[i].labels[0] for i in ids]) @ whole
        value = {label: max(0.0, score - _FLOOR) ** 2 for label, score in scores.items()}
        said = [sum(value.get(label, 0.0) for label in set(snapshots[i].labels)) for i in ids]
        order = np.argsort(-(captions + np.array(said)), kind="stable")
        return [ids[int(row)] for row in order]

    def _best(self, scores: Mapping[str, float]) -> list[str]:
        return sorted(scores, key=lambda category: (-scores[category], category))[: self._count]

    def _likeness(self, text: str, categories: Iterable[str]) -> dict[str, float]:
        """Return the largest cosine of each category with a phrase of the text."""
        known = sorted({category for category in categories if category.strip()})
        if not known or not text.strip():
            return {}
        likeness = self._phrases.vectors(known) @ self._phrases.vectors(phrases_of(text)).T
        return dict(zip(known, likeness.max(axis=1).tolist()))
