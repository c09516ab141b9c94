"""Plots over many episodes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from lodestar_eval.outcomes import EpisodeOutcome
from lodestar_eval.stages import StageClock

_INK, _MUTED, _FOUND, _FAILED, _BAR = "#1f2933", "#7b8794", "#0b7a75", "#d64545", "#3e7cb1"


def save_overview(outcomes: Sequence[EpisodeOutcome], file: Path) -> None:
    """`file` is a PNG: way driven against the shortest way, success over time, and time by stage."""
    figure = Figure(figsize=(14.0, 4.2), dpi=110, facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    ways, times, stages = figure.subplots(1, 3)
    _draw_ways(ways, outcomes)
    _draw_times(times, outcomes)
    _draw_stages(stages, outcomes)
    for axes in (ways, times, stages):
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(colors=_MUTED, labelsize=8)
        axes.title.set_color(_INK)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file)


def _draw_ways(axes: Axes, outcomes: Sequence[EpisodeOutcome]) -> None:
    reachable = [o for o in outcomes if np.isfinite(o.shortest)]
    for success, color, label in ((True, _FOUND, "found"), (False, _FAILED, "failed")):
        chosen = [o for o in reachable if o.success is success]
        axes.scatter(
            [o.shortest for o in chosen], [o.path_length for o in chosen], color=color, label=label, zorder=3
        )
    for o in reachable:
        axes.annotate(
            str(o.seed), (o.shortest, o.path_length), (4, 3), textcoords="offset points", fontsize=6
        )
    top = max([o.shortest for o in reachable], default=1.0)
    axes.plot([0.0, top], [0.0, top], color=_MUTED, linewidth=1.0, linestyle="--", label="shortest way")
    axes.set(title="Way driven, by seed", xlabel="shortest way, m", ylabel="way driven, m", xlim=(0, None))
    axes.set_ylim(0, None)
    axes.legend(frameon=False, fontsize=8)


def _draw_times(axes: Axes, outcomes: Sequence[EpisodeOutcome]) -> None:
    found = np.sort([o.duration for o in outcomes if o.success])
    shares = np.arange(1, len(found) + 1) / max(len(outcomes), 1)
    end = max([o.duration for o in outcomes], default=1.0)
    axes.step(
        [0.0, *found, end], [0.0, *shares, shares[-1] if len(shares) else 0.0], where="post", color=_FOUND
    )
    axes.set(title="Found within", xlabel="simulated time, s", ylabel="share of episodes", ylim=(0, 1.02))


def _draw_stages(axes: Axes, outcomes: Sequence[EpisodeOutcome]) -> None:
    clock = StageClock.total([o.stages for o in outcomes])
    simulated = max(sum(o.duration for o in outcomes), 1e-9)
    ranked = sorted(clock.seconds.items(), key=lambda item: item[1])
    axes.barh([name for name, _ in ranked], [1e3 * seconds / simulated for _, seconds in ranked], color=_BAR)
    axes.set(title="Time by stage", xlabel="ms per simulated second")
