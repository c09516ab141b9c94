"""Answers to where a thing belongs: its first place, else the place of most of its kind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lodestar.language.items import Item
from lodestar.memory.answer import Answer
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.records import Search, Thing
from lodestar.memory.answering.replies import (
    place_of,
    proofs_of_newest,
    proofs_of_things,
    reply,
    thing_confidence,
    thing_or_unseen,
    unknown,
)
from lodestar.memory.answering.selection import When, find
from lodestar.memory.answering.wording import ago_in_words, place_in_words, support_of
from lodestar.models.english import number_in_words, the
from lodestar.scene.captions import clean_text


@dataclass(frozen=True)
class _Group:
    """Things of a kind that stand together, and the place that they share."""

    words: str
    things: tuple[Thing, ...]


def place_where_it_goes(inquiry: Inquiry, item: Item | None) -> Answer:
    """Return the first place of a thing that was moved, else the place where most things of its kind stand.

    The thing itself, where it is known which it is, does not count among its kind.
    """
    if item is None or not item.alternatives:
        return unknown(inquiry, "I do not know which thing is meant; name it or send a picture of it")
    search = find(inquiry, item, When.PAST)
    if search.best is None:
        search = find(inquiry, _by_kind(item), When.PAST)
    thing_or_unseen(inquiry, item, search)
    moved = _first_place(inquiry, search)
    if moved is not None:
        return moved
    shown = 0 if inquiry.shown is None else inquiry.shown.entity_id
    kin = [t for t in search.things if t.id != shown and not t.is_gone] or list(search.things)
    group = _largest(inquiry, kin)
    best = _middle(group.things)
    share = len(group.things) / len(kin)
    count = number_in_words(len(group.things))
    many = f"{count} of {len(kin)} like it are" if len(kin) > 1 else "the one that I know is"
    sentence = f"It goes {group.words}: {many} there."
    sure = thing_confidence(inquiry, Search((best,)), best) * (0.5 + 0.5 * share)
    return reply(
        inquiry, sentence, sure,
        places=[place_of(inquiry, best.box, best)],
        names=[inquiry.room_name(inquiry.region_at(best.box.centre))],
        proof=proofs_of_things(group.things[: inquiry.config.places]),
        verified=max(thing.last for thing in group.things),
    )  # fmt: skip


def _by_kind(item: Item) -> Item:
    """Return the item by its kind alone, without looks and neighbours."""
    return Item(tuple((readings[0].of_variable(0),) for readings in item.alternatives))


def _first_place(inquiry: Inquiry, search: Search) -> Answer | None:
    """Return where the one thing that is meant was before it was moved; None where it is one of several or stayed."""
    if len([t for t in search.things if not t.is_gone]) > 1 or search.best is None:
        return None
    history = inquiry.chronicle.history(search.best)
    if len(history.stays) < 2:
        return None
    first = history.stays[0]
    words = place_in_words(inquiry, first.box, history.thing)
    sentence = (
        f"{the(history.thing.name)} was {words} at first, until {ago_in_words(first.last, inquiry.now)}; "
        "it was moved since, so it goes there."
    )
    sure = thing_confidence(inquiry, search, search.best)
    sure *= inquiry.config.confidence.inferred if history.inferred else 1.0
    proof = proofs_of_newest(first.sightings) + proofs_of_things((search.best,))
    return reply(
        inquiry, sentence, sure,
        places=[place_of(inquiry, first.box)],
        names=[inquiry.room_name(inquiry.region_at(first.box.centre))],
        proof=proof, verified=first.last, times=[(first.first, first.last)],
    )  # fmt: skip


def _largest(inquiry: Inquiry, things: Sequence[Thing]) -> _Group:
    """Return the largest group: on one support, else near each other."""
    groups: dict[str, list[Thing]] = defaultdict(list)
    names: dict[str, str] = {}
    for thing in sorted(things, key=lambda t: t.id):
        support = support_of(inquiry, thing.box, thing)
        key = f"on {support.id}" if support is not None else _near(inquiry, thing, groups)
        names.setdefault(key, place_in_words(inquiry, thing.box, thing))
        groups[key].append(thing)
    best = max(groups, key=lambda key: (len(groups[key]), key.startswith("on "), clean_text(names[key])))
    return _Group(names[best], tuple(groups[best]))


def _near(inquiry: Inquiry, thing: Thing, groups: dict[str, list[Thing]]) -> str:
    for key, members in groups.items():
        gaps = [m.box.away(thing.box.centre) for m in members]
        if not key.startswith("on ") and min(gaps) <= inquiry.config.alike:
            return key
    return f"near {thing.id}"


def _middle(things: Sequence[Thing]) -> Thing:
    """Return the thing nearest to the middle of all."""
    middle = np.mean([thing.box.centre for thing in things], axis=0)
    return min(things, key=lambda t: (float(np.linalg.norm(t.box.centre - middle)), t.id))
