"""Disjoint LinUCB (RoboAtlas Algorithm 2; Li et al. 2010) with exact propensities."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lodestar.selection.policy import Choice

#: Named prior of expected reward per arm and feature, in units of the reward (RoboAtlas Table I without its
#: success term): "directed" says before any evidence that frontiers pay while little is known, that the
#: semantic map pays with the number and strength of matches, that the view pays with the confidence in it,
#: and that driving back costs. Any name may be missing from a policy's features.
PRIORS: dict[str, dict[str, dict[str, float]]] = {
    "cold": {},
    "directed": {
        "frontier": {"bias": 0.9, "coverage": -0.2, "backtracking": -0.5},
        "semantic_map": {"bias": 0.3, "similarity": 1.0, "backtracking": -0.2},
        "ego_vlm": {"bias": -0.3, "vlm": 1.2, "backtracking": -0.2},
    },
}


@dataclass(frozen=True)
class LinUcbConfig:
    """alpha: exploration coefficient. regularization: lambda. mixing: share of uniform choice among the
    admissible arms, which keeps every propensity above mixing / A for off-policy evaluation.
    prior: name of a row of PRIORS; "cold" is the paper's b = 0."""

    alpha: float = 0.3
    regularization: float = 4.0
    mixing: float = 0.05
    prior: str = "directed"


@dataclass
class LinUcb:
    """One ridge regression per arm.

    names: of the d features, in order. The statistics are kept as A^-1 (A, d, d) and b (A, d); A^-1 follows
    A by rank-one updates (Sherman-Morrison).
    """

    config: LinUcbConfig
    arms: tuple[str, ...]
    names: tuple[str, ...]
    rng: np.random.Generator
    inverse: np.ndarray = field(init=False)
    response: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        if self.config.prior not in PRIORS:
            raise ValueError(f"unknown prior {self.config.prior!r}; known: {', '.join(PRIORS)}")
        if not 0.0 <= self.config.mixing <= 1.0 or self.config.regularization <= 0.0:
            raise ValueError("mixing must lie in [0, 1] and regularization above 0")
        count, dimension = len(self.arms), len(self.names)
        self.inverse = np.repeat(np.eye(dimension)[None] / self.config.regularization, count, axis=0)
        prior = PRIORS[self.config.prior]
        weights = [[prior.get(arm, {}).get(name, 0.0) for name in self.names] for arm in self.arms]
        self.response = self.config.regularization * np.array(weights, np.float64)

    @property
    def weights(self) -> np.ndarray:
        """(A, d) estimated reward per feature."""
        return np.einsum("aij,aj->ai", self.inverse, self.response)

    def choose(self, contexts: np.ndarray, admissible: np.ndarray) -> Choice:
        """The admissible arm of the greatest bound, or any admissible one with probability `mixing`.

        contexts: (d,) for all arms or (A, d). admissible: (A,) bool. Arms of equal bound share their
        probability. Raises ValueError where no arm is admissible or a context is not finite.
        """
        admissible = np.asarray(admissible, bool)
        if not admissible.any():
            raise ValueError("no admissible arm")
        x = np.broadcast_to(np.asarray(contexts, np.float64), (len(self.arms), len(self.names)))
        if not np.isfinite(x[admissible]).all():
            raise ValueError(f"context is not finite: {x[admissible].tolist()}")
        estimates = np.einsum("ai,ai->a", x, self.weights)
        spread = np.sqrt(np.maximum(np.einsum("ai,aij,aj->a", x, self.inverse, x), 0.0))
        bounds = estimates + self.config.alpha * spread
        estimates, bounds = (np.where(admissible, v, np.nan) for v in (estimates, bounds))
        best = admissible & (bounds >= np.nanmax(bounds) - 1e-12)
        propensities = (1.0 - self.config.mixing) * best / best.sum()
        propensities = propensities + self.config.mixing * admissible / admissible.sum()
        arm = int(self.rng.choice(len(self.arms), p=propensities))
        return Choice(arm, estimates, bounds, propensities)

    def update(self, context: np.ndarray, arm: int, reward: float) -> None:
        """A += x x^T (through its inverse) and b += r x for the arm."""
        x = np.asarray(context, np.float64)
        direction = self.inverse[arm] @ x
        self.inverse[arm] -= np.outer(direction, direction) / (1.0 + x @ direction)
        self.response[arm] += reward * x

    def credit(self, context: np.ndarray, arm: int, reward: float) -> None:
        """b += r x for the arm: more reward for a turn whose x x^T is already in A (RoboAtlas eq. 24)."""
        self.response[arm] += reward * np.asarray(context, np.float64)

    def state(self) -> dict[str, Any]:
        """Everything learned, as JSON's types."""
        return {
            "arms": list(self.arms),
            "names": list(self.names),
            "inverse": self.inverse.tolist(),
            "response": self.response.tolist(),
            "rng": self.rng.bit_generator.state,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take up what `state` gave. Raises ValueError where it speaks of other arms or features."""
        if tuple(state["arms"]) != self.arms or tuple(state["names"]) != self.names:
            raise ValueError(f"state is for arms {state['arms']} and features {state['names']}")
        self.inverse = np.array(state["inverse"], np.float64)
        self.response = np.array(state["response"], np.float64)
        self.rng.bit_generator.state = state["rng"]

    def save(self, path: str | Path) -> None:
        """The state is in a JSON file."""
        Path(path).write_text(json.dumps(self.state()), encoding="utf-8")

    def load(self, path: str | Path) -> None:
        """Take up a saved state. Raises ValueError where the file is none, or is for other arms."""
        try:
            state = json.loads(Path(path).read_text(encoding="utf-8"))
            self.restore(state)
        except (KeyError, TypeError, json.JSONDecodeError) as error:
            raise ValueError(f"{path} holds no policy state: {error}") from error
