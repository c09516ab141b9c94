"""The way back: to where the directive began, and to the charger while the battery still lasts."""

from __future__ import annotations

import math

import numpy as np

from lodestar.agent.account import Account
from lodestar.agent.context import LoopContext
from lodestar.agent.energy import way_back
from lodestar.agent.errors import ErrorCode
from lodestar.agent.proposers import CHARGER, HOME
from lodestar.agent.run import Run
from lodestar.agent.steps import Steps
from lodestar.agent.transitions import Transitions
from lodestar.experts.protocol import Proposal
from lodestar.language.directive import StepKind
from lodestar.selection.decision_log import Outcome


class ReturnTrip:
    """Sends the robot back, verifies that it came back, and says when the battery demands it."""

    def __init__(
        self, context: LoopContext, transitions: Transitions, account: Account, steps: Steps
    ) -> None:
        self._context, self._transitions = context, transitions
        self._account, self._steps = account, steps

    def is_due(self, run: Run) -> bool:
        """Whether the next goal is the way back."""
        return run.charging or run.step.kind is StepKind.RETURN

    def begin(self, run: Run) -> None:
        """Send the robot back, once the wait before the next question is over."""
        context = self._context
        if context.now < run.ask_after:
            return
        if run.charging:
            pose = context.facts.pose
            assert pose is not None
            x, y = self._charger_of(run)
            heading = math.atan2(y - pose[1], x - pose[0])
            self._go_back(run, CHARGER, np.array([x, y, heading]), f"{run.told[-1]} Driving there.")
        else:
            self._go_back(run, HOME, self._home_of(run).copy(), "Going back to where I started.")

    def verify(self, run: Run, proposer: str) -> None:
        """The navigator says that the robot is back: end the step where it is, else try again."""
        context = self._context
        config, pose = context.config, context.facts.pose
        assert pose is not None
        goal = self._charger_of(run) if proposer == CHARGER else self._home_of(run)[:2]
        away = math.dist(pose[:2], goal)
        run.arrival = None
        within = config.charger_reach if proposer == CHARGER else config.return_tolerance
        if away > within:
            run.failures += 1
            place = "the charger" if proposer == CHARGER else "the start"
            why = f"the navigator stopped {away:.1f} m from {place}"
            if run.failures >= config.max_navigation_failures:
                self.give_up(run, why)
            else:
                self._transitions.redecide(run, config.retry_interval)
        elif proposer == CHARGER:
            assert run.verdict is not None
            code, message = run.verdict
            self._transitions.finish(run, code, f"{message} It is there now.")
        else:
            self._steps.succeed(run, "Back where I started.")

    def give_up(self, run: Run, why: str) -> None:
        """The robot cannot come back; the directive is over."""
        code, message = run.verdict or (ErrorCode.NAVIGATION_FAILED, "")
        self._transitions.finish(run, code, f"{message} Could not come back: {why}.".strip())

    def turned_back(self, run: Run) -> bool:
        """Whether the battery just lasts for the way to the charger, so that the robot goes there now."""
        context = self._context
        config, facts, budget = context.config, context.facts, context.facts.energy
        due = context.now - run.last_energy >= config.energy_interval
        if run.charging or not budget.limited or not due or facts.pose is None or facts.grid is None:
            return False
        run.last_energy = context.now
        goal = self._charger_of(run)
        length = way_back(facts.grid, facts.pose, goal, budget, config)
        if not budget.must_return(length):
            return False
        if run.step.kind is StepKind.RETURN and math.dist(self._home_of(run)[:2], goal) < 1.0:
            return False  # it is on its way there
        where = "the charger" if budget.charger is not None else "the start"
        message = (
            f"The battery lasts for {budget.range_left:.0f} m, of which {budget.reserve:.0f} m are the reserve, and "
            f"{where} is {length:.0f} m away: the robot stopped in time to drive there."
        )
        run.verdict, run.charging, run.failures = (ErrorCode.ENERGY, message), True, 0
        run.told.append(f"The battery just lasts for the {length:.0f} m to {where}.")
        self._account.close(Outcome.PREEMPTED)
        self._transitions.redecide(run)
        return True

    def _go_back(self, run: Run, proposer: str, goal: np.ndarray, text: str) -> None:
        epoch = self._context.next_epoch()
        run.text = text
        self._transitions.send(run, Proposal(proposer, epoch, goal, 1.0, text), epoch)

    def _home_of(self, run: Run) -> np.ndarray:
        """(3,): where the directive began if coming back is a part of it, else where the robot was first."""
        home = self._context.facts.home
        assert home is not None
        alone = len(run.directive.steps) <= 1
        return home if alone or run.begun_at is None else run.begun_at

    def _charger_of(self, run: Run) -> np.ndarray:
        """(2,): the charger, or the start where none is known."""
        facts = self._context.facts
        assert facts.home is not None
        charger = facts.energy.charger
        return np.array(charger if charger is not None else facts.home[:2], np.float64)
