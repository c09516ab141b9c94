"""Numbers over episodes: SPL, shares, and bootstrap intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np


def spl(success: bool, shortest: float, travelled: float) -> float:
    """Success weighted by path length of one episode (Anderson et al. 2018): S * l / max(p, l).

    shortest: l, metres from the start to the nearest pose of success. travelled: p, metres driven.
    NaN if the start already is a success pose (l = 0): there is no path to compare, so such
    episodes are left out of a mean SPL (`defined`). shortest may be infinite for a failure. Raises ValueError for
    other lengths that are not finite, or negative.
    """
    if not np.isfinite(travelled) or np.isnan(shortest) or shortest < 0.0 or travelled < 0.0:
        raise ValueError(f"path lengths must be finite and not negative: {shortest}, {travelled}")
    if shortest == 0.0:
        return float("nan")
    if not success:
        return 0.0
    if not np.isfinite(shortest):
        raise ValueError("success at a target that no path leads to")
    return shortest / max(shortest, travelled)


def defined(values: Sequence[float]) -> list[float]:
    """Return the values that are not NaN, in their order; NaN is an undefined SPL."""
    return [value for value in values if not np.isnan(value)]


def bootstrap_interval(
    values: Sequence[float],
    rng: np.random.Generator,
    statistic: Callable[[np.ndarray], np.ndarray] | None = None,
    level: float = 0.95,
    resamples: int = 10_000,
) -> tuple[float, float]:
    """Return the percentile interval of a statistic (the mean by default) under resampling with replacement.

    values: (N,). `statistic` takes (resamples, N) and returns (resamples,). No values give (nan, nan).
    """
    data = np.asarray(values, dtype=np.float64)
    if data.size == 0:
        return float("nan"), float("nan")
    samples = data[rng.integers(0, data.size, size=(resamples, data.size))]
    statistics = samples.mean(axis=1) if statistic is None else statistic(samples)
    tail = 50.0 * (1.0 - level)
    low, high = np.percentile(statistics, [tail, 100.0 - tail])
    return float(low), float(high)


def share(part: int, whole: int) -> float:
    """Return part / whole; NaN if whole is 0."""
    return part / whole if whole else float("nan")


def mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean of the values that are not NaN; NaN if there are none."""
    data = np.asarray(values, dtype=np.float64)
    data = data[np.isfinite(data)]
    return float(data.mean()) if data.size else float("nan")


def paired_difference(
    ours: Sequence[float], theirs: Sequence[float], rng: np.random.Generator, resamples: int = 10_000
) -> tuple[float, float, float]:
    """Return the mean of ours - theirs over the same worlds, and its 95 % bootstrap interval over worlds.

    Raises ValueError if they are not pairs.
    """
    if len(ours) != len(theirs):
        raise ValueError(f"{len(ours)} values cannot be paired with {len(theirs)}")
    differences = np.asarray(ours, np.float64) - np.asarray(theirs, np.float64)
    low, high = bootstrap_interval(differences.tolist(), rng, resamples=resamples)
    return mean(differences.tolist()), low, high


def cluster_interval(
    clusters: Sequence[Sequence[float]],
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 10_000,
) -> tuple[float, float]:
    """Return the percentile interval of the mean over all values if those of a cluster are dependent: whole
    clusters are drawn with replacement. No values give (nan, nan).
    """
    full = [np.asarray(values, np.float64) for values in clusters if len(values)]
    if not full:
        return float("nan"), float("nan")
    totals, counts = np.array([v.sum() for v in full]), np.array([len(v) for v in full])
    drawn = rng.integers(0, len(full), size=(resamples, len(full)))
    means = totals[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    tail = 50.0 * (1.0 - level)
    low, high = np.percentile(means, [tail, 100.0 - tail])
    return float(low), float(high)
