"""Configuration of a goal selector: policy, features and reward."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from lodestar.selection.context import FEATURE_SETS, feature_names
from lodestar.selection.linucb import LinUcb, LinUcbConfig
from lodestar.selection.policies import LEARNERS, POLICIES, SCHEDULE, make_policy
from lodestar.selection.policy import Policy
from lodestar.selection.reward import REWARDS


@dataclass(frozen=True)
class SelectionConfig:
    """Names of the policy, its features and its reward; see ADR 0017 for the choice of the reward."""

    policy: str = "bandit"  # one of POLICIES (RoboAtlas Algorithm 2)
    features: str = "iv_a"  # one of FEATURE_SETS (RoboAtlas IV-A)
    reward: str = "single"  # one of REWARDS (RoboAtlas eq. 5)
    schedule: tuple[str, ...] = SCHEDULE  # experts in turn, for the policy "fixed"; chosen: see SCHEDULE
    # File of the learned state, read at the start if it exists and written after every directive; "" = none. The file
    # states the policy, features and reward by which it was learned, and others refuse it.
    policy_state: str = ""

    def __post_init__(self) -> None:
        for name, known in (("policy", POLICIES), ("features", FEATURE_SETS), ("reward", REWARDS)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} is {getattr(self, name)!r}; it is one of {', '.join(known)}")
        if self.policy_state and self.policy not in LEARNERS:
            raise ValueError(f"policy {self.policy!r} does not learn; leave policy_state empty")


def policy_of(
    config: SelectionConfig, learning: LinUcbConfig, arms: tuple[str, ...], rng: np.random.Generator
) -> Policy:
    """Return the policy of a configuration, with its learned state if `policy_state` exists.

    Raises ValueError with the reason if that file does not belong to this policy.
    """
    names = feature_names(config.features, arms)
    options: dict[str, Any] = {}
    if config.policy in LEARNERS:
        options = {field.name: getattr(learning, field.name) for field in fields(learning)}
        if config.policy == "epsilon_greedy":
            del options["alpha"]
    elif config.policy == "fixed":
        options = {"schedule": config.schedule}
    policy = make_policy(
        config.policy, arms, names, rng, features=config.features, reward=config.reward, **options
    )
    if config.policy_state and Path(config.policy_state).exists() and isinstance(policy, LinUcb):
        policy.load(config.policy_state)
    return policy
