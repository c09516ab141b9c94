"""Plots of the covered share of the floor over the distance driven, one panel per sensor and floor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

_INK, _MUTED, _EXPERT, _RIVAL = "#1f2933", "#7b8794", "#3e7cb1", "#c2571a"


def save_curves(
    pairs: Mapping[tuple[str, str], Sequence[Mapping[str, np.ndarray]]], expert: str, rival: str, file: Path
) -> None:
    """Write a PNG to `file`, one panel per (sensor, floor).

    A curve is (2, N): metres driven and covered share, by explorer.
    """
    names = list(dict.fromkeys(sensor for sensor, _ in pairs))
    floors = list(dict.fromkeys(floor for _, floor in pairs))
    size = (4.2 * len(floors), 3.4 * len(names))
    figure = Figure(figsize=size, dpi=100, facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(len(names), len(floors), squeeze=False)
    for (sensor, floor), runs in pairs.items():
        axes = panels[names.index(sensor)][floors.index(floor)]
        _draw(axes, runs, {expert: _EXPERT, rival: _RIVAL})
        axes.set_title(f"{sensor}, {floor}", color=_INK, fontsize=10)
    panels[0][0].legend(frameon=False, fontsize=8, loc="lower right")
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file)


def _draw(axes: Axes, runs: Sequence[Mapping[str, np.ndarray]], colors: Mapping[str, str]) -> None:
    end = max(float(run[0, -1]) for pair in runs for run in pair.values())
    at = np.linspace(0.0, end, 400)
    for name, color in colors.items():
        for pair in runs:
            axes.plot(pair[name][0], 100.0 * pair[name][1], color=color, linewidth=0.7, alpha=0.45)
        shares = [np.interp(at, *pair[name]) for pair in runs]
        label = name.replace("_", " ")
        axes.plot(at, 100.0 * np.mean(shares, axis=0), color=color, linewidth=2.2, label=label)
    axes.axhline(95.0, color=_MUTED, linewidth=0.8, linestyle="--")
    axes.set(xlabel="distance, m", ylabel="covered, %", ylim=(0.0, 102.0), xlim=(0.0, end))
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=_MUTED, labelsize=8)
