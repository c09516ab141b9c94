"""Animated picture of a run: the growing map, the path, and the found objects."""

from __future__ import annotations

from pathlib import Path

from matplotlib.animation import PillowWriter
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from lodestar_eval.demo.record import RunRecord
from lodestar_eval.map_records import MapPicture
from lodestar_eval.maps import INK, PAPER, draw_map, extent_of

_WIDTH, _DPI = 7.2, 80  # inches, and pixels per inch
_RATE, _END = 4, 10  # pictures a second, and how many show the end


def save_film(record: RunRecord, file: Path) -> None:
    """Write an animated GIF of the grids in `record.grown`, which holds at least one."""
    low, high = extent_of(
        MapPicture(record.grown[-1], record.path[:, 1:3], record.start, (), (), record.targets)
    )
    height = _WIDTH * float((high - low)[1] / (high - low)[0])
    figure = Figure(figsize=(_WIDTH, height + 0.4), facecolor=PAPER)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.0, 0.0, 1.0, height / (height + 0.4)))
    found = tuple(entity for entity in record.entities.values() if entity.claimed)
    writer = PillowWriter(fps=_RATE)
    with writer.saving(figure, str(file), _DPI):
        for grid in (*record.grown, *(record.grown[-1],) * _END):
            ends = grid is record.grown[-1]
            way = record.path[record.path[:, 0] <= grid.stamp, 1:3]
            picture = MapPicture(
                grid, way, record.start, found if ends else (), (), record.targets if ends else ()
            )
            axes.clear()
            draw_map(axes, picture, low, high)
            axes.set_title(f" “{record.directive}”  {grid.stamp - record.begun:.0f} s", color=INK, loc="left")
            writer.grab_frame()
