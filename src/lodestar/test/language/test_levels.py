"""Floors of the building in words: levels that are said, all of them, and those that are barred."""

import pytest

from lodestar.language.directive import StepKind
from lodestar.language.grammar import parse_directive
from lodestar.language.items import DOWNSTAIRS, EVERY_LEVEL, UPSTAIRS
from lodestar.language.levels import barred_levels, is_floor
from lodestar.language.sentences import sentence


@pytest.mark.parametrize(
    ("text", "kind", "level"),
    [
        ("go upstairs", StepKind.GO, UPSTAIRS),
        ("go to the second floor", StepKind.GO, 1),
        ("find the mug upstairs", StepKind.FIND, UPSTAIRS),
        ("find the printer on the second floor", StepKind.FIND, 1),
        ("find a chair on any floor", StepKind.FIND, EVERY_LEVEL),
        ("count the chairs on each floor", StepKind.COUNT, EVERY_LEVEL),
        ("count the chairs downstairs", StepKind.COUNT, DOWNSTAIRS),
        ("list the chairs on all floors", StepKind.LIST, EVERY_LEVEL),
        ("patrol all floors", StepKind.PATROL, EVERY_LEVEL),
        ("explore the third floor", StepKind.EXPLORE, 2),
    ],
)
def test_a_level_is_read_and_said_again(text: str, kind: StepKind, level: int) -> None:
    for said in (text, sentence(parse_directive(text))):
        (step,) = parse_directive(said).steps
        assert (step.kind, step.scope.level, step.unable) == (kind, level, ()), said
        assert not step.scope.rooms, said


def test_what_follows_a_way_upstairs_is_said_from_there() -> None:
    first, second = parse_directive("go upstairs and find the chair").steps
    assert first.scope.level == UPSTAIRS and first.item is not None and is_floor(first.item)
    assert second.scope.level is None and not second.scope.rooms


def test_a_floor_that_is_barred_is_a_level() -> None:
    directive = parse_directive("do not enter the second floor; find the mug")
    assert barred_levels(directive.constraints) == {1}
    assert barred_levels(parse_directive("do not enter the kitchen; find the mug").constraints) == frozenset()
