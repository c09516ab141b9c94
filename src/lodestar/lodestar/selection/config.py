"""Configuration of a goal selector: policy, features and reward."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from lodestar.experts.registry import expert_names, experts

#: Policies that learn and can save their state.
LEARNERS = ("bandit", "epsilon_greedy", "thompson", "corrected")

#: Policies that use the goals' values (success rate per second), a feature of "valued".
BY_VALUE = ("greedy", "mask_after", "corrected")

KEPT = "kept"  # value of `SelectionConfig.policy_state`: keep it in the user's state folder

FEATURE_SETS = ("iv_a", "app_a", "valued")

REWARDS = ("single", "sequence", "found")


def policy_names() -> tuple[str, ...]:
    """Return the names of all policies; an expert's name is the policy that always follows it."""
    others = (
        "round_robin",
        "random",
        "fixed",
        "epsilon_greedy",
        "thompson",
        "greedy",
        "mask_after",
        "corrected",
    )
    return ("bandit", *expert_names(), *others)


def default_schedule() -> tuple[str, ...]:
    """Return the schedule of "fixed": each expert repeated for its number of turns, in the order of the arms."""
    return tuple(spec.name for spec in experts() for _ in range(spec.turns))


@dataclass(frozen=True)
class SelectionConfig:
    """Names of the policy, its features and its reward (docs/how-to/choose-and-train-the-policy.md)."""

    policy: str = "bandit"  # one of policy_names() (RoboAtlas Algorithm 2)
    features: str = "iv_a"  # one of FEATURE_SETS (RoboAtlas IV-A)
    reward: str = "single"  # one of REWARDS (RoboAtlas eq. 5)
    # experts in turn, for the policy "fixed"; chosen: see default_schedule
    schedule: tuple[str, ...] = field(default_factory=default_schedule)
    # File of the learned state, read at the start if it exists and written after every directive; "" = none.
    # "kept" = a file in this user's state folder for each policy, features, reward and arms, shared by all
    # runs of the robot. Without effect for a policy that does not learn. A file names the policy that learned
    # it: another policy refuses a named file, and renames a kept one (`selection.policies.policy_of`).
    policy_state: str = ""

    def __post_init__(self) -> None:
        for name, known in (("policy", policy_names()), ("features", FEATURE_SETS), ("reward", REWARDS)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} is {getattr(self, name)!r}; it is one of {', '.join(known)}")
        if self.policy_state not in ("", KEPT) and self.policy not in LEARNERS:
            raise ValueError(f"policy {self.policy!r} does not learn; leave policy_state empty")
        if self.policy in BY_VALUE and self.features != "valued":
            raise ValueError(
                f"policy {self.policy!r} needs the chance per second, which features {self.features!r} lack; "
                "set features to valued"
            )
        if self.policy == "corrected" and self.reward != "found":
            raise ValueError(
                f"policy 'corrected' counts targets that showed, which reward {self.reward!r} does not tell; "
                "set reward to found"
            )


@dataclass(frozen=True)
class LinUcbConfig:
    """Parameters of LinUCB (RoboAtlas Algorithm 2)."""

    alpha: float = 0.5  # exploration coefficient; chosen on simulated apartments
    regularization: float = 1.0  # lambda of Algorithm 2 without a prior
    # Share of uniform choice among the admissible arms, 0..1. Chosen: keeps every propensity above mixing / A for
    # off-policy evaluation at little cost.
    mixing: float = 0.05
    prior: str = "directed"  # one of PRIORS; "cold" is the paper's b = 0
    # lambda with a prior: decisions per arm that outweigh it; chosen: one or two episodes
    prior_strength: float = 10.0
    # of "corrected": expected successes of an arm that outweigh the prior factor 1; chosen on simulated choices
    rate_strength: float = 2.0
    rate_alpha: float = 0.1  # exploration coefficient of its factors; chosen likewise
    # share of the evidence that is kept per further turn, 0..1; chosen: 200 turns, ten searches
    memory: float = 0.995
    least_factor: float = 0.02  # of a value; chosen: an expert that is always wrong is asked again some day
    untold: float = 0.005  # successes per second of a goal without a value; chosen: that of a usual frontier

    def __post_init__(self) -> None:
        for name in ("alpha", "rate_alpha"):
            if not math.isfinite(getattr(self, name)):
                raise ValueError(f"{name} must be finite, not {getattr(self, name)}")
        if not 0.0 < self.rate_strength < math.inf:
            raise ValueError(f"rate_strength must lie above 0, not {self.rate_strength}")
        if not 0.0 < self.memory <= 1.0:
            raise ValueError(f"memory must lie in (0, 1], not {self.memory}")
        for name in ("least_factor", "untold"):
            if not 0.0 <= getattr(self, name) < math.inf:
                raise ValueError(f"{name} must be at least 0, not {getattr(self, name)}")
