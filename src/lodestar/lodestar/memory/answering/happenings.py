"""Answers about events, the robot's actions and reasons, and statements by people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from lodestar.language.items import Item
from lodestar.language.question import AnswerType
from lodestar.memory.answer import Answer, AnswerPlace
from lodestar.memory.answering.config import ANSWERING_GAP, ANSWERING_LISTED
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.readings import rooms_meant, rooms_named
from lodestar.memory.answering.records import name_in_words
from lodestar.memory.answering.replies import (
    coverage_in_words,
    floor_seen,
    proofs_of_memories,
    quoted,
    reply,
    unknown,
)
from lodestar.memory.answering.selection import When, find
from lodestar.memory.answering.subjects import Meant, shown_memories
from lodestar.memory.answering.tools import unit_rows
from lodestar.memory.answering.wording import CHANGED, ago_in_words, metres_in_words
from lodestar.memory.records import CHANGES, EventKind, Memory, Source
from lodestar.memory.requests import Request
from lodestar.models.english import duration_in_words, listed, the
from lodestar.scene.captions import clean_text

_ALIKE = 0.55  # least cosine between a question and an operator's statement on the same subject; chosen


def what_happened_to(it: Meant) -> Answer:
    """Return an answer with an object's changes that were noticed in the window."""
    return _what_happened(it.inquiry, it.inquiry.chronicle.changes(it.best.id), f" to {it.the}")


def what_happened(inquiry: Inquiry) -> Answer:
    """Return an answer with changes in the rooms named (or anywhere) and statements by operators."""
    question, told = inquiry.question, list[Memory]()
    if question.answer is AnswerType.TEXT and not question.scope:
        kinds = frozenset({EventKind.TOLD, EventKind.DIRECTIVE})
        told = inquiry.memories(Request(kinds=kinds, window=inquiry.window, limit=ANSWERING_LISTED))
    return _what_happened(inquiry, [*changes_there(inquiry), *_told_once(told)])


def _what_happened(inquiry: Inquiry, changes: Sequence[Memory], about: str = "") -> Answer:
    found = sorted(changes, key=lambda memory: memory.start)[-ANSWERING_LISTED:]
    denies = inquiry.question.answer is AnswerType.YES_NO
    if not found:
        labels = inquiry.question.scope.labels
        seen = floor_seen(inquiry, rooms_named(inquiry, labels).ids if labels else None)
        if seen is None:
            return unknown(inquiry, f"I noticed nothing that happened{about}")
        sentence = f"I noticed nothing that happened{about}. {coverage_in_words(inquiry, seen)}"
        return reply(inquiry, sentence, seen.share, yes=False if denies else None, coverage=seen)
    said = "; ".join(event_in_words(inquiry, memory) for memory in found)
    return reply(
        inquiry, f"{'Yes: ' if denies else ''}{said}.", 0.9,
        yes=True if denies else None, names=[_name(m) for m in found if m.event in CHANGES],
        **shown_memories(found[::-1]),
    )  # fmt: skip


def changes_there(inquiry: Inquiry) -> list[Memory]:
    """Return the changes in the rooms that the question names (none: anywhere), oldest first."""
    found = inquiry.chronicle.events(CHANGES)
    labels = inquiry.question.scope.labels
    meant = rooms_meant(inquiry, inquiry.question.item)
    if not labels and meant is None:
        return found
    rooms = rooms_named(inquiry, labels).ids if labels else (meant.ids if meant is not None else frozenset())
    return [m for m in found if rooms & set(regions_of(inquiry, m))]


def regions_of(inquiry: Inquiry, memory: Memory) -> list[int]:
    """Return the region ids of a change: of the object's place before a move, and of its present place."""
    places = [memory.place_of("from"), *(p.centre for p in memory.primitives[:1])]
    return [inquiry.region_at(place) for place in places if place is not None]


