"""Table that maps each kind of errand to its activity."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from lodestar.agent.activities.activity import Activity, Tools
from lodestar.agent.activities.asking import Asking, Check, Stop, Wait
from lodestar.agent.activities.count_recall import CountRecall
from lodestar.agent.activities.go_to import RoomSearch
from lodestar.agent.activities.places import (
    Destination,
    RememberedPlace,
    SpotSearch,
    SpotVisit,
    named_pose,
    start_of,
)
from lodestar.agent.activities.rooms import Exploration, RoomPatrol, RoomVisit, StockTaking
from lodestar.agent.activities.searches import Search
from lodestar.agent.activities.skills import SkillStep
from lodestar.agent.activities.stair_search import FloorVisit, StairSearch
from lodestar.agent.errands.errand import Errand
from lodestar.agent.errands.run import DirectiveRun, is_spot
from lodestar.language.directive import Step, StepKind
from lodestar.language.levels import is_floor

_added: dict[StepKind, Callable[[Tools, Step], Activity]] = {}


@contextmanager
def activity_for(kind: StepKind, make: Callable[[Tools, Step], Activity]) -> Iterator[None]:
    """Use `make(tools, step)` as the activity for steps of this kind, in loops created within the block."""
    _added[kind] = make
    try:
        yield
    finally:
        del _added[kind]


class Activities:
    """Creates the activity of the run's errand, and keeps it until the errand ends."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        rooms, spots = RoomSearch(tools.context), SpotSearch(tools.context)
        self._makers: dict[StepKind, Callable[[Step], Activity]] = {
            StepKind.FIND: lambda step: Search(tools),
            StepKind.EXPLORE: lambda step: Exploration(tools, rooms),
            StepKind.LIST: lambda step: Exploration(tools, rooms, StockTaking(tools)),
            StepKind.COUNT: lambda step: Exploration(tools, rooms, StockTaking(tools), CountRecall(tools)),
            StepKind.RETURN: lambda step: Destination(tools, start_of),
            StepKind.GO: lambda step: self._visit(tools, rooms, spots, step),
            StepKind.WAIT: lambda step: Wait(tools),
            StepKind.CHECK: lambda step: Check(tools),
            StepKind.ASK: lambda step: Asking(tools),
            StepKind.PATROL: lambda step: RoomPatrol(tools, rooms),
            StepKind.STOP: lambda step: Stop(tools),
            StepKind.DO: lambda step: SkillStep(tools),
            **{kind: partial(make, tools) for kind, make in _added.items()},
        }
        self._current: tuple[Errand, Activity] | None = None

    def of(self, run: DirectiveRun) -> Activity:
        """Return the activity of the run's current errand; a `StairSearch` while no passage to its floor is known."""
        current, seeks = self._current, self._tools.floors.seeks(run)
        if current is None or current[0] is not run.errand or isinstance(current[1], StairSearch) != seeks:
            if seeks:
                self._current = (run.errand, StairSearch(self._tools))
                return self._current[1]
            current = self._current = (run.errand, self._makers[run.step.kind](run.step))
        return current[1]

    @staticmethod
    def _visit(tools: Tools, rooms: RoomSearch, spots: SpotSearch, step: Step) -> Activity:
        if step.pose is not None:
            return Destination(tools, named_pose)
        if step.is_remembered:
            return RememberedPlace(tools)
        if step.scope.level is not None and step.item is not None and is_floor(step.item):
            return FloorVisit(tools)
        assert step.item is not None
        return SpotVisit(tools, spots) if is_spot(step.item) else RoomVisit(tools, rooms)
