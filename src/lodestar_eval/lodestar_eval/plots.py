"""Plots over many episodes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lodestar_eval.maps import expert_colors
from lodestar_eval.outcomes import EpisodeOutcome
from lodestar_eval.stages import StageClock
from lodestar_eval.tasks import Prepared, prepare
from lodestar_eval.trials import REFERENCE, Building, Plan
from lodestar_sim.worlds.truth import truth_of

_INK, _MUTED, _FOUND, _FAILED, _BAR = "#1f2933", "#7b8794", "#0b7a75", "#d64545", "#3e7cb1"


def save_overview(outcomes: Sequence[EpisodeOutcome], file: Path) -> None:
    """Write a PNG: path length against the shortest path, success over time, and time by stage."""
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


def save_paths(plan: Plan, buildings: Sequence[Building], file: Path) -> None:
    """Write a PNG with a row per building and setting and a column per policy, on the true floor plan."""
    policies = [policy for policy in plan.policies if policy != REFERENCE]
    lines = [(building, setting) for building in buildings for setting in plan.settings]
    figure = Figure(
        figsize=(3.4 * len(policies), 3.2 * len(lines) + 0.6),
        dpi=100,
        facecolor="white",
        layout="constrained",
    )
    FigureCanvasAgg(figure)
    panels = figure.subplots(len(lines), len(policies), squeeze=False)
    for (building, setting), row in zip(lines, panels):
        prepared = prepare(building.world, building.seed, plan.directive)
        for policy, axes in zip(policies, row):
            _draw_plan(axes, prepared)
            stored = plan.file("paths", building.tag, setting, policy, building.seed, ".npz")
            if stored.exists():
                with np.load(stored) as data:
                    _draw_path(axes, data["path"], data["drivers"])
            axes.set_title(policy, fontsize=9, color=_INK)
        row[0].set_ylabel(f"{Path(building.world).stem} {building.seed}, {setting}", fontsize=8, color=_INK)
    keys = [Line2D([], [], color=color, label=name) for name, color in expert_colors().items()]
    keys += [
        Line2D([], [], color=_FOUND, marker="D", linestyle="", label="start"),
        Line2D([], [], color=_FAILED, marker="s", linestyle="", fillstyle="none", label="target"),
    ]
    figure.legend(handles=keys, loc="outside lower center", ncols=len(keys), frameon=False, fontsize=8)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file)


def _draw_plan(axes: Axes, prepared: Prepared) -> None:
    grid = truth_of(prepared.world).grid
    (x, y), (rows, columns) = grid.origin, grid.cells.shape
    extent = (x, x + columns * grid.resolution, y, y + rows * grid.resolution)
    axes.imshow(grid.occupied, origin="lower", extent=extent, cmap="Greys", vmin=0.0, vmax=2.0)
    axes.plot(*prepared.start[:2], marker="D", color=_FOUND, markersize=5, zorder=4)
    for thing in prepared.world.objects:
        if thing.id in prepared.task.target_ids:
            low, high = prepared.world.box(thing)
            axes.plot(
                *((low + high) / 2.0)[:2], marker="s", fillstyle="none", color=_FAILED, markersize=9, zorder=4
            )
    axes.set(xticks=[], yticks=[])


def _draw_path(axes: Axes, path: np.ndarray, drivers: np.ndarray) -> None:
    """Draw the path, coloured by the expert of the goal."""
    cuts = np.flatnonzero(drivers[1:] != drivers[:-1]) + 1
    for piece in np.split(np.arange(len(path)), cuts):
        span = slice(max(piece[0] - 1, 0), piece[-1] + 1) if len(piece) else slice(0, 0)
        color = expert_colors().get(str(drivers[piece[0]]), _MUTED) if len(piece) else _MUTED
        axes.plot(path[span, 1], path[span, 2], color=color, linewidth=1.6, zorder=3)
