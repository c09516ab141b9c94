"""Tests of the exchange of floor data between nodes."""

import json
import threading
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from std_msgs.msg import String

from lodestar.assembly.config import MappingConfig
from lodestar.assembly.plan_chain import PlanChain
from lodestar.floors.records import Building, Floor, Hint, Passage, PassageKind
from lodestar_ros.building_input import building_of, text_of
from lodestar_ros.floor_desk import BACKLOG, FloorDesk, take_news
from lodestar_ros.map_source import PosedMessage


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


def test_since_when_the_grid_is_the_floors_is_said_and_recordings_of_before_say_it_not() -> None:
    building = Building((Floor(1, 0, 0.0, "1"),), active=1, since=12.5)
    text = text_of(building)
    heard = building_of(text)
    assert heard is not None and heard.since == 12.5
    older = building_of(text.replace(', "since": 12.5', ""))
    assert older is not None and older.since == 0.0
    for bad in ("NaN", "Infinity", "null", '"now"'):
        assert building_of(text.replace("12.5", bad)) is None


class Stack:
    """Fake floor stack that records all calls."""

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
    for bad in ({}, {"lift": [1, 2]}, {"lift": [1, 2, float("nan")]}, {"failed": 1}, []):
        with pytest.raises((KeyError, TypeError, ValueError)):
            take_news(stack, bad, 5.0)


class Desk:
    """A floor desk with a fake node; its stack is on the first floor."""

    def __init__(self) -> None:
        self.warned, self.said, self.hear, self.closers, self.dropped = [], [], None, [], []
        node = SimpleNamespace(
            create_publisher=lambda *_: SimpleNamespace(
                publish=lambda m: self.said.append(building_of(m.data))
            ),
            listen=lambda kind, name, take, profile: setattr(self, "hear", take),
            get_logger=lambda: SimpleNamespace(warning=self.warned.append),
            diagnostics=SimpleNamespace(
                error=self.warned.append, input=lambda name: SimpleNamespace(drop=self.dropped.append)
            ),
            on_close=self.closers.append,
            now=7.0,
        )
        config = MappingConfig()
        self.lock = threading.RLock()
        self.desk = FloorDesk(node, PlanChain(config), config, self.lock)
        self.desk.takes(PosedMessage(None, 0.0, np.eye(4), np.eye(4), np.eye(4)))

    def tell(self, *news) -> None:
        for one in news:
            self.hear(String(data=one if isinstance(one, str) else json.dumps(one)))

    def close(self) -> None:
        """Close the desk, after all news were processed."""
        for close in self.closers:
            close()


def test_what_is_told_waits_for_the_mapper_on_no_callback_and_comes_in_order() -> None:
    desk = Desk()
    mapped, done = threading.Event(), threading.Event()

    def turn() -> None:
        with desk.lock:
            mapped.set()
            done.wait(30.0)

    worker = threading.Thread(target=turn)
    worker.start()
    assert mapped.wait(30.0)
    desk.tell(
        {"level": 3}, {"level": 5}, {"lift": [1.0, 2.0, 0.0]}, {"level": 4}
    )  # returns although mapping is busy
    assert len(desk.said) == 1
    done.set()
    worker.join()
    desk.close()
    assert [one.here.level for one in desk.said] == [0, 3, 5, 5, 4] and not desk.warned
    assert desk.said[-1].passages[0].kind is PassageKind.LIFT


def test_a_flood_of_news_is_dropped_and_counted_while_the_mapper_is_busy() -> None:
    desk = Desk()
    with desk.lock:
        desk.tell(*({"level": i % 3} for i in range(BACKLOG + 50)))
        assert 49 <= len(desk.dropped) <= 50  # one may be in progress
    desk.close()
    assert len(desk.said) - 1 == BACKLOG + 50 - len(desk.dropped)
    desk.tell({"level": 2})
    assert set(desk.dropped) == {"backlog"}


@pytest.mark.parametrize(
    "bad",
    ['{"level": 1e9}', '{"level": Infinity}', '{"level": 5000}', '{"level": -30}', '{"level": "up"}',
     '{"arrived": 999}', '{"arrived": null}', '{"failed": Infinity, "why": ""}', "[" * 100_000, "3", "{}", ""],
)  # fmt: skip
def test_news_that_are_absurd_are_told_and_lose_nothing(bad: str) -> None:
    desk = Desk()
    desk.tell({"level": 2}, bad, {"lift": [1.0, 2.0, 0.0]})
    desk.close()
    assert len(desk.warned) == 1 and "refused" in desk.warned[0] and bad[:20] in desk.warned[0]
    assert desk.said[-1].here.level == 2 and len(desk.said[-1].passages) == 1 and len(desk.said) == 3


@pytest.mark.parametrize("level", ["1e400", "5000", "1.5", '"up"', "true"])
def test_floors_of_levels_that_no_building_has_are_none(level: str) -> None:
    text = text_of(Building((Floor(1, 0, 0.0, "1"),), (), 1))
    assert building_of(text) is not None
    assert building_of(text.replace('"level": 0', f'"level": {level}')) is None
