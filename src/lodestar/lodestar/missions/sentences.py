"""Checks of a mission's sentences with the offline grammar, before the robot moves."""

from __future__ import annotations

from collections.abc import Sequence

from lodestar.language.directive import (
    AmbiguousDirective,
    Constraint,
    Directive,
    DirectiveError,
    NotUnderstood,
    StepKind,
    StopRequested,
)
from lodestar.language.directive_parsers import AskingDirectives
from lodestar.language.grammar import parse_directive
from lodestar.language.model_directives import best_directive
from lodestar.language.question_reader import read_question
from lodestar.missions import records


def sentence_problem(step: records.Step) -> str:
    """Return why the robot would refuse a step's sentence, or never end it; "" if there is no problem."""
    try:
        if step.kind is records.StepKind.QUESTION:
            read_question(step.text)
        elif step.kind is records.StepKind.DIRECTIVE:
            return _endless(best_directive(AskingDirectives(), step.words), step.time_limit)
        elif step.kind is records.StepKind.WAYPOINT and step.keep_away_from:
            constraints_of(step.keep_away_from)
    except StopRequested:
        return (
            "this only stops the robot; a mission stops with Ctrl-C, or with python -m lodestar_ros.hold on"
        )
    except AmbiguousDirective as doubt:
        readings = "; or ".join(words for words, _ in doubt.readings)
        return f"the robot would ask back, and a mission answers nothing; write what is meant: {readings}"
    except DirectiveError as error:
        return str(error)
    return ""


def _endless(directive: Directive, time_limit: float) -> str:
    """Return advice to set a time limit if the directive ends only when cancelled and has none, else ""."""
    waits = any(step.kind is StepKind.WAIT and step.seconds is None for step in directive.steps)
    if time_limit or not (waits or directive.times == 0 or any(step.times == 0 for step in directive.steps)):
        return ""
    return "it goes on until it is cancelled; give the step a time_limit"


def constraints_of(keep_away_from: Sequence[str]) -> tuple[Constraint, ...]:
    """Return the constraints of a drive to a waypoint from phrases such as "the stairs".

    Raises DirectiveError.
    """
    found: list[Constraint] = []
    for words in keep_away_from:
        read = parse_directive(f"explore; keep away from {words}")
        if [step.kind for step in read.steps] != [StepKind.EXPLORE] or not read.constraints or read.manners:
            raise NotUnderstood(f'keep_away_from: "{words}" is more than something to keep away from')
        found += read.constraints
    return tuple(found)
