"""Directives: messages there and back."""

from __future__ import annotations

from lodestar.language.directive import (
    CannotObey,
    Constraint,
    ConstraintKind,
    Directive,
    EmptyDirective,
    Manner,
    Step,
    StepKind,
)
from lodestar_interfaces import msg
from lodestar_ros.conversions import BadMessage
from lodestar_ros.conversions_items import (
    AVOID,
    FIND,
    LIST,
    ItemReader,
    item_from_msg,
    item_to_msg,
    pose_from_msg,
    pose_to_msg,
    predicate_from_msg,
    predicate_to_msg,
    scope_from_msg,
    scope_to_msg,
    unread,
)
from lodestar_ros.conversions_memory import question_from_msg, question_to_msg

_LISTS = (StepKind.LIST, StepKind.COUNT)


def step_to_msg(step: Step) -> msg.Subtask:
    return msg.Subtask(
        kind=int(step.kind),
        item=[] if step.item is None else [item_to_msg(step.item)],
        pose=[] if step.pose is None else [pose_to_msg(step.pose)],
        stops=[item_to_msg(stop) for stop in step.stops],
        scope=scope_to_msg(step.scope),
        seconds=-1.0 if step.seconds is None else float(step.seconds),
        times=int(step.times),
        asked=[predicate_to_msg(predicate) for predicate in step.asked],
        question=step.question,
        unable=list(step.unable),
        wanted=[] if step.wanted is None else [question_to_msg(step.wanted)],
        skill=step.skill,
        others=[item_to_msg(item) for item in step.others],
    )


def step_from_msg(message: msg.Subtask, read: ItemReader = unread) -> Step:
    """Raises BadMessage, ValueError and what `read` raises."""
    kind = StepKind(message.kind)
    verb = LIST if kind in _LISTS else FIND
    items = [item_from_msg(item, read, verb) for item in message.item]
    if kind in _LISTS and items and not items[0].alternatives and not items[0].images:
        items = []  # everything
    return Step(
        kind,
        items[0] if items else None,
        pose_from_msg(message.pose[0]) if message.pose else None,
        tuple(item_from_msg(stop, read) for stop in message.stops),
        scope_from_msg(message.scope),
        message.seconds if message.seconds >= 0.0 else None,
        message.times,
        tuple(predicate_from_msg(predicate) for predicate in message.asked),
        message.question,
        tuple(message.unable),
        question_from_msg(message.wanted[0], read) if message.wanted else None,
        message.skill,
        tuple(item_from_msg(item, read) for item in message.others),
    )


def constraint_to_msg(constraint: Constraint) -> msg.Constraint:
    return msg.Constraint(
        kind=int(constraint.kind),
        item=item_to_msg(constraint.item),
        distance=float(constraint.distance or 0.0),
        until=-1 if constraint.until is None else int(constraint.until),
    )


def constraint_from_msg(message: msg.Constraint, read: ItemReader = unread) -> Constraint:
    """Raises BadMessage, ValueError and what `read` raises."""
    return Constraint(
        ConstraintKind(message.kind),
        item_from_msg(message.item, read, AVOID),
        message.distance or None,
        message.until if message.until >= 0 else None,
    )


# --- directives ------------------------------------------------------------------------------------------


def directive_to_msg(directive: Directive) -> msg.Directive:
    return msg.Directive(
        text=directive.text,
        subtasks=[step_to_msg(step) for step in directive.steps],
        constraints=[constraint_to_msg(constraint) for constraint in directive.constraints],
        manners=[msg.Manner(kind=manner.kind, said=manner.said) for manner in directive.manners],
        times=int(directive.times),
    )


def directive_from_msg(message: msg.Directive, read: ItemReader = unread) -> Directive:
    """read: reads the words of items that bring no graphs. Raises BadMessage and what `read` raises."""
    try:
        return Directive(
            message.text,
            tuple(step_from_msg(step, read) for step in message.subtasks),
            tuple(constraint_from_msg(constraint, read) for constraint in message.constraints),
            tuple(Manner(manner.kind, manner.said) for manner in message.manners),
            message.times,
        )
    except (BadMessage, EmptyDirective, CannotObey):
        raise
    except (ValueError, OverflowError) as error:
        raise BadMessage(str(error)) from error
