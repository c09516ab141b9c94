"""Scores of entities for categories and attributes: by the lexicon, and by embeddings where the lexicon is
insufficient.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from lodestar.models.lexicon import load_lexicon, words_of
from lodestar.models.phrases import PhraseBook
from lodestar.perception.sign_text import SIGN, sign_text

#: Cosine of all-MiniLM-L6-v2 between bare nouns -> score, from the distribution over everyday nouns: 99 % of pairs
#: of unrelated nouns lie below 0.49, 99.9 % below 0.62; half of all pairs of synonyms lie above 0.68.
COSINES = (0.30, 0.50, 0.62, 0.70, 0.80, 0.90)
SCORES = (0.00, 0.22, 0.45, 0.62, 0.85, 1.00)

SAME = 1.0
KIND_OF = 0.95  # the entity is a hyponym of the requested noun
WIDER = 0.5  # the entity is only known by a hypernym of the requested noun
EASILY_CONFUSED = 0.5
SIBLING = 0.3  # both are hyponyms of one noun
UNRELATED = 0.0

_PREPOSITIONS = frozenset(
    """on in at by with near next under over above below behind beside between of inside against to from and or
    standing lying sitting hanging that which for""".split()  # noqa: SIM905
)


def calibrated(cosines: np.ndarray) -> np.ndarray:
    """Convert cosines between phrases to scores in [0, 1] by the calibration curve."""
    return np.interp(cosines, COSINES, SCORES)


@lru_cache(maxsize=16384)
def caption_noun(caption: str) -> str:
    """Return the head noun phrase of a caption: "red office chair" of "a red office chair next to a desk"."""
    written = sign_text(caption)
    if written:  # a sign's text is not its kind; one word of it is its name: "exit sign"
        return " ".join(["-".join(words_of(written)), SIGN])
    head: list[str] = []
    for word in words_of(caption):
        if word in ("a", "an", "the", "some"):
            if head:
                break
            continue
        if word in _PREPOSITIONS and head:
            break
        head.append(word)
    return " ".join(head)


@lru_cache(maxsize=65536)
def canonical_suffix(phrase: str) -> tuple[str | None, tuple[str, ...]]:
    """Return the canonical noun at the end of a phrase and the words before it."""
    lexicon = load_lexicon()
    words = words_of(phrase)
    length = lexicon.known_suffix(words)
    if length == 0:
        return None, tuple(words)
    return lexicon.canonical(" ".join(words[-length:])), tuple(words[: len(words) - length])


@lru_cache(maxsize=262_144)
def noun_score(asked: str, found: str) -> float:
    """Return the score of a found canonical noun for the requested canonical noun."""
    lexicon = load_lexicon()
    if asked == found:
        return SAME
    wider_found = _wider(found)
    if asked in wider_found:
        return KIND_OF
    if found in _wider(asked):
        return WIDER
    if found in lexicon.nouns[asked].near or asked in lexicon.nouns[found].near:
        return EASILY_CONFUSED
    if wider_found & _wider(asked):
        return SIBLING
    return UNRELATED


@lru_cache(maxsize=4096)
def _wider(name: str) -> frozenset[str]:
    """Return hypernyms from the lexicon, or else the head of a compound: a "storage box" is a box."""
    lexicon = load_lexicon()
    wider = set(lexicon.wider(name))
    noun = lexicon.nouns.get(name)
    words = name.split()
    if noun is not None and noun.is_a is None and len(words) > 1:
        head = lexicon.canonical(words[-1])
        if head is not None and head != name:
            wider |= {head, *lexicon.wider(head)}
    return frozenset(wider)


class _Facts(NamedTuple):
    """Features of a label and a caption that do not depend on the query."""

    phrases: tuple[str, str]  # label and the caption's head noun phrase, in the singular
    noun: str  # head noun phrase of the caption
    names: tuple[str, ...]  # canonical nouns of both, as far as known
    words: frozenset[str]


@lru_cache(maxsize=131072)
def _facts(label: str, caption: str) -> _Facts:
    lexicon = load_lexicon()
    noun = caption_noun(caption)
    names = tuple(name for name, _ in (canonical_suffix(label), canonical_suffix(noun)) if name)
    words = frozenset(words_of(caption)) | frozenset(words_of(label))
    return _Facts((lexicon.singular_phrase(label), lexicon.singular_phrase(noun)), noun, names, words)


@lru_cache(maxsize=4096)
def _asked(category: str) -> tuple[str, bool, str | None, tuple[str, ...]]:
    """Return the singular category, whether it is generic, its canonical noun, and the words before the noun."""
    lexicon = load_lexicon()
    category = lexicon.singular_phrase(category)
    return category, lexicon.is_generic(category), *canonical_suffix(category)


@lru_cache(maxsize=65536)
def _best_noun(asked: str, names: tuple[str, ...]) -> float:
    return max((noun_score(asked, name) for name in names), default=UNRELATED)


def word_score(category: str, label: str, caption: str) -> tuple[float, bool]:
    """Return the score from nouns and words without embeddings, and whether it is final (no cosine may raise
    it).

    It is final if both nouns are known and no word is left over. The caption may name a more specific
    category than the label: "chair", "red office chair".
    """
    phrase, generic, asked, before = _asked(category)
    if generic:
        return SAME, True
    facts = _facts(label, caption)
    if phrase and phrase in facts.phrases:
        return SAME, True
    if asked is None:
        return (SAME if _contains(facts.noun, phrase) or _is_written(phrase, caption) else UNRELATED), False
    best = _best_noun(asked, facts.names)
    if not before:
        return best, bool(facts.names)
    if best >= KIND_OF:  # "padded chair": final if the caption says padded, otherwise possible
        return (best, True) if facts.words.issuperset(before) else (WIDER, False)
    return best * WIDER, False


def _is_written(phrase: str, caption: str) -> bool:
    """Return whether a sign's text is exactly this phrase: "emergency exit"."""
    written = sign_text(caption)
    return bool(phrase and written) and words_of(written) == words_of(phrase)


