"""Choice of the floor on which a search continues, by comparing the expected seconds of staying and of
changing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lodestar.agent.activities.floor_trip import FloorTrip
from lodestar.agent.activities.stair_looks import StairLook
from lodestar.agent.activities.transitions import Transitions
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.run import DirectiveRun, FloorRest
from lodestar.experts.absence import AbsenceJudge, FloorLeft
from lodestar.floors.records import Floor, level_name
from lodestar.language.directive import StepKind
from lodestar.language.items import EVERY_LEVEL

_RATE = 0.5  # m^2 per second that a search covers before it was measured; chosen: 100 m^2 in 200 s
_WINDOW = 45.0  # s over which the search rate is measured, and minimum stay on a floor; chosen: as long as stairs take


@dataclass(frozen=True)
class Elsewhere:
    """Another floor on which a search may continue, and the seconds to get there.

    level: None = unknown, since only possible stairs lead there; `look` is then the pose from which to look
    at them.
    """

    level: int | None
    seconds: float
    look: StairLook | None = None


class FloorSearch:
    """Chooses the next floor of an errand that is not bound to one floor."""

    def __init__(self, context: LoopContext, transitions: Transitions, trip: FloorTrip) -> None:
        self._context, self._transitions, self._trip = context, transitions, trip
        self._areas: dict[int, float] = {}  # id of a floor -> m^2 of free floor when last on it

    def next_floor(self, run: DirectiveRun) -> bool:
        """Send the robot to another floor, because this one is fully explored. Return whether the search
        continues.
        """
        here = self._context.facts.building.here
        if here is None or run.step.scope.level not in (None, EVERY_LEVEL):
            return False
        run.floors.searched.add((run.step_index, here.id))
        best = min(self.elsewhere(run), key=lambda one: one.seconds, default=None)
        if best is None or best.level is None:
            return self._trip.looks.goes(run)
        self._go(run, best.level, f"Everything on the {here.name} is explored")
        return True

    def heads_elsewhere(self, run: DirectiveRun) -> bool:
        """Send the robot to another floor if a match is known there and none on this floor. Return whether it
        goes.
        """
        context, building = self._context, self._context.facts.building
        here, whole = self._here(), context.facts.whole
        if here is None or whole is None or not building.has_others or run.step.kind is not StepKind.FIND:
            return False
        if run.step.scope.level not in (None, EVERY_LEVEL) or run.floors.goal is not None:
            return False
        if context.search.fitting(run):
            return False
        barred = self._trip.barred(run)
        for candidate in context.targets.look(whole, run.step).accepted:
            entity = whole.get(candidate.entity_id)
            floor = None if entity is None else building.at(float(entity.mean[2]), entity.eye)
            left_out = candidate.entity_id in run.errand.excluded
            if (
                floor is None
                or floor.id == here.id
                or left_out
                or self._trip.passage_to(floor.level, barred) is None
            ):
                continue
            self._go(run, floor.level, f"I know one on the {floor.name}")
            return True
        return False

    def leaves(self, run: DirectiveRun, judge: AbsenceJudge, goals: Sequence[np.ndarray]) -> bool:
        """Send the robot to another floor if the object is expected to be found sooner that way. Return
        whether the robot leaves.

        With p the probability that the object is on this floor, h and o the seconds to search the rest of
        this floor and of the other floor, and c the seconds of a change: staying costs p h/2 + (1-p)(h + c +
        o/2), changing costs (1-p)(c + o/2) + p(2c + o + h/2). A floor is left this way only once; a robot
        that came back stays until the floor is explored, which prevents oscillation.
        """
        context = self._context
        here = self._here()
        if here is None or not goals or run.step.scope.level not in (None, EVERY_LEVEL):
            return False
        if (run.step_index, here.id) in run.floors.left_over:
            return False
        others = self.elsewhere(run) or self._unsure(run)
        if not others:
            return False
        typical = max((area for floor, area in self._areas.items() if floor != here.id), default=0.0)
        left = judge.left(run.step, context.facts, context.searched, goals, typical)
        if left is None:
            return False
        pace, recent = self._paces(run, left)
        seconds = left.seconds(max(left.rate, recent), pace)
        for one in sorted(others, key=lambda other: other.seconds):
            there = self._left_there(run, one.level) or self._unseen(one.level, left.area, pace)
            if not FloorRest(left.unseen, seconds).is_slower(there, one.seconds):
                continue
            if one.level is None:
                return self._trip.looks.goes(run, one.look)
            run.floors.left_over[run.step_index, here.id] = FloorRest(left.unseen, seconds)
            self._go(run, one.level, f"Little is left to search on the {here.name}")
            return True
        return False

    def _paces(self, run: DirectiveRun, left: FloorLeft) -> tuple[float, float]:
        """Return the floor area searched on this floor, m^2 per second: the average, and that of the last
        `_WINDOW` seconds. Until they can be measured, both are the average of the previous floor, or `_RATE`.
        """
        now, progress = self._context.now, run.floors.progress
        progress.append((now, left.shown))
        while len(progress) > 1 and now - progress[1][0] >= _WINDOW:
            progress.popleft()
        began, first = progress[0]
        stayed = now - max(run.floors.since, run.started)
        if now - began < _WINDOW or stayed < _WINDOW:
            return run.floors.pace or _RATE, run.floors.pace or _RATE
        recent = (left.shown - first) / (now - began)
        run.floors.pace = max(left.shown / stayed, _RATE / 5.0)
        return run.floors.pace, max(recent, 0.0)

    def _unsure(self, run: DirectiveRun) -> list[Elsewhere]:
        """Return a list with the unknown floor beyond possible stairs; [] if no stairs were seen from afar,
        or if a passage is known from here.
        """
        look = None if self._trip.allowed() else self._trip.looks.best(run)
        return [] if look is None else [Elsewhere(None, self._trip.looks.expected_seconds(look), look)]

    def _here(self) -> Floor | None:
        """Return the robot's floor, and store its known free area."""
        facts = self._context.facts
        here, known = facts.building.here, {floor.id for floor in facts.building.floors}
        self._areas = {floor: area for floor, area in self._areas.items() if floor in known}
        if here is not None and facts.grid is not None:
            self._areas[here.id] = facts.grid.free_area
        return here

    def _unseen(self, level: int | None, area: float, pace: float) -> FloorRest:
        """Return the unsearched rest of a floor that was never searched, which is its whole area. area: m^2
        to assume if the floor's own area is unknown. pace: m^2 searched per second.
        """
        floor = None if level is None else self._context.facts.building.of_level(level)
        area = area if floor is None else self._areas.get(floor.id, area)
        return FloorRest(area, area / pace)

    def _left_there(self, run: DirectiveRun, level: int | None) -> FloorRest | None:
        """Return the unsearched rest of another level, as stored when the search left it; None if the search
        never left it.
        """
        floor = None if level is None else self._context.facts.building.of_level(level)
        return None if floor is None else run.floors.left_over.get((run.step_index, floor.id))

    def elsewhere(self, run: DirectiveRun) -> list[Elsewhere]:
        """Return the floors that this step has not fully explored and an allowed passage leads to, with the
        seconds to each.
        """
        building = self._context.facts.building
        here = building.here
        found: dict[int, Elsewhere] = {}
        barred = self._trip.barred(run)
        for passage in () if here is None else self._trip.allowed():
            assert here is not None
            level = building.level_beyond(passage, here.id)
            floor = building.of_level(level)
            if level in barred or (floor is not None and (run.step_index, floor.id) in run.floors.searched):
                continue
            seconds = self._trip.seconds_to(passage)
            if math.isfinite(seconds) and (level not in found or seconds < found[level].seconds):
                found[level] = Elsewhere(level, seconds)
        return list(found.values())

    def _go(self, run: DirectiveRun, level: int, why: str) -> None:
        run.floors.goal = level
        run.text = f"{why}; going on on the {level_name(level)}."
        self._transitions.redecide(run)
