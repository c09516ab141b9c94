"""Policy that follows the decisions of a recorded run and records its own choices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lodestar.selection.policy import Choice, Policy


class FollowingPolicy:
    """Policy that chooses as the live run did, so that one difference does not cause the next.

    live: arm chosen by the live run, set by the owner before each choice. own: arm that the wrapped policy
    chose last.
    """

    def __init__(self, policy: Policy) -> None:
        self.arms, self.names = policy.arms, policy.names
        self.live = ""
        self.own = ""
        self._policy = policy

    def choose(self, contexts: np.ndarray, admissible: np.ndarray) -> Choice:
        """Return the live run's choice if it is admissible here, else that of the wrapped policy."""
        choice = self._policy.choose(contexts, admissible)
        self.own = self.arms[choice.arm]
        if self.live not in self.arms:
            return choice
        arm = self.arms.index(self.live)
        return replace(choice, arm=arm) if admissible[arm] else choice

    def begin(self) -> None:
        """Begin a search; see `Policy.begin`."""
        self._policy.begin()

    def update(self, context: np.ndarray, arm: int, reward: float, seconds: float = 0.0) -> None:
        """Learn from a reward; see `Policy.update`."""
        self._policy.update(context, arm, reward, seconds)

    def credit(self, context: np.ndarray, arm: int, reward: float) -> None:
        """Learn from a reward without a choice; see `Policy.credit`."""
        self._policy.credit(context, arm, reward)
