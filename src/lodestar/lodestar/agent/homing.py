"""The way back: to where it began, and to the charger while the battery still lasts."""

from __future__ import annotations

import math

import numpy as np

from lodestar.agent.asking import Asking
from lodestar.agent.core import CHARGER, HOME
from lodestar.agent.energy import way_back
from lodestar.agent.errors import ErrorCode
from lodestar.agent.run import Run
from lodestar.experts.protocol import Proposal
from lodestar.grid.energy import EnergyBudget
from lodestar.language.directive import DirectiveKind
from lodestar.selection.decision_log import Outcome


class Homing(Asking):
    """What the loop does to come back, and when it must."""

    def on_energy(self, budget: EnergyBudget) -> None:
        """So many metres are left from now on."""
        self._battery.observe(budget, self._odometer.distance)

    @property
    def energy(self) -> EnergyBudget:
        """What is left now, by what was heard last and driven since."""
        return self._battery.left(self._odometer.distance)

    def _home_of(self, run: Run) -> np.ndarray:
        """(3,): where the directive began if coming back is a part of it, else where the robot was first."""
        assert self._home is not None
        alone = len(run.directive.subtasks) <= 1
        return self._home if alone or run.begun_at is None else run.begun_at

    def _charger_of(self, run: Run) -> np.ndarray:
        """(2,): the charger, or the start where none is known."""
        assert self._home is not None
        charger = self.energy.charger
        return np.array(charger if charger is not None else self._home[:2], np.float64)

    def _go_home(self, run: Run) -> None:
        if self._now < run.ask_after:
            return
        if run.charging:
            assert self._pose is not None
            x, y = self._charger_of(run)
            heading = math.atan2(y - self._pose[1], x - self._pose[0])
            self._go_back(run, CHARGER, np.array([x, y, heading]), f"{run.told[-1]} Driving there.")
        else:
            self._go_back(run, HOME, self._home_of(run).copy(), "Going back to where I started.")

    def _go_back(self, run: Run, who: str, goal: np.ndarray, text: str) -> None:
        self.epoch += 1
        run.text = text
        self._send(run, Proposal(who, self.epoch, goal, 1.0, text), self.epoch)

    def _verify_home(self, run: Run, who: str) -> None:
        assert self._pose is not None and self._home is not None
        goal = self._charger_of(run) if who == CHARGER else self._home_of(run)[:2]
        away = math.dist(self._pose[:2], goal)
        run.arrival = None
        within = self.config.charger_reach if who == CHARGER else self.config.return_tolerance
        if away > within:
            run.failures += 1
            why = (
                f"the navigator stopped {away:.1f} m from {'the charger' if who == CHARGER else 'the start'}"
            )
            if run.failures >= self.config.max_navigation_failures:
                self._cannot_come_back(run, why)
            else:
                self._redecide(run, self.config.retry_interval)
        elif who == CHARGER:
            assert run.verdict is not None
            code, message = run.verdict
            self._finish(run, code, f"{message} It is there now.")
        else:
            self._step_done(run, "Back where I started.")

    def _cannot_come_back(self, run: Run, why: str) -> None:
        code, message = run.verdict or (ErrorCode.NAVIGATION_FAILED, "")
        self._finish(run, code, f"{message} Could not come back: {why}.".strip())

    def _energy_low(self, run: Run) -> bool:
        """Whether the battery just lasts for the way to the charger, and the robot is told to go there."""
        budget = self.energy
        due = self._now - run.last_energy >= self.config.energy_interval
        if run.charging or not budget.limited or not due or self._pose is None or self._grid is None:
            return False
        run.last_energy = self._now
        goal = self._charger_of(run)
        length = way_back(self._grid, self._pose, goal, budget, self.config)
        if not budget.must_return(length):
            return False
        if run.kind is DirectiveKind.RETURN and math.dist(self._home_of(run)[:2], goal) < 1.0:
            return False  # it is on its way there
        where = "the charger" if budget.charger is not None else "the start"
        message = (
            f"The battery lasts for {budget.range_left:.0f} m, of which {budget.reserve:.0f} m are the reserve, and "
            f"{where} is {length:.0f} m away: the robot stopped in time to drive there."
        )
        run.verdict, run.charging, run.failures = (ErrorCode.ENERGY, message), True, 0
        run.told.append(f"The battery just lasts for the {length:.0f} m to {where}.")
        self._close(Outcome.PREEMPTED)
        self._redecide(run)
        return True
