"""Tests that a material at the end of a question refers to its subject, in questions and in directives."""

from __future__ import annotations

import pytest

from lodestar.language.grammar import parse_directive
from lodestar.language.question_reader import read_question


def read(text):
    """Yield the readings of both readers: the predicates asked for, and the item as text."""
    question, (step,) = read_question(text), parse_directive(text).steps
    for one in (question, step):
        yield [(p.name, p.value) for p in one.asked], str(one.item.best[0])


@pytest.mark.parametrize(
    "text, said",
    [
        ("is the box made of wood?", "x0 'box'"),
        ("is the box on the desk made of wood?", "x0 'box'; x1 'desk': On(x0, x1)"),
        ("is the box closest to the red chair made of wood?", "HasAttribute(x1, red) & Closest(x0, x1)"),
    ],
)
def test_what_a_thing_is_made_of_is_asked_of_the_thing(text, said):
    for asked, item in read(text):
        assert asked == [("HasAttribute", "wood")] and item.endswith(said)


@pytest.mark.parametrize("text", ["is the box on the desk?", "is the box next to a wooden desk?"])
def test_where_it_does_not_end_with_a_material_the_place_is_asked(text):
    for asked, _ in read(text):
        assert [name for name, _ in asked] in (["On"], ["NextTo"])


def test_a_thing_of_a_material_that_may_be_there_is_one_thing():
    question = read_question("is there a chair made of metal?")
    assert question.asked == () and "HasAttribute(x0, metal)" in str(question.item.best[0])
