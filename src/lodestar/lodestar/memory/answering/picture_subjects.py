"""Objects of the map that a question is about; pictures of them are shown to the model first."""

from __future__ import annotations

from itertools import chain, zip_longest

from lodestar.language.asked_items import plain_item
from lodestar.language.items import Item
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.selection import When, find
from lodestar.models.lexicon import load_lexicon

_MEANT = 4  # most objects per noun, the likeliest; chosen: with two views each they fill the pictures


def meant_things(inquiry: Inquiry) -> list[int]:
    """Return the ids of the objects that the question is about, the likeliest first. Raises MissingPhrases.

    If no object fits, or the question asks for contents ("what is on the desk"), they are the neighbours that
    it names.
    """
    item = inquiry.item
    if item is None:
        return []
    item = plain_item(item)
    generic = load_lexicon().is_generic
    named = [] if all(generic(graph.target.category) for graph in item.best) else _ids(inquiry, item)
    if named:
        return named
    beside = [
        graph.arranged(range(1, len(graph.variables))) for graph in item.best if len(graph.variables) > 1
    ]
    found = [_ids(inquiry, Item(((graph,),))) for graph in (*beside, *item.neighbor_graphs)]
    return list(dict.fromkeys(i for i in chain(*zip_longest(*found)) if i is not None))


def _ids(inquiry: Inquiry, item: Item) -> list[int]:
    things = find(inquiry, item, When.KNOWN, loosely=True).things
    return [thing.id for thing in things if thing.entity is not None][:_MEANT]
