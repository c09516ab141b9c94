"""A policy that follows the decisions of a recorded run and remembers what it would have chosen itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lodestar.selection.policy import Choice, Policy


class FollowingPolicy:
    """Chooses as the live run did, so that one difference does not lead to the next.

    live: the arm that the live run chose, set by the owner before each choice. own: the arm that the policy itself
    would have chosen last.
    """

    def __init__(self, policy: Policy) -> None:
        self.arms, self.names = policy.arms, policy.names
        self.live = ""
        self.own = ""
        self._policy = policy

    def choose(self, contexts: np.ndarray, admissible: np.ndarray) -> Choice:
        """The live choice where it is admissible here, else the policy's own."""
        choice = self._policy.choose(contexts, admissible)
        self.own = self.arms[choice.arm]
        if self.live not in self.arms:
            return choice
        arm = self.arms.index(self.live)
        return replace(choice, arm=arm) if admissible[arm] else choice

    def begin(self) -> None:
        """See Policy."""
        self._policy.begin()

    def update(self, context: np.ndarray, arm: int, reward: float, seconds: float = 0.0) -> None:
        """See Policy."""
        self._policy.update(context, arm, reward, seconds)

    def credit(self, context: np.ndarray, arm: int, reward: float) -> None:
        """See Policy."""
        self._policy.credit(context, arm, reward)
