"""Tests of conversions of directives, in both directions."""

from __future__ import annotations

import math

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar.language.directive import (
    Constraint,
    ConstraintKind,
    Directive,
    Item,
    Manner,
    NotUnderstood,
    Pose,
    Scope,
    Step,
    StepKind,
)
from lodestar.language.grammar import parse_directive
from lodestar.language.query_graph import Predicate, QueryGraph, QueryVariable
from lodestar_interfaces import msg
from lodestar_ros import conversions_language as c
from lodestar_ros.conversions import BadMessage

GRAPH = QueryGraph(
    (QueryVariable("red chair", "chair"), QueryVariable("desk", "desk")),
    (Predicate("NextTo", (0, 1), weight=0.5), Predicate("HasAttribute", (0,), "red", True)),
    0.75,
)
KITCHEN = QueryGraph((QueryVariable("kitchen", "kitchen"),))
CHAIR = Item(((GRAPH, GRAPH.of_variable(0)),), (KITCHEN,), (b"\xff\xd8",), 2)
DIRECTIVE = Directive(
    "find the red chair",
    (
        Step(StepKind.FIND, CHAIR, scope=Scope((KITCHEN,), 1, GRAPH, 2.5), unable=("wipe it",)),
        Step(StepKind.GO, pose=Pose(1.0, 2.0, None)),
        Step(StepKind.GO, pose=Pose(1.0, 2.0, 0.5)),
        Step(StepKind.PATROL, stops=(CHAIR, Item(((KITCHEN,),))), times=0),
        Step(StepKind.WAIT, seconds=0.0),
        Step(StepKind.WAIT),
        Step(StepKind.CHECK, CHAIR, asked=(Predicate("HasAttribute", (0,), "red"),), question="is it red?"),
    ),
    (
        Constraint(ConstraintKind.KEEP_AWAY, CHAIR, 1.5, 0),
        Constraint(ConstraintKind.STAY_OUT, Item(((KITCHEN,),))),
    ),
    (Manner("speed", "slowly"),),
    3,
)


def test_directive(assert_same):
    assert_same(c.directive_from_msg(c.directive_to_msg(DIRECTIVE)), DIRECTIVE)


@pytest.mark.parametrize(
    "text",
    [
        "find the red chair next to the desk, then the fire extinguisher; keep away from the wet floor",
        "explore",
        "what is here",
        "come back",
        "find the mug and come back",
        "find the red or the yellow chair, stay out of the kitchen, keep 2 m away from the dog",
    ],
)
def test_what_the_grammar_makes_of_a_text_survives(text, assert_same):
    directive = parse_directive(text)
    assert_same(c.directive_from_msg(c.directive_to_msg(directive)), directive)


def test_broken_directives_are_refused():
    message = c.directive_to_msg(DIRECTIVE)
    message.subtasks[0].kind = 77
    with pytest.raises(BadMessage):
        c.directive_from_msg(message)
    message = c.directive_to_msg(DIRECTIVE)
    predicate = message.subtasks[0].item[0].alternatives[0].readings[0].predicates[0]
    predicate.name = "Behinder"
    with pytest.raises(BadMessage, match="Behinder"):
        c.directive_from_msg(message)
    predicate.name, predicate.arguments = "Near", [0, 9]
    with pytest.raises(BadMessage):
        c.directive_from_msg(message)


@pytest.mark.parametrize("distance", [-1.0, 10.5, 200.0, math.inf, math.nan])
def test_a_distance_out_of_bounds_is_refused(distance):
    message = c.directive_to_msg(DIRECTIVE)
    message.constraints[0].distance = distance
    with pytest.raises(BadMessage, match="no distance to keep away"):
        c.directive_from_msg(message)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda step: setattr(step.item[0], "count", 4_000_000_000), "more than 100 of one thing"),
        (lambda step: setattr(step, "seconds", 1e9), "cannot be kept"),
        (lambda step: setattr(step, "times", 5000), "too many"),
        (lambda step: setattr(step, "item", []), "needs what to find"),
        (lambda step: setattr(step, "pose", [msg.PlanarPose(x=math.nan)]), "finite"),
    ],
)
def test_a_number_out_of_bounds_is_refused(spoil, why):
    message = c.directive_to_msg(DIRECTIVE)
    spoil(message.subtasks[0])
    with pytest.raises(BadMessage, match=why):
        c.directive_from_msg(message)


def test_what_a_message_leaves_out_is_the_default():
    message = msg.Directive(
        subtasks=[msg.Subtask(item=[msg.Item()]), msg.Subtask(kind=msg.Subtask.KIND_WAIT)]
    )
    find, wait = c.directive_from_msg(message).steps
    assert (find.count, find.times, wait.seconds) == (1, 1, None)
    assert not find.scope and find.item == Item()
    kept = c.constraint_from_msg(msg.Constraint())
    assert (kept.kind, kept.distance, kept.until) == (ConstraintKind.KEEP_AWAY, None, None)


def test_words_of_an_item_are_read_where_it_brings_no_graph():
    asked = []

    def read(text, verb):
        asked.append((text, verb))
        return Item(((KITCHEN,),))

    message = c.directive_to_msg(DIRECTIVE)
    message.subtasks = [
        msg.Subtask(item=[msg.Item(text="mug")]),
        msg.Subtask(kind=msg.Subtask.KIND_LIST, item=[msg.Item(text="mugs")]),
    ]
    message.constraints = [msg.Constraint(item=msg.Item(text="dog"))]
    directive = c.directive_from_msg(message, read)
    assert asked == [("mug", "find"), ("mugs", "list all"), ("dog", "avoid")]
    assert directive.steps[0].graphs == (KITCHEN,)

    def refuse(text, verb):
        raise NotUnderstood("no")

    with pytest.raises(BadMessage, match="no"):
        c.directive_from_msg(message, refuse)


def test_a_step_that_names_a_skill_survives_and_one_without_a_name_is_refused(assert_same):
    item = DIRECTIVE.steps[0].item
    step = Step(StepKind.DO, item, question="put it there", skill="Place", others=(item, item))
    directive = Directive("put it there", (step,))
    assert_same(c.directive_from_msg(c.directive_to_msg(directive)), directive)
    message = c.directive_to_msg(directive)
    message.subtasks[0].skill = ""
    with pytest.raises(BadMessage, match="skill's name"):
        c.directive_from_msg(message)
    message = c.directive_to_msg(DIRECTIVE)
    message.subtasks[0].skill = "Place"
    with pytest.raises(BadMessage, match="no other step"):
        c.directive_from_msg(message)
