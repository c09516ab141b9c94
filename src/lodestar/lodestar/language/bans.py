"""Conversion of clauses that forbid something into constraints."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lodestar.language.clause_words import plain_verb
from lodestar.language.clauses import Clause
from lodestar.language.directive import CannotObey, ConstraintKind, NotUnderstood
from lodestar.language.directive_draft import Draft
from lodestar.language.phrase_graphs import generic
from lodestar.language.phrase_items import barred_things, colors_apart, scope_of
from lodestar.language.phrase_meanings import phrase_of, things_of
from lodestar.language.phrases import Phrase, Relation, Things

_TOUCHING = frozenset({"touch", "hit", "bump", "run", "knock", "push", "move", "disturb", "damage"})


def forbid(draft: Draft, clause: Clause, meaning: dict[str, Any]) -> None:
    """Add the constraints of a forbidding clause, such as "do not enter the kitchen", to the draft.

    Raises NotUnderstood, and CannotObey for a ban on leaving a room, which the robot cannot enforce.
    """
    metres = meaning.get("metres")
    verb = str(meaning.get("verb", "")).split(" ")[0]
    if meaning.get("between"):
        stops = [phrase_of(one) for one in meaning["between"].get("all", ())]
        meaning = {**meaning, "thing": {"value": stops[-1].noun}}
    if meaning.get("home"):
        draft.constraints.append((ConstraintKind.KEEP_AWAY, Things((generic("home"),)), metres))
        return
    if meaning.get("thing") is None:
        if metres is not None and draft.constraints:
            kind, things, _ = draft.constraints[-1]
            draft.constraints[-1] = (kind, things, metres)
            return
        raise NotUnderstood(f'"{clause.text}" does not say from what; name the thing to keep away from')
    if meaning.get("rooms") and not all(phrase.is_place for phrase in things_of(meaning["thing"]).phrases):
        raise NotUnderstood(
            f'it is not clear from what "{clause.text}" is left out; say both in one sentence'
        )
    named, draft.named = draft.named, draft.barred or draft.named
    things = draft.things(meaning["thing"])
    if named is not None and named.is_place:  # rooms take the noun of "the red room, avoiding blue"
        rooms = (p.with_noun(named.noun) if p.adjectives_only and p.noun.words else p for p in things.phrases)
        things = replace(things, phrases=tuple(rooms))
    draft.barred, draft.named = draft.named, named or draft.named
    if verb in ("leave", "leaving", "exit", "exiting"):
        scope = scope_of(generic().with_relations([Relation("Inside", things.phrases)]))
        if scope.rooms:
            room = things.phrases[-1].head
            raise CannotObey(
                f'"{clause.text}" cannot be obeyed: nothing here keeps the robot inside a room; name the rooms that it '
                f'must not enter, or say where to search: "find the mug in the {room}"'
            )
        draft.scope = scope
        draft.obeyed.append(clause.text)
        return
    for phrase in (one for said in things.phrases for one in colors_apart(said)):
        anything = phrase.noun.is_anything and not phrase.noun.adjectives and not phrase.relations
        if anything and not phrase.rooms and (meaning.get("done") or plain_verb(verb) in _TOUCHING):
            draft.obeyed.append(clause.text)
            continue  # obeyed already: the robot touches and handles nothing
        for barred in barred_things(phrase, clause.text):
            _bar(draft, barred, metres, meaning, clause)


def _bar(draft: Draft, phrase: Phrase, metres: float | None, meaning: dict[str, Any], clause: Clause) -> None:
    """Add a constraint for one phrase; if the phrase already has one, only update its distance."""
    kind = ban_kind(phrase)
    same = next(
        (i for i, (_, things, _) in enumerate(draft.constraints) if things.phrases == (phrase,)), None
    )
    if same is not None:
        draft.constraints[same] = (kind, Things((phrase,)), metres or draft.constraints[same][2])
        return
    draft.constraints.append((kind, Things((phrase,)), metres))
    if meaning.get("step"):
        draft.until_step[len(draft.constraints) - 1] = max(int(meaning["step"]) - 1, 0)
    if clause.link == "until":
        draft.until.append((len(draft.constraints) - 1, len(draft.groups) - 1))


def ban_kind(phrase: Phrase) -> ConstraintKind:
    """Return STAY_OUT for rooms and other places, KEEP_AWAY for objects and for paths between objects."""
    if any(r.name == "Between" for r in phrase.relations):
        return ConstraintKind.KEEP_AWAY
    return ConstraintKind.STAY_OUT if phrase.is_place or phrase.adjectives_only else ConstraintKind.KEEP_AWAY
