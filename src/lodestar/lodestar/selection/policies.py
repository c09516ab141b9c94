"""All policies by name."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from lodestar.selection.baselines import (
    FixedSchedule,
    RoundRobin,
    SingleExpert,
    Thompson,
    UniformRandom,
)
from lodestar.selection.linucb import LinUcb, LinUcbConfig, Origin
from lodestar.selection.policy import Policy

#: Policies that always follow one expert, named by its arm.
SINGLE_EXPERTS = ("frontier", "semantic_map", "ego_vlm")

#: Policies that learn and can save their state.
LEARNERS = ("bandit", "epsilon_greedy", "thompson")

POLICIES = ("bandit", *SINGLE_EXPERTS, "round_robin", "random", "fixed", "epsilon_greedy", "thompson")

#: Default schedule of "fixed": twice exploration, then the map, then the view.
SCHEDULE = ("frontier", "frontier", "semantic_map", "ego_vlm")

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
    if foreign and name in POLICIES:
        raise ValueError(
            f"policy {name!r} has no option {', '.join(foreign)}; it has: {', '.join(known) or 'none'}"
        )
    origin = Origin(name, features, reward)
    if name == "bandit":
        return LinUcb(LinUcbConfig(**options), arms, names, rng, origin)
    if name == "thompson":
        return Thompson(LinUcbConfig(**options), arms, names, rng, origin)
    if name == "epsilon_greedy":
        return LinUcb(LinUcbConfig(**{"mixing": 0.1, **options, "alpha": 0.0}), arms, names, rng, origin)
    if name in SINGLE_EXPERTS:
        return SingleExpert(arms, names, name)
    if name == "round_robin":
        return RoundRobin(arms, names)
    if name == "random":
        return UniformRandom(arms, names, rng)
    if name == "fixed":
        return FixedSchedule(arms, names, tuple(options.get("schedule", SCHEDULE)))
    raise ValueError(f"unknown policy {name!r}; known: {', '.join(POLICIES)}")
