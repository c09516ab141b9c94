"""Disjoint LinUCB (RoboAtlas Algorithm 2; Li et al. 2010) with exact propensities."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from lodestar.experts.registry import expert_names, expert_spec
from lodestar.selection.config import LinUcbConfig
from lodestar.selection.policy import Choice
from lodestar.storage.files import write_file
from lodestar.storage.private import private_folder, state_home

STATE_FORMAT = "lodestar policy state 2"
UNSIGNED_FORMAT = "lodestar policy state 1"  # lacks the policy and reward that produced it

#: Names of priors of the expected reward per arm and feature: none, or the prior of each expert's spec.
PRIORS = ("cold", "directed")


def prior_weights(prior: str, arm: str) -> Mapping[str, float]:
    """Return the prior expected reward per feature of an arm; {} for arms that are not registered experts."""
    if prior != "directed" or arm not in expert_names():
        return {}
    return expert_spec(arm).prior


class ForeignState(ValueError):
    """The state is valid but belongs to another kind of policy, other features or another reward."""


@dataclass(frozen=True)
class Origin:
    """Names of the policy, features and reward that produced a state; "" = unknown."""

    policy: str = ""
    features: str = ""
    reward: str = ""

    def __str__(self) -> str:
        return ", ".join(f"{name} {value or '(not said)'}" for name, value in vars(self).items())

    def takes(self, other: Origin) -> bool:
        """Return whether a state of origin `other` is usable here; unknown names are not compared."""
        return all(not mine or mine == its for mine, its in zip(vars(self).values(), vars(other).values()))


BANDIT = Origin("bandit")


@dataclass
class LinUcb:
    """Disjoint LinUCB: one ridge regression per arm.

    names: of the d features, in order. origin: stored in the state, and required of a state to restore. The
    statistics are stored as A^-1 (A, d, d) and b (A, d); A^-1 is updated by rank-one updates (Sherman-Morrison).
    """

    config: LinUcbConfig
    arms: tuple[str, ...]
    names: tuple[str, ...]
    rng: np.random.Generator
    origin: Origin = BANDIT
    inverse: np.ndarray = field(init=False)
    response: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        if self.config.prior not in PRIORS:
            raise ValueError(f"unknown prior {self.config.prior!r}; known: {', '.join(PRIORS)}")
        prior = self.config.prior
        strength = self.config.regularization if prior == "cold" else self.config.prior_strength
        if not 0.0 <= self.config.mixing <= 1.0 or strength <= 0.0:
            raise ValueError("mixing must lie in [0, 1], regularization and prior_strength above 0")
        count, dimension = len(self.arms), len(self.names)
        self.inverse = np.repeat(np.eye(dimension)[None] / strength, count, axis=0)
        priors = [prior_weights(prior, arm) for arm in self.arms]
        weights = [[weight.get(name, 0.0) for name in self.names] for weight in priors]
        self.response = strength * np.array(weights, np.float64)

    @property
    def weights(self) -> np.ndarray:
        """Return the estimated reward per feature (A, d)."""
        return np.einsum("aij,aj->ai", self.inverse, self.response)

    def choose(self, contexts: np.ndarray, admissible: np.ndarray) -> Choice:
        """Return the admissible arm with the greatest bound, or any admissible one with probability `mixing`.

        contexts: (d,) for all arms or (A, d). admissible: (A,) bool. Arms of equal bound share their
        probability. Raises ValueError if no arm is admissible or a context is not finite.
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
        propensities = (1.0 - self.config.mixing) * self._greedy(estimates, bounds, admissible)
        propensities = propensities + self.config.mixing * admissible / admissible.sum()
        arm = int(self.rng.choice(len(self.arms), p=propensities))
        return Choice(arm, estimates, bounds, propensities)

    def _greedy(self, estimates: np.ndarray, bounds: np.ndarray, admissible: np.ndarray) -> np.ndarray:
        """Return the probability (A,) of each arm before uniform mixing; inputs are NaN for inadmissible arms."""
        best = admissible & (bounds >= np.nanmax(bounds) - 1e-12)
        return best / best.sum()

    def begin(self) -> None:
        """Do nothing: the learned weights hold for every subtask."""

    def update(self, context: np.ndarray, arm: int, reward: float, seconds: float = 0.0) -> None:
        """Update A += x x^T (through its inverse) and b += r x for the arm."""
        x = np.asarray(context, np.float64)
        direction = self.inverse[arm] @ x
        updated = self.inverse[arm] - np.outer(direction, direction) / (1.0 + x @ direction)
        self.inverse[arm] = (updated + updated.T) / 2.0  # keep it symmetric despite rounding
        self.response[arm] += reward * x

    def credit(self, context: np.ndarray, arm: int, reward: float) -> None:
        """Update b += r x for the arm: more reward for a turn whose x x^T is already in A (RoboAtlas eq. 24)."""
        self.response[arm] += reward * np.asarray(context, np.float64)

    def state(self) -> dict[str, Any]:
        """Return the learned state as JSON types; the random generator is not part of it."""
        return {
            "format": STATE_FORMAT,
            **vars(self.origin),
            "arms": list(self.arms),
            "names": list(self.names),
            "inverse": self.inverse.tolist(),
            "response": self.response.tolist(),
        }

    def restore(self, state: Any) -> None:
        """Restore a state that `state` returned. On ValueError or ForeignState nothing is changed.

        ValueError: not a state, or damaged. ForeignState: it belongs to another kind of policy or reward, or
        to other arms or features.
        """
        if isinstance(state, dict) and state.get("format") == UNSIGNED_FORMAT:
            raise ValueError(
                f"it is a {UNSIGNED_FORMAT}, which does not say by which policy and reward it was learned; delete it "
                f'to start from nothing or, if you know them, write "{STATE_FORMAT}" and {_json(self.origin)} into it'
            )
        if not isinstance(state, dict) or state.get("format") != STATE_FORMAT:
            raise ValueError(f"it is not a {STATE_FORMAT}")
        try:
            arms, names = tuple(state["arms"]), tuple(state["names"])
            origin = Origin(*(str(state[item.name]) for item in fields(Origin)))
            inverse = np.array(state["inverse"], np.float64)
            response = np.array(state["response"], np.float64)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"it is damaged: {type(error).__name__} {error}") from error
        if arms != self.arms or names != self.names:
            raise ForeignState(
                f"it is for arms {', '.join(map(str, arms))} and features {', '.join(map(str, names))}; "
                f"these are {', '.join(self.arms)} and {', '.join(self.names)}"
            )
        if not self.origin.takes(origin):
            raise ForeignState(
                f"it was learned by {origin}; this is {self.origin}, and their states are not interchangeable"
            )
        if inverse.shape != self.inverse.shape or response.shape != self.response.shape:
            raise ValueError(f"it is damaged: shapes {inverse.shape} and {response.shape}")
        if not (np.isfinite(inverse).all() and np.isfinite(response).all() and _positive(inverse)):
            raise ValueError("it is damaged: its matrices are not positive definite")
        self.inverse, self.response = inverse, response

    def save(self, path: str | Path) -> None:
        """Write the state to a JSON file atomically. Raises OSError."""
        save_state(self.state(), path)

    def load(self, path: str | Path) -> None:
        """Restore a saved state. Raises ValueError with the reason if the file has no state for this policy.

        ForeignState: the file is valid but belongs to another policy.
        """
        try:
            self.restore(json.loads(Path(path).read_bytes()))
        except (ValueError, RecursionError) as error:  # JSON and Unicode errors are ValueErrors
            kind = ForeignState if isinstance(error, ForeignState) else ValueError
            raise kind(f"{path} is not a state for this policy: {error}") from error


def save_state(state: dict[str, Any], path: str | Path) -> None:
    """Write a policy's state to a JSON file atomically. Raises OSError; UnsafeFolder if other users may write to the
    state folder.
    """
    file = Path(path)
    if file.is_relative_to(state_home()):
        private_folder(file.parent)
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
    write_file(file, [json.dumps(state).encode()])


def _json(origin: Origin) -> str:
    return json.dumps(vars(origin))[1:-1]


def _positive(matrices: np.ndarray) -> bool:
    """Return whether every matrix (A, d, d) is symmetric and positive definite."""
    symmetric = np.allclose(matrices, matrices.swapaxes(1, 2), rtol=1e-6, atol=1e-9)
    return symmetric and bool((np.linalg.eigvalsh(matrices) > 0.0).all())
