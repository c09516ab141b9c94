"""Tests of a building's floors in directives: named levels, all levels, and forbidden ones."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.floors.records import level_name
from lodestar.language.directive import StepKind
from lodestar.language.directive_errors import NotUnderstood
from lodestar.language.grammar import parse_directive
from lodestar.language.items import DOWNSTAIRS, EVERY_LEVEL, UPSTAIRS
from lodestar.language.levels import barred_levels, is_floor, read_floor_news
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
        ("patrol upstairs", StepKind.PATROL, UPSTAIRS),
        ("patrol both floors", StepKind.PATROL, EVERY_LEVEL),
        ("count the chairs on both floors", StepKind.COUNT, EVERY_LEVEL),
        ("explore the third floor", StepKind.EXPLORE, 2),
        ("is the printer on the second floor?", StepKind.CHECK, 1),
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


_WAYS = st.sampled_from(["stairs", "staircase", "lift", "elevator"])
_UP = {True: ("up", "upstairs"), False: ("down", "downstairs")}


@given(
    verb=st.sampled_from(["take", "use", "go", "walk"]), way=_WAYS, up=st.booleans(), long=st.booleans(),
    after=st.sampled_from(["", " and find the chair", " and wait", ", then go to the kitchen"]),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_the_way_over_stairs_leads_to_the_next_floor(verb, way, up, long, after) -> None:
    word = _UP[up][long]
    if verb in ("take", "use"):
        said = f"{verb} the {way} {word}"
    else:
        said = (
            f"{verb} {word} the {way}"
            if way.startswith("stair") and not long
            else f"{verb} {word} by the {way}"
        )
    steps = parse_directive(said + after).steps
    assert steps[0].kind is StepKind.GO and steps[0].scope.level == (UPSTAIRS if up else DOWNSTAIRS), said
    assert steps[0].item is not None and is_floor(steps[0].item) and not steps[0].unable
    assert len(steps) == (2 if after else 1) and all(step.scope.level is None for step in steps[1:])


@given(
    levels=st.lists(st.integers(0, 4), min_size=1, max_size=3, unique=True),
    once=st.booleans(), word=st.sampled_from(["floor", "level"]),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_floors_that_are_named_are_patrolled_one_after_the_other(levels, once, word) -> None:
    names = [level_name(level).split()[0] for level in levels]
    *first, last = [f"the {name}" if i == 0 or not once else name for i, name in enumerate(names)]
    said = f"patrol {', '.join(first)}{' and ' if first else ''}{last} {word}"
    steps = parse_directive(said).steps
    assert [(step.kind, step.scope.level) for step in steps] == [
        (StepKind.PATROL, level) for level in levels
    ], said


def test_a_ladder_is_refused() -> None:
    with pytest.raises(NotUnderstood):
        parse_directive("climb the ladder")


def test_a_floor_that_is_barred_is_a_level() -> None:
    directive = parse_directive("do not enter the second floor; find the mug")
    assert barred_levels(directive.constraints) == {1}
    assert barred_levels(parse_directive("do not enter the kitchen; find the mug").constraints) == frozenset()


@given(
    level=st.integers(0, 8), words=st.sampled_from(["you are on the {}", "this is the {}", "We are now on the {}!"]),
    door=st.sampled_from([None, True, False]),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_what_a_person_tells_of_floors_is_read(level, words, door) -> None:
    said = {None: "", True: " and the door is open", False: " and the door is not open"}[door]
    told = read_floor_news(words.format(level_name(level)) + said)
    assert (told.level, told.door, told.is_lift) == (level, door, False)


@pytest.mark.parametrize(
    "text", ["", "hello", "go upstairs", "the elevator music", "is there a second chair"]
)
def test_what_says_nothing_of_floors_is_nothing(text: str) -> None:
    told = read_floor_news(text)
    assert told.level is None and told.door is None


@pytest.mark.parametrize(
    ("text", "door"),
    [
        ("the door is now open", True),
        ("The door's open, come in", True),
        ("doors open, second floor", True),
        ("the door is open, I will hold it", True),
        ("The door isn't open", False),
        ("I cannot open the door", False),
        ("the door will open soon", False),
        ("the door is half open", False),
        ("the door is closed, I will open it", False),
        ("open the door please", False),
        ("wait until the door is open", False),
        ("is the door open?", None),
        ("Is the door open", None),
        ("the door is open?", None),
    ],
)
def test_a_door_is_open_only_where_that_is_plainly_said(text: str, door: bool | None) -> None:
    assert read_floor_news(text).door is door


@pytest.mark.parametrize(
    "text",
    ["are you on the second floor?", "go to the second floor", "you are not on the second floor",
     "the printer is on the second floor", "you go to the second floor", "you come from the second floor"],
)  # fmt: skip
def test_a_floor_that_the_robot_is_not_said_to_be_on_is_not_told(text: str) -> None:
    assert read_floor_news(text).level is None


@pytest.mark.parametrize(
    "text",
    ["the lift is broken", "take the lift", "is there a lift in front of you?", "the lift is out of order",
     "there is no lift in front of you", "the lift in front of you is out of order"],
)  # fmt: skip
def test_a_lift_that_nobody_says_is_before_the_robot_is_not_told(text: str) -> None:
    assert not read_floor_news(text).is_lift


def test_a_lift_before_the_robot_is_told() -> None:
    assert read_floor_news("There is a lift in front of you.").is_lift
    assert not read_floor_news("the lift is on the second floor").is_lift
