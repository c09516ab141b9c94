"""Assembly of a draft into a directive: sets the scope of each step and the last step of each constraint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lodestar.language.directive import (
    ROBOT_FRAME,
    Constraint,
    ConstraintKind,
    Directive,
    NotUnderstood,
    OutOfBounds,
    Scope,
    Step,
    StepKind,
    StopRequested,
)
from lodestar.language.directive_draft import Draft
from lodestar.language.items import DOWNSTAIRS, UPSTAIRS
from lodestar.language.phrase_items import item_of
from lodestar.language.phrases import Things
from lodestar.language.refusal_reasons import HALT_ALONE, why_no_steps
from lodestar.language.vocabulary import load_vocabulary

_LATER = (StepKind.FIND, StepKind.COUNT, StepKind.LIST, StepKind.CHECK, StepKind.EXPLORE)


def assembled(draft: Draft, text: str) -> Directive:
    """Return the directive of a draft.

    Raises StopRequested if it only asks for a halt, NotUnderstood if it has no step or a number out of range.
    """
    steps = _placed(draft)
    if not steps or _is_route(draft, steps):
        raise StopRequested(HALT_ALONE) if draft.halts else NotUnderstood(why_no_steps(draft, text))
    if draft.unable:
        steps[-1] = replace(steps[-1], unable=(*steps[-1].unable, *draft.unable))
    try:
        constraints = tuple(
            _constraint(kind, things, metres, _end(draft, index))
            for index, (kind, things, metres) in enumerate(draft.constraints)
        )
        return Directive(text, tuple(steps), constraints, times=draft.times)
    except OutOfBounds as error:
        raise NotUnderstood(str(error)) from None


def _is_route(draft: Draft, steps: Sequence[Step]) -> bool:
    """Return whether the text only describes a route by turns, doors and corridors.

    The robot cannot follow such a route.
    """
    if not draft.turns or draft.ends:
        return False
    vocabulary = load_vocabulary()
    for step in steps:
        if step.kind not in (StepKind.GO, StepKind.FIND, StepKind.WAIT):
            return False
        heads = [graph.target.category for graph in step.item.best] if step.item is not None else []
        if not all(vocabulary.is_in("PASSAGES", head.split()[-1]) for head in heads):
            return False
    return True


def _end(draft: Draft, index: int) -> int | None:
    """Return the index of the last step for which constraint `index` holds, None = to the end."""
    if index in draft.until_step:
        return draft.until_step[index]
    for constraint, group in draft.until:
        if constraint == index and 0 <= group < len(draft.groups):
            return sum(len(g.steps) for g in draft.groups[: group + 1]) - 1
    return None


def _constraint(kind: ConstraintKind, things: Things, metres: float | None, until: int | None) -> Constraint:
    return Constraint(kind, replace(item_of(things, with_rooms=True), count=1), metres, until)


def _placed(draft: Draft) -> list[Step]:
    """Return the steps with their scopes: steps after a step to a room take place in that room until another
    is named.
    """
    steps: list[Step] = []
    room: Scope | None = None
    said = draft.steps
    if draft.turns:  # after a turn the goal of "3 m forward" is unknown
        said = [step for step in said if not _is_way(step)]
    if any(step.kind in (StepKind.FIND, StepKind.LIST) for step in said):  # searches explore anyway
        said = [step for step in said if step.kind is not StepKind.EXPLORE or step.scope]
    for step in said:
        if step.kind is StepKind.GO:
            room = _room_of(step)
        elif step.kind is StepKind.RETURN:
            room = None
        elif step.kind in _LATER and room is not None and not step.scope:
            step = replace(step, scope=room)
        elif step.scope:
            room = None
        if draft.scope is not None and not step.scope:
            step = replace(step, scope=draft.scope)
        repeated = step.kind in (StepKind.RETURN, StepKind.EXPLORE) and steps and steps[-1] == step
        if not repeated:
            steps.append(step)
    return steps


def _is_way(step: Step) -> bool:
    """Return whether the step goes to a pose relative to the robot: "go 3 m forward"."""
    return step.pose is not None and step.pose.frame == ROBOT_FRAME


def _room_of(step: Step) -> Scope | None:
    """Return the scope of the room in which a GO step ends, None if unknown."""
    if step.item is None or len(step.item.alternatives) != 1:
        return None
    graph = step.item.alternatives[0][0]
    if step.scope.rooms:
        return step.scope
    if graph.target.category == "spot":
        return None
    if step.scope.level is not None and load_vocabulary().is_in("LEVELS", graph.target.category.split()[-1]):
        relative = step.scope.level in (UPSTAIRS, DOWNSTAIRS)  # the robot has changed floors by then
        return None if relative else Scope((), step.scope.level)  # a floor is no room
    short = replace(graph, variables=graph.variables[:1], predicates=graph.predicates[:1])
    return Scope((short,), step.scope.level)
