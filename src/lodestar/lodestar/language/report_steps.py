"""Conversion of clauses that explore, count, list, check and ask into steps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lodestar.language.asked_predicates import asked_predicates, of_the_subject
from lodestar.language.clauses import Clause
from lodestar.language.directive import ConstraintKind, Scope, Step, StepKind
from lodestar.language.directive_draft import AROUND, NEARBY, Draft
from lodestar.language.items import EVERY_LEVEL
from lodestar.language.levels import level_of
from lodestar.language.noun_words import GENERIC, NounWords
from lodestar.language.phrase_graphs import generic, graphs_of
from lodestar.language.phrase_items import is_all, is_level, item_of, scope_of
from lodestar.language.phrase_meanings import phrase_of, relation_of
from lodestar.language.phrases import Relation, Things
from lodestar.language.query_graph import Predicate
from lodestar.language.travel_steps import each_step, patrol_of
from lodestar.models.lexicon import words_of


def explored(draft: Draft, kind: str, meaning: dict[str, Any]) -> list[Step]:
    """Return the steps of an EXPLORE or PATROL clause: rooms, surroundings of an object, stops, or the whole
    building.
    """
    step = StepKind.PATROL if kind == "patrol" else StepKind.EXPLORE
    if meaning.get("stops"):
        stops = tuple(phrase_of(one) for one in meaning["stops"].get("all", ()))
        return [Step(step, stops=tuple(item_of(Things((stop,))) for stop in stops))]
    if meaning.get("where"):
        around = relation_of(meaning["where"])
        if around.name in NEARBY and around.anchors:
            return [Step(step, scope=Scope(around=graphs_of(around.anchors[0])[0], radius=AROUND))]
        rooms = generic().with_relations([relation_of(meaning["where"])])
        return [Step(step, scope=scope_of(rooms))]
    if not meaning.get("thing"):
        return [Step(step)]
    things = draft.things(meaning["thing"])
    for phrase in things.excluded:
        draft.constraints.append((ConstraintKind.STAY_OUT, Things((phrase,)), None))
    if step is StepKind.PATROL:
        if levels := _levels(things):
            return [Step(step, scope=Scope((), level)) for level in levels]
        if all(p.is_whole for p in things.phrases):
            return [Step(step)]
        first = things.phrases[0]
        if len(things.phrases) == 1 and first.is_place and (is_all(first) or first.noun.is_plural):
            return [patrol_of(first)]
        if all(is_all(p) for p in things.phrases):
            return [Step(step)]
        return [Step(step, stops=tuple(item_of(Things((p,))) for p in things.phrases))]
    first = things.phrases[0]
    near = next((r for r in first.relations if r.name in NEARBY and r.anchors), None)
    if near is not None and (first.is_place or first.noun.is_anything):
        return [Step(step, scope=Scope(around=graphs_of(near.anchors[0])[0], radius=AROUND))]
    if all(p.is_whole or p.noun.is_anything for p in things.phrases):
        return [Step(step, scope=scope_of(first))]
    if len(things.phrases) == 1 and (floor := scope_of(first)).level is not None:
        return [Step(step, scope=Scope((), floor.level))]
    if all(p.is_place for p in things.phrases):
        over = tuple(graphs_of(replace(p, rooms=()))[0] for p in things.phrases)
        return [Step(step, scope=Scope(over, level_of(things.phrases[0].level)))]
    return each_step(draft, things, ())


def _levels(things: Things) -> list[int]:
    """Return the named levels, EVERY_LEVEL for all of them; empty if anything else is named too."""
    if not all(is_level(phrase) for phrase in things.phrases):
        return []
    if any(is_all(phrase) or phrase.noun.determiner == "both" for phrase in things.phrases):
        return [EVERY_LEVEL]
    levels = [level_of(" ".join((*phrase.noun.adjectives, *phrase.noun.words))) for phrase in things.phrases]
    return [] if None in levels else [level for level in levels if level is not None]


def told(draft: Draft, kind: str, meaning: dict[str, Any], clause: Clause) -> list[Step]:
    """Return the steps of a COUNT or LIST clause, one for each kind of object."""
    step = StepKind.COUNT if kind == "count" else StepKind.LIST
    if not meaning.get("thing"):
        if not meaning.get("where") or not meaning["where"].get("all"):
            return [Step(step)]
        things = draft.things({"value": NounWords((), GENERIC, ())}, meaning["where"])
        draft.named = None
    else:
        things = _there(draft, draft.things(meaning["thing"], meaning.get("where")), clause)
    steps = []
    groups = [things] if things.any_of else [replace(things, phrases=(p,)) for p in things.phrases]
    for group in groups:
        phrase = group.phrases[0]
        if phrase.is_place and step is StepKind.LIST and not is_all(phrase) and not phrase.noun.is_plural:
            steps.append(Step(step, scope=Scope() if phrase.is_whole else Scope((graphs_of(phrase)[0],))))
        elif (
            phrase.noun.is_anything
            and not phrase.relations
            and not phrase.states
            and not phrase.noun.adjectives
        ):
            steps.append(Step(step, scope=scope_of(phrase)))
        else:
            steps.append(Step(step, item_of(group, every=True), scope=scope_of(phrase)))
    return steps


def _there(draft: Draft, things: Things, clause: Clause) -> Things:
    """Return the objects; those without a place are placed at the object of the clause before.

    An example is "look on the table, is there a mug".
    """
    bare = all(not p.relations and not p.rooms for p in things.phrases)
    if draft.looked is not None and bare and draft.looked[1] == len(draft.groups) - 1:
        relation, index = draft.looked
        if relation.name in ("On", "Inside", "Below", "Behind"):
            draft.groups.pop(index)
        else:
            relation = replace(relation, name="On")
    elif (
        bare
        and "there" in clause.words
        and draft.steps
        and draft.steps[-1].kind is StepKind.FIND
        and draft.named_before
    ):
        inside = "in there" in clause.text
        relation = Relation("Inside" if inside else "On", (draft.named_before,))
    else:
        return things
    return replace(things, phrases=tuple(p.with_relations([relation]) for p in things.phrases))


def checked(draft: Draft, meaning: dict[str, Any], clause: Clause) -> Step:
    """Return the CHECK step of a yes-or-no question or of a question about a state."""
    things = draft.things(meaning["thing"], meaning.get("where"))
    if meaning.get("inside") is not None:
        container = draft.things(meaning["inside"]).phrases[0]
        things = replace(
            things, phrases=tuple(p.with_relations([Relation("On", (container,))]) for p in things.phrases)
        )
    phrase = things.phrases[0]
    item = item_of(things)
    asked: tuple[Predicate, ...] = ()
    if meaning.get("asked"):
        item, asked = of_the_subject(*asked_predicates(phrase, meaning["asked"]), words_of(clause.text))
        if meaning["asked"].get("said") is not None:  # the level of "is the printer on the second floor?"
            phrase = replace(
                phrase, level=phrase.with_relations([relation_of(meaning["asked"]["said"])]).level
            )
    return Step(StepKind.CHECK, item, scope=scope_of(phrase), asked=asked, question=clause.text)


def asked(draft: Draft, meaning: dict[str, Any], clause: Clause) -> Step:
    """Return the ASK step of any other question."""
    if not meaning.get("thing"):
        return Step(StepKind.ASK, question=clause.text)
    things = draft.things(meaning["thing"], meaning.get("where"))
    phrase = things.phrases[0]
    if meaning.get("asked"):
        item, asked = asked_predicates(phrase, meaning["asked"])
        return Step(StepKind.ASK, item, scope=scope_of(phrase), asked=asked, question=clause.text)
    if phrase.is_place and not phrase.is_whole:
        return Step(StepKind.ASK, scope=Scope((graphs_of(phrase)[0],)), question=clause.text)
    return Step(StepKind.ASK, item_of(things), scope=scope_of(phrase), question=clause.text)


def where_step(draft: Draft, meaning: dict[str, Any], clause: Clause) -> list[Step]:
    """Return steps to find the object of a "where is" question.

    A question for a place becomes an ASK step, which needs no travel.
    """
    things = draft.things(meaning["thing"])
    if all(p.noun.is_anything for p in things.phrases):
        return told(draft, "list", meaning, clause)
    if all(p.is_place for p in things.phrases):
        phrase = replace(things.phrases[0], rooms=())
        return [
            Step(
                StepKind.ASK,
                item_of(Things((phrase,))),
                scope=scope_of(things.phrases[0]),
                question=clause.text,
            )
        ]
    return each_step(draft, things, ())


def what_step(draft: Draft, meaning: dict[str, Any], clause: Clause) -> list[Step]:
    """Return the step for objects that are only described.

    It is a LIST step for several objects or after "tell", "show" or "find", else an ASK step.
    """
    things = draft.things(meaning["thing"])
    if any(p.noun.is_plural for p in things.phrases) or clause.words[0] in ("tell", "show", "find"):
        return told(draft, "list", meaning, clause)
    return [asked(draft, meaning, clause)]
