"""A bandit that corrects the success rates per second estimated by the experts (ADR 0094)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lodestar.selection.linucb import LinUcb, Origin
from lodestar.selection.policy import Choice

VALUE = "value"  # feature: success rate per second, as estimated by the goal's expert
CORRECTED = Origin("corrected")
_EVENT = 1.0  # at most one success counts per turn
# maximum expected successes of a turn; chosen: a rate of 1 for `ledger.HELD_UP` times its seconds
_EXPOSURE = 3.0


@dataclass
class RateUcb(LinUcb):
    """Chooses the arm with the greatest value * (theta x + alpha s), where theta x is a factor learned for
    each arm.

    Successes of an arm are modelled as events of a process with the rate value * theta x per second: a turn
    of T seconds adds value T x x^T to A and the event x to b. With only a bias this is the mean of the
    conjugate Gamma posterior of a Poisson rate, (lambda + events) / (lambda + expected events); with features
    it is LinUCB with each turn weighted by the inverse of its variance (Zhou, Gu and Szepesvari 2021). The
    prior factor is 1, so without evidence, or with correct values, the policy is greedy. Evidence decays by
    `memory` per turn to the prior (D-LinUCB, Russac, Vernade and Cappe 2019).
    """

    origin: Origin = CORRECTED
    _features: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        strength = self.config.rate_strength
        count, dimension = len(self.arms), len(self.names)
        self._features = np.array([name != VALUE for name in self.names], np.float64)
        bias = np.array([name == "bias" for name in self.names], np.float64)
        self.inverse = np.repeat(np.eye(dimension)[None] / strength, count, axis=0)
        self.response = strength * np.repeat(bias[None], count, axis=0)

    def _told(self, x: np.ndarray) -> np.ndarray:
        """Return the values (A,) of contexts (A, d), in successes per second; an arm without a value gets
        `untold`.
        """
        told = x[..., self.names.index(VALUE)] if VALUE in self.names else np.zeros(x.shape[:-1])
        return np.where(told > 0.0, told, self.config.untold)

    def choose(self, contexts: np.ndarray, admissible: np.ndarray) -> Choice:
        """Return the admissible arm with the greatest bound, or any admissible one with probability `mixing`.

        Estimates and bounds are successes per second. Raises ValueError as `LinUcb.choose` does.
        """
        admissible = np.asarray(admissible, bool)
        if not admissible.any():
            raise ValueError("no admissible arm")
        x = np.broadcast_to(np.asarray(contexts, np.float64), (len(self.arms), len(self.names)))
        if not np.isfinite(x[admissible]).all():
            raise ValueError(f"context is not finite: {x[admissible].tolist()}")
        values, x = self._told(x), x * self._features
        factors = np.maximum(np.einsum("ai,ai->a", x, self.weights), self.config.least_factor)
        spread = np.sqrt(np.maximum(np.einsum("ai,aij,aj->a", x, self.inverse, x), 0.0))
        estimates, bounds = values * factors, values * (factors + self.config.rate_alpha * spread)
        estimates, bounds = (np.where(admissible, v, np.nan) for v in (estimates, bounds))
        propensities = (1.0 - self.config.mixing) * self._greedy(estimates, bounds, admissible)
        propensities = propensities + self.config.mixing * admissible / admissible.sum()
        arm = int(self.rng.choice(len(self.arms), p=propensities))
        return Choice(arm, estimates, bounds, propensities)

    def update(self, context: np.ndarray, arm: int, reward: float, seconds: float = 0.0) -> None:
        """Learn that a turn of an arm took `seconds` and brought `reward`, of which at most one event counts.

        A turn counts as at most `_EXPOSURE` expected successes.
        """
        x = np.asarray(context, np.float64)
        exposure = min(float(self._told(x)) * max(seconds, 0.0), _EXPOSURE)
        x = x * self._features
        events = min(max(reward, 0.0), _EVENT)
        self._fade()
        direction = self.inverse[arm] @ x
        updated = self.inverse[arm] - exposure * np.outer(direction, direction) / (
            1.0 + exposure * x @ direction
        )
        self.inverse[arm] = (updated + updated.T) / 2.0
        self.response[arm] += events * x

    def credit(self, context: np.ndarray, arm: int, reward: float) -> None:
        """Do nothing: `update` has counted the event of the turn that showed the target."""

    def _fade(self) -> None:
        """Multiply all evidence by `memory`, and add the prior with the remaining weight."""
        kept = self.config.memory
        if kept >= 1.0:
            return
        prior = self.config.rate_strength * np.eye(len(self.names))
        self.inverse = np.linalg.inv(kept * np.linalg.inv(self.inverse) + (1.0 - kept) * prior)
        self.inverse = (self.inverse + self.inverse.swapaxes(1, 2)) / 2.0
        bias = np.array([name == "bias" for name in self.names], np.float64)
        self.response = kept * self.response + (1.0 - kept) * self.config.rate_strength * bias
