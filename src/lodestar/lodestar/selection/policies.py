"""Factory of all policies by name."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from itertools import count
from pathlib import Path
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
    KEPT,
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
from lodestar.storage.private import state_home

_log = logging.getLogger(__name__)
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
    """Return the policy with this name over `arms`, for contexts with the features `names`.

    features, reward: names of the feature set and the reward, stored in the policy's state. options: fields
    of LinUcbConfig for "bandit", "thompson" and "corrected"; the same without alpha for "epsilon_greedy",
    whose epsilon is `mixing` (default 0.1); `schedule` for "fixed"; `untold` for "greedy" and "mask_after".
    Raises ValueError for an unknown name or option.
    """
    others = {"fixed": ("schedule",), "greedy": ("untold",), "mask_after": ("untold",)}
    known = _OPTIONS if name in LEARNERS else others.get(name, ())
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
        untold = float(options.get("untold", LinUcbConfig.untold))
        return (Greedy if name == "greedy" else MaskAfter)(arms, names, untold)
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


def state_file(config: SelectionConfig, arms: tuple[str, ...]) -> Path | None:
    """Return the file of the learned state over these arms; None = none. See `SelectionConfig.policy_state`.

    The file name of kept state includes a digest of arms and features, so that each set of experts has its
    own file.
    """
    if not config.policy_state or config.policy not in LEARNERS:
        return None
    if config.policy_state != KEPT:
        return Path(config.policy_state)
    told = json.dumps([arms, feature_names(config.features, arms)])
    digest = hashlib.sha256(told.encode()).hexdigest()[:8]
    name = f"{config.policy}-{config.features}-{config.reward}-{digest}.json"
    return state_home() / "policies" / name


def policy_of(
    config: SelectionConfig,
    learning: LinUcbConfig,
    arms: tuple[str, ...],
    rng: np.random.Generator,
    *,
    keeps: bool = False,
    warn: Callable[[str], None] = _log.warning,
) -> Policy:
    """Return the policy of a configuration, with its learned state if `policy_state` exists.

    keeps: restore from the user's own file if `policy_state` is "kept"; a robot does so, a benchmark does
    not. A kept file that is damaged or belongs to another policy is renamed with a warning, and the policy
    starts from its prior. Raises ValueError with the reason if a named file does not belong to this policy,
    and OSError if it cannot be read.
    """
    names = feature_names(config.features, arms)
    options: dict[str, Any] = {}
    if config.policy in LEARNERS:
        options = {field.name: getattr(learning, field.name) for field in fields(learning)}
        if config.policy == "epsilon_greedy":
            del options["alpha"]
    elif config.policy in ("greedy", "mask_after"):
        options = {"untold": learning.untold}
    elif config.policy == "fixed":
        options = {"schedule": config.schedule}
    policy = make_policy(
        config.policy, arms, names, rng, features=config.features, reward=config.reward, **options
    )
    file = state_file(config, arms)
    if file is None or not isinstance(policy, LinUcb):
        return policy
    if config.policy_state != KEPT:
        if file.exists():
            policy.load(file)
    elif keeps:
        _go_on_from(policy, file, warn)
    return policy


def _go_on_from(policy: LinUcb, file: Path, warn: Callable[[str], None]) -> None:
    """Restore the policy from a file; rename the file if it cannot be used."""
    try:
        policy.load(file)
    except FileNotFoundError:
        return
    except (ValueError, OSError) as error:
        try:
            where = f"it was set aside as {_set_aside(file)}"
        except OSError as refused:
            where = f"it could not be set aside ({refused})"
        warn(f"{error}; {where}, and the policy starts from its prior")


def _set_aside(file: Path) -> Path:
    """Rename a file to an unused name and return it. Raises OSError."""
    for number in count(1):
        aside = file.with_name(f"{file.name}.refused-{number}")
        with suppress(FileExistsError):
            # reserves the name, so that nothing is overwritten
            os.close(os.open(aside, os.O_CREAT | os.O_EXCL, 0o600))
            break
    try:
        os.replace(file, aside)
    except OSError:
        aside.unlink(missing_ok=True)
        raise
    return aside
