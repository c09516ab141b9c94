"""Compare labels by the lexicon: "sofa" and "couch" name one kind of object, "chair" and "table" do not."""

from __future__ import annotations

from functools import lru_cache

from lodestar.models.lexicon import load_lexicon, words_of

_ARTICLES = frozenset({"a", "an", "the", "some", "one"})


@lru_cache(maxsize=8192)
def kind_of(label: str) -> str:
    """Return the canonical name of the noun at the end of a label; an unknown label in the singular."""
    lexicon = load_lexicon()
    words = words_of(label)
    length = lexicon.known_suffix(words)
    known = lexicon.canonical(" ".join(words[len(words) - length :])) if length else None
    return known or lexicon.singular_phrase(label)


@lru_cache(maxsize=65536)
def same_kind(a: str, b: str) -> bool:
    """Tell whether two labels are synonyms, or one is a hyponym of the other ("office chair" and "chair").

    Two hyponyms of one noun ("dining table", "coffee table") are not the same.
    """
    if a == b:
        return True
    lexicon, first, second = load_lexicon(), kind_of(a), kind_of(b)
    if lexicon.is_generic(first) or lexicon.is_generic(second):
        return first == second
    return first == second or first in lexicon.wider(second) or second in lexicon.wider(first)


@lru_cache(maxsize=8192)
def looks_of(caption: str, label: str) -> frozenset[str]:
    """Return a caption's words without articles and the label's noun; attributes have their canonical names."""
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
    """Tell whether two (label, caption) are compatible: the descriptive words of one include those of the other.

    "a grey sofa" agrees with "grey couch" and with "couch", not with "a blue sofa".
    """
    first, second = looks_of(a[1], a[0]), looks_of(b[1], b[0])
    return first <= second or second <= first
