"""Off-policy evaluation: estimate another policy's reward from a log of decisions with propensities.

Inverse propensity scoring (Horvitz and Thompson 1952), its self-normalised form (Swaminathan and Joachims 2015) and
the doubly robust estimator (Dudik et al. 2011), per decision and under the contexts of the log. Another policy would
visit other places and meet other contexts, which no log can account for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lodestar.selection.context import ARM_FEATURES, FEATURE_SETS, feature_names
from lodestar.selection.decisions import Decision
from lodestar.selection.policy import Policy
from lodestar.selection.reward import REWARDS, Turn, credit_shares, make_reward

OFFLINE_RESAMPLES = 2000  # bootstrap resamples; chosen
OFFLINE_CONFIDENCE = 0.95  # mass of the intervals, 0..1
# runs from which whole runs are resampled, because decisions of a run depend on each other; below it
# decisions are. Chosen: fewer runs give no usable interval.
OFFLINE_MIN_RUNS = 8
OFFLINE_FOLDS = 5  # folds of the cross-fitted reward model
OFFLINE_RIDGE = 1.0  # regularisation of the reward model; chosen: that of LinUcbConfig


class NoSupport(ValueError):
    """Raised if the log does not support an estimate of the policy's reward; the message gives the reason."""


#: Effective sample size below which nothing is estimated; chosen: rule of thumb.
MIN_EFFECTIVE = 30.0


@dataclass(frozen=True)
class Sample:
    """One decision with its credited reward. contexts: (A, d), d features of each of A arms; admissible: (A,)
    bool.

    propensities: (A,) of the logging policy. run: index of the directive over all logs.
    """

    epoch: int
    run: int
    contexts: np.ndarray
    admissible: np.ndarray
    arm: int
    propensities: np.ndarray
    reward: float
    # until the next decision of the run; for the last one, the predicted seconds of its goal
    seconds: float = 0.0


@dataclass(frozen=True)
class Estimate:
    """Estimated reward per decision with its confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Evaluation:
    """Estimates of a policy's reward per decision; `logged` is the logging policy's own.

    effective: effective sample size of the weights. agreement: mean probability with which the policy chooses
    the logged arm. by_run: whether whole runs were resampled for the intervals.
    """

    logged: Estimate
    ips: Estimate
    snips: Estimate
    doubly_robust: Estimate
    effective: float
    agreement: float
    decisions: int
    runs: int
    by_run: bool


def features_of(decision: Decision) -> tuple[str, tuple[str, ...]]:
    """Return the feature set's name and features of a decision. Raises ValueError for an unknown set."""
    arms = tuple(arm.expert for arm in decision.arms)
    for features in FEATURE_SETS:
        names = feature_names(features, arms)
        if all(name in decision.context for name in names):
            return features, names
    raise ValueError(f"the context of epoch {decision.epoch} has none of the known feature sets")


def reward_of(decisions: Iterable[Decision]) -> str:
    """Return the name of the decisions' reward, inferred from its terms; "" if these fit none or several.

    Raises ValueError for different rewards: their totals have no common unit.
    """
    known = {name: make_reward(name).turn(Turn()).keys() for name in REWARDS}
    found: str | None = None
    for decision in decisions:
        terms = decision.reward.keys() - {"success", "total"}
        fitting = [name for name, all_terms in known.items() if terms <= all_terms]
        if len(fitting) > 1:
            continue  # ambiguous: several rewards have all of these terms
        name = fitting[0] if fitting else ""
        if found not in (None, name):
            raise ValueError(
                f"epoch {decision.epoch} was judged by {_shown(name)}, those before by {_shown(found)}: these "
                "rewards cannot be compared; give logs of one reward at a time"
            )
        found = name
    return found or ""


def _shown(reward: str | None) -> str:
    return f"the reward {reward!r}" if reward else "a reward that is not known"


def decay_of(reward: str) -> float:
    """Return gamma, with which a reward credits success to earlier decisions (eq. 24); 0 without a name."""
    return make_reward(reward).decay if reward else 0.0


