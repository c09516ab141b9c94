"""Checks of answers that rest on missing detections or on words that were not understood."""

from __future__ import annotations

from lodestar.language.asked_items import plain_item
from lodestar.language.items import Item
from lodestar.language.noun_words import describes, is_place, singular
from lodestar.language.query_graph import QueryGraph
from lodestar.language.question import AnswerType, QuestionKind
from lodestar.memory.answer import Answer
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.readings import held_by_rooms
from lodestar.models.english import listed, with_article
from lodestar.models.kinship import same_kind
from lodestar.models.lexicon import load_lexicon
from lodestar.models.wordnet import load_wordnet
from lodestar.scene.captions import clean_text, shows

_CHOICES = (QuestionKind.WHICH,)  # choice between several objects by a condition


def doubt_of(inquiry: Inquiry, answer: Answer) -> str:
    """Return the reason why an answer must not be given, "" if there is none.

    A number, a yes or no, and a choice are refused if a word was not understood, because it may be the
    condition. The answers 0 and "no" without a place are refused if the robot cannot detect such an object or
    its attributes.
    """
    question, value = inquiry.question, answer.value
    decides = value.type in (AnswerType.NUMBER, AnswerType.YES_NO) or question.kind in _CHOICES
    if question.is_partial and decides:
        return "I did not understand every word of the question"
    if inquiry.item is None:
        return ""
    item = held_by_rooms(inquiry, plain_item(inquiry.item))
    unread = [word for graph in item.best for word in _unread(inquiry, graph)]
    if unread and decides:
        return f"I do not know what is meant by {listed(unread)}"
    if value.number == 0.0 or (value.yes is False and not answer.value.places):
        return _not_looked_for(inquiry, item, denies=value.yes is False)
    return ""


def _unread(inquiry: Inquiry, graph: QueryGraph) -> list[str]:
    """Return the words of an object's name that are neither a known noun nor a descriptive word."""
    phrase = clean_text(graph.target.phrase) or clean_text(graph.target.category)
    lexicon = load_lexicon()
    if not phrase or lexicon.canonical(phrase) or lexicon.room(phrase) or inquiry.rooms_called((phrase,)):
        return []
    words = phrase.split()
    known = lexicon.known_suffix(words)
    last = words[-1:] if not known and not load_wordnet().is_noun(singular(words[-1])) else []
    before = words[: len(words) - max(known, 1)]
    said = _words_for(inquiry, clean_text(graph.target.category))
    odd = [word for word in before if not describes(word) and not _modifies(word) and word not in said]
    return [*odd, *last]


def _modifies(word: str) -> bool:
    """Return whether a word can be the first part of a compound noun.

    "fire" can in "fire extinguisher", "pallets" cannot.
    """
    return singular(word) == word and load_wordnet().is_noun(word)


def _not_looked_for(inquiry: Inquiry, item: Item, denies: bool) -> str:
    """Return the reason why the absence of an item cannot be claimed, "" if it can be."""
    for graph in item.best:
        category = clean_text(graph.target.category)
        noun = denies and load_wordnet().is_noun(category)
        if not noun and not _is_kind(inquiry, category) and not load_lexicon().is_generic(category):
            return f"I do not know {with_article(category)} when I see one"
        looks = [p.value for p in graph.predicates if p.name == "HasAttribute" and p.arguments == (0,)]
        hidden = [look for look in looks if not shows(_looks_of(inquiry, category), look)]
        if hidden:
            return f"I cannot see whether {with_article(category)} is {listed(hidden)}"
    return ""


def _is_kind(inquiry: Inquiry, name: str) -> bool:
    """Return whether the robot knows this kind of object, from its lexicon or because it has seen one."""
    if load_lexicon().canonical(name) is not None or is_place(name):
        return True
    return any(same_kind(clean_text(e.label), name) for e in inquiry.tools.scene.entities.values())


def _words_for(inquiry: Inquiry, category: str) -> frozenset[str]:
    """Return all words in the captions of the known objects of a kind."""
    entities = inquiry.tools.scene.entities.values()
    said = (
        clean_text(e.caption).casefold().split() for e in entities if same_kind(clean_text(e.label), category)
    )
    return frozenset(word for words in said for word in words)


def _looks_of(inquiry: Inquiry, category: str) -> tuple[str, ...]:
    """Return the attributes, such as colours, of all known objects of a kind."""
    entities = inquiry.tools.scene.entities.values()
    return tuple(look for e in entities if same_kind(clean_text(e.label), category) for look in e.attributes)
