"""Readings of all words that hardly mean what was asked: "which object with a been inside it is there"."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from lodestar.language.items import is_open
from lodestar.language.named_nouns import frame_words
from lodestar.language.noun_words import describes, is_place, singular
from lodestar.language.query_graph import QueryGraph
from lodestar.language.question import Question, QuestionKind
from lodestar.language.question_words import attributes, load_question_words
from lodestar.language.spelling import is_known
from lodestar.language.time_windows import TimeWindow
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.lexicon import load_lexicon
from lodestar.models.wordnet import load_wordnet

_AFTER_VERBS = frozenset({"in", "at", "on", "to", "out", "up", "off", "away"})


def is_doubtful(question: Question) -> bool:
    """Whether a thing that the question names is none, or nothing that it asks for is noticed by a robot."""
    if question.act is not None and question.act.verb not in _deeds():
        return True
    kind, attribute = question.kind, question.attribute
    if kind is QuestionKind.HOW_LONG and question.act is not None and question.act.verb == "pass":
        return True  # "how much time did you pass in the kitchen"
    if kind is QuestionKind.ATTRIBUTE and not question.image and attribute not in attributes() - {"kind"}:
        return True  # "what does the office lack", "what is the meeting room"
    if kind is QuestionKind.WHICH and question.item is not None and is_open(question.item):
        return True  # "which object"
    if any(p.name == "HasAttribute" and not _is_state(p.value) for p in question.asked):
        return True
    items = [item for item in (question.item, question.other) if item is not None]
    return any(_is_odd(graph) for item in items for graph in item.best)


def is_of_future(words: Sequence[str]) -> bool:
    """Whether the words ask for what is yet to come, which no memory tells; "will you?" is a courtesy."""
    following = zip(words, [*words[1:], ""])
    return "tomorrow" in words or any(word == "will" and after != "you" for word, after in following)


def is_plain_time(window: TimeWindow) -> bool:
    """Whether every event of a window is one that the robot notices or does."""
    acts = [event.act for event in window.events]
    return all(act is not None and act.verb in _deeds() for act in acts)


@lru_cache(maxsize=1)
def _deeds() -> frozenset[str]:
    words = load_question_words()
    tables = ("ACT", "HAPPEN", "CHANGED_BY")
    found = (words.match(table, phrase.split(), 0) for table in tables for phrase in words.phrases(table))
    return frozenset(str(match[1]) for match in found if match is not None)


def _is_odd(graph: QueryGraph) -> bool:
    if any(_is_no_thing(variable.category) for variable in graph.variables):
        return True
    looks = (p.value.split() for p in graph.predicates if p.name == "HasAttribute")
    return any(_is_no_look(words) for words in looks if words)


def _is_state(said: str) -> bool:
    words = said.split()
    return bool(words) and (describes(words[0]) or load_vocabulary().is_in("STATE", *words))


def _is_no_thing(name: str) -> bool:
    words, lexicon = name.split(), load_lexicon()
    if not words or lexicon.is_generic(name) or lexicon.known_suffix(words) or is_place(name):
        return False
    last = words[-1]
    if any(singular(word) != word and lexicon.canonical(word) for word in words[:-1]):
        return True  # "chairs stands"
    return last in frame_words() or (is_known(last) and not load_wordnet().is_noun(singular(last)))


def _is_no_look(words: Sequence[str]) -> bool:
    """Whether it is a word of how one asks, or what the thing did: "stayed in", "happened"."""
    if describes(words[0]):
        return False
    return words[0] in frame_words() or (
        len(words) > 1 and words[0].endswith("ed") and words[-1] in _AFTER_VERBS
    )
