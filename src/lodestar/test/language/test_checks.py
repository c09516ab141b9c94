"""What every directive is asked before it starts, wherever it comes from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lodestar.language.checks import check_directive
from lodestar.language.directive import Directive, DirectiveKind, NotUnderstood, Subtask
from lodestar.language.grammar import parse_directive
from lodestar.language.picture_goals import Described, subtask_of


def of(subtask: Subtask, *constraints: str) -> Directive:
    return Directive(DirectiveKind.FIND, "find this", (replace(subtask, constraints=constraints),))


@pytest.mark.parametrize("label", ["mug", "coffee mug"])
@pytest.mark.parametrize("constraint", ["mug", "mugs", "the mug", "everything", "red things"])
def test_a_picture_of_what_is_kept_away_from_is_a_contradiction(label, constraint):
    shown = subtask_of(Described(label, f"red {label}", ("desk",)))
    with pytest.raises(NotUnderstood, match="keep away from"):
        check_directive(of(shown, constraint))
    check_directive(of(shown, "desk", "blue mug"))


def test_a_structure_that_contradicts_itself_is_refused():
    subtask = parse_directive("find the mug in the kitchen").subtasks[0]
    for constraint in ("mug", "the kitchen", "anything"):
        with pytest.raises(NotUnderstood, match="keep away from"):
            check_directive(of(subtask, "sofa", constraint))
    check_directive(of(subtask, "sofa", "the bathroom"))


@pytest.mark.parametrize("subtask", [Subtask(), *parse_directive("find the thing").subtasks])
def test_a_search_that_no_picture_has_made_definite_is_refused(subtask):
    with pytest.raises(NotUnderstood, match="say what kind of thing"):
        check_directive(of(subtask))
    check_directive(Directive(DirectiveKind.EXPLORE, "explore", (subtask,)))


def test_a_graph_says_what_is_looked_for_without_words():
    (wordless,) = parse_directive("find the red chair").subtasks
    check_directive(of(replace(wordless, target="")))


@pytest.mark.parametrize(
    "text", ["find the mug and come back", "list all mugs, avoid mugs", "explore, avoid mugs"]
)
def test_what_can_be_done_passes(text):
    check_directive(parse_directive(text))
