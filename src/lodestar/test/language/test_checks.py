"""Tests of the checks that every directive passes before it starts, whatever its source."""

from __future__ import annotations

import pytest
from task_builders import item_of_words, keep_away

from lodestar.language.checks import check_directive
from lodestar.language.directive import (
    CannotObey,
    Constraint,
    ConstraintKind,
    Directive,
    Item,
    Manner,
    NotUnderstood,
    Step,
    StepKind,
)
from lodestar.language.grammar import parse_directive, parse_query
from lodestar.language.picture_goals import Described, item_of
from lodestar.language.query_graph import Predicate, QueryGraph, QueryVariable


def of(item: Item, *constraints: str) -> Directive:
    barred = [parse_directive(f"explore, keep away from {one}").constraints for one in constraints]
    return Directive("find this", (Step(StepKind.FIND, item),), tuple(c for found in barred for c in found))


def kept_from(item: Item, constraint: str) -> Directive:
    barred = Constraint(ConstraintKind.KEEP_AWAY, Item((parse_query(constraint),)))
    return Directive("find this", (Step(StepKind.FIND, item),), (barred,))


@pytest.mark.parametrize("label", ["mug", "coffee mug"])
@pytest.mark.parametrize("constraint", ["mug", "mugs", "the mug", "everything", "red things"])
def test_a_picture_of_what_is_kept_away_from_is_a_contradiction(label, constraint):
    shown = item_of(Described(label, f"red {label}", ("desk",)))
    with pytest.raises(NotUnderstood, match="keep away from"):
        check_directive(kept_from(shown, constraint))
    check_directive(of(shown, "the desk", "the blue mug"))


def test_a_structure_that_contradicts_itself_is_refused():
    (step,) = parse_directive("find the mug in the kitchen").steps
    for constraint in ("mug", "anything"):
        with pytest.raises(NotUnderstood, match="keep away from"):
            check_directive(kept_from(step.item, constraint))
    with pytest.raises(NotUnderstood, match="keep away from"):
        check_directive(of(step.item_in_scope, "the sofa", "the kitchen"))
    check_directive(of(step.item_in_scope, "the sofa", "the bathroom"))


def test_a_constraint_that_is_over_contradicts_nothing():
    mug, sofa = item_of_words("mug"), item_of_words("sofa")
    steps = (Step(StepKind.FIND, sofa), Step(StepKind.FIND, mug))
    check_directive(Directive("t", steps, (Constraint(ConstraintKind.KEEP_AWAY, mug, until=0),)))
    with pytest.raises(NotUnderstood, match="keep away from"):
        check_directive(Directive("t", steps, (Constraint(ConstraintKind.KEEP_AWAY, mug, until=1),)))


@pytest.mark.parametrize("item", [Item(), *(s.item for s in parse_directive("find the thing").steps)])
def test_a_search_that_no_picture_has_made_definite_is_refused(item):
    with pytest.raises(NotUnderstood, match="say what kind of thing"):
        check_directive(of(item))
    check_directive(Directive("explore", (Step(StepKind.EXPLORE, item),)))


@pytest.mark.parametrize(
    "text", ["find the mug and come back", "list all mugs, avoid mugs", "explore, avoid mugs"]
)
def test_what_can_be_done_passes(text):
    check_directive(parse_directive(text))


def test_a_directive_without_steps_is_refused():
    with pytest.raises(NotUnderstood, match="no step"):
        check_directive(Directive("t", (), keep_away("dog")))


@pytest.mark.parametrize("kind", ["speed", "noise", "stand"])
def test_a_manner_is_refused_and_never_dropped(kind):
    with pytest.raises(CannotObey, match='"slowly" cannot be obeyed'):
        check_directive(
            Directive("t", (Step(StepKind.FIND, item_of_words("mug")),), manners=(Manner(kind, "slowly"),))
        )


def path(*ends: str) -> Item:
    variables = tuple(QueryVariable(word, word) for word in ("path", *ends))
    between = (Predicate("Between", tuple(range(len(variables)))),) if ends else ()
    return Item(((QueryGraph(variables, between),),))


def test_a_path_is_barred_between_two_things_or_refused():
    explore = (Step(StepKind.EXPLORE),)
    for ends in (("table", "sofa"), ("table",)):
        check_directive(Directive("t", explore, (Constraint(ConstraintKind.KEEP_AWAY, path(*ends)),)))
    with pytest.raises(CannotObey, match="which path"):
        check_directive(Directive("t", explore, (Constraint(ConstraintKind.KEEP_AWAY, path()),)))
    with pytest.raises(CannotObey, match="without saying what"):
        check_directive(Directive("t", explore, (Constraint(ConstraintKind.STAY_OUT, Item()),)))


def test_exceptions_alone_name_nothing_to_look_for():
    alone = Item(excluded=(QueryGraph((QueryVariable("red chair", "chair"),), ()),))
    for kind in (StepKind.LIST, StepKind.COUNT):
        with pytest.raises(NotUnderstood, match="nothing that is"):
            check_directive(Directive("t", (Step(kind, alone),)))