def samples_of(logs: Iterable[Iterable[Decision]], decay: float) -> tuple[list[Sample], tuple[str, ...], str]:
    """Return the samples of one or more logs, the arms, and the name of the feature set.

    decay: gamma of the reward, with which a subtask's success is credited to its earlier decisions (eq. 24).
    Decisions without a reward (pending, or cut off) are skipped. Raises ValueError if none remains, or if
    arms or features change.
    """
    samples: list[Sample] = []
    arms: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    features = ""
    run = -1
    for log in logs:
        closed = [decision for decision in log if "total" in decision.reward]
        for one_run in _runs(closed):
            run += 1
            rewards = _credited(one_run, decay)
            for decision, reward, seconds in zip(one_run, rewards, _seconds(one_run)):
                its_arms = tuple(arm.expert for arm in decision.arms)
                its_features, its_names = features_of(decision)
                if not samples:
                    arms, features, names = its_arms, its_features, its_names
                if (its_arms, its_features) != (arms, features):
                    raise ValueError(
                        f"epoch {decision.epoch} has arms {its_arms} and features {its_features!r}, "
                        f"earlier ones {arms} and {features!r}"
                    )
                samples.append(_sample(decision, run, names, reward, seconds))
    if not samples:
        raise ValueError("the log contains no decision with a reward")
    return samples, arms, features


def _runs(decisions: Sequence[Decision]) -> list[list[Decision]]:
    """Split decisions into runs of one directive; a run ends if text changes, or epoch, time or step decrease."""
    runs: list[list[Decision]] = []
    for decision in decisions:
        last = runs[-1][-1] if runs else None
        if last is None or (
            decision.directive != last.directive
            or decision.epoch <= last.epoch
            or decision.stamp < last.stamp
            or decision.subtask < last.subtask
        ):
            runs.append([])
        runs[-1].append(decision)
    return runs


def _credited(run: Sequence[Decision], decay: float) -> list[float]:
    """Return the rewards (N,) of a run's N decisions, with successes credited to earlier ones by eq. 24."""
    rewards = [decision.reward["total"] for decision in run]
    for last, decision in enumerate(run):
        success = decision.reward.get("success", 0.0)
        first = next(i for i, one in enumerate(run) if one.subtask == decision.subtask)
        if success:
            for index, share in zip(range(first, last), credit_shares(decay, last - first + 1)):
                rewards[index] += share * success
    return rewards


def _seconds(run: Sequence[Decision]) -> list[float]:
    """Return the seconds (N,) between a run's decisions; for the last, the predicted seconds of its goal."""
    told = next((arm.proposal for arm in run[-1].arms if arm.expert == run[-1].chosen), None)
    last = 0.0 if told is None or told.seconds is None else told.seconds
    return [after.stamp - one.stamp for one, after in pairwise(run)] + [last]


def _sample(
    decision: Decision, run: int, names: tuple[str, ...], reward: float, seconds: float = 0.0
) -> Sample:
    count = len(decision.arms)
    contexts = np.repeat(np.array([[decision.context[name] for name in names]], np.float64), count, axis=0)
    for feature in ARM_FEATURES:
        if feature in names:
            own = [decision.context.get(f"{feature}.{arm.expert}", 0.0) for arm in decision.arms]
            contexts[:, names.index(feature)] = own
    return Sample(
        epoch=decision.epoch,
        run=run,
        contexts=contexts,
        admissible=np.array([arm.admissible for arm in decision.arms]),
        arm=next(i for i, arm in enumerate(decision.arms) if arm.expert == decision.chosen),
        propensities=np.array([arm.propensity for arm in decision.arms], np.float64),
        reward=float(reward),
        seconds=float(seconds),
    )


def evaluate(
    samples: Sequence[Sample],
    policy: Policy,
    min_effective: float = MIN_EFFECTIVE,
    learn: bool = True,
    rng: np.random.Generator | None = None,
) -> Evaluation:
    """Return estimates of the reward per decision of `policy`.

    learn: whether the policy learns from each sample after choosing for it. Raises NoSupport if the log has
    no propensities, excludes choices of the policy, or overlaps with them too little.
    """
    _require_propensities(samples)
    target = _target(samples, policy, learn)
    _require_overlap(samples, target, policy.arms)
    rows = np.arange(len(samples))
    arms = np.array([sample.arm for sample in samples])
    rewards = np.array([sample.reward for sample in samples])
    chosen = target[rows, arms]
    weights = chosen / np.array([sample.propensities[sample.arm] for sample in samples])
    effective = float(weights.sum() ** 2 / max((weights**2).sum(), 1e-300))
    if effective < min_effective:
        raise NoSupport(
            f"the effective sample size is {effective:.1f} of {len(samples)} decisions, below the floor of "
            f"{min_effective:g}: the log's policy chose too differently, or the log is too short"
        )
    predicted = _predictions(samples)
    direct = np.nansum(target * predicted, axis=1) + weights * (rewards - predicted[rows, arms])
    runs = np.array([sample.run for sample in samples])
    by_run = len(np.unique(runs)) >= OFFLINE_MIN_RUNS
    groups = np.unique(runs, return_inverse=True)[1] if by_run else rows
    ones = np.ones(len(samples))
    ratios = [(rewards, ones), (weights * rewards, ones), (weights * rewards, weights), (direct, ones)]
    logged, ips, snips, doubly = _intervals(ratios, groups, rng or np.random.default_rng(0))
    return Evaluation(
        logged,
        ips,
        snips,
        doubly,
        effective,
        float(chosen.mean()),
        len(samples),
        len(np.unique(runs)),
        by_run,
    )


