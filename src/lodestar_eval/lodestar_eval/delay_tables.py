"""Cost of a reasoner's delay in simulated time: rows with the delay against the same rows without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from lodestar_eval.metrics import bootstrap_interval
from lodestar_eval.outcomes import EpisodeOutcome
from lodestar_eval.policy_tables import Row
from lodestar_eval.registry import Bar, Table
from lodestar_eval.trials import UNDELAYED

_TIME_BOUND = 1.15  # of the undelayed run's time, for the bandit; the bar


def delay_metrics(rows: Mapping[Row, Sequence[EpisodeOutcome]]) -> dict[str, float]:
    """`time_ratio.SETTING.POLICY`: total simulated time over that of the undelayed row in the same buildings, with a
    95 % interval over buildings.
    """
    metrics: dict[str, float] = {}
    for (setting, policy), times in _pairs(rows).items():
        numbers = np.arange(len(times), dtype=np.float64)
        ratio = float(_ratio(numbers[None], times)[0]) if len(times) else float("nan")
        low, high = bootstrap_interval(
            numbers.tolist(), np.random.default_rng(0), partial(_ratio, times=times)
        )
        key = f"{setting}.{policy}"
        metrics |= {f"time_ratio.{key}": ratio, f"time_ratio_low.{key}": low, f"time_ratio_high.{key}": high}
    return metrics


def delay_bars(metrics: Mapping[str, float], reasoner_delay: float, answer_delay: float) -> tuple[Bar, ...]:
    """Return the issue's bar of the bandit, if the reasoner is slow and no expert delays its answer."""
    if reasoner_delay <= 0.0 or answer_delay > 0.0:
        return ()
    names = [name for name in metrics if name.startswith("time_ratio.") and name.endswith(".bandit")]
    return tuple(Bar(name, metrics[name], _TIME_BOUND, at_least=False) for name in names)


def delay_tables(rows: Mapping[Row, Sequence[EpisodeOutcome]], metrics: Mapping[str, float]) -> list[Table]:
    """Return simulated time and finds of every pair of rows; no table without pairs."""
    lines = []
    for (setting, policy), times in _pairs(rows).items():
        key = f"{setting}.{policy}"
        found = [
            str(sum(o.success for o in rows[setting, name])) for name in (policy, f"{policy}{UNDELAYED}")
        ]
        interval = f"{metrics[f'time_ratio_low.{key}']:.2f}–{metrics[f'time_ratio_high.{key}']:.2f}"
        totals = [f"{total:.0f}" for total in times.sum(axis=0)]
        ratio = f"{metrics[f'time_ratio.{key}']:.3f}"
        lines.append((setting, policy, str(len(times)), *found, *totals, ratio, interval))
    columns = (
        "setting", "policy", "buildings", "found", "found, undelayed", "time, s", "undelayed, s", "ratio", "95 %",
    )  # fmt: skip
    return [Table("Simulated time against the undelayed run", columns, tuple(lines))] if lines else []


def _pairs(rows: Mapping[Row, Sequence[EpisodeOutcome]]) -> dict[Row, np.ndarray]:
    """Return (N, 2) seconds with and without the delay in each building of both rows, by setting and policy."""
    pairs: dict[Row, np.ndarray] = {}
    for (setting, policy), found in rows.items():
        if (other := (setting, f"{policy}{UNDELAYED}")) in rows:
            without = {(o.world, o.seed): o.duration for o in rows[other]}
            times = [(o.duration, without[o.world, o.seed]) for o in found if (o.world, o.seed) in without]
            pairs[setting, policy] = np.array(times, np.float64).reshape(-1, 2)
    return pairs


def _ratio(drawn: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return (R,), the ratio of the sums of times (N, 2) over the buildings `drawn`, (R, N) indices."""
    sums = times[drawn.astype(int)].sum(axis=1)
    return sums[:, 0] / sums[:, 1]
