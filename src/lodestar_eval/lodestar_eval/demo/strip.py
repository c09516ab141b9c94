"""A strip of pictures that shows how the map of a run grew."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar_eval.map_records import MapEntity, MapPicture
from lodestar_eval.maps import INK, PAPER, draw_map, extent_of

_WIDTH = 3.4  # inches of one picture


def save_strip(
    grids: Sequence[OccupancyGrid2D],
    path: np.ndarray,
    start: np.ndarray,
    targets: Sequence[MapEntity],
    begun: float,
    file: Path,
) -> None:
    """Write a PNG of the grids side by side, each with the way up to its stamp, and the seconds since `begun`.

    path: (N, 4) stamp, x, y, yaw.
    """
    low, high = extent_of(MapPicture(grids[-1], path[:, 1:3], start, targets=targets))
    height = _WIDTH * float((high - low)[1] / (high - low)[0])
    figure = Figure(figsize=(_WIDTH * len(grids), height + 0.4), facecolor=PAPER)
    FigureCanvasAgg(figure)
    for k, grid in enumerate(grids):
        axes = figure.add_axes(
            (k / len(grids) + 0.004, 0.0, 1.0 / len(grids) - 0.008, height / (height + 0.4))
        )
        way = path[path[:, 0] <= grid.stamp, 1:3]
        draw_map(axes, MapPicture(grid, way, start, targets=targets), low, high)
        axes.set_title(f"{grid.stamp - begun:.0f} s", fontsize=12, color=INK, loc="left")
    figure.savefig(file, facecolor=PAPER)
