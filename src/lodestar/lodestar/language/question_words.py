"""Lattice of a question: the grammar terminals that its words may form, with question words and times."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from lodestar.language.chart import Lattice, Lexeme, read_data
from lodestar.language.clause_words import plain_verb
from lodestar.language.lattice import known_at, lattice_of, number_at
from lodestar.language.verb_forms import IRREGULAR
from lodestar.language.vocabulary import Vocabulary, read_table
from lodestar.models.lexicon import load_lexicon
from lodestar.models.wordnet import load_wordnet

_CLOCK = re.compile(
    r"\b(\d{1,2})(?::(\d{2})(?::(\d{2}))?)?\s*(am\b|pm\b|a\.m\.|p\.m\.|o'?clock\b)?", re.IGNORECASE
)
_CLOCK_WORD = re.compile(r"clock(\d{1,5})")
_NOUNS = ("NP", "PASSAGE", "NEAREST", "FARTHEST")
_VERBS = (
    "ACT",
    "HAPPEN",
    "SEE",
    "HAVE_V",
    "BELONG",
    "HAPPENED",
    "CHANGE",
    "LOOK_LIKE",
    "SAYS_Q",
    "CALLED",
    "DOING",
    "LEFT",
    "CHANGED_BY",
)
_ENDS_NOUN = ("AUXBE", "BEEN_V", "USED_TO", "SAME_PLACE", "STANDS_STILL")
_OF_MIND = frozenset(  # verbs of unobservable acts, and auxiliaries
    {"think", "believe", "like", "want", "feel", "love", "prefer", "hate", "need", "guess", "recommend", "suggest",
     "know", "do", "does", "did", "is", "are", "was", "were", "be", "have", "has", "had", "can", "will", "would",
     "should"}
)  # fmt: skip
_PARTICLES = frozenset({"up", "down", "out", "off", "over"})  # second words of verbs: "turned up"


@dataclass(frozen=True)
class Opening:
    """Word tables that match the first words of a question in turn, and the meaning of these words."""

    tables: tuple[str, ...]
    meaning: dict[str, Any]


@lru_cache(maxsize=1)
def load_question_words() -> Vocabulary:
    """Return the tables of questions.yaml, read once per process."""
    data = read_data("questions.yaml", "BaseLoader")["tables"]
    entries = [(table, phrase, value) for table, said in data.items() for phrase, value in read_table(said)]
    vocabulary = Vocabulary(frozenset(data), frozenset(word for _, phrase, _ in entries for word in phrase))
    for table, phrase, value in entries:
        vocabulary.add(table, phrase, value)
    return vocabulary


@lru_cache(maxsize=1)
def attributes() -> frozenset[str]:
    """Return the attributes that have a name: "the color of"."""
    words = load_question_words()
    found = (words.match("ATTR", phrase.split(), 0) for phrase in words.phrases("ATTR"))
    return frozenset(str(match[1]) for match in found if match is not None)


@lru_cache(maxsize=1)
def load_openings() -> tuple[Opening, ...]:
    """Return the openings of questions.yaml, read once per process."""
    data = read_data("questions.yaml")["openings"]
    return tuple(Opening(tuple(line.split()), meaning) for line, meaning in data.items())


def with_clock_words(text: str) -> str:
    """Return the text with times of day such as "14:30" and "3 pm" as single words."""

    def word(match: re.Match[str]) -> str:
        hours, minutes, seconds, half = match.groups()
        if not minutes and not half:
            return match[0]
        hour, late = int(hours), (half or "").casefold()
        if late.startswith(("a", "p")):
            hour = hour % 12 + (12 if late.startswith("p") else 0)
        if hour > 24 or int(minutes or 0) > 59:
            return match[0]
        return f" clock{hour * 3600 + int(minutes or 0) * 60 + int(seconds or 0)} "

    return _CLOCK.sub(word, text)


def base_form(word: str) -> str:
    """Return the base form of a verb, also of an irregular one."""
    found = IRREGULAR.get(word) or plain_verb(word)
    if found == word and word.endswith("s") and load_wordnet().is_verb(word[:-1]):
        return word[:-1]
    return found


def question_lattice(words: Sequence[str], cut: bool = False) -> Lattice:
    """Return the lattice of a question's words. cut: nouns end before a verb: "the forklift" of "the forklift
    move".
    """
    lattice = lattice_of(words)
    vocabulary = load_question_words()
    for i, options in enumerate(lattice.options):
        for table, (length, value) in vocabulary.matches(words, i).items():
            options[table] = Lexeme(length, value)
        span = _span_at(words, i)
        if span is not None:
            options["SPAN"] = span
        clock = _CLOCK_WORD.fullmatch(words[i])
        if clock is not None:
            options["CLOCK"] = Lexeme(1, float(clock[1]))
        if i and words[i] not in _OF_MIND and words[i] not in _PARTICLES and _is_verb(words[i]):
            options["V"] = Lexeme(1, base_form(words[i]))
        if "NP" in options:
            end = _end_of_noun(words, i, options["NP"].length, cut)
            if end is not None:
                shorter = lattice_of(words[:end]).options[i]
                for name in _NOUNS:
                    options.pop(name, None)
                options.update({name: shorter[name] for name in _NOUNS if name in shorter})
    return lattice


def _is_verb(word: str) -> bool:
    return word.isalpha() and load_wordnet().is_verb(base_form(word))


def _end_of_noun(words: Sequence[str], start: int, length: int, cut: bool) -> int | None:
    """Return the position where a noun phrase ends early: before an auxiliary, "last seen", or with `cut` a
    verb.
    """
    vocabulary = load_question_words()
    for j in range(start + 1, start + length):
        matches = vocabulary.matches(words, j)
        if not matches.keys().isdisjoint(_ENDS_NOUN) or matches.get("SEE", (0,))[0] > 1:
            return j
    for j in range(start + length - 1, start, -1) if cut else ():
        if is_inside_name(words, start, j) or _is_described(words, j):
            continue
        named = not vocabulary.matches(words, j).keys().isdisjoint(_VERBS)
        if (named or _may_be_verb(words[j])) and lattice_of(words[:j]).options[start].get("NP") is not None:
            return j
    return None


def is_inside_name(words: Sequence[str], start: int, i: int) -> bool:
    """Return whether word i belongs to a known name that begins between `start` and i: "can" of "trash can"."""
    return any(known_at(words, k) > i - k for k in range(start, i))


def _is_described(words: Sequence[str], i: int) -> bool:
    """Return whether word i is a known object with an attribute before it: "monitor" of "the white monitor"."""
    lexicon = load_lexicon()
    return lexicon.attribute(words[i - 1]) is not None and lexicon.canonical(words[i]) is not None


def _may_be_verb(word: str) -> bool:
    """Return whether a word is a verb, and neither a plural nor an attribute such as "blue"."""
    if word in _PARTICLES or load_lexicon().attribute(word) is not None or not _is_verb(word):
        return False
    wordnet = load_wordnet()
    if load_lexicon().canonical(word) is not None and not wordnet.is_mostly_verb(word):
        return False  # "box" is mostly a noun
    return not (word.endswith("s") and wordnet.is_noun(word[:-1])) or wordnet.is_mostly_verb(base_form(word))


def _span_at(words: Sequence[str], i: int) -> Lexeme | None:
    """Return the duration at word i in seconds: "2 hours", "half an hour", "a week", or "hour" alone; None if
    none.
    """
    vocabulary = load_question_words()
    start, share = i, 1.0
    while i < len(words) and words[i] in ("about", "around", "roughly", "approximately", "almost"):
        i += 1
    if i < len(words) and words[i] == "half":
        i, share = i + 1, 0.5
    number = number_at(words, i)
    if number is None and i < len(words) and words[i] in ("a", "an", "one"):
        number = (1, 1.0)
    length, value = number or (0, 1.0)
    unit = vocabulary.match("UNIT", words, i + length)
    if unit is None or value < 0.0 or (number is None and len(words[i]) < 3):
        return None
    return Lexeme(i + length + unit[0] - start, value * share * float(unit[1]))