def _require_propensities(samples: Sequence[Sample]) -> None:
    for sample in samples:
        known = np.isfinite(sample.propensities).all() and abs(sample.propensities.sum() - 1.0) < 1e-6
        if not known or sample.propensities[sample.arm] <= 0.0:
            raise NoSupport(f"epoch {sample.epoch} carries no propensities; its log cannot be weighted")


def _target(samples: Sequence[Sample], policy: Policy, learn: bool) -> np.ndarray:
    """Return choice probabilities (N samples, A arms) of the policy, learned from earlier samples only."""
    probabilities = np.empty((len(samples), len(policy.arms)))
    for index, sample in enumerate(samples):
        probabilities[index] = policy.choose(sample.contexts, sample.admissible).propensities
        if learn:
            policy.update(sample.contexts[sample.arm], sample.arm, sample.reward, sample.seconds)
    return probabilities


def _require_overlap(samples: Sequence[Sample], target: np.ndarray, arms: tuple[str, ...]) -> None:
    logged = np.array([sample.propensities for sample in samples])
    rows, columns = np.nonzero((target > 1e-9) & (logged <= 0.0))
    if len(rows):
        raise NoSupport(
            f"at {len(np.unique(rows))} of {len(samples)} decisions the policy would pick an arm that the log's policy "
            f"never picks there (first: {arms[columns[0]]} at epoch {samples[rows[0]].epoch}); "
            "log with uniform mixing, as the bandit does"
        )


def _predictions(samples: Sequence[Sample]) -> np.ndarray:
    """Return rewards (N samples, A arms) predicted by a ridge regression per arm, fitted without the sample's
    fold of runs.

    NaN for inadmissible arms.
    """
    contexts = np.array([sample.contexts for sample in samples])
    arms = np.array([sample.arm for sample in samples])
    rewards = np.array([sample.reward for sample in samples])
    runs = np.array([sample.run for sample in samples])
    whole = len(np.unique(runs)) >= OFFLINE_FOLDS
    folds = (runs if whole else np.arange(len(samples))) % OFFLINE_FOLDS
    predicted = np.full((len(samples), contexts.shape[1]), np.nan)
    for fold in range(OFFLINE_FOLDS):
        inside, outside = folds == fold, folds != fold
        level = rewards[outside].mean() if outside.any() else 0.0
        for arm in range(contexts.shape[1]):
            x, y = contexts[outside & (arms == arm), arm], rewards[outside & (arms == arm)]
            center = y.mean() if len(y) else level
            a = x.T @ x + OFFLINE_RIDGE * np.eye(contexts.shape[2])
            theta = np.linalg.solve(a, x.T @ (y - center))
            predicted[inside, arm] = center + contexts[inside, arm] @ theta
    return np.where([sample.admissible for sample in samples], predicted, np.nan)


def _intervals(
    ratios: Sequence[tuple[np.ndarray, np.ndarray]], groups: np.ndarray, rng: np.random.Generator
) -> list[Estimate]:
    """Return percentile-bootstrap intervals of each sum(numerator) / sum(denominator), resampling whole groups."""
    count = int(groups.max()) + 1
    sums = [tuple(np.bincount(groups, part, count) for part in ratio) for ratio in ratios]
    values: list[list[float]] = [[] for _ in ratios]
    for _ in range(OFFLINE_RESAMPLES):
        times = np.bincount(rng.integers(count, size=count), minlength=count)
        for index, (numerator, denominator) in enumerate(sums):
            below = float(times @ denominator)
            if below > 0.0:
                values[index].append(float(times @ numerator) / below)
    tail = 50.0 * (1.0 - OFFLINE_CONFIDENCE)
    return [
        Estimate(float(top.sum() / bottom.sum()), *map(float, np.percentile(drawn, (tail, 100.0 - tail))))
        for (top, bottom), drawn in zip(ratios, values)
    ]
