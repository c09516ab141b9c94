"""The way to the charger while the battery still lasts; it ends the directive."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from lodestar.agent.activities.go_to import GoTo
from lodestar.agent.activities.transitions import Transitions
from lodestar.agent.decisions.admission import CHARGER
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.errand import Failure
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.facts.errors import ErrorCode
from lodestar.grid.energy import EnergyBudget
from lodestar.language.directive import StepKind
from lodestar.selection.decisions import Outcome

_LATE = 1.0  # m that the robot drives between two looks at the battery; chosen


class ChargerTrip:
    """Says when the battery demands it, sends the robot, and verifies that it is there."""

    def __init__(self, context: LoopContext, transitions: Transitions) -> None:
        self._context, self._transitions = context, transitions
        self._go_to = GoTo(context, transitions)  # of the trip that is under way

    def begin(self, run: DirectiveRun, no_way: Callable[[int], str]) -> None:
        """Send the robot there, once the wait before the next request is over.

        no_way(level): says why the robot cannot come to another level.
        """
        context = self._context
        if context.now < run.errand.ask_after:
            return
        pose = context.facts.pose
        assert pose is not None
        if self.is_elsewhere:
            level = home_level(run, context)
            self.give_up(run, "no way is known" if level is None else no_way(level).rstrip("."))
            return
        x, y = self._charger
        goal = np.array([x, y, math.atan2(y - pose[1], x - pose[0])])
        text, slack = f"{run.report[-1]} Driving there.", context.config.charger_reach
        if self._go_to.send(run, CHARGER, goal, text, slack=slack):
            run.errand.idle_since = None
        elif run.errand.idle_for(context.now) > context.config.no_expert_timeout:
            self.give_up(run, self._go_to.verdict.reason)
        else:
            self._transitions.redecide(run, context.config.retry_interval)

    @property
    def is_elsewhere(self) -> bool:
        """Return whether the charger is on another floor than the robot."""
        facts = self._context.facts
        return facts.building.active != facts.home_floor

    def verify(self, run: DirectiveRun) -> None:
        """The navigator says that the robot is there: end the directive where it is, else try again."""
        context = self._context
        config, pose = context.config, context.facts.pose
        assert pose is not None and run.verdict is not None
        away = math.dist(pose[:2], self._charger)
        if away <= config.charger_reach:
            code, message = run.verdict
            self._transitions.finish(run, code, f"{message} It is there now.")
            return
        if self._go_to.fell_short(CHARGER):
            self.give_up(run, f"the navigator stopped {away:.1f} m from the charger")
        else:
            self._transitions.redecide(run, config.retry_interval)

    def give_up(self, run: DirectiveRun, why: str) -> None:
        """The robot cannot come there; the directive is over."""
        code, message = run.verdict or (ErrorCode.NAVIGATION_FAILED, "")
        self._transitions.finish(run, code, f"{message} Could not come back: {why}.".strip())

    def turned_back(self, run: DirectiveRun) -> bool:
        """Whether the battery lasts for no more than the way to the charger, so that the robot goes there now."""
        context = self._context
        config, facts, budget = context.config, context.facts, context.facts.energy
        due = context.now - run.last_energy >= config.energy_interval
        if run.charging or not budget.limited or not due or facts.pose is None or facts.grid is None:
            return False
        run.last_energy = context.now
        goal = self._charger
        length = context.validator.way_back(facts.grid, facts.pose)
        if not budget.must_return(length):
            return False
        if run.step.kind is StepKind.RETURN and math.dist(home_of(run, context)[:2], goal) < 1.0:
            return False  # it is on its way there
        self._turn_back(run, length, wanted=False)
        return True

    def turn_back(self, run: DirectiveRun) -> None:
        """Go to the charger, because the battery lasts for no goal that anybody proposes, and the way back."""
        facts = self._context.facts
        assert facts.pose is not None and facts.grid is not None
        self._turn_back(run, self._context.validator.way_back(facts.grid, facts.pose), wanted=True)

    def _turn_back(self, run: DirectiveRun, length: float, wanted: bool) -> None:
        """Go to the charger, `length` metres away. wanted: a goal that is too far was proposed."""
        context, budget = self._context, self._context.facts.energy
        where = "the charger" if budget.charger is not None else "the start"
        why, away = _why(budget, length, where, wanted), f"{length:.0f} m away"
        leads = not self.is_elsewhere or context.facts.way_home is not None
        if not leads:
            why, away = "no way that I may take leads there", "on another floor"
        message = (
            f"The battery lasts for {budget.range_left:.0f} m, of which {budget.reserve:.0f} m are the reserve, and "
            f"{where} is {away}: {why}."
        )
        run.verdict, run.charging, run.errand.failures = (ErrorCode.ENERGY, message), True, 0
        self._go_to = GoTo(context, self._transitions)
        self._transitions.outcomes.note(run, Failure.BATTERY, why)
        run.tell(
            f"Going back to {where}, {away}: {why}." if leads else f"I cannot go back to {where}: {why}."
        )
        context.account.close(Outcome.PREEMPTED)
        self._transitions.take_back(run, "the battery demands the way back")
        self._transitions.redecide(run)

    @property
    def _charger(self) -> np.ndarray:
        """(2,): the charger, or the start where none is known."""
        charger = self._context.facts.charger
        assert charger is not None
        return charger


def _why(budget: EnergyBudget, length: float, where: str, wanted: bool) -> str:
    """Return what the battery lasts for, as a clause. length: metres back. wanted: too far a goal was proposed."""
    if length > budget.range_left:
        return f"that is not enough for the way back, and the robot may stop before {where}"
    if length > budget.spendable + _LATE:
        return "the way back takes a part of the reserve"
    if wanted and length < budget.spendable - _LATE:
        return "no goal that is left leaves enough for the way back"
    return "the battery just lasts for the way back"


def home_of(run: DirectiveRun, context: LoopContext) -> np.ndarray:
    """(3,): where the directive began if coming back is a part of it, else where the robot was first."""
    home = context.facts.home
    assert home is not None
    alone = len(run.directive.steps) <= 1
    return home if alone or run.begun_at is None else run.begun_at


def home_level(run: DirectiveRun, context: LoopContext) -> int | None:
    """Return the level to which a robot comes back that goes to the charger or to the start; None where it does not."""
    if not run.charging and run.step.kind is not StepKind.RETURN:
        return None
    facts, is_part = context.facts, len(run.directive.steps) > 1 and not run.charging
    floor = facts.building.floor((is_part and run.floors.began) or facts.home_floor)
    return None if floor is None else floor.level
