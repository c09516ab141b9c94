"""Checks of an `errand_stage` against `RULES`, after every tick, goal and result."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from errand_rules import EQUAL_GOALS, LATE, LOOKED_AT, RULES, Broken

from lodestar.agent.errands.commands import SendGoal
from lodestar.agent.facts.errors import ErrorCode
from lodestar.grid.footprint import footprint_free
from lodestar.language.directive import Directive, StepKind

if TYPE_CHECKING:
    from errand_stage import Stage


class Judge:
    """Checks one stage. is_reached: whether the robot reached the last of the equal goals."""

    def __init__(self, stage: Stage) -> None:
        self._stage, self.is_reached = stage, True
        self.begin()

    def begin(self) -> None:
        """Begin a directive; the count of equal goals restarts."""
        self._row: list[SendGoal] = []
        self._row_errand: int | None = None

    def broken(self, rule: str, words: str) -> None:
        """Report a broken rule. Raises Broken if the rule is among those checked."""
        assert rule in RULES, rule
        if rule in self._stage.judged:
            raise Broken(f"{rule}: {words}")

    def failure(self, what: str, error: Exception) -> Broken:
        """Return the Broken error for an exception raised by the loop."""
        return Broken(f"{RULES[0]}: {what} raised {type(error).__name__}: {error}")

    def call(self, what: str, call: Callable[[], object]) -> None:
        """Call a function of the loop; an exception breaks a rule."""
        try:
            call()
        except Broken:
            raise
        except Exception as error:
            raise self.failure(what, error) from error

    def stands_at_once(self) -> None:
        """Check that motion is forbidden while the robot must not move."""
        held = self._stage.loop.held or self._stage.loop.directive is None or self._stage.paused
        if held and self._stage.loop.motion_allowed:
            self.broken("nothing moves that must stand", "motion is allowed after it was forbidden")

    def tick(self) -> None:
        """Check the rules that hold at every moment."""
        self.stands_at_once()
        navigator = self._stage.navigator
        if navigator.goal is not None and not self._stage.loop.motion_allowed:
            text = f"{self._stage.loop.state.name} with the goal {np.round(navigator.goal, 1).tolist()}"
            self.broken("nothing moves that must stand", text)
        directive = self._stage.directive
        if directive is not None and self._stage.loop.directive is not None:
            lasted = self._stage.now - self._stage.begun - self._stage.stood_still
            # the waits of the steps extend the limit
            waits = sum(step.seconds or 0.0 for step in directive.steps) * directive.times
            if lasted > self._stage.limit + waits + LATE:
                text = f"{directive.text!r} lasts for {lasted:.0f} s of {self._stage.limit:.0f} s"
                self.broken("every directive ends within its limit", text)
        if navigator.goal is not None and navigator.stood > self._stage.config.stuck_time + LATE:
            self.broken("a goal under way is watched", f"the robot stands for {navigator.stood:.0f} s")
        if self._stage.battery is not None and self._stage.battery < -0.1:
            away = math.dist(self._stage.pose[:2], self._stage.charger)
            if away > 1.0:
                self.broken("the battery lasts for the way back", f"it is empty, {away:.1f} m away")

    def goal_sent(self, goal: SendGoal) -> None:
        """Check a goal that the loop sends."""
        here = math.dist(goal.goal[:2], self._stage.pose[:2]) < 0.1
        if not here and not footprint_free(self._stage.grid, np.asarray(goal.goal, float)):
            text = f"{goal.expert} sends {np.round(goal.goal, 2).tolist()}"
            self.broken("no goal lies in a wall or a zone", text)
        self._stage.goals.append(goal)
        if self._stage.navigator.manner not in ("absent", "mute") and goal.expert not in ("look", "retreat"):
            # A directive repeated until cancelled drives there again in each round, as a new errand.
            errand = getattr(self._stage.request, "errand", None)
            same = bool(self._row) and errand == self._row_errand
            same = same and math.dist(self._row[-1].goal[:2], goal.goal[:2]) < 0.1
            self._row_errand = errand
            self._row = [*self._row, goal] if same and not self.is_reached else [goal]
            self.is_reached = False
            if len(self._row) > EQUAL_GOALS:
                text = f"{goal.expert} sends {np.round(goal.goal, 2).tolist()} {len(self._row)} times"
                self.broken("no goal is sent for ever", text)
        if goal.entity_id and self._stage.request is not None:
            assert self._stage.mirror is not None
            target = self._stage.mirror.get(goal.entity_id)
            wanted = {graph.target.category for graph in self._stage.request.step.graphs}
            if target is not None and target.label not in wanted:
                text = f"{goal.expert} goes to a {target.label} where {wanted or 'nothing'} is asked for"
                self.broken("no goal is for the target of another errand", text)

    def ended(self, result) -> None:
        """Check the result of a directive that has ended."""
        directive = self._stage.directive
        if result.error_code is ErrorCode.UNKNOWN:
            self.broken("it never fails", result.error_msg)
        if directive is None:
            return
        kinds = {step.kind for step in directive.steps}
        if result.success and kinds == {StepKind.FIND}:
            for identity in result.entity_ids:
                if self._stage.seen_at.get(identity, -math.inf) < self._stage.begun:
                    self.broken("what is claimed was seen", f"{result.report!r}: {identity} was not seen")
        self._answer(directive, result)
        if result.error_code is ErrorCode.NAVIGATION_FAILED and self._stage.request is not None:
            index = self._stage.request.step_index
            asked = {request.step.target for request in self._stage.asked if request.step_index == index}
            missing = [item.phrase for item in directive.steps[index].stops if item.phrase not in asked]
            if missing:
                self.broken("every stop of a patrol is tried", f"{missing} was never gone to")

    def _answer(self, directive: Directive, result) -> None:
        """Check that a failed search has looked at most of the building, or reports since when it did."""
        search = (StepKind.FIND, StepKind.COUNT, StepKind.LIST)
        if (
            len(directive.steps) != 1
            or directive.steps[0].kind not in search
            or directive.steps[0].scope.rooms
        ):
            return
        nothing = result.error_code is ErrorCode.TARGET_NOT_FOUND or "here are no " in result.report
        if self._stage.explorer is None or not self._stage.calm or not nothing or " ago" in result.report:
            return
        share = result.searched_share
        if not share >= LOOKED_AT:
            self.broken("no answer without a look", f"{share:.0%} of the floor: {result.report!r}")
