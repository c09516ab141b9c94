"""Property tests that a record prints as a sentence, and that the sentence parses to the same record."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.language.directive import (
    EVERY,
    Constraint,
    ConstraintKind,
    Directive,
    Item,
    Pose,
    Scope,
    Step,
    StepKind,
)
from lodestar.language.grammar import parse_directive
from lodestar.language.query_graph import Predicate, QueryGraph, QueryVariable
from lodestar.language.sentences import sentence, step_sentence

NOUNS = st.sampled_from(
    ["chair", "mug", "desk", "plant", "fire extinguisher", "box", "wibble", "coffee table"]
)
COLORS = st.sampled_from(["red", "blue", "green", "wooden"])
ROOMS = st.sampled_from(["kitchen", "office", "living room", "hallway", "lab"])
RELATIONS = st.sampled_from(["Near", "On", "Below", "NextTo", "LeftOf", "RightOf", "InFrontOf", "Behind"])


@st.composite
def things(draw):
    """Draw one reading of an object: category, optional colour, at most one anchor."""
    noun, color = draw(NOUNS), draw(st.none() | COLORS)
    variables = [QueryVariable(f"{color} {noun}" if color else noun, noun)]
    predicates = [Predicate("IsCategory", (0,), noun)]
    if color:
        predicates.append(Predicate("HasAttribute", (0,), color))
    if draw(st.booleans()):
        anchor = draw(NOUNS)
        variables.append(QueryVariable(anchor, anchor))
        predicates.append(Predicate("IsCategory", (1,), anchor))
        predicates.append(Predicate(draw(RELATIONS), (0, 1)))
    return QueryGraph(tuple(variables), tuple(predicates))


@st.composite
def rooms(draw):
    """Draw a room."""
    room = draw(ROOMS)
    return QueryGraph((QueryVariable(room, room),), (Predicate("IsCategory", (0,), room),))


@st.composite
def steps(draw):
    """Draw a step of a kind that a sentence can express."""
    kind = draw(
        st.sampled_from(["find", "list", "count", "go", "pose", "wait", "explore", "return", "patrol"])
    )
    scope = Scope((draw(rooms()),)) if draw(st.booleans()) else Scope()
    if kind == "find":
        return Step(StepKind.FIND, Item(((draw(things()),),), count=draw(st.integers(1, 12))), scope=scope)
    if kind in ("list", "count"):
        step = StepKind.LIST if kind == "list" else StepKind.COUNT
        return Step(step, Item(((draw(things()),),), count=EVERY), scope=scope)
    if kind == "go":
        return Step(StepKind.GO, Item(((draw(rooms()),),)))
    if kind == "pose":
        numbers = st.integers(-999, 999).map(lambda n: n / 8)
        return Step(StepKind.GO, pose=Pose(draw(numbers), draw(numbers)))
    if kind == "wait":
        return Step(StepKind.WAIT, seconds=draw(st.none() | st.integers(1, 600).map(float)))
    if kind == "explore":
        return Step(StepKind.EXPLORE, scope=Scope((draw(rooms()),)))
    if kind == "patrol":
        return Step(
            StepKind.PATROL, stops=tuple(Item(((room,),)) for room in draw(st.lists(rooms(), max_size=3)))
        )
    return Step(StepKind.RETURN)


@st.composite
def constraints(draw):
    """Draw a constraint: an object to keep away from, or a room to stay out of."""
    if draw(st.booleans()):
        return Constraint(ConstraintKind.STAY_OUT, Item(((draw(rooms()),),)))
    distance = draw(st.none() | st.integers(1, 80).map(lambda n: n / 8))
    return Constraint(ConstraintKind.KEEP_AWAY, Item(((draw(things()),),)), distance)


@given(steps())
@settings(deadline=None)
def test_a_step_reads_back(step):
    (read,) = parse_directive(step_sentence(step)).steps
    assert read == step


@given(steps(), st.lists(constraints(), max_size=2, unique_by=lambda c: c.item))
@settings(deadline=None)
def test_a_directive_reads_back(step, held):
    directive = Directive("", (step,), tuple(held))
    assert replace(parse_directive(sentence(directive)), text="") == directive


def test_what_it_cannot_do_is_said_and_read_back():
    directive = parse_directive("wipe the mirror in Jane's office, then come back")
    said = sentence(directive)
    assert said == (
        'find the mirror in the jane office, as I cannot do "wipe the mirror in jane\'s office", then come back'
    )
    assert parse_directive(said).steps == directive.steps


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("find the second chair from the left", "find the second chair from the left"),
        ("list everything on the desk", "list all the objects on the desk"),
        ("wait 10 seconds then come back", "wait 10 seconds, then come back"),
        ("find the mug, keep 2.5 m away from the dog", "find the mug; keep 2.5 m away from the dog"),
    ],
)
def test_what_is_printed_is_what_a_person_would_say(text, said):
    assert sentence(parse_directive(text)) == said
