"""Statistics of a policy's choices and rewards, from its decisions (RoboAtlas tables II, III, IV and VIII)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lodestar.selection.context import AREA
from lodestar.selection.decisions import Decision, Outcome
from lodestar_eval.metrics import share

STAGES = ("low", "mid", "high")


@dataclass(frozen=True)
class Pick:
    """Decision of a policy among its arms (experts), with its known outcome.

    reward: value by component, with "total". contested: whether every arm was admissible.
    coverage: known free area as a share of the building's reachable floor. run: number of the run.
    """

    chosen: str
    coverage: float
    reward: Mapping[str, float]
    contested: bool
    run: int = 0


def picks_of(decisions: Iterable[Decision], floor: float, run: int = 0) -> list[Pick]:
    """Return the last decision of every epoch of one run, if it has an outcome. floor: reachable area, m^2.

    Coverage is divided by `floor`. The decision's own feature grows with the known area in m^2, because a
    robot does not know the size of a building, so stages by that feature would separate small from large
    buildings.
    """
    last = {decision.epoch: decision for decision in decisions}
    return [
        Pick(
            decision.chosen,
            float(decision.context[AREA]) / floor,
            decision.reward,
            all(arm.admissible for arm in decision.arms),
            run,
        )
        for decision in last.values()
        if decision.outcome is not Outcome.PENDING and decision.reward
    ]


def stages_of(picks: Sequence[Pick]) -> list[int]:
    """Return the stage 0, 1 or 2 of every pick: thirds of all picks by coverage; equal coverage, equal stage."""
    coverage = np.array([pick.coverage for pick in picks], np.float64)
    if not len(coverage):
        return []
    edges = np.quantile(coverage, [1.0 / 3.0, 2.0 / 3.0])
    return [int(stage) for stage in np.searchsorted(edges, coverage, side="left")]


def distribution(picks: Sequence[Pick], arms: Sequence[str], contested: bool = False) -> np.ndarray:
    """Return the share of every arm by stage, (3, A); NaN for a stage without picks (table II).

    contested: count only picks for which every arm was admissible; the stages stay those of all picks.
    """
    counts = np.zeros((len(STAGES), len(arms)))
    for pick, stage in zip(picks, stages_of(picks)):
        if pick.chosen in arms and (pick.contested or not contested):
            counts[stage, arms.index(pick.chosen)] += 1
    totals = counts.sum(axis=1, keepdims=True)
    return np.divide(counts, totals, out=np.full(counts.shape, np.nan), where=totals > 0)


def fall(picks: Sequence[Pick], arm: str, rng: np.random.Generator, resamples: int = 10_000) -> np.ndarray:
    """Return (3,): the decrease of an arm's share of contested picks, and the ends of its 95 % interval.

    The decrease is 1 - high / low, from the low to the high stage. The bootstrap resamples whole runs,
    because the picks of a run depend on each other.

    A share that rises from 0 is a decrease of -inf. The value is NaN if the arm occurs in neither stage or a
    stage has no contested pick; resampled values of NaN are left out. The ends of the interval are resampled
    values, without interpolation, because -inf and a number cannot be interpolated; between two values, the
    end is the outer one.
    """
    stages = np.array(stages_of(picks), np.int64)
    runs = {run: row for row, run in enumerate(dict.fromkeys(pick.run for pick in picks))}
    counts = np.zeros((len(runs), len(STAGES), 2))  # contested picks of the arm, of all arms
    for pick, stage in zip(picks, stages):
        if pick.contested:
            counts[runs[pick.run], stage] += (pick.chosen == arm, 1.0)
    if not counts.sum():
        return np.full(3, np.nan)
    drawn = rng.integers(0, len(runs), size=(resamples, len(runs)))
    totals = np.concatenate((counts.sum(axis=0)[None], counts[drawn].sum(axis=1)))
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = totals[..., 0] / totals[..., 1]
        falls = 1.0 - shares[:, -1] / shares[:, 0]
    if np.isnan(falls[0]):
        return np.full(3, np.nan)
    low = np.nanpercentile(falls[1:], 2.5, method="lower")
    return np.array([falls[0], low, np.nanpercentile(falls[1:], 97.5, method="higher")])


def stage_rewards(picks: Sequence[Pick], arms: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and standard deviation (3, A) of the reward by stage and arm; NaN without picks (table III)."""
    means = np.full((len(STAGES), len(arms)), np.nan)
    spreads = means.copy()
    stages = np.array(stages_of(picks))
    chosen = np.array([pick.chosen for pick in picks])
    totals = np.array([pick.reward["total"] for pick in picks], np.float64)
    for stage in range(len(STAGES)):
        for index, arm in enumerate(arms):
            values = totals[(stages == stage) & (chosen == arm)] if len(picks) else totals
            if len(values):
                means[stage, index], spreads[stage, index] = values.mean(), values.std()
    return means, spreads


def normalized(means: np.ndarray, spreads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return means scaled to [0, 1] over all stages and arms, and deviations by the same factor (as table III)."""
    if not np.isfinite(means).any():
        return means, spreads
    low, high = np.nanmin(means), np.nanmax(means)
    width = high - low if high > low else 1.0
    return (means - low) / width, spreads / width


def components(picks: Sequence[Pick]) -> dict[str, tuple[float, float, float]]:
    """Return mean, standard deviation and share of the total of every reward component, "total" last (table IV)."""
    if not picks:
        return {}
    names = [*dict.fromkeys(name for pick in picks for name in pick.reward if name != "total"), "total"]
    values = {name: np.array([pick.reward.get(name, 0.0) for pick in picks]) for name in names}
    whole = float(values["total"].mean())
    return {
        name: (float(v.mean()), float(v.std()), float(v.mean()) / whole if whole else float("nan"))
        for name, v in values.items()
    }


def allocation(
    picks: Mapping[str, int], driven: Mapping[str, float], arms: Sequence[str]
) -> dict[str, tuple[int, float, float, float]]:
    """Return each arm's picks, share of picks, metres and share of metres, over `arms` only (table VIII)."""
    decisions, metres = sum(picks.get(arm, 0) for arm in arms), sum(driven.get(arm, 0.0) for arm in arms)
    return {
        arm: (
            picks.get(arm, 0),
            share(picks.get(arm, 0), decisions),
            driven.get(arm, 0.0),
            driven.get(arm, 0.0) / metres if metres > 0.0 else float("nan"),
        )
        for arm in arms
    }
