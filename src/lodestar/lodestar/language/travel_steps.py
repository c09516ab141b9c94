"""Conversion of clauses that travel into steps to rooms, places, spots and objects."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lodestar.language.clauses import Clause
from lodestar.language.directive import (
    ROBOT_FRAME,
    ConstraintKind,
    Item,
    NotUnderstood,
    Pose,
    Scope,
    Step,
    StepKind,
)
from lodestar.language.directive_draft import NEARBY, Draft
from lodestar.language.item_words import item_words, scope_words
from lodestar.language.levels import level_of
from lodestar.language.noun_words import NounWords
from lodestar.language.phrase_graphs import SPOT, generic, graphs_of
from lodestar.language.phrase_items import check_is_thing, is_all, is_any, item_of, says_what, scope_of
from lodestar.language.phrase_meanings import options_of, relation_of, things_of
from lodestar.language.phrases import Phrase, Relation, Things
from lodestar.language.query_graph import QueryGraph
from lodestar.language.vocabulary import load_vocabulary

_AHEAD = {"ahead": (1.0, 0.0), "behind": (-1.0, 0.0), "left": (0.0, 1.0), "right": (0.0, -1.0)}
_SIDES = {"front": "InFrontOf", "back": "Behind", "rear": "Behind", "left": "LeftOf", "right": "RightOf"}


def went(draft: Draft, meaning: dict[str, Any], clause: Clause) -> list[Step]:
    """Return the steps of a clause that travels: places to pass through, then the destinations."""
    legs = (meaning.get("legs") or {}).get("all", [])
    draft.passed += [things_of(meaning["from"])] if meaning.get("from") else []
    found: list[Step] = []
    ends: list[Step] = []
    if meaning.get("legs") and meaning["legs"].get("before"):
        ends += places(draft, draft.things(meaning["legs"]["before"]))
    for at in ((meaning.get("legs") or {}).get("at_all") or {}).get("all", []):
        ends += spots(draft, [at])
    home = meaning["kind"] == "return" and not any(
        key in leg for leg in legs for key in ("to", "at", "via", "seen")
    )
    for leg in legs:
        if leg.get("to") is not None:
            back = meaning["kind"] == "return"
            ends += places(draft, draft.things(leg["to"]), back)
        elif leg.get("seen") is not None:
            ends += remembered_places(draft, draft.things(leg["seen"]))
        elif leg.get("via") is not None:
            ways = draft.things(leg["via"])
            shut_out(draft, ways)
            passed = [] if _is_any_way(ways) else places(draft, ways)
            found += [s for s in passed if s.kind in (StepKind.GO, StepKind.PATROL)]
            draft.passed.append(ways)
        elif leg.get("at") is not None and meaning["kind"] == "route" and leg["at"].get("name") in NEARBY:
            draft.passed.append(Things(relation_of(leg["at"]).anchors))  # e.g. "turn right at the island"
        elif leg.get("at") is not None:
            ends += spots(draft, [leg["at"]])
        elif leg.get("home"):
            home = True
        elif leg.get("pose"):
            x, y, *heading = leg["pose"]
            ends.append(Step(StepKind.GO, pose=Pose(x, y, math.radians(heading[0]) if heading else None)))
        elif leg.get("ahead"):
            ahead(draft, ends, leg["ahead"])
        elif leg.get("turn"):
            draft.turns = True
            draft.route.append(clause.text)
        elif leg.get("past") is not None:
            draft.route.append(clause.text)
            draft.passed += [things_of(leg["past"])] if leg["past"] else []
    if home:
        ends.append(Step(StepKind.RETURN))
    if not found and not ends and not draft.unable and not any("ahead" in leg for leg in legs):
        draft.route.append(clause.text)
    steps = [*found, *ends]
    if steps and meaning.get("unable"):
        steps[-1] = replace(steps[-1], unable=(meaning["unable"],))
    return steps


def shut_out(draft: Draft, things: Things) -> None:
    """Add constraints for the exceptions of a route: "through any room except the lab"."""
    for phrase in things.excluded:
        place = phrase.is_place or phrase.adjectives_only
        kind = ConstraintKind.STAY_OUT if place else ConstraintKind.KEEP_AWAY
        draft.constraints.append((kind, Things((phrase,)), None))


def _is_any_way(things: Things) -> bool:
    """Return whether a route may lead through anything not excluded: "any room", "anything"."""
    return bool(things.excluded) and all(
        phrase.noun.is_anything or (is_any(phrase) and not phrase.noun.adjectives and not phrase.relations)
        for phrase in things.phrases
    )


def places(draft: Draft, things: Things, back: bool = False) -> list[Step]:
    """Return steps to places or objects. back: return to them."""
    if things.any_of and all(p.is_place or p.adjectives_only for p in things.phrases):
        return [Step(StepKind.GO, item_of(things), scope=scope_of(things.phrases[0], False))]
    if things.any_of:
        return [find_step(draft, things)]
    return [place_step(draft, phrase, things, back) for phrase in things.phrases]


def remembered_places(draft: Draft, things: Things) -> list[Step]:
    """Return steps to where objects were last seen; rooms are visited directly."""
    steps: list[Step] = []
    groups = [things] if things.any_of else [replace(things, phrases=(p,)) for p in things.phrases]
    for group in groups:
        if all(phrase.is_place for phrase in group.phrases):
            steps += places(draft, group)
            continue
        item, scope = item_of(group), scope_of(group.phrases[0])
        question = f"where did you last see {item_words(item)}{scope_words(scope)}"
        steps.append(Step(StepKind.GO, item, scope=scope, question=question))
    return steps


def place_step(draft: Draft, phrase: Phrase, things: Things, back: bool) -> Step:
    """Return the step to one place or object. back: return there."""
    words = (phrase.noun.determiner, *phrase.noun.words) if phrase.noun.determiner else phrase.noun.words
    if load_vocabulary().is_in("HOME", *words):
        return Step(StepKind.RETURN)
    side = _SIDES.get(phrase.head)
    if side is not None and phrase.of is not None and not phrase.of.is_place:
        spot = replace(generic(SPOT), relations=(Relation(side, (phrase.of,)),))
        return Step(StepKind.GO, Item((graphs_of(spot),)))
    if phrase.is_spot and (phrase.of is not None or not phrase.noun.adjectives):
        of_room = phrase.of if phrase.of is not None and phrase.of.is_place else None
        whole = replace(phrase, of=None) if of_room is not None else phrase
        scope = (
            Scope((graphs_of(of_room)[0],))
            if of_room is not None and not of_room.is_whole
            else scope_of(phrase)
        )
        return Step(StepKind.GO, Item((graphs_of(whole),)), scope=scope)
    if phrase.is_place and is_all(phrase):
        return patrol_of(phrase)
    if phrase.is_place or (phrase.adjectives_only and not phrase.noun.head):
        if back:
            return Step(StepKind.RETURN, Item((graphs_of(replace(phrase, rooms=())),)))
        return Step(StepKind.GO, Item((graphs_of(replace(phrase, rooms=())),)), scope=scope_of(phrase))
    if back:
        return Step(StepKind.RETURN, Item((graphs_of(phrase),)), scope=scope_of(phrase))
    return find_step(draft, Things((phrase,), excluded=things.excluded))


def patrol_of(phrase: Phrase) -> Step:
    """Return a patrol of every room of a kind ("all the labs"), or of the building if no kind is named."""
    kind = () if phrase.is_whole else (graphs_of(replace(phrase, rooms=()))[0],)
    return Step(StepKind.PATROL, scope=Scope(kind))


def ahead(draft: Draft, ends: list[Step], said: dict[str, Any]) -> None:
    """Add to `ends` a step to a pose relative to the robot: x ahead, y to the left.

    A second distance changes the pose of the step before: "2 m in front of you and 1 m to your left".
    """
    metres, (x, y) = float(said["metres"]), _AHEAD[str(said["side"])]
    last = next(iter([*draft.steps, *ends][::-1]), None)
    if ends and (last is None or last.pose is None or last.pose.frame != ROBOT_FRAME):
        return  # "the chair 3 m in front of you": the chair is the goal
    steps = ends or (draft.groups[-1].steps if draft.groups else ends)
    if last is not None and last.pose is not None and last.pose.frame == ROBOT_FRAME:
        x, y = last.pose.x + x * metres, last.pose.y + y * metres
        steps[-1] = Step(StepKind.GO, pose=Pose(x, y, frame=ROBOT_FRAME))
    else:
        ends.append(Step(StepKind.GO, pose=Pose(x * metres, y * metres, frame=ROBOT_FRAME)))


def spots(draft: Draft, relations: Sequence[Any]) -> list[Step]:
    """Return steps to the places that relations describe: in a room, beside an object, or between objects."""
    steps: list[Step] = []
    for meaning in relations:
        relation = relation_of(meaning)
        anchors = tuple(draft.resolved(a) for a in relation.anchors)
        relation = replace(relation, anchors=anchors, name="On" if relation.name == "From" else relation.name)
        if not anchors and relation.name == "Level":
            steps += _level(relation.text)
        elif not anchors:
            draft.route.append(str(relation.name))
        elif any(a.pronoun for a in anchors):
            steps.append(Step(StepKind.RETURN))
        elif steps and steps[-1].kind is StepKind.GO and relation.name in ("Near", "NextTo", "Behind"):
            steps[-1] = _nearer(steps[-1], relation)
        elif relation.name in ("Inside", "On", "Near", "NextTo") and all(a.is_place for a in anchors):
            steps += places(draft, Things(anchors))
        elif steps and steps[-1].kind is StepKind.GO and relation.name == "Inside":
            steps[-1] = _nearer(steps[-1], relation)
        elif relation.name in NEARBY and not relation.negated:
            steps += places(draft, Things(anchors))
        else:
            spot = replace(generic(SPOT), relations=(relation,))
            steps.append(Step(StepKind.GO, Item((graphs_of(spot),))))
    return steps


def _level(text: str) -> list[Step]:
    """Return the step to a numbered level; empty for "upstairs" and the like, which `clause_steps` handles."""
    level, last = level_of(text), text.split()[-1]
    if level is None:
        return []
    words = (last,) if load_vocabulary().is_in("LEVELS", last) else ("floor",)
    place = Phrase(NounWords(words, words[0], ()))
    return [Step(StepKind.GO, Item((graphs_of(place),)), scope=Scope((), level))]


def _nearer(step: Step, relation: Relation) -> Step:
    """Return a step to a room with a second relation added, which distinguishes the room from others."""
    graph = graphs_of(replace(generic(), relations=(relation,)))[0]
    assert step.item is not None
    first = step.item.alternatives[0][0]
    shift = len(first.variables) - 1
    moved = tuple(
        replace(p, arguments=tuple(a and a + shift for a in p.arguments))
        for p in graph.predicates
        if p.name != "IsCategory" or p.arguments[0]
    )
    whole = QueryGraph((*first.variables, *graph.variables[1:]), (*first.predicates, *moved))
    return replace(step, item=Item(((whole,),)))


def find_step(draft: Draft, things: Things, unable: tuple[str, ...] = ()) -> Step:
    """Return the step that finds any of the objects, or lists them all. Raises NotUnderstood if no kind is
    named.
    """
    for phrase in things.phrases:
        check_is_thing(phrase)
        pointed = phrase.noun.determiner in ("the", "this", "that", "these", "those")
        if phrase.noun.is_anything and not pointed and not says_what(phrase):
            raise NotUnderstood("it does not say what kind of thing to look for; name the kind")
    kind = StepKind.LIST if is_all(things.phrases[0]) and not unable else StepKind.FIND
    item = item_of(things, every=kind is StepKind.LIST)
    return Step(kind, item, scope=scope_of(things.phrases[0]), unable=unable)


def each_step(draft: Draft, things: Things, unable: tuple[str, ...]) -> list[Step]:
    """Return steps to find each of the objects, or a single step for alternatives."""
    if things.any_of:
        return [find_step(draft, things, unable)]
    first, *others = things.phrases
    if others and first.noun.count == len(others) and all(p.noun.count == 1 for p in others):
        things = replace(
            things, phrases=tuple(p.with_noun(first.noun) if p.adjectives_only else p for p in others)
        )  # "two, one red and one blue": two objects
    steps = []
    for phrase in things.phrases:
        if phrase.is_room and not unable:
            steps.append(place_step(draft, phrase, things, False))
        elif (_done(draft, phrase) and (unable or draft.pronoun)) or (unable and _brought(draft, phrase)):
            unable_of_last(draft, unable)
        else:
            steps.append(find_step(draft, replace(options_of((phrase,)), excluded=things.excluded), unable))
    return steps


def _done(draft: Draft, phrase: Phrase) -> bool:
    """Return whether the last step already goes to the object."""
    last = draft.steps[-1:]
    return bool(last) and last[0].item is not None and last[0].item.alternatives == (graphs_of(phrase),)


def _brought(draft: Draft, phrase: Phrase) -> bool:
    """Return whether the phrase stands for "it" and means an object that an earlier FIND step finds."""
    graphs = (graphs_of(phrase),)
    return draft.pronoun and any(
        step.kind is StepKind.FIND and step.item is not None and step.item.alternatives == graphs
        for step in draft.steps
    )


def unable_of_last(draft: Draft, unable: tuple[str, ...]) -> None:
    """Add requests that the robot cannot fulfil to the last step."""
    group = next((group for group in reversed(draft.groups) if group.steps), None)
    if group is None:
        return
    group.steps[-1] = replace(group.steps[-1], unable=(*group.steps[-1].unable, *unable))
