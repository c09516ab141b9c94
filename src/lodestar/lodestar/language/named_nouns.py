"""Nouns of a question that no rule reads: objects, rooms and supports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from lodestar.language.chart import read_data
from lodestar.language.lattice import is_open, known_at, number_at
from lodestar.language.noun_words import describes, is_place, noun_words, singular
from lodestar.language.question_words import load_question_words
from lodestar.language.sentence_tokens import COMMA, QUESTION, STOP
from lodestar.language.spelling import is_known
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.lexicon import load_lexicon
from lodestar.models.wordnet import load_wordnet

_MARKS = frozenset({COMMA, STOP, QUESTION})
_ASKING = frozenset({"what", "which", "whatever", "whichever"})  # determiners of nouns asked for
_SOME = frozenset({"a", "an", "any", "some", "another"})
_BEFORE_VERBS = frozenset({"that", "which", "who", "it", "room"})
_LINKS = ("REL", "WITH", "WITHOUT", "OF", "CLOSE")  # tables of words before a describing noun
_LONGEST_LINK = 4  # words of a link
# Words before and after the name of a room that no dictionary has.
_INTO = frozenset(
    {"in", "inside", "into", "within", "from", "enter", "entered", "leave", "left", "exit", "exited", "visit",
     "visited", "reach", "reached", "explore", "explored"}
)  # fmt: skip
_HOLDS = frozenset({"has", "have", "had", "contain", "contains", "contained", "lack", "lacks"})
_LONGEST_NAME = 3  # words of a place that no dictionary has


@dataclass(frozen=True)
class NamedNoun:
    """A noun of a question, at words [begin, end). text: without its determiner, with the nouns that describe
    it.

    link: words that tie the noun to the noun before it, or that mark it as a support ("on").
    """

    begin: int
    end: int
    text: str
    is_room: bool = False
    is_plural: bool = False
    is_any: bool = False  # "a mug", not "the mug"
    is_support: bool = False  # another object is on it
    link: str = ""


@lru_cache(maxsize=1)
def frame_words() -> frozenset[str]:
    """Return the words that form a question and name no object, such as question words and auxiliaries."""
    tables = read_data("likely_questions.yaml")["frame"]
    return frozenset(word for words in tables.values() for word in words)


@lru_cache(maxsize=1)
def _ends() -> frozenset[str]:
    return frozenset(read_data("likely_questions.yaml")["ends_noun"])


def nouns_of(words: Sequence[str]) -> list[NamedNoun]:
    """Return the nouns of a question in order. A noun includes the nouns that describe it: "the chair near
    the door".
    """
    found: list[NamedNoun] = []
    i = 0
    while i < len(words):
        shown = load_question_words().match("THIS", words, i)
        if shown is not None and shown[0] > 1:  # "this one" names nothing
            i += shown[0]
            continue
        noun = None if words[i] in _MARKS else _noun_at(words, i) or _place_at(words, i)
        if noun is None:
            i += 1
            continue
        noun = _linked(words, noun, found)
        last = found[-1] if found else None
        describes_last = noun.link and not noun.is_room and not noun.is_support
        if last is not None and describes_last and last.end + len(noun.link.split()) == noun.begin:
            found[-1] = replace(last, end=noun.end, text=f"{last.text} {noun.link} the {noun.text}")
        else:
            found.append(noun)
        i = noun.end
    return found


def _linked(words: Sequence[str], noun: NamedNoun, before: Sequence[NamedNoun]) -> NamedNoun:
    """Return the noun with the words that link it to the noun before."""
    vocabulary = load_vocabulary()
    for start in range(max(0, noun.begin - _LONGEST_LINK), noun.begin):
        for table in _LINKS:
            match = vocabulary.match(table, words, start)
            if match is None or start + match[0] != noun.begin:
                continue
            is_support = table == "REL" and match[1] == "On" and not noun.is_room
            follows = bool(before) and before[-1].end == start
            link = " ".join(words[start : noun.begin])
            return replace(
                noun, is_support=is_support, link=link if follows or is_support or noun.is_room else ""
            )
    return noun


def _noun_at(words: Sequence[str], start: int) -> NamedNoun | None:
    """Return the noun that begins at `start` with its determiner or its first word, or None."""
    vocabulary = load_vocabulary()
    i, said = start, ""
    determiner = vocabulary.match("DET", words, i)
    if determiner is not None and not known_at(words, start) > 1:
        said = words[i]
        if said in _ASKING:
            return None
        i += determiner[0]
    elif words[start] in _ends() or load_question_words().is_in("MODAL", words[start]):
        return None  # "can" and "holds" begin no noun
    number = number_at(words, i) if i < len(words) else None
    if number is not None:
        i += number[0]
    end = last = _end_of(words, i)
    while end > i and not _is_head(words[i:end]):
        end -= 1
    if end == i:
        return None
    named = noun_words(words[i:end])
    place = is_place(named.noun) or is_place(named.head)
    known = load_lexicon().known_suffix(list(words[i:end])) or place
    if last < len(words) and words[last] in frame_words() and not known:
        return None  # "location" of "the original location" is a frame word
    if not said and number is None:
        if not named.is_plural and (not known or (end == start + 1 and load_wordnet().is_verb(words[start]))):
            return None  # "time", "throw": probably verbs or frame words
        if start and words[start - 1] in _BEFORE_VERBS and load_wordnet().is_verb(singular(words[start])):
            return None  # "leads" is a verb in "the way that leads to"
    return NamedNoun(start, end, " ".join(words[i:end]), place, named.is_plural, said in _SOME)


def _place_at(words: Sequence[str], start: int) -> NamedNoun | None:
    """Return the unknown place after "in the" or before "has": "open plan"; None if there is none."""
    if words[start] != "the" or not start:
        return None
    end = start + 1
    while (
        end < len(words) and end - start <= _LONGEST_NAME and words[end] not in _MARKS and is_open(words, end)
    ):
        if words[end] in _ends() or words[end] in frame_words():
            break
        end += 1
    named = words[start + 1 : end]
    holds = end < len(words) and words[end] in _HOLDS
    if not named or not (holds or words[start - 1] in _INTO):
        return None
    return NamedNoun(start, end, " ".join(named), is_room=True)


def _end_of(words: Sequence[str], start: int) -> int:
    i = start
    while i < len(words) and words[i] not in _MARKS:
        known = known_at(words, i)
        if known > 1 and not (set(words[i : i + known]) & _ends() and i > start):
            i += known
            continue
        if not is_open(words, i) or (i > start and words[i] in _ends()) or not _may_name(words, start, i):
            break
        i += 1
    return i


def _may_name(words: Sequence[str], start: int, i: int) -> bool:
    """Return whether word i may belong to the noun phrase that begins at word `start`."""
    word = words[i]
    wordnet, lexicon = load_wordnet(), load_lexicon()
    if word in frame_words():
        before = " ".join(words[start:i])
        if i == start or describes(words[i - 1]) or not is_place(f"{before} {word}"):
            return False
        return not is_place(before) or (i == start + 1 and load_vocabulary().is_in("PLACE_NOUNS", word))
    if describes(word) or lexicon.canonical(word) is not None or lexicon.room(word) is not None:
        return True
    if i > start and wordnet.is_mostly_verb(word) and not word.endswith("ing"):
        return False
    return (
        wordnet.is_noun(singular(word)) or not is_known(word) or (i + 1 < len(words) and word.endswith("ing"))
    )


def _is_head(words: Sequence[str]) -> bool:
    """Return whether the words end with the name of an object or a place."""
    last = words[-1]
    if last in frame_words() and not is_place(" ".join(words)):
        return False
    lexicon = load_lexicon()
    if lexicon.known_suffix(list(words)) or is_place(" ".join(words)):
        return len(words) > 1 or last not in frame_words()
    if describes(last):
        return False
    return load_wordnet().is_noun(singular(last)) or not is_known(last)
