"""All policies by name."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from lodestar.experts.registry import expert_names
from lodestar.selection.baselines import (
    FixedSchedule,
    Greedy,
    MaskAfter,
    RoundRobin,
    SingleExpert,
    Thompson,
    UniformRandom,
)
from lodestar.selection.config import (
    LEARNERS,
    LinUcbConfig,
    SelectionConfig,
    default_schedule,
    policy_names,
)
from lodestar.selection.context import feature_names
from lodestar.selection.linucb import LinUcb, Origin
from lodestar.selection.policy import Policy
from lodestar.selection.rates import RateUcb

_OPTIONS = tuple(field.name for field in fields(LinUcbConfig))


def make_policy(
    name: str,
    arms: tuple[str, ...],
    names: tuple[str, ...],
    rng: np.random.Generator,
    *,
    features: str = "",
    reward: str = "",
    **options: Any,
) -> Policy:
    """Return the policy of a name over `arms` whose contexts have the features `names`.

    features, reward: names of the feature set and of the reward, stored in the policy's state.
    options: fields of LinUcbConfig for "bandit" and "thompson"; the same without alpha for "epsilon_greedy",
    whose epsilon is `mixing` (default 0.1); `schedule` for "fixed". Raises ValueError for an unknown name or
    option.
    """
    known = _OPTIONS if name in LEARNERS else ("schedule",) if name == "fixed" else ()
    if name == "epsilon_greedy":
        known = tuple(option for option in known if option != "alpha")
    foreign = sorted(set(options) - set(known))
    if foreign and name in policy_names():
        raise ValueError(
            f"policy {name!r} has no option {', '.join(foreign)}; it has: {', '.join(known) or 'none'}"
        )
    origin = Origin(name, features, reward)
    if name == "bandit":
        return LinUcb(LinUcbConfig(**options), arms, names, rng, origin)
    if name == "thompson":
        return Thompson(LinUcbConfig(**options), arms, names, rng, origin)
    if name == "corrected":
        return RateUcb(LinUcbConfig(**options), arms, names, rng, origin)
    if name in ("greedy", "mask_after"):
        return (Greedy if name == "greedy" else MaskAfter)(arms, names, LinUcbConfig.untold)
    if name == "epsilon_greedy":
        return LinUcb(LinUcbConfig(**{"mixing": 0.1, **options, "alpha": 0.0}), arms, names, rng, origin)
    if name in expert_names():
        return SingleExpert(arms, names, name)
    if name == "round_robin":
        return RoundRobin(arms, names)
    if name == "random":
        return UniformRandom(arms, names, rng)
    if name == "fixed":
        return FixedSchedule(arms, names, tuple(options.get("schedule", default_schedule())))
    raise ValueError(f"unknown policy {name!r}; known: {', '.join(policy_names())}")


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
    file = config.state_file
    if file is not None and file.exists() and isinstance(policy, LinUcb):
        policy.load(file)
    return policy
