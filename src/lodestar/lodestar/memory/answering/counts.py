"""Answers to how many."""

from __future__ import annotations

from collections import Counter

from lodestar.language.directive import Step, StepKind
from lodestar.language.item_words import plural, scope_words
from lodestar.language.items import Item
from lodestar.language.sentences import step_sentence
from lodestar.memory.answer import Answer
from lodestar.memory.answering.coverage import Coverage
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.readings import rooms_meant
from lodestar.memory.answering.records import Search
from lodestar.memory.answering.replies import (
    coverage_in_words,
    floor_seen,
    item_or_unknown,
    not_seen,
    place_of,
    proofs_of_things,
    reply,
)
from lodestar.memory.answering.selection import When, find
from lodestar.memory.answering.wording import ago_in_words, place_in_words
from lodestar.models.english import number_in_words


def how_many(inquiry: Inquiry) -> Answer:
    """Return the number of different things that fit, in the rooms of the scope.

    Things that are gone count only in a question about the past, and only where none is left: what was moved is not
    counted twice. The confidence falls with
    things that nearly fit, and with the share of the floor of the scope that was not looked at.
    """
    item = item_or_unknown(inquiry, "how many of what", "name the thing")
    rooms = rooms_meant(inquiry, item)
    if rooms is not None and rooms.ids:
        count = len(rooms.ids)
        sentence = f"I know {number_in_words(count)} {rooms.name if count == 1 else plural(rooms.name)}."
        return reply(inquiry, sentence, 0.7, number=float(count), names=[rooms.name],
                     verified=inquiry.tools.scene.stamp or None)  # fmt: skip
    search = find(inquiry, item, When.KNOWN if inquiry.question.past else When.NOW)
    if search.best is None:
        return _none(inquiry, item, search)
    known = search if inquiry.question.past else search.here()
    return _all_gone(inquiry, item, search) if known.best is None else _counted(inquiry, item, known)


def _counted(inquiry: Inquiry, item: Item, search: Search) -> Answer:
    things = search.things
    where = scope_words(inquiry.question.scope)
    phrase = item.phrase if len(things) == 1 else plural(item.phrase)
    shown = [place_in_words(inquiry, thing.box, thing) for thing in things]
    kinds = Counter(shown).most_common(inquiry.config.listed)
    detail = ", ".join(place if len(things) == 1 else f"{number_in_words(n)} {place}" for place, n in kinds)
    verb = "I know of" if not inquiry.question.past else "I saw"
    sentence = f"{verb} {number_in_words(len(things))} {phrase}{where}: {detail}."
    seen = floor_seen(inquiry, search.rooms)
    if seen is not None:
        sentence += f" {coverage_in_words(inquiry, seen)}"
    accept = inquiry.config.query.accept
    doubt = max(0.0, search.best_miss / accept - 0.5)
    sure = 0.9 * (1.0 - 0.6 * doubt) * (1.0 if seen is None else 0.5 + 0.5 * seen.share)
    return reply(
        inquiry, sentence, sure,
        number=float(len(things)), names=[thing.label for thing in things],
        places=[place_of(inquiry, t.box, t) for t in things[: inquiry.config.places]],
        proof=proofs_of_things(things), verified=min(thing.last for thing in things), coverage=seen,
        directive=_directive(inquiry, item, seen),
    )  # fmt: skip


def _all_gone(inquiry: Inquiry, item: Item, search: Search) -> Answer:
    """Return that none is left of the things that fit: each was seen to be gone."""
    things, where = search.things, scope_words(inquiry.question.scope)
    count, last = len(things), max(thing.last for thing in things)
    were = "was there and is" if count == 1 else "were there and are"
    said = f"{number_in_words(count)} {were} gone, last seen {ago_in_words(last, inquiry.now)}"
    seen = floor_seen(inquiry, search.rooms)
    sure = 0.8 * (1.0 if seen is None else 0.5 + 0.5 * seen.share)
    return reply(
        inquiry, f"I know of no {item.phrase}{where} now: {said}.", sure,
        number=0.0, proof=proofs_of_things(things), coverage=seen, verified=last,
        directive=_directive(inquiry, item, seen),
    )  # fmt: skip


def _none(inquiry: Inquiry, item: Item, search: Search) -> Answer:
    """Return none, with the share of the floor that was looked at as confidence."""
    seen = None if search.no_room else floor_seen(inquiry, search.rooms)
    if seen is None:
        return not_seen(inquiry, item, search)
    where = scope_words(inquiry.question.scope)
    sentence = f"I have seen no {plural(item.phrase)}{where}. {coverage_in_words(inquiry, seen)}"
    return reply(
        inquiry, sentence, seen.share * (1.0 - search.best_miss),
        number=0.0, coverage=seen, verified=seen.last, directive=_directive(inquiry, item, seen),
    )  # fmt: skip


def _directive(inquiry: Inquiry, item: Item, seen: Coverage | None) -> str:
    """Return the directive that counts by looking, where not all of the floor was looked at."""
    if seen is not None and seen.share >= 1.0:
        return ""
    return step_sentence(Step(StepKind.COUNT, item, scope=inquiry.question.scope))
