"""Port of an activity, which does one errand: each kind of step has an object of its own behind it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lodestar.agent.account import Account
from lodestar.agent.admission import Admission
from lodestar.agent.commands import State
from lodestar.agent.context import LoopContext
from lodestar.agent.errors import ErrorCode
from lodestar.agent.memory_line import MemoryLine
from lodestar.agent.run import DirectiveRun
from lodestar.agent.steps import Steps
from lodestar.agent.target_search import TargetSearch
from lodestar.agent.targets import TargetView
from lodestar.agent.transitions import Transitions
from lodestar.agent.verification import Arrival
from lodestar.experts.protocol import Proposal
from lodestar.language.directive import Step


@dataclass(frozen=True)
class Tools:
    """The parts of the loop that activities use."""

    context: LoopContext
    search: TargetSearch
    account: Account
    transitions: Transitions
    steps: Steps
    memory: MemoryLine


class Activity:
    """One errand under way, from its begin to its end. By itself it has the experts say where to go."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

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

    def send(self, run: DirectiveRun, proposer: str, goal: np.ndarray, text: str) -> None:
        """The robot goes to `goal` (3,) by the loop's own decision."""
        context = self._tools.context
        epoch = context.next_epoch()
        run.text = text
        self._tools.transitions.send(run, Proposal(proposer, epoch, goal, 1.0, text), epoch)

    def retry(self, run: DirectiveRun) -> None:
        """Come back to this activity after a while."""
        if self._tools.context.state is not State.IDLE:
            self._tools.transitions.redecide(run, self._tools.context.config.retry_interval)
