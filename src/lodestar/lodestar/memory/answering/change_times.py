"""Times at which a thing was moved, went or came."""

from __future__ import annotations

from dataclasses import replace

from lodestar.language.question import Occurrence
from lodestar.memory.answer import Answer
from lodestar.memory.answering.happenings import KIND_OF_ACT
from lodestar.memory.answering.histories import History
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.item_search import Search
from lodestar.memory.answering.replies import (
    place_of,
    proofs_of_memories,
    proofs_of_things,
    reply,
    thing_confidence,
    unknown,
)
from lodestar.memory.answering.wording import ago_in_words, place_in_words
from lodestar.memory.records import EventKind, Memory
from lodestar.models.english import the

DONE = {EventKind.MOVED: "was moved", EventKind.VANISHED: "was gone", EventKind.APPEARED: "appeared"}


def when_changed(inquiry: Inquiry, search: Search, history: History) -> Answer:
    """Return when a thing moved, went or came: the time of the event, else between the sightings that show it. Where it
    is known to have changed in another way that people may call so, that time, with less confidence.
    """
    act, thing = inquiry.question.act, search.best
    assert act is not None and thing is not None
    kind = KIND_OF_ACT.get(act.verb)
    if kind is None:
        return unknown(inquiry, f"I keep no record of when things {act.verb}")
    sure = thing_confidence(inquiry, search, thing)
    name, proof = the(history.thing.name), proofs_of_things(inquiry, (thing,))
    noticed = history.noticed_as(kind)
    if noticed is None:
        return reply(
            inquiry, f"I have not noticed that {name} {DONE[kind]}; I saw it last "
            f"{ago_in_words(history.stays[-1].last, inquiry.now)}, "
            f"{place_in_words(inquiry, history.stays[-1].box, history.thing)}.",
            0.0, proof=proof, verified=history.stays[-1].last,
        )  # fmt: skip
    found = [m for m in history.changes if m.event is noticed]
    span = history.span_of_change(noticed)
    if found:
        event = found[0] if inquiry.question.occurrence is Occurrence.FIRST else found[-1]
        begin = event.start if noticed is EventKind.APPEARED else _last_before(history, event)
        times = [(begin, event.start)]
        proof = proofs_of_memories(inquiry, (event,)) + proof
    else:
        assert span is not None
        times, sure = [span], sure * inquiry.config.confidence.inferred
    if noticed is not kind:
        sure *= inquiry.config.confidence.inferred
    begin, end = times[0]
    between = (
        f"between {ago_in_words(begin, inquiry.now)} and {ago_in_words(end, inquiry.now)}"
        if end - begin > inquiry.config.gap
        else ago_in_words(end, inquiry.now)
    )
    return reply(
        inquiry, f"{name} {DONE[noticed]} {between}.", sure,
        times=times, places=[place_of(inquiry, history.stays[-1].box)], proof=proof, verified=end,
    )  # fmt: skip


def since_change(inquiry: Inquiry, changed: Answer) -> Answer:
    """Return the answer to when a thing changed with the seconds since then as its number."""
    if not changed.value.times:
        return changed
    since = max(0.0, inquiry.now - sum(changed.value.times[0]) / 2.0)
    return replace(changed, value=replace(changed.value, number=since))


def _last_before(history: History, event: Memory) -> float:
    """Return when the thing was last seen before a change, where that is known to be before it."""
    ends = [s.memory.end for stay in history.stays for s in stay.sightings if s.memory.end <= event.start]
    known = [stay.last for stay in history.stays if stay.last <= event.start]
    if event.event is EventKind.MOVED and len(history.stays) > 1:
        return min(history.stays[-2].last, event.start)
    return max((*ends, *known), default=event.start)