def event_in_words(inquiry: Inquiry, memory: Memory) -> str:
    """Return the event in words: "the red mug moved 2.1 m 8 minutes ago"; untrusted texts are quoted."""
    when = ago_in_words(memory.end, inquiry.now)
    if memory.event in CHANGED:
        return f"{the(_name(memory))} {CHANGED[memory.event]} {when}"
    if memory.event is EventKind.TOLD or memory.source is Source.OPERATOR:
        return f"somebody told me {quoted(inquiry, memory.text)} {when}"
    if memory.event is EventKind.DIRECTIVE:
        return _directive_in_words(inquiry, memory)
    return f"I noted {quoted(inquiry, memory.text)} {when}"


def _directive_in_words(inquiry: Inquiry, memory: Memory) -> str:
    said = quoted(inquiry, memory.facts.get("directive") or memory.facts.get("understood") or memory.text)
    when = ago_in_words(memory.end, inquiry.now)
    if memory.facts.get("phase") != "ended":
        return f"I was told {said} {when}"
    outcome = clean_text(memory.facts.get("outcome", "")) or "ended"
    reason = memory.facts.get("reason", "")
    why = f" ({quoted(inquiry, reason)})" if reason else ""
    took = duration_in_words(memory.end - memory.start)
    return f"I was told {said}; it {outcome} after {took}, {when}{why}"


def _name(memory: Memory) -> str:
    return name_in_words(memory.facts.get("name", ""), memory.facts.get("label", ""))


def _told_once(found: Sequence[Memory]) -> list[Memory]:
    """Return the memories; the beginning of a directive is left out if its end is among them."""
    ended = [m for m in found if m.facts.get("phase") == "ended"]
    return [
        m for m in found if m.facts.get("phase") != "begun" or not any(_is_begin(m, end) for end in ended)
    ]


def _is_begin(begun: Memory, ended: Memory) -> bool:
    return begun.facts.get("directive") == ended.facts.get("directive") and begun.start <= ended.end


def what_done(inquiry: Inquiry) -> Answer:
    """Return an answer with the directives of the window and their outcomes, and the robot's route and its length."""
    found = _directives(inquiry)
    known = inquiry.chronicle.segments
    if not found and not known:
        return unknown(inquiry, "I remember nothing of that time")
    parts = [_directive_in_words(inquiry, memory) for memory in found[-ANSWERING_LISTED:]]
    if len(known) > 1:
        rooms = list(dict.fromkeys(filter(None, (inquiry.room_at(m.position) for m in known))))
        through = listed([the(room) for room in rooms[:ANSWERING_LISTED]])
        went = f"I went about {metres_in_words(inquiry.chronicle.driven)}"
        parts.append(f"{went} through {through}" if rooms else went)
    elif known and not parts:
        parts.append(f"I stood and looked: {quoted(inquiry, known[0].text)}")
    shown = shown_memories(found[::-1] or known[-1:])
    if found:
        shown["proof"] += proofs_of_memories(known[-1:])
    else:
        shown["times"] = [(known[0].start, known[-1].end)]
    return reply(inquiry, f"{'; '.join(parts)}.", 0.9 if found else 0.7, **shown)


def _directives(inquiry: Inquiry) -> list[Memory]:
    """Return the directives that ended, oldest first, and then one that is still running."""
    found = _told_once(inquiry.chronicle.events((EventKind.DIRECTIVE,)))
    ended = [m for m in found if m.facts.get("phase") == "ended"]
    return ended + [m for m in found[-1:] if m.facts.get("phase") != "ended"]


