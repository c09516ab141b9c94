"""Compares nouns by the lexicon: "sofa" and "couch" are of one kind, "chair" and "table" are not."""

from __future__ import annotations

from functools import lru_cache

from lodestar.models.lexicon import load_lexicon, words_of

_ARTICLES = frozenset({"a", "an", "the", "some", "one"})


@lru_cache(maxsize=8192)
def kind_of(label: str) -> str:
    """The lexicon's name of the noun at the end of a label; a label that it does not know, in the singular."""
    lexicon = load_lexicon()
    words = words_of(label)
    length = lexicon.known_suffix(words)
    known = lexicon.canonical(" ".join(words[len(words) - length :])) if length else None
    return known or lexicon.singular_phrase(label)


@lru_cache(maxsize=65536)
def same_kind(a: str, b: str) -> bool:
    """Whether two labels are synonyms, or one names a kind of the other ("office chair" and "chair").

    Two kinds of one wider noun ("dining table", "coffee table") are not the same.
    """
    if a == b:
        return True
    lexicon, first, second = load_lexicon(), kind_of(a), kind_of(b)
    if lexicon.is_generic(first) or lexicon.is_generic(second):
        return first == second
    return first == second or first in lexicon.wider(second) or second in lexicon.wider(first)


@lru_cache(maxsize=8192)
def looks_of(caption: str, label: str) -> frozenset[str]:
    """Words of a caption beside articles and the noun that the label means; attributes by their canonical names."""
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
    """Whether two (label, caption) describe no two looks: what the one says of its look, the other says too.

    "a grey sofa" agrees with "grey couch" and with "couch", not with "a blue sofa".
    """
    first, second = looks_of(a[1], a[0]), looks_of(b[1], b[0])
    return first <= second or second <= first
