"""The search for a passage to the floor of an errand."""

from __future__ import annotations

from lodestar.agent.activities.activity import Activity
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.facts.errors import ErrorCode
from lodestar.query.targets import TargetView
from lodestar.selection.admission import Admission


class StairSearch(Activity):
    """Explores a floor until a passage to the floor of the errand is known."""

    explores = True

    def act(self, run: DirectiveRun) -> bool:
        """Fail if the robot may take no passage or the floor does not exist. Otherwise send the robot to look
        at possible stairs, if there are any. Return False if experts must be asked.
        """
        floors, level = self._tools.context.config.floors, self._tools.floors.level_wanted(run)
        if (floors.stairs or floors.lifts) and (level is None or floors.has(level)):
            return self._tools.floors.looks.goes(run)
        self._no_way(run)
        return True

    def news(self, run: DirectiveRun) -> str:
        """Return a sentence if a passage to the floor has become known, else ""."""
        return "" if self._tools.floors.seeks(run) else "I see a way to the floor; going there."

    def explored(self, run: DirectiveRun, admission: Admission, view: TargetView) -> None:
        """Fail the step: no passage was found."""
        self._no_way(run)

    def _no_way(self, run: DirectiveRun) -> None:
        level = self._tools.floors.level_wanted(run)
        assert level is not None
        self._tools.steps.fail(run, ErrorCode.OTHER_FLOOR, self._tools.floors.no_way(level))


class FloorVisit(Activity):
    """GO to a floor: succeeds as soon as the robot stands on it."""

    def act(self, run: DirectiveRun) -> bool:
        """Succeed as soon as the robot's floor is known; `FloorTrip` has brought the robot to the wanted
        floor before. Return False while the floor is unknown.
        """
        here = self._tools.context.facts.building.here
        if here is None:
            return False
        self._tools.steps.succeed(run, f"I am on the {here.name}.")
        return True
