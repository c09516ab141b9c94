"""Search for the object named in words that no rule reads as a whole."""

from __future__ import annotations

from collections.abc import Sequence

from lodestar.language.chart import load_chart
from lodestar.language.clause_words import plain_verb, without_fillers
from lodestar.language.lattice import lattice_of
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.wordnet import load_wordnet

_AUXILIARIES = frozenset(
    {"did", "do", "does", "was", "were", "have", "has", "had", "should", "could", "can", "would", "will"}
)
_SUBJECTS = frozenset(
    {"i", "you", "we", "he", "she", "they", "it", "anyone", "somebody", "robot", "seen", "found", "noticed"}
)


def without_subject(words: Sequence[str]) -> Sequence[str]:
    """Return the words of a question after its subject and verb: "the stairs" of "you see the stairs"."""
    vocabulary = load_vocabulary()
    while len(words) > 1 and (words[0] in _AUXILIARIES or vocabulary.is_in("IS", words[0])):
        words = words[1:]
    while len(words) > 1 and words[0] in _SUBJECTS:
        words = words[1:]
        while len(words) > 1 and words[0] in (
            "last",
            "ever",
            "already",
            "first",
            "just",
            "have",
            "been",
            "get",
            "got",
        ):
            words = words[1:]
        named = (
            vocabulary.match("DET", words, 1)
            or vocabulary.match("NUMBER", words, 1)
            or vocabulary.match("ABOUT", words, 1)
        )
        if named or (
            vocabulary.match("REL", words, 0) is None and load_wordnet().is_verb(plain_verb(words[0]))
        ):
            words = words[1:]
    about = vocabulary.match("ABOUT", words, 0)
    return words if about is None else words[about[0] :]


def thing_in(words: Sequence[str]) -> dict | None:
    """Return the meaning of the first object named in the words, None if none is named."""
    words = without_fillers(words)
    chart = load_chart("entry_of_things")
    for start in range(len(words)):
        if "NP" not in lattice_of(words[start : start + 4]).options[0]:
            continue
        for end in range(len(words), start, -1):
            readings = chart.readings(lattice_of(words[start:end]))
            if readings:
                return readings[0].meaning["things"]
    return None
