"""Checks that every directive passes before it starts: one from words, a structure, a picture or a language model."""

from __future__ import annotations

from lodestar.language.contradictions import contradiction, why_contradictory
from lodestar.language.directive import Directive, DirectiveKind, NotUnderstood
from lodestar.language.motion_limits import check_text
from lodestar.language.picture_goals import is_open


def check_directive(directive: Directive) -> None:
    """Raises NotUnderstood for a search for any thing at all and for one that may not go to its target, CannotObey for
    a text that forbids the robot to move or asks for a manner that nothing here obeys.
    """
    check_text(directive.text)
    for index, subtask in enumerate(directive.subtasks):
        if directive.kind_of(index) is DirectiveKind.FIND and is_open(subtask):
            raise NotUnderstood("any thing at all would do; say what kind of thing, or send a picture of it")
    both = contradiction(directive.kind, directive.subtasks)
    if both:
        raise NotUnderstood(why_contradictory(both))
