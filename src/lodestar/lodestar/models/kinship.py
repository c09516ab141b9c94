"""Comparison of labels by the lexicon: "sofa" and "couch" name one kind, "chair" and "table" do not."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from lodestar.models.lexicon import load_lexicon, words_of
from lodestar.models.phrases import MissingPhrases, PhraseBook

_LEAST_COSINE = 0.3  # cosine of all-MiniLM-L6-v2; nouns below it are unrelated (lodestar.query.categories)
_MOST_VECTORS = 1000  # most labels compared by vectors: more take seconds to embed
_ARTICLES = frozenset({"a", "an", "the", "some", "one"})


@lru_cache(maxsize=8192)
def kind_of(label: str) -> str:
    """Return the canonical name of the noun at the end of a label; for an unknown label its singular."""
    lexicon = load_lexicon()
    words = words_of(label)
    length = lexicon.known_suffix(words)
    known = lexicon.canonical(" ".join(words[len(words) - length :])) if length else None
    return known or lexicon.singular_phrase(label)


@lru_cache(maxsize=65536)
def same_kind(a: str, b: str) -> bool:
    """Return whether two labels are synonyms, or one is a hyponym of the other ("office chair" and "chair").

    Two hyponyms of one noun ("dining table", "coffee table") are not the same.
    """
    if a == b:
        return True
    lexicon, first, second = load_lexicon(), kind_of(a), kind_of(b)
    if lexicon.is_generic(first) or lexicon.is_generic(second):
        return first == second
    return first == second or first in lexicon.wider(second) or second in lexicon.wider(first)


def label_for(word: str, labels: Sequence[str]) -> str:
    """Return the label that matches a word; "" if none does.

    A synonym of the word is preferred to a wider or narrower noun.
    """
    kind = kind_of(word)
    return (
        next((label for label in labels if label == word), "")
        or next((label for label in labels if kind_of(label) == kind), "")
        or next((label for label in labels if same_kind(label, word)), "")
    )


def nearest_label(word: str, labels: Sequence[str], phrases: PhraseBook | None = None) -> str:
    """Return the label most similar to a word that matches none of the labels, "" if none is similar.

    phrases: vectors to compare by. None = compare by the lexicon's lists of easily confused and related
    nouns.
    """
    if phrases is not None and labels and len(labels) <= _MOST_VECTORS:
        try:
            vectors = phrases.vectors((word, *labels))
        except MissingPhrases:
            pass
        else:
            cosines = vectors[1:] @ vectors[0]
            best = int(cosines.argmax())
            return labels[best] if cosines[best] >= _LEAST_COSINE else ""
    near = max(labels, key=lambda label: _nearness(kind_of(word), kind_of(label)), default="")
    return near if near and _nearness(kind_of(word), kind_of(near)) else ""


def _nearness(kind: str, other: str) -> int:
    lexicon = load_lexicon()
    noun, second = lexicon.nouns.get(kind), lexicon.nouns.get(other)
    if noun is None or second is None:
        return 0
    confused = other in noun.near or kind in second.near
    return 2 if confused else int(bool(lexicon.wider(kind) & lexicon.wider(other)))


@lru_cache(maxsize=8192)
def looks_of(caption: str, label: str) -> frozenset[str]:
    """Return the descriptive words of a caption: all but articles and the label's noun.

    Attributes have their canonical names.
    """
    lexicon = load_lexicon()
    words = words_of(caption)
    found: set[str] = set()
    i = 0
    while i < len(words):
        length = lexicon.known_prefix(words[i:])
        if length and same_kind(" ".join(words[i : i + length]), label):
            i += length
            continue
        if words[i] not in _ARTICLES:
            found.add(lexicon.attribute(words[i]) or words[i])
        i += 1
    return frozenset(found - set(words_of(label)))


def looks_agree(a: tuple[str, str], b: tuple[str, str]) -> bool:
    """Return whether two (label, caption) may describe one object.

    The descriptive words of one must include those of the other: "a grey sofa" agrees with "grey couch" and
    with "couch", not with "a blue sofa".
    """
    first, second = looks_of(a[1], a[0]), looks_of(b[1], b[0])
    return first <= second or second <= first
