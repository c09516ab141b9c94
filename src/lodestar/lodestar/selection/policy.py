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
    """Choose an admissible arm by its context and learn from its reward. names: of the features."""

    arms: tuple[str, ...]
    names: tuple[str, ...]

    def choose(self, contexts: np.ndarray, admissible: np.ndarray) -> Choice:
        """Return one of the admissible arms (A,) bool, at least one, by contexts (d,) or (A, d)."""
        ...

    def begin(self) -> None:
        """A subtask begins."""
        ...

    def update(self, context: np.ndarray, arm: int, reward: float, seconds: float = 0.0) -> None:
        """Learn from the reward of an arm under a context (d,), and the seconds that its turn took."""
        ...

    def credit(self, context: np.ndarray, arm: int, reward: float) -> None:
        """Add a delayed share of reward to a turn that `update` has already counted (RoboAtlas eq. 24)."""
        ...
