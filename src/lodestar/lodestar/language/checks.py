"""Checks of every directive before it starts, whether it comes from text, a record, a picture or a model."""

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
from lodestar.language.motion_limits import check_manners, check_text
from lodestar.language.query_graph import PATH


def check_directive(directive: Directive) -> None:
    """Validate a directive.

    Raises NotUnderstood for a directive without steps, a search without a kind of object, an item that has
    only exclusions, and a directive that contradicts itself. Raises CannotObey for a requested manner of
    moving ("slowly"), a text that forbids the robot to move, and a path whose ends are not named.
    """
    check_text(directive.text)
    if not directive.steps:
        raise NotUnderstood('the directive has no step; say what to do, such as "find the red chair"')
    check_manners(directive)
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
    """Raise CannotObey for a constraint that names nothing, or a path without its ends."""
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
