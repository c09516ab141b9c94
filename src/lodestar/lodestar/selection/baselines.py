"""Baseline policies for comparison with the bandit; each states its exact propensities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lodestar.experts.registry import expert_names, holder
from lodestar.experts.specs import Role
from lodestar.selection.linucb import LinUcb, Origin
from lodestar.selection.policy import Choice
from lodestar.selection.rates import VALUE


def first_admissible(arms: tuple[str, ...], admissible: np.ndarray, wanted: str) -> int:
    """Return the index of `wanted` if it is admissible, else of the first admissible expert of the registry.

    The registry begins with the geometric expert, which almost always has a goal; a single expert that stands still
    without a goal would be a weak baseline. If only goals towards a known target are admissible, the frontier expert
    can finish alone, like a geometric searcher with a detector. Raises ValueError if no arm is admissible.
    """
    allowed = np.asarray(admissible, bool)
    order = (wanted, *expert_names(), *arms)
    index = next((arms.index(name) for name in order if name in arms and allowed[arms.index(name)]), None)
    if index is None:
        raise ValueError("no admissible arm")
    return index


def _certain(arm: int, count: int) -> Choice:
    nothing = np.full(count, np.nan)
    return Choice(arm, nothing, nothing.copy(), np.eye(count)[arm])


class NonLearningPolicy:
    """Base class of policies that do not learn."""

    def __init__(self, arms: tuple[str, ...], names: tuple[str, ...]) -> None:
        self.arms = arms
        self.names = names

    def begin(self) -> None:
        """Do nothing: subtasks are treated alike."""

    def update(self, context: np.ndarray, arm: int, reward: float, seconds: float = 0.0) -> None:
        """Do nothing: the policy does not learn."""

    def credit(self, context: np.ndarray, arm: int, reward: float) -> None:
        """Do nothing: the policy does not learn."""


class SingleExpert(NonLearningPolicy):
    """Always choose the same expert; `first_admissible` replaces it while it is inadmissible."""

    def __init__(self, arms: tuple[str, ...], names: tuple[str, ...], expert: str) -> None:
        super().__init__(arms, names)
        if expert not in arms:
            raise ValueError(f"no arm is named {expert!r}; there are {', '.join(arms)}")
        self.expert = expert

    def choose(self, contexts: np.ndarray, admissible: np.ndarray) -> Choice:
        """Return the expert or its substitute, with probability 1."""
        return _certain(first_admissible(self.arms, admissible, self.expert), len(self.arms))


class Greedy(NonLearningPolicy):
    """Choose the goal with the greatest value (success rate per second), without learning.

    A goal without a value is given the value `untold`. Of equal values, the first in the registry is chosen.
    """

    def __init__(self, arms: tuple[str, ...], names: tuple[str, ...], untold: float) -> None:
        super().__init__(arms, names)
        self._untold = untold
        order = (*expert_names(), *arms)
        self._order = sorted(range(len(arms)), key=lambda index: order.index(arms[index]))

    def choose(self, contexts: np.ndarray, admissible: np.ndarray) -> Choice:
        """Return the admissible arm with the greatest value, with probability 1. Raises ValueError if none is
        admissible.
        """
        allowed = [index for index in self._order if admissible[index]]
        if not allowed:
            raise ValueError("no admissible arm")
        told = np.zeros(len(self.arms))
        if VALUE in self.names:
            told = np.broadcast_to(contexts, (len(self.arms), len(self.names)))[:, self.names.index(VALUE)]
        values = np.where(told > 0.0, told, self._untold)
        return _certain(max(allowed, key=lambda index: values[index]), len(self.arms))


class MaskAfter(Greedy):
    """Choose as `Greedy` does, but without experts that were chosen `limit` times in a row without success in
    this subtask. The explorer is never left out.
    """

    def __init__(self, arms: tuple[str, ...], names: tuple[str, ...], untold: float, limit: int = 3) -> None:
        super().__init__(arms, names, untold)
        self._limit = limit
        self._explores = np.array([arm == holder(Role.EXPLORER) for arm in arms])
        self.begin()

    def begin(self) -> None:
        """Reset the counts, so that every expert is admitted again."""
        self._streak = np.zeros(len(self.arms), np.int64)

    def choose(self, contexts: np.ndarray, admissible: np.ndarray) -> Choice:
        """Return the arm with the greatest value among the unmasked ones; among all if all are masked."""
        allowed = np.asarray(admissible, bool)
        left = allowed & (self._explores | (self._streak < self._limit))
        return super().choose(contexts, left if left.any() else allowed)

    def update(self, context: np.ndarray, arm: int, reward: float, seconds: float = 0.0) -> None:
        """Count an unsuccessful turn, or reset the count after a reward."""
        self._streak[arm] = 0 if reward > 0.0 else self._streak[arm] + 1


class RoundRobin(NonLearningPolicy):
    """Choose experts in turn; an inadmissible one is skipped."""

    def __init__(self, arms: tuple[str, ...], names: tuple[str, ...]) -> None:
        super().__init__(arms, names)
        self._next = 0

    def choose(self, contexts: np.ndarray, admissible: np.ndarray) -> Choice:
        """Return the next admissible arm, with probability 1. Raises ValueError if no arm is admissible."""
        count = len(self.arms)
        turns = ((self._next + step) % count for step in range(count))
        arm = next((index for index in turns if admissible[index]), None)
        if arm is None:
            raise ValueError("no admissible arm")
        self._next = (arm + 1) % count
        return _certain(arm, count)


class FixedSchedule(NonLearningPolicy):
    """Choose experts by a fixed cyclic sequence; only the decision's number determines whose turn it is.

    Unlike with RoundRobin, an inadmissible expert loses its turn to another expert (`first_admissible`).
    """

    def __init__(self, arms: tuple[str, ...], names: tuple[str, ...], schedule: tuple[str, ...]) -> None:
        super().__init__(arms, names)
        foreign = [name for name in schedule if name not in arms]
        if not schedule or foreign:
            raise ValueError(
                f"a schedule needs at least one arm of {', '.join(arms)} and no other, not {schedule}"
            )
        self.schedule = schedule
        self._turn = 0

    def choose(self, contexts: np.ndarray, admissible: np.ndarray) -> Choice:
        """Return the arm of this turn or its substitute, with probability 1."""
        wanted = self.schedule[self._turn % len(self.schedule)]
        arm = first_admissible(self.arms, admissible, wanted)
        self._turn += 1
        return _certain(arm, len(self.arms))


class UniformRandom(NonLearningPolicy):
    """Choose every admissible arm with the same probability."""

    def __init__(self, arms: tuple[str, ...], names: tuple[str, ...], rng: np.random.Generator) -> None:
        super().__init__(arms, names)
        self._rng = rng

    def choose(self, contexts: np.ndarray, admissible: np.ndarray) -> Choice:
        """Return one of the admissible arms. Raises ValueError if there is none."""
        allowed = np.asarray(admissible, bool)
        if not allowed.any():
            raise ValueError("no admissible arm")
        propensities = allowed / allowed.sum()
        nothing = np.full(len(self.arms), np.nan)
        arm = int(self._rng.choice(len(self.arms), p=propensities))
        return Choice(arm, nothing, nothing.copy(), propensities)


THOMPSON = Origin("thompson")


@dataclass
class Thompson(LinUcb):
    """Linear Thompson sampling (Agrawal and Goyal 2013) with exact propensities.

    Each arm's reward is modelled as N(x theta, (alpha s)^2) with LinUCB's spread s, independent between arms. The
    probability that an arm's sample is the greatest is integrated numerically and the arm is drawn from it, which is
    equivalent to comparing samples. `Choice.bounds` are the means plus alpha s.
    """

    origin: Origin = THOMPSON

    def _greedy(self, estimates: np.ndarray, bounds: np.ndarray, admissible: np.ndarray) -> np.ndarray:
        shares = np.zeros(len(self.arms))
        allowed = np.flatnonzero(admissible)
        mean, deviation = estimates[allowed], np.maximum((bounds - estimates)[allowed], 1e-9)
        shares[allowed] = greatest_of_gaussians(mean, deviation)
        return shares


def greatest_of_gaussians(mean: np.ndarray, deviation: np.ndarray, nodes: int = 48) -> np.ndarray:
    """Return P(sample i is the greatest) for independent N(mean_i, deviation_i^2); (K,) float64, sums to 1.

    Integrates over the quantiles of every variable, split where another's distribution function rises.
    """
    from scipy.special import ndtr

    shares = np.empty(len(mean))
    unit, weights = np.polynomial.legendre.leggauss(nodes)
    for index in range(len(mean)):
        knots = np.concatenate(
            [mean[index] + deviation[index] * np.array([-8.0, 8.0])]
            + [m + d * np.array([-8.0, 0.0, 8.0]) for m, d in zip(mean, deviation)]
        )
        knots = np.unique(np.clip(knots, *(mean[index] + deviation[index] * np.array([-8.0, 8.0]))))
        half = np.diff(knots)[:, None] / 2.0
        at = (knots[:-1, None] + half) + half * unit
        z = (at - mean[index]) / deviation[index]
        density = np.exp(-0.5 * z * z) / (np.sqrt(2.0 * np.pi) * deviation[index])
        for other in range(len(mean)):
            if other != index:
                density = density * ndtr((at - mean[other]) / deviation[other])
        shares[index] = float((half * weights * density).sum())
    return shares / shares.sum()
