"""Typed questions for the steps of a directive."""

from __future__ import annotations

from dataclasses import replace

from lodestar.language.directive import Directive, Step, StepKind
from lodestar.language.directive_errors import DirectiveError
from lodestar.language.question import PARTIAL, AnswerType, Occurrence, Question, QuestionKind
from lodestar.language.question_reader import read_question


def with_questions(directive: Directive) -> Directive:
    """Return the directive with `wanted`, the `Question` record, filled in for each step that has one."""
    return directive.with_steps(
        step if step.wanted is not None else replace(step, wanted=wanted_by(step)) for step in directive.steps
    )


def wanted_by(step: Step) -> Question | None:
    """Return the question of a COUNT, LIST, CHECK or ASK step, or of a GO to a remembered place; else None."""
    match step.kind:
        case StepKind.GO if step.is_remembered:
            return Question(
                QuestionKind.WHERE,
                AnswerType.PLACE,
                step.item,
                scope=step.scope,
                occurrence=Occurrence.LAST,
                past=True,
                text=step.question,
            )
        case StepKind.COUNT:
            return Question(QuestionKind.HOW_MANY, AnswerType.NUMBER, step.item, scope=step.scope)
        case StepKind.LIST:
            return Question(QuestionKind.WHAT_THERE, AnswerType.TEXT, step.item, scope=step.scope)
        case StepKind.CHECK | StepKind.ASK:
            return _asked(step)
    return None


def _asked(step: Step) -> Question:
    """Return the question in the speaker's words as a `Question`.

    A CHECK step keeps its own item; for other steps it is used only if the words name no item.
    """
    found = _read(step)
    if step.kind is StepKind.CHECK:
        is_choice = found is not None and found.kind is QuestionKind.ATTRIBUTE and bool(found.asked)
        kind = QuestionKind.ATTRIBUTE if is_choice else QuestionKind.IS_THERE
        answer = AnswerType.TEXT if is_choice else AnswerType.YES_NO
        plain = Question(kind, answer, step.item, step.asked, scope=step.scope, text=step.question)
        if found is None or found.kind not in (QuestionKind.IS_THERE, QuestionKind.ATTRIBUTE):
            return plain
        attribute = found.attribute if is_choice else ""
        return replace(
            plain,
            window=found.window,
            occurrence=found.occurrence,
            attribute=attribute,
            past=found.past,
            image=found.image,
        )
    if found is None:
        return Question(
            QuestionKind.OTHER,
            AnswerType.TEXT,
            step.item,
            step.asked,
            scope=step.scope,
            confidence=PARTIAL,
            text=step.question,
        )
    if found.item is None and step.item is not None:
        return replace(found, item=step.item, asked=step.asked, scope=step.scope)
    return found


def _read(step: Step) -> Question | None:
    try:
        return read_question(step.question, step.item)
    except DirectiveError:
        return None
