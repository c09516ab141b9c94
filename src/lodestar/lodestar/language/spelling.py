"""Correction of typing errors in unknown words: one letter wrong, missing, added, or two letters exchanged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from lodestar.language.verb_forms import IRREGULAR
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.lexicon import load_lexicon
from lodestar.models.wordnet import load_wordnet

MIN_LENGTH = 4  # letters; shorter words are too similar to each other
LONGEST = 40  # letters; two errors of longer words take seconds to look up, and no known word has as many
# letters; in words up to this length a replaced letter is not corrected, as it would change many names
SHORT = 6
TWO_ERRORS = 9  # letters, from which on two errors are corrected


def corrected(words: Sequence[str]) -> list[str]:
    """Return the words with unknown ones replaced by the nearest known word, if there is exactly one."""
    return [_correct(word) for word in words]


@lru_cache(maxsize=4096)
def _correct(word: str) -> str:
    if not MIN_LENGTH <= len(word) <= LONGEST or not word.isascii() or not word.isalpha() or is_known(word):
        return word
    found = _near(_deletions(word, 1), word, 1)
    if not found and len(word) >= TWO_ERRORS:
        found = _near(_deletions(word, 2), word, 2)
    return found[0] if len(found) == 1 else word


def is_known(word: str) -> bool:
    """Return whether some vocabulary has the word, also as a plural or another verb form."""
    lexicon, wordnet, words = load_lexicon(), load_wordnet(), load_vocabulary().words
    if (
        word in words
        or word in _targets()
        or word in IRREGULAR
        or wordnet.is_noun(word)
        or wordnet.is_verb(word)
    ):
        return True
    if lexicon.attribute(word) or wordnet.is_noun(lexicon.singular(word)) or wordnet.is_noun(word[:-1]):
        return True
    stems = [
        word.removesuffix(ending)
        for ending in ("ing", "ed", "ly", "er", "est", "s", "es")
        if word.endswith(ending)
    ]
    return any(
        wordnet.is_verb(form) or wordnet.is_noun(form) or form in words
        for s in stems
        for form in (s, s + "e", s[:-1])
    )


def _near(deletions: Iterable[str], word: str, most: int) -> list[str]:
    index = _index()
    found = {target for form in (word, *deletions) for target in index.get(form, ())}
    exact = [t for t in found if distance(word, t) <= most and (len(word) > SHORT or not _exchanged(word, t))]
    same = [t for t in exact if t[0] == word[0]]
    return sorted(same or exact)


def _deletions(word: str, most: int) -> Iterator[str]:
    for i in range(len(word)):
        shorter = word[:i] + word[i + 1 :]
        yield shorter
        if most > 1:
            yield from _deletions(shorter, most - 1)


@lru_cache(maxsize=1)
def _targets() -> frozenset[str]:
    """Return the words that corrections may produce: function words, verbs, and the lexicon's objects and
    rooms.
    """
    lexicon = load_lexicon()
    names = (*lexicon.canonical_noun, *lexicon.rooms, *lexicon.canonical_attribute)
    words = {word for name in names for word in name.split()}
    return frozenset(w for w in words | load_vocabulary().words if len(w) >= MIN_LENGTH and w.isalpha())


@lru_cache(maxsize=1)
def _index() -> dict[str, tuple[str, ...]]:
    """Return the correction targets by their full form and by each form with one letter deleted."""
    found: dict[str, list[str]] = {}
    for target in _targets():
        for form in {target, *_deletions(target, 1)}:
            found.setdefault(form, []).append(target)
    return {form: tuple(targets) for form, targets in found.items()}


def _exchanged(word: str, target: str) -> bool:
    """Return whether the words have equal length but different letters."""
    return len(word) == len(target) and sorted(word) != sorted(target)


def distance(a: str, b: str) -> int:
    """Return the edit distance: letters changed, added, left out, or swapped with the next letter."""
    rows = [list(range(len(b) + 1))]
    for i, one in enumerate(a, 1):
        row = [i]
        for j, other in enumerate(b, 1):
            best = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (one != other))
            if i > 1 and j > 1 and one == b[j - 2] and a[i - 2] == other:
                best = min(best, rows[-2][j - 2] + 1)
            row.append(best)
        rows.append(row)
    return rows[-1][-1]
