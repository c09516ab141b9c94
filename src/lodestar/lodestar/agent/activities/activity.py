"""Port of an activity, which does one errand: each kind of step has an object of its own behind it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from lodestar.agent.actions.account import Account
from lodestar.agent.actions.go_to import GoTo
from lodestar.agent.actions.steps import Steps
from lodestar.agent.actions.transitions import Transitions
from lodestar.agent.activities.memory_line import MemoryLine
from lodestar.agent.activities.room_search import RoomSearch
from lodestar.agent.decisions.admission import Admission
from lodestar.agent.decisions.proposers import PLACE
from lodestar.agent.decisions.targets import TargetView
from lodestar.agent.decisions.verification import Arrival
from lodestar.agent.errands.commands import State
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.errands.target_search import TargetSearch
from lodestar.agent.facts.errors import ErrorCode
from lodestar.language.directive import Step
from lodestar.scene.records import Region


@dataclass(frozen=True)
class Tools:
    """The parts of the loop that activities use."""

    context: LoopContext
    search: TargetSearch
    account: Account
    transitions: Transitions
    steps: Steps
    memory: MemoryLine


_CANDIDATES = 5  # goals in a room that are tried when the validator refuses them


class Activity:
    """One errand under way, from its begin to its end. By itself it has the experts say where to go."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._go_to = GoTo(tools.context, tools.transitions)
        self._entering = 0  # region that the robot was last sent into, 0 = none

    def asked(self, run: DirectiveRun) -> Step:
        """The step as the experts hear of it: all of them where it is FIND, else the explorer alone."""
        return run.step

    def act(self, run: DirectiveRun) -> bool:
        """Do what needs no expert: send a goal, wait, or end the errand. False = the experts are to be asked."""
        return False

    def settled(self, run: DirectiveRun, admission: Admission, view: TargetView) -> bool:
        """End the errand though the experts propose goals, where no look from them is worth it; whether it did."""
        return False

    def news(self, run: DirectiveRun) -> str:
        """Return why a goal under way is to be decided on anew, "" where it is not."""
        return ""

    def conclusion(self, run: DirectiveRun) -> tuple[ErrorCode, str] | None:
        """Return code and message where the errand has an answer though the directive's time is over; None = none."""
        return None

    def waited(self, run: DirectiveRun) -> None:
        """The robot stands and waits, by this activity's doing: end the errand, or decide anew, when it is time."""

    def arrived(self, run: DirectiveRun, arrival: Arrival) -> None:
        """The robot stands at a goal that this activity sent."""
        self._tools.transitions.redecide(run)

    def unreachable(self, run: DirectiveRun, why: str) -> None:
        """The navigator failed at too many of this activity's goals."""
        message = f"Navigation failed {run.errand.failures} times in a row; the last: {why}."
        self._tools.steps.fail(run, ErrorCode.NAVIGATION_FAILED, message)

    def explored(self, run: DirectiveRun, admission: Admission, view: TargetView) -> None:
        """The explorer says that nothing reachable is left to explore; what needs no exploring fails by that."""
        message = "Nothing reachable is left to explore, and this step could not be done."
        self._tools.steps.fail(run, ErrorCode.NO_EXPERT, message)

    def send_or_wait(
        self, run: DirectiveRun, proposer: str, goal: np.ndarray, text: str, **more: Any
    ) -> None:
        """The robot goes to `goal` (3,). One that is refused is asked for anew for a while, since the map may change.
        Then, or at once where that does not help, the errand ends with the validator's words.
        """
        if self._go_to.send(run, proposer, goal, text, **more):
            run.errand.idle_since = None
            return
        why, config, now = self._go_to.verdict.reason, self._tools.context.config, self._tools.context.now
        if self._go_to.is_final or run.errand.idle_for(now) > config.no_expert_timeout:
            self.unreachable(run, why)
        else:
            run.text = f"Waiting for a way: {why}."
            self.retry(run)

    def enter(self, run: DirectiveRun, rooms: RoomSearch, regions: Collection[Region], text: str) -> bool:
        """Return whether the robot goes into the nearest of the regions that it can come to now."""
        left = [region for region in regions if not self._go_to.is_given_up(region.id)]
        facts = self._tools.context.facts
        for _ in range(_CANDIDATES):
            goal = rooms.way_in(run, left)
            self._entering = 0
            if goal is not None and facts.mirror is not None:
                self._entering = facts.mirror.region_at(goal[:2])
            if goal is None or self._go_to.send(run, PLACE, goal, text):
                return goal is not None
            run.errand.goals.exclude(goal, self._go_to.verdict.reason, facts.grid, lasting=True)
        return False

    def can_enter(self, run: DirectiveRun, rooms: RoomSearch, regions: Collection[Region]) -> bool:
        """Return whether a way leads into one of the regions that are not given up."""
        left = [region for region in regions if not self._go_to.is_given_up(region.id)]
        return rooms.way_in(run, left) is not None

    def missed(self, run: DirectiveRun, rooms: RoomSearch, arrival: Arrival) -> None:
        """The robot came to a goal in a room and does not stand in that room: leave the goal out, and count it."""
        facts = self._tools.context.facts
        region = 0 if facts.mirror is None else facts.mirror.region_at(arrival.goal[:2])
        if not rooms.is_inside([one for one in rooms.all() if one.id == region]):
            run.errand.goals.exclude(
                arrival.goal, "the navigator stopped short of it", facts.grid, lasting=True
            )
            self._go_to.fell_short(region)

    def retry(self, run: DirectiveRun) -> None:
        """Come back to this activity after a while."""
        if self._tools.context.state is not State.IDLE:
            self._tools.transitions.redecide(run, self._tools.context.config.retry_interval)
