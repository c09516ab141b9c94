"""Directives in plain English; parsing the sentence gives the same record."""

from __future__ import annotations

from lodestar.language.directive import UNTIL_CANCELLED, Constraint, ConstraintKind, Directive, Step
from lodestar.language.item_words import graph_words, number_words
from lodestar.language.step_kinds import step_spec


def sentence(directive: Directive) -> str:
    """Return the directive in one line: "go to the kitchen, then find the red mug; avoid the dog until step
    1".
    """
    parts = [", then ".join(step_sentence(step) for step in directive.steps)]
    parts += [_constraint(constraint) for constraint in directive.constraints]
    parts += [manner.said for manner in directive.manners]
    if directive.times != 1:
        parts.append(
            "repeat this forever"
            if directive.times == UNTIL_CANCELLED
            else f"repeat this {directive.times} times"
        )
    return "; ".join(part for part in parts if part)


def step_sentence(step: Step) -> str:
    """Return one step in words: "find 2 red chairs or blue chairs in the kitchen"."""
    said = step_spec(step.kind).sentence(step)
    for unable in step.unable:
        said += f', as I cannot do "{unable}"'
    if step.times != 1:
        said += " forever" if step.times == UNTIL_CANCELLED else f" {step.times} times"
    return said


def _constraint(constraint: Constraint) -> str:
    verb = "do not enter" if constraint.kind is ConstraintKind.STAY_OUT else "avoid"
    if constraint.distance is not None:
        verb = f"keep {number_words(constraint.distance)} m away from"
    things = " or ".join(graph_words(graph, "the ") for graph in constraint.item.best)
    until = "" if constraint.until is None else f" until step {constraint.until + 1}"
    return f"{verb} {things}{until}"
