"""Checks that every directive passes before it starts: one from words, a structure, a picture or a language model."""

from __future__ import annotations

from lodestar.language.contradictions import contradiction, why_contradictory
from lodestar.language.directive import (
    CannotObey,
    Constraint,
    ConstraintKind,
    Directive,
    NotUnderstood,
    StepKind,
)
from lodestar.language.items import is_open
from lodestar.language.motion_limits import check_text
from lodestar.language.query_graph import PATH


def check_directive(directive: Directive) -> None:
    """Check it. Raises NotUnderstood for a directive without steps, for a search for any thing at all, for an item of
    exceptions alone and for a directive that contradicts itself, CannotObey for a manner, a text that forbids the robot
    to move, and a path that cannot be told.
    """
    check_text(directive.text)
    if not directive.steps:
        raise NotUnderstood('the directive has no step; say what to do, such as "find the red chair"')
    for manner in directive.manners:
        raise CannotObey(
            f'"{manner.said}" cannot be obeyed: words do not change how the robot moves; leave it out'
        )
    for constraint in directive.constraints:
        _check_constraint(constraint)
    for step in directive.steps:
        if step.kind is StepKind.FIND and step.item is not None and is_open(step.item):
            raise NotUnderstood(
                "it does not say what kind of thing to look for; name it, or send a picture of it"
            )
        if step.item is not None and step.item.excluded and not (step.item.graphs or step.item.images):
            raise NotUnderstood("it says what is not meant, and nothing that is; name the kind of thing too")
    both = contradiction(directive.steps, directive.constraints)
    if both:
        raise NotUnderstood(why_contradictory(both))


def _check_constraint(constraint: Constraint) -> None:
    """Raises CannotObey for one that nothing could be barred by."""
    if not constraint.item.graphs:
        raise CannotObey("it forbids something without saying what; name the thing or the room")
    if constraint.kind is ConstraintKind.STAY_OUT:
        return
    for graph in constraint.item.best:
        if graph.target.category == PATH and not graph.path_ends:
            raise CannotObey(
                f'which path "{graph.target.phrase}" is cannot be told; name the two things it runs between, '
                'such as "avoid the path between the table and the sofa"'
            )
