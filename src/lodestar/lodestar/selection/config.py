"""Which policy, features and reward a goal selector has."""

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
    """policy: of POLICIES. features: of FEATURE_SETS. reward: of REWARDS (ADR 0017 says which when). schedule: of
    the policy "fixed". policy_state: file of what was learned, read at the start where it exists and written after
    every directive; empty = none is kept. A file says by which policy, features and reward it was learned, and is
    refused by another.
    """

    policy: str = "bandit"
    features: str = "iv_a"
    reward: str = "single"
    schedule: tuple[str, ...] = SCHEDULE
    policy_state: str = ""

    def __post_init__(self) -> None:
        for name, known in (("policy", POLICIES), ("features", FEATURE_SETS), ("reward", REWARDS)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} {getattr(self, name)!r} is none of {', '.join(known)}")
        if self.policy_state and self.policy not in LEARNERS:
            raise ValueError(f"policy {self.policy!r} learns nothing that policy_state could keep")


def policy_of(
    config: SelectionConfig, learning: LinUcbConfig, arms: tuple[str, ...], rng: np.random.Generator
) -> Policy:
    """The policy of a configuration, with what it learned before where `policy_state` exists.

    Raises ValueError with the reason where that file is not for this policy.
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
