"""Floors between nodes: what the mapping node says of them is read as it was meant."""

import pytest

from lodestar.floors.records import Building, Floor, Hint, Passage, PassageKind
from lodestar_ros.floor_desk import building_of, take_news, text_of


def test_floors_and_passages_come_as_they_were_said() -> None:
    building = Building(
        (Floor(1, 0, 0.0, "1"), Floor(2, 1, 2.8, "2")),
        (Passage(1, PassageKind.STAIRS, (1.0, 2.0), (6.0, 2.0), 0.0, 1, 2, 0.52),),
        2,
        "I look whether this is the second floor",
        True,
        (Hint(2, (3.5, -1.0)),),
    )
    heard = building_of(text_of(building))
    assert heard is not None and heard.floors == building.floors and heard.here == building.floors[1]
    assert (
        heard.note == building.note
        and heard.is_told
        and heard.hints == building.hints
        and heard.passages[0].low == (1.0, 2.0)
    )


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"floors": 3}', '{"floors": [], "passages": [], "active": 7}']
)
def test_what_holds_no_floors_is_none(text: str) -> None:
    assert building_of(text) is None


class Stack:
    """Keeps what it is told."""

    def __init__(self) -> None:
        passage = Passage(1, PassageKind.STAIRS, (1.0, 2.0), (6.0, 2.0), 0.0, 1, 2, 0.52)
        self.building = Building((Floor(1, 0, 0.0), Floor(2, 1, 2.8)), (passage,), 2)
        self.told: list[tuple] = []

    def __getattr__(self, name: str):
        return lambda *given: self.told.append((name, *given))


def test_what_the_goal_selector_says_of_floors_reaches_the_stack() -> None:
    stack = Stack()
    for news in (
        {"cross": 1}, {"cross": 0}, {"failed": 1, "why": "somebody"}, {"level": 2}, {"arrived": 1},
        {"lift": [1, 2, 0.5]},
    ):  # fmt: skip
        take_news(stack, news, 5.0)
    lift = Passage(0, PassageKind.LIFT, (1.0, 2.0), (1.0, 2.0), 0.5, lower=2)
    assert stack.told == [
        ("cross", stack.building.passages[0]), ("cross", None), ("failed", 1, "somebody"), ("say_level", 2),
        ("arrive", 5.0, 1), ("name", lift),
    ]  # fmt: skip
    for bad in ({}, {"lift": [1, 2]}, {"lift": [1, 2, float("nan")]}, {"failed": 1}, {"level": "up"}):
        with pytest.raises((KeyError, TypeError, ValueError)):
            take_news(stack, bad, 5.0)
