"""Return to the charger before the battery is empty. The trip ends the directive."""

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
from lodestar.agent.facts.config import LOOP_RETRY_INTERVAL
from lodestar.agent.facts.errors import ErrorCode
from lodestar.grid.energy import EnergyBudget
from lodestar.language.directive import StepKind
from lodestar.selection.decisions import Outcome

LOOP_ENERGY_INTERVAL = 1.0  # s between checks of the battery (ours)
LOOP_CHARGER_REACH = 0.6  # m from the charger that count as being there (ours)

_LATE = 1.0  # m that the robot drives between two checks of the battery; chosen


class ChargerTrip:
    """Decides when the battery requires a return, sends the robot to the charger, and verifies that it arrived."""

    def __init__(self, context: LoopContext, transitions: Transitions) -> None:
        self._context, self._transitions = context, transitions
        self._go_to = GoTo(context, transitions)  # for the current trip

    def begin(self, run: DirectiveRun, no_way: Callable[[int], str]) -> None:
        """Send the robot to the charger, unless the loop still waits before its next decision.

        no_way(level): returns why the robot cannot reach another level.
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
        text, slack = f"{run.report[-1]} Driving there.", LOOP_CHARGER_REACH
        if self._go_to.send(run, CHARGER, goal, text, slack=slack):
            run.errand.idle_since = None
        elif run.errand.idle_for(context.now) > context.config.no_expert_timeout:
            self.give_up(run, self._go_to.verdict.reason)
        else:
            self._transitions.redecide(run, LOOP_RETRY_INTERVAL)

    @property
    def is_elsewhere(self) -> bool:
        """Return whether the charger is on another floor than the robot."""
        facts = self._context.facts
        return facts.building.active != facts.home_floor

    def verify(self, run: DirectiveRun) -> None:
        """Check the navigator's report of arrival: end the directive if the robot is at the charger, else retry or
        give up.
        """
        context = self._context
        pose = context.facts.pose
        assert pose is not None and run.verdict is not None
        away = math.dist(pose[:2], self._charger)
        if away <= LOOP_CHARGER_REACH:
            code, message = run.verdict
            self._transitions.finish(run, code, f"{message} It is there now.")
            return
        if self._go_to.fell_short(CHARGER):
            self.give_up(run, f"the navigator stopped {away:.1f} m from the charger")
        else:
            self._transitions.redecide(run, LOOP_RETRY_INTERVAL)

    def give_up(self, run: DirectiveRun, why: str) -> None:
        """End the directive because the robot cannot reach the charger."""
        code, message = run.verdict or (ErrorCode.NAVIGATION_FAILED, "")
        self._transitions.finish(run, code, f"{message} Could not come back: {why}.".strip())

    def turned_back(self, run: DirectiveRun) -> bool:
        """Send the robot to the charger if the battery suffices for little more than the path back. Return
        whether the robot was sent.
        """
        context = self._context
        facts, budget = context.facts, context.facts.energy
        due = context.now - run.last_energy >= LOOP_ENERGY_INTERVAL
        if run.charging or not budget.limited or not due or facts.pose is None or facts.grid is None:
            return False
        run.last_energy = context.now
        goal = self._charger
        length = context.validator.way_back(facts.grid, facts.pose)
        demanded, is_return = budget.must_return(length), run.step.kind is StepKind.RETURN
        run.returning = demanded and is_return and math.dist(home_of(run, context)[:2], goal) < 1.0
        if not demanded or run.returning:
            return False
        self._turn_back(run, length, wanted=False)
        return True

    def turn_back(self, run: DirectiveRun) -> None:
        """Send the robot to the charger, because the battery covers no proposed goal and the way back from
        it.
        """
        facts = self._context.facts
        assert facts.pose is not None and facts.grid is not None
        self._turn_back(run, self._context.validator.way_back(facts.grid, facts.pose), wanted=True)

    def _turn_back(self, run: DirectiveRun, length: float, wanted: bool) -> None:
        """Send the robot to the charger, `length` metres away. wanted: a goal out of reach was proposed."""
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
        """Return the position (2,) of the charger, or of the start if no charger is known."""
        charger = self._context.facts.charger
        assert charger is not None
        return charger


def _why(budget: EnergyBudget, length: float, where: str, wanted: bool) -> str:
    """Return the reason for the return, as a clause. length: metres back. wanted: a goal that is too far was
    proposed.
    """
    if length > budget.range_left:
        return f"that is not enough for the way back, and the robot may stop before {where}"
    if length > budget.spendable + _LATE:
        return "the way back takes a part of the reserve"
    if wanted and length < budget.spendable - _LATE:
        return "no goal that is left leaves enough for the way back"
    return "the battery just lasts for the way back"


def home_of(run: DirectiveRun, context: LoopContext) -> np.ndarray:
    """Return the pose (3,) to return to: where the directive began if it has several steps, else the robot's first
    pose.
    """
    home = context.facts.home
    assert home is not None
    alone = len(run.directive.steps) <= 1
    return home if alone or run.begun_at is None else run.begun_at


def home_level(run: DirectiveRun, context: LoopContext) -> int | None:
    """Return the level of the charger or start that the robot returns to; None if the step is no return."""
    if not run.charging and run.step.kind is not StepKind.RETURN:
        return None
    facts, is_part = context.facts, len(run.directive.steps) > 1 and not run.charging
    floor = facts.building.floor((is_part and run.floors.began) or facts.home_floor)
    return None if floor is None else floor.level
