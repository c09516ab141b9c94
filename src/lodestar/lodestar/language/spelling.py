"""Typing errors in words that no vocabulary has: one letter wrong, missing, too many, or two exchanged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from lodestar.language.verb_forms import IRREGULAR
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.lexicon import load_lexicon
from lodestar.models.wordnet import load_wordnet

MIN_LENGTH = 4  # letters: shorter words are too much alike
SHORT = 6  # letters: in a word as short, one letter in place of another makes a name out of many a word
TWO_ERRORS = 9  # letters from which on two errors are put right


def corrected(words: Sequence[str]) -> list[str]:
    """The words with unknown ones replaced by the one known word that is nearest, where there is just one."""
    return [_correct(word) for word in words]


@lru_cache(maxsize=4096)
def _correct(word: str) -> str:
    if len(word) < MIN_LENGTH or not word.isascii() or not word.isalpha() or is_known(word):
        return word
    found = _near(_deletions(word, 1), word, 1)
    if not found and len(word) >= TWO_ERRORS:
        found = _near(_deletions(word, 2), word, 2)
    return found[0] if len(found) == 1 else word


def is_known(word: str) -> bool:
    """Whether some vocabulary has the word, in the plural or as another form of a verb too."""
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
    exact = [
        t for t in found if _distance(word, t) <= most and (len(word) > SHORT or not _exchanged(word, t))
    ]
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
    """Words that a typing error is put right to: function words, verbs, names of things and rooms in the lexicon."""
    lexicon = load_lexicon()
    names = (*lexicon.canonical_noun, *lexicon.rooms, *lexicon.canonical_attribute)
    words = {word for name in names for word in name.split()}
    return frozenset(w for w in words | load_vocabulary().words if len(w) >= MIN_LENGTH and w.isalpha())


@lru_cache(maxsize=1)
def _index() -> dict[str, tuple[str, ...]]:
    """Targets by what is left of them without one letter, and whole."""
    found: dict[str, list[str]] = {}
    for target in _targets():
        for form in {target, *_deletions(target, 1)}:
            found.setdefault(form, []).append(target)
    return {form: tuple(targets) for form, targets in found.items()}


def _exchanged(word: str, target: str) -> bool:
    """Whether one letter stands in place of another."""
    return len(word) == len(target) and sorted(word) != sorted(target)


def _distance(a: str, b: str) -> int:
    """Letters to change, add, leave out or exchange with the next one."""
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
