"""Doubts about answers that rest on what was not found, or on words that nobody read."""

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

_CHOICES = (QuestionKind.WHICH,)  # of several things, by a condition


def doubt_of(inquiry: Inquiry, answer: Answer) -> str:
    """Return why an answer cannot be given, "" where it can.

    A number, a yes or no and a choice need every word: what is left out may be the condition. A zero needs a kind of
    thing that the robot knows, a "no" that rests on nothing found at least a noun, and both need looks that show.
    """
    question, value = inquiry.question, answer.value
    decides = value.type in (AnswerType.NUMBER, AnswerType.YES_NO) or question.kind in _CHOICES
    if question.is_partial and decides:
        return "I did not understand every word of the question"
    if inquiry.item is None:
        return ""
    item = held_by_rooms(inquiry, plain_item(inquiry.item, question.asked))
    unread = [word for graph in item.best for word in _unread(inquiry, graph)]
    if unread and decides:
        return f"I do not know what is meant by {listed(unread)}"
    if value.number == 0.0 or (value.yes is False and not answer.value.places):
        return _not_looked_for(inquiry, item, denies=value.yes is False)
    return ""


def _unread(inquiry: Inquiry, graph: QueryGraph) -> list[str]:
    """Return the words in the name of a thing that name nothing and say nothing of its looks."""
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
    """Whether a word may stand before a noun as a part of its name: "fire extinguisher", not "pallets can"."""
    return singular(word) == word and load_wordnet().is_noun(word)


def _not_looked_for(inquiry: Inquiry, item: Item, denies: bool) -> str:
    """Return why nobody can say that there is none of it, "" where it can be said."""
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
    """Whether the robot knows such things: by its lexicon, or because it has seen one."""
    if load_lexicon().canonical(name) is not None or is_place(name):
        return True
    return any(same_kind(clean_text(e.label), name) for e in inquiry.tools.scene.entities.values())


def _words_for(inquiry: Inquiry, category: str) -> frozenset[str]:
    """Return every word of the captions of a kind's things."""
    entities = inquiry.tools.scene.entities.values()
    said = (
        clean_text(e.caption).casefold().split() for e in entities if same_kind(clean_text(e.label), category)
    )
    return frozenset(word for words in said for word in words)


def _looks_of(inquiry: Inquiry, category: str) -> tuple[str, ...]:
    """Return every attribute that things of a kind were seen to have."""
    entities = inquiry.tools.scene.entities.values()
    return tuple(look for e in entities if same_kind(clean_text(e.label), category) for look in e.attributes)
