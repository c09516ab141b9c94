"""Tests that a zone drawn on a page passes through the world model and appears on all pages."""

import asyncio
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.worldmodel.amendment_checks import MalformedAmendment
from lodestar.worldmodel.transactions import Transactions
from lodestar.worldmodel.world_model import WorldModel
from lodestar_console import protocol
from lodestar_console.access import permissions
from lodestar_console.access.sessions import Session
from lodestar_console.intake import convert
from lodestar_console.intake.orders import RosStack
from lodestar_interfaces.action import CorrectBelief
from lodestar_ros.conversions_world import amendment_from_msg, ways_to_msg

WHO = Session(id="1", name="operator 1", role="command", since=0.0, used=0.0)
SQUARE = [(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (0.0, 1.0)]


class Desk:
    """Fake caller that connects the action `correct` to a world model."""

    def __init__(self):
        self.world = WorldModel(Transactions(None), None)
        self.stack = RosStack.__new__(RosStack)
        self.stack._caller, self.stack._node = self, SimpleNamespace(now=100.0)

    async def action(self, name, goal, patience):
        told = []
        try:
            if goal.undo:
                self.world.undo(int(goal.undo), 100.0, lambda *answer: told.append(answer))
            else:
                change = amendment_from_msg(goal.amendment[0])
                self.world.correct((change,), 100.0, lambda *answer: told.append(answer))
        except MalformedAmendment as error:
            return CorrectBelief.Result(error_code=CorrectBelief.Result.NOT_UNDERSTOOD, error_msg=str(error))
        entry, _ = told[0]
        return CorrectBelief.Result(entry=entry.number, report=" ".join(entry.words))

    def ask(self, **fields):
        return asyncio.run(self.stack._lay_zone(protocol.LayZone(id=1, **fields), WHO, None))

    @property
    def zones(self):
        return convert.closed_ways(ways_to_msg(self.world.ways, 100.0))


def test_a_zone_is_laid_named_removed_and_the_removal_undone():
    desk = Desk()
    told = desk.ask(outline=SQUARE, text="wet floor", minutes=10.0)
    assert told.ok and "area at (1.0, 0.5) is closed (wet floor; operator 1 laid it on the page)" in told.text
    (zone,) = desk.zones
    assert (zone.kind, zone.outline, zone.text, zone.laid) == ("keep_out", SQUARE, "wet floor", True)
    assert zone.expires == 700.0
    assert desk.ask(outline=zone.outline, text=zone.text, remove=True).ok and desk.zones == []
    asyncio.run(desk.stack._undo(protocol.Undo(id=2, entry=2)))
    assert [one.outline for one in desk.zones] == [SQUARE]


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-50, 50), st.floats(-50, 50)), max_size=70),
    st.floats(-1e9, 1e9),
    st.text(max_size=400),
)
def test_whatever_is_drawn_is_laid_as_it_was_drawn_or_refused_with_a_sentence(outline, minutes, text):
    desk = Desk()
    told = desk.ask(outline=outline, text=text, minutes=minutes)
    assert told.text and told.ok == bool(desk.zones)
    if told.ok:
        (zone,) = desk.zones
        np.testing.assert_allclose(zone.outline, outline)
        assert desk.ask(outline=zone.outline, remove=True).ok and not desk.zones


@pytest.mark.parametrize("outline", [[], SQUARE[:2], [(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)], [(0.0, 0.0)] * 3,
                                     [*SQUARE, *SQUARE], [(0.0, 0.0), (2.0, 2.0), (2.0, 0.0), (0.0, 2.0)]])  # fmt: skip
def test_what_is_no_area_is_refused(outline):
    desk = Desk()
    told = desk.ask(outline=outline)
    assert not told.ok and told.text and desk.zones == []


def test_a_zone_that_has_moved_since_it_was_drawn_is_not_told_to_be_removed():
    desk = Desk()
    assert desk.ask(outline=SQUARE).ok
    told = desk.ask(outline=[(x + 0.05, y) for x, y in SQUARE], remove=True)
    assert not told.ok and "the map has moved" in told.text and len(desk.zones) == 1


@pytest.mark.parametrize(
    "asked",
    [
        protocol.LayZone(id=1, outline=SQUARE), protocol.Undo(id=1, entry=3),
        protocol.CloseWay(id=1, start=SQUARE[0], end=SQUARE[1], open=True),
    ],
)  # fmt: skip
def test_what_closes_or_opens_an_area_needs_the_role_and_the_lease(asked):
    assert permissions.needs_lease(asked) and permissions.refusal(asked, WHO) == ""
    looker = Session(id="2", name="x", role="look", since=0.0, used=0.0)
    assert "role is look" in permissions.refusal(asked, looker)
