"""Configuration of a goal selector: policy, features and reward."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from lodestar.experts.registry import expert_names, experts
from lodestar.scene.similarity import TIERS

#: Policies that learn and can save their state.
LEARNERS = ("bandit", "epsilon_greedy", "thompson", "corrected")

#: Policies that read the chance per second of goals, which the features "valued" have.
BY_VALUE = ("greedy", "mask_after", "corrected")

KEPT = "kept"  # as `SelectionConfig.policy_state`: in this user's state folder

FEATURE_SETS = ("iv_a", "app_a", "valued")

REWARDS = ("single", "sequence", "found")


def policy_names() -> tuple[str, ...]:
    """Return the names of all policies; that of an expert always follows this one."""
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
    """Return the schedule of "fixed": each expert for its number of turns, in the order of the arms."""
    return tuple(spec.name for spec in experts() for _ in range(spec.turns))


@dataclass(frozen=True)
class SelectionConfig:
    """Names of the policy, its features and its reward; see ADR 0017 for the choice of the reward."""

    policy: str = "bandit"  # one of policy_names() (RoboAtlas Algorithm 2)
    features: str = "iv_a"  # one of FEATURE_SETS (RoboAtlas IV-A)
    reward: str = "single"  # one of REWARDS (RoboAtlas eq. 5)
    # experts in turn, for the policy "fixed"; chosen: see default_schedule
    schedule: tuple[str, ...] = field(default_factory=default_schedule)
    # File of the learned state, read at the start if it exists and written after every directive; "" = none; "kept" =
    # one of this user's state folder for each policy, features, reward and arms, which every run of the robot shares;
    # nothing for a policy that does not learn. A file states by what it was learned: a named one is refused by others,
    # a kept one is set aside by them (`selection.policies.policy_of`).
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
class ContextConfig:
    """Scales that map every feature to [0, 1].

    Features 1 - exp(-x / scale) are 0.63 at their scale; others are x / scale, at most 1. RoboAtlas names the features
    and not their scales.
    """

    coverage_scale: float = 100.0  # m^2, exponential, as the building's size is unknown; chosen
    rate_scale: float = 10.0  # m^2 newly known per decision; chosen
    # metres from the trail within which a goal retraces it; chosen
    backtracking_radius: float = 1.0
    trail_recent: float = 2.0  # metres of the trail's end that do not count; chosen
    similarity_scale: float = 3.0  # V_sim (eq. 4); chosen: three perfect matches
    trail_step: float = 0.25  # metres between trail points; chosen: below backtracking_radius
    # seconds, exponential, age of the egocentric confidence; chosen
    vlm_age_scale: float = 10.0
    density_scale: float = 0.5  # entities per free m^2; chosen
    frontier_scale: float = 0.1  # share of free cells at the border to unknown cells; chosen
    match_threshold: float = TIERS[0]  # similarity from which an entity is a match; tau_1 of eq. 3
    match_scale: float = 3.0  # matches; chosen: as similarity_scale
    distance_scale: float = 15.0  # metres in a straight line to a goal; chosen
    displacement_scale: float = 3.0  # metres from the last decision's place; chosen
    discovery_scale: float = 5.0  # new entities per decision; chosen
    # seconds in which a settled robot moves less than settle_distance; chosen
    settle_time: float = 0.5
    settle_distance: float = 0.1  # metres; chosen


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
    memory: float = (
        0.995  # share of the evidence that a further turn leaves, 0..1; chosen: 200 turns, ten searches
    )
    least_factor: float = 0.02  # of a value; chosen: an expert that is always wrong is asked again some day
    untold: float = 0.005  # chance per second of a goal that tells none; chosen: that of a usual frontier

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


@dataclass(frozen=True)
class RewardConfig:
    """Weights of RoboAtlas Table I, without unit."""

    coverage_rate: float = 1.0  # Table I
    backtracking: float = -1.0  # Table I
    vlm: float = 1.0  # Table I
    similarity: float = 1.0  # Table I
    success: float = 10.0  # w_succ of Table I
    empty_penalty: float = -0.5  # of a goal that was not reached; chosen
    success_decay: float = 0.0  # gamma of eq. 24; 0 as in eq. 5 pays only the turn that succeeded (ADR 0017)


@dataclass(frozen=True)
class SequenceConfig:
    """Weights and thresholds of App. A, which states the terms and not all of their values.

    A subtask's success is shared with `decay` and multiplied by an efficiency that falls from 1 to `floor` with the
    budget spent (eq. 23). The proxy of success needs one match of at least `sigma`, `min_matches` of at least `tau`, a
    settled robot, and a match of at least `sigma` within `rho` whose label overlaps.
    """

    coverage: float = 1.0  # weight of the coverage rate per turn; chosen: that of Table I
    similarity: float = 1.0  # weight of the change of similarity per turn; chosen: that of Table I
    discovery: float = 0.5  # weight of new entities per turn; chosen
    displacement: float = 0.25  # weight of the displacement per turn; chosen
    stuck: float = -0.5  # per turn without motion; chosen: as RewardConfig.empty_penalty
    empty: float = -0.25  # per empty choice; chosen: below `stuck`
    max_empty: int = 3  # see RewardModel; chosen: equals mask_after
    mask_after: int = 3  # see RewardModel; chosen
    success: float = 10.0  # weight of a subtask's success; that of Table I
    decay: float = 0.7  # gamma of eq. 24, which states only (0, 1); chosen
    floor: float = 0.2  # least efficiency, 0..1; chosen
    sigma: float = TIERS[1]  # similarity of a confident match; a tier of eq. 3
    tau: float = TIERS[0]  # similarity of a match; a tier of eq. 3
    min_matches: int = 1  # chosen
    rho: float = 1.2  # metres to the match; chosen: 1.0 m of success plus localisation error
