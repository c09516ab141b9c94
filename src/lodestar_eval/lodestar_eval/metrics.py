"""Numbers over episodes: SPL, shares, and bootstrap intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np


def spl(success: bool, shortest: float, travelled: float) -> float:
    """Success weighted by path length of one episode (Anderson et al. 2018): S * l / max(p, l).

    shortest: l, metres from the start to the nearest pose of success. travelled: p, metres driven.
    A start that already is a pose of success (l = 0) scores 1 if nothing was driven, else 0.
    shortest may be infinite for a failure. Raises ValueError for other lengths that are not finite, or negative.
    """
    if not np.isfinite(travelled) or np.isnan(shortest) or shortest < 0.0 or travelled < 0.0:
        raise ValueError(f"path lengths must be finite and not negative: {shortest}, {travelled}")
    if not success:
        return 0.0
    if not np.isfinite(shortest):
        raise ValueError("success at a target that no path leads to")
    longest = max(shortest, travelled)
    return 1.0 if longest == 0.0 else shortest / longest


def bootstrap_interval(
    values: Sequence[float],
    rng: np.random.Generator,
    statistic: Callable[[np.ndarray], np.ndarray] | None = None,
    level: float = 0.95,
    resamples: int = 10_000,
) -> tuple[float, float]:
    """Percentile interval of a statistic (the mean by default) under resampling with replacement.

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
    """part / whole, NaN where there is no whole."""
    return part / whole if whole else float("nan")


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean of the values that are numbers, NaN where there are none."""
    data = np.asarray(values, dtype=np.float64)
    data = data[np.isfinite(data)]
    return float(data.mean()) if data.size else float("nan")