def why(inquiry: Inquiry) -> Answer:
    """Return an answer that explains the last decision in the window, or the last about a named object."""
    found = inquiry.chronicle.events((EventKind.DECISION,))[::-1]
    item = inquiry.question.item
    if item is not None and item.alternatives and found:
        found = _about(inquiry, item, found)
    if not found:
        return unknown(inquiry, "I remember no decision that this is about")
    facts, when = found[0].facts, ago_in_words(found[0].start, inquiry.now)
    reason = quoted(inquiry, facts.get("explanation", "") or found[0].text)
    directive = facts.get("directive", "")
    told = f" I was told {quoted(inquiry, directive)}." if directive else ""
    sure, goal = 0.9 if inquiry.window is not None or item is None else 0.7, found[0].place_of("goal")
    places = [] if goal is None else [AnswerPlace(goal)]
    sentence = f"Because {reason}, as I decided {when}.{told}"
    return reply(inquiry, sentence, sure, places=places, **shown_memories(found[:1]))


def _about(inquiry: Inquiry, item: Item, found: Sequence[Memory]) -> list[Memory]:
    """Return the decisions that involve the item, or were made in or for the room that it names."""
    rooms = rooms_meant(inquiry, item)
    if rooms is not None:
        return [
            m for m in found
            if inquiry.region_at(m.position) in rooms.ids
            or ((goal := m.place_of("goal")) is not None and inquiry.region_at(goal) in rooms.ids)
        ]  # fmt: skip
    words = {word for graph in item.best for word in graph.target.phrase.casefold().split()}
    things = {t.id for t in find(inquiry, item, When.PAST).things}
    resolve = inquiry.tools.scene.resolve
    return [
        m for m in found
        if things & {resolve(i) for i in m.entity_ids}
        or words <= set(clean_text(m.facts.get("directive", "")).casefold().split())
    ]  # fmt: skip


def happened_where(inquiry: Inquiry) -> Answer:
    """Return an answer with the place of an action of the robot, such as its last stop in the window."""
    act = inquiry.question.act
    rule = _DEEDS.get(act.verb if act is not None and act.own else "")
    if rule is None:
        return unknown(inquiry, "I keep no record of that")
    found = rule(inquiry)
    if not found:
        return unknown(inquiry, "I remember nothing like that")
    memory = found[0] if inquiry.asks_first else found[-1]
    x, y, z = (float(value) for value in memory.position)
    places = [AnswerPlace(np.array([x, y, z]))]
    sentence = f"At ({x:.1f}, {y:.1f}), {ago_in_words(memory.end, inquiry.now)}."
    return reply(inquiry, sentence, 0.8, places=places, **shown_memories([memory]))


def _halts(inquiry: Inquiry) -> list[Memory]:
    """Return the segments in which the robot came to a stop."""
    known, found = inquiry.chronicle.segments, list[Memory]()
    for before, memory in pairwise(known):
        moved = float(np.linalg.norm(memory.position[:2] - before.position[:2]))
        if moved < 0.1 and (not found or memory.start - found[-1].end > ANSWERING_GAP):
            found.append(memory)
    return found


def _starts(inquiry: Inquiry) -> list[Memory]:
    return inquiry.chronicle.segments[:1]


_DEEDS: dict[str, Callable[[Inquiry], list[Memory]]] = {"stop": _halts, "stay": _halts, "start": _starts}


def as_told(inquiry: Inquiry) -> Answer | None:
    """Return an answer that quotes an operator's statement on the question's objects; None = no statement.

    The statement is not verified, so the answer has the sentence and no value.
    """
    phrases = inquiry.cues[:1]
    if not phrases:
        return None
    request = Request(
        phrases=phrases,
        vectors=unit_rows(inquiry.tools, phrases),
        window=inquiry.window,
        sources=frozenset({Source.OPERATOR}),
        limit=1,
    )
    hits = [hit for hit in inquiry.tools.memories.search(request) if hit.score >= _ALIKE]
    if not hits:
        return None
    memory = hits[0].memory
    sentence = f"I have not seen it myself. Somebody told me {ago_in_words(memory.start, inquiry.now)}: "
    sentence += f"{quoted(inquiry, memory.text)}."
    return reply(
        inquiry, sentence, 0.5 * hits[0].score,
        proof=proofs_of_memories((memory,), hits[0].score), verified=memory.start,
    )  # fmt: skip