def _contains(text: str, phrase: str) -> bool:
    return bool(phrase) and f" {phrase} " in f" {text} "


def category_scores(
    category: str, labels: Sequence[str], captions: Sequence[str], phrases: PhraseBook
) -> np.ndarray:
    """Return scores (N,) in [0, 1] of entities (N) for a category.

    The lexicon decides if it knows both nouns; otherwise the calibrated cosine may raise the score.
    Raises MissingPhrases if a vector is needed that the book cannot compute.
    """
    scores = np.zeros(len(labels))
    open_labels: dict[str, list[int]] = {}
    for i, (label, caption) in enumerate(zip(labels, captions)):
        scores[i], settled = word_score(category, label, caption)
        if not settled and label:
            open_labels.setdefault(label, []).append(i)
    if open_labels:
        cosines = _cosines(category, tuple(open_labels), phrases)
        for (_, indices), score in zip(open_labels.items(), calibrated(cosines)):
            scores[indices] = np.maximum(scores[indices], score)
    return scores


def _cosines(category: str, labels: tuple[str, ...], phrases: PhraseBook) -> np.ndarray:
    vectors = phrases.vectors((category, *labels))
    return vectors[1:] @ vectors[0]


@lru_cache(maxsize=131072)
def said(known: tuple[str, ...], caption: str) -> frozenset[str]:
    """Return all attributes that are known or named by the caption."""
    return frozenset(known) | frozenset(load_lexicon().attributes_in(caption))


def caption_facts(label: str, caption: str, known: tuple[str, ...]) -> tuple[str, frozenset[str]]:
    """Return the caption's head noun phrase, and all attributes that are known or named by the caption."""
    return _facts(label, caption).noun, said(known, caption)


def has_group(attribute: str) -> bool:
    """Return whether the lexicon knows the attribute; if so, other words of a caption do not count."""
    lexicon = load_lexicon()
    return (lexicon.attribute(attribute) or attribute) in lexicon.attribute_group


def needs_caption(category: str) -> bool:
    """Return whether a category depends on all words of a caption, not only on its head noun phrase."""
    return bool(_asked(category)[3])


def phrase_attributes(phrase: str) -> Iterable[str]:
    """Return the attributes that a phrase names, for graphs that state none."""
    return load_lexicon().attributes_in(phrase)
