"""A policy that follows the decisions of a recorded run and remembers what it would have chosen itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lodestar.selection.decision_log import Decision
from lodestar.selection.policy import Choice, Policy

_WITHIN = 2.0  # s between a live decision and the headless one for the same state of affairs


class FollowingPolicy:
    """Chooses as the live run did, so that the headless robot stays where the live one is.

    now: seconds of the run's clock, set by the owner. own: the arm that the policy itself would have chosen last.
    followed: the live decision that was followed last, None where there was none. unmatched: live decisions that no
    headless one has met so far.
    """

    def __init__(self, policy: Policy, decisions: Sequence[Decision]) -> None:
        self.arms, self.names = policy.arms, policy.names
        self.now = -math.inf
        self.own = ""
        self.followed: Decision | None = None
        self.unmatched = list(decisions)
        self._policy = policy

    def choose(self, contexts: np.ndarray, admissible: np.ndarray) -> Choice:
        """The live choice where it is admissible here, else the policy's own."""
        choice = self._policy.choose(contexts, admissible)
        self.own = self.arms[choice.arm]
        self.followed = self._take()
        if self.followed is None or self.followed.chosen not in self.arms:
            return choice
        arm = self.arms.index(self.followed.chosen)
        return replace(choice, arm=arm) if admissible[arm] else choice

    def _take(self) -> Decision | None:
        """The live decision of about now, which is used up, with all before it."""
        near = min(self.unmatched, key=lambda decision: abs(decision.stamp - self.now), default=None)
        if near is None or abs(near.stamp - self.now) > _WITHIN:
            return None
        self.unmatched.remove(near)
        return near

    def update(self, context: np.ndarray, arm: int, reward: float) -> None:
        """See Policy."""
        self._policy.update(context, arm, reward)

    def credit(self, context: np.ndarray, arm: int, reward: float) -> None:
        """See Policy."""
        self._policy.credit(context, arm, reward)
