"""The search for a way to the floor that an errand is on."""

from __future__ import annotations

from lodestar.agent.activities.activity import Activity
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.facts.errors import ErrorCode
from lodestar.query.targets import TargetView
from lodestar.selection.admission import Admission


class StairSearch(Activity):
    """Explores a floor until a way to the one that the errand is on is known."""

    explores = True

    def act(self, run: DirectiveRun) -> bool:
        """End at once where the robot may take no way to another floor, or there is no such floor; look first at what
        may be stairs.
        """
        floors, level = self._tools.context.config.floors, self._tools.floors.level_wanted(run)
        if (floors.stairs or floors.lifts) and (level is None or floors.has(level)):
            return self._tools.floors.looks.goes(run)
        self._no_way(run)
        return True

    def news(self, run: DirectiveRun) -> str:
        """Stairs came into view."""
        return "" if self._tools.floors.seeks(run) else "I see a way to the floor; going there."

    def explored(self, run: DirectiveRun, admission: Admission, view: TargetView) -> None:
        """No stairs were found: the errand fails by that."""
        self._no_way(run)

    def _no_way(self, run: DirectiveRun) -> None:
        level = self._tools.floors.level_wanted(run)
        assert level is not None
        self._tools.steps.fail(run, ErrorCode.OTHER_FLOOR, self._tools.floors.no_way(level))


class FloorVisit(Activity):
    """GO to a floor: done as soon as the robot stands on it."""

    def act(self, run: DirectiveRun) -> bool:
        """End where the robot is on the floor; the way there is the trip's."""
        here = self._tools.context.facts.building.here
        if here is None:
            return False
        self._tools.steps.succeed(run, f"I am on the {here.name}.")
        return True
