"""Statistics over episodes: SPL, shares, and bootstrap intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats


def spl(success: bool, shortest: float, travelled: float) -> float:
    """Return success weighted by path length of one episode (Anderson et al. 2018): S * l / max(p, l).

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


def sct(success: bool, quickest: float, taken: float) -> float:
    """Return success weighted by completion time of one episode (Yokoyama et al. 2021): S * c / max(c, t).

    quickest: c, shortest time of the same robot, s. taken: t, s. NaN if `quickest` is NaN or 0.
    """
    if not quickest > 0.0:
        return float("nan")
    return quickest / max(quickest, taken) if success else 0.0


def defined(values: Sequence[float]) -> list[float]:
    """Return the values that are not NaN, in order; an SPL of NaN is undefined (see `spl`)."""
    return [value for value in values if not np.isnan(value)]


def bootstrap_interval(
    values: Sequence[float], rng: np.random.Generator, level: float = 0.95, resamples: int = 10_000
) -> tuple[float, float]:
    """Return the percentile interval of the mean under resampling with replacement.

    values: (N,). No values give (nan, nan).
    """
    data = np.asarray(values, dtype=np.float64)
    if data.size == 0:
        return float("nan"), float("nan")
    samples = data[rng.integers(0, data.size, size=(resamples, data.size))]
    tail = 50.0 * (1.0 - level)
    low, high = np.percentile(samples.mean(axis=1), [tail, 100.0 - tail])
    return float(low), float(high)


def share(part: float, whole: float) -> float:
    """Return part / whole; NaN if whole is 0."""
    return part / whole if whole else float("nan")


def mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean of the values that are not NaN; NaN if there are none."""
    data = np.asarray(values, dtype=np.float64)
    data = data[np.isfinite(data)]
    return float(data.mean()) if data.size else float("nan")


def share_interval(part: int, whole: int, level: float = 0.95) -> tuple[float, float]:
    """Return the exact (Clopper-Pearson) interval of a share; a bootstrap of 20 of 20 has zero width."""
    if whole == 0:
        return float("nan"), float("nan")
    tail = (1.0 - level) / 2.0
    low = 0.0 if part == 0 else float(stats.beta.ppf(tail, part, whole - part + 1))
    high = 1.0 if part == whole else float(stats.beta.ppf(1.0 - tail, part + 1, whole - part))
    return low, high


def paired_shares_interval(ours: np.ndarray, theirs: np.ndarray, level: float = 0.95) -> tuple[float, float]:
    """Return Newcombe's interval (1998, method 10) of the difference of two shares of the same (N,) cases, 0 or 1."""
    n, z = len(ours), float(stats.norm.ppf(0.5 + level / 2.0))
    (one, low_one, high_one), (two, low_two, high_two) = (_wilson(x, z) for x in (ours, theirs))
    both, neither = float((ours * theirs).sum()), float(((1 - ours) * (1 - theirs)).sum())
    only_one, only_two = ours.sum() - both, theirs.sum() - both
    cross = both * neither - only_one * only_two
    cross = max(cross - n / 2.0, 0.0) if cross > 0.0 else cross
    margins = ours.sum() * (n - ours.sum()) * theirs.sum() * (n - theirs.sum())
    phi = cross / math.sqrt(margins) if margins > 0.0 else 0.0
    down, up = one - low_one, high_one - one
    other_down, other_up = two - low_two, high_two - two
    below = math.sqrt(max(down**2 - 2.0 * phi * down * other_up + other_up**2, 0.0))
    above = math.sqrt(max(up**2 - 2.0 * phi * up * other_down + other_down**2, 0.0))
    return one - two - below, one - two + above


def _wilson(values: np.ndarray, z: float) -> tuple[float, float, float]:
    """Return the share of ones and its Wilson interval."""
    n, p = len(values), float(values.mean())
    middle, half = p + z**2 / (2 * n), z * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return p, (middle - half) / (1 + z**2 / n), (middle + half) / (1 + z**2 / n)


def paired_difference(
    ours: Sequence[float], theirs: Sequence[float], rng: np.random.Generator, resamples: int = 10_000
) -> tuple[float, float, float]:
    """Return the mean of ours - theirs over the same worlds, and its 95 % interval: Newcombe's for shares (all values
    0 or 1), else by bootstrap over worlds.

    Raises ValueError if the lengths differ.
    """
    if len(ours) != len(theirs):
        raise ValueError(f"{len(ours)} values cannot be paired with {len(theirs)}")
    differences = np.asarray(ours, np.float64) - np.asarray(theirs, np.float64)
    if len(differences) and set(np.unique([ours, theirs])) <= {0.0, 1.0}:
        low, high = paired_shares_interval(np.asarray(ours, np.float64), np.asarray(theirs, np.float64))
        return mean(differences.tolist()), low, high
    low, high = bootstrap_interval(differences.tolist(), rng, resamples=resamples)
    return mean(differences.tolist()), low, high


def cluster_interval(
    clusters: Sequence[Sequence[float]],
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 10_000,
) -> tuple[float, float]:
    """Return the percentile interval of the mean over all values, by resampling whole clusters of dependent values.

    No values give (nan, nan).
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
