"""Metrics over episodes: success, path length, time and processor time per stage."""

from __future__ import annotations

import numpy as np

from lodestar_eval.metrics import bootstrap_interval, defined, mean, share, share_interval
from lodestar_eval.outcomes import EpisodeOutcome
from lodestar_eval.stages import StageClock
from lodestar_eval.time_tables import time_metrics


def metrics_of(outcomes: list[EpisodeOutcome]) -> dict[str, float]:
    """Return flat metrics over episodes. `speed`: simulated seconds per processor second, without set-up."""
    rng = np.random.default_rng(0)
    successes = [float(o.success) for o in outcomes]
    spls = defined([o.spl for o in outcomes])
    found = [o for o in outcomes if o.success]
    claimed = [o for o in outcomes if o.claimed]
    simulated, busy = sum(o.duration for o in outcomes), sum(o.cpu for o in outcomes)
    whole = busy + sum(o.setup_cpu for o in outcomes)
    clock = StageClock.total([o.stages for o in outcomes])
    low, high = share_interval(int(sum(successes)), len(successes))
    spl_low, spl_high = bootstrap_interval(spls, rng)
    metrics = {
        "episodes": len(outcomes),
        "sr": mean(successes),
        "sr_low": low,
        "sr_high": high,
        "spl": mean(spls),
        "spl_low": spl_low,
        "spl_high": spl_high,
        "spl_left_out": len(outcomes) - len(spls),
        "claimed_precision": share(sum(o.success for o in claimed), len(claimed)),
        "reached": mean([float(o.reached) for o in outcomes]),
        "duration_s": mean([o.duration for o in outcomes]),
        "found_duration_s": mean([o.duration for o in found]),
        "path_length_m": mean([o.path_length for o in outcomes]),
        "shortest_m": mean([o.shortest for o in outcomes]),
        "collisions": sum(o.collisions for o in outcomes),
        "coverage": mean([o.coverage for o in outcomes]),
        "marked": mean(defined([o.marked for o in outcomes])),
        "epochs": mean([o.epochs for o in outcomes]),
        "speed": _ratio(simulated, busy),
        "speed_with_setup": _ratio(simulated, whole),
        "frames_rejected": sum(sum(o.rejected.values()) for o in outcomes),
        "cpu_s": busy,
        "setup_cpu_s": whole - busy,
        "simulated_s": simulated,
    }
    metrics |= time_metrics(outcomes)
    epochs = [seconds for o in outcomes for seconds in o.epoch_seconds]
    for percent in (50, 95):
        metrics[f"epoch_p{percent}_s"] = float(np.percentile(epochs, percent)) if epochs else float("nan")
    frames = max(sum(o.frames for o in outcomes), 1)
    for name, milliseconds in clock.milliseconds_per_call().items():
        metrics[f"stage.{name}_ms"] = milliseconds
        metrics[f"stage.{name}_ms_per_frame"] = 1e3 * clock.seconds[name] / frames
    for expert in sorted({name for o in outcomes for name in o.decisions}):
        metrics[f"decisions.{expert}"] = sum(o.decisions.get(expert, 0) for o in outcomes)
    return metrics


def _ratio(part: float, whole: float) -> float:
    """Return part / whole; NaN if whole is 0."""
    return part / whole if whole > 0.0 else float("nan")
