"""Port of a policy that chooses an expert."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np


@dataclass(frozen=True)
class Choice:
    """Choice of a policy. arm: index into its arms.

    estimates, bounds: (A,) expected reward and its upper confidence bound, NaN for inadmissible arms and for
    policies without estimates.
    propensities: (A,) exact probabilities of choosing each arm; they sum to 1.
    """

    arm: int
    estimates: np.ndarray
    bounds: np.ndarray
    propensities: np.ndarray


class Policy(Protocol):
    """Chooses an admissible arm by its context and learns from its reward. names: of the d features, in
    order.
    """

    arms: tuple[str, ...]
    names: tuple[str, ...]

    def choose(self, contexts: np.ndarray, admissible: np.ndarray) -> Choice:
        """Return the choice of an admissible arm. contexts: (d,) for all arms, or (A, d). admissible: (A,)
        bool, at least one true.
        """

    def begin(self) -> None:
        """Begin a subtask, for example by resetting counts."""

    def update(self, context: np.ndarray, arm: int, reward: float, seconds: float = 0.0) -> None:
        """Learn from the reward of an arm under a context (d,), and from the seconds of its turn."""

    def credit(self, context: np.ndarray, arm: int, reward: float) -> None:
        """Add a delayed share of reward to a turn that `update` has already counted (RoboAtlas eq. 24)."""
