"""Placement of plot labels without overlaps: greedy, most important first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.transforms import Bbox

_GAPS = (3.0, 10.0, 20.0, 34.0, 52.0, 76.0)  # pixels between a point and its label, in the order of trial
_DIRECTIONS = np.deg2rad([90, 270, 0, 180, 45, 135, 315, 225, 20, 160, 340, 200, 70, 110, 290, 250])
_LEADER_FROM = 12.0  # pixels of gap from which a line connects a label with its point
_LEADER = {"arrowstyle": "-", "color": "#7b8794", "linewidth": 0.6, "shrinkA": 0.0, "shrinkB": 1.0}


class LabelLayout:
    """Places labels on finished axes; sizes and positions are in pixels of the current figure."""

    def __init__(self, axes: Axes) -> None:
        self._axes = axes
        self._renderer = axes.figure.canvas.get_renderer()  # type: ignore[attr-defined]
        self._frame = axes.get_window_extent(self._renderer)
        self._taken: list[Bbox] = []

    def keep_disc(self, point: np.ndarray, radius: float) -> None:
        """Keep a disc of `radius` pixels around a point (2,), data coordinates, free of labels."""
        x, y = self._axes.transData.transform(point)
        self._taken.append(Bbox([[x - radius, y - radius], [x + radius, y + radius]]))

    def keep_box(self, low: np.ndarray, high: np.ndarray) -> None:
        """Keep the rectangle between two points (2,), data coordinates, free of labels."""
        self._taken.append(Bbox(self._axes.transData.transform([low, high])))

    def place(
        self, text: str, point: np.ndarray, *, over: bool = False, required: bool = False, **style: Any
    ) -> bool:
        """Place a label on or near a point (2,), data coordinates, without overlaps; return whether it was placed.

        over: the label may cover the point itself. required: without a free position, use that with the least
        overlap; otherwise leave the label out. style: text style for `Axes.annotate`.
        """
        label = self._axes.annotate(
            text, tuple(point[:2]), (0, 0), textcoords="offset pixels", ha="center", va="center", **style
        )  # type: ignore[call-overload]
        anchor = np.asarray(self._axes.transData.transform(point[:2]))
        size = np.array(label.get_window_extent(self._renderer).size) / 2.0 + 1.0
        tried = [(offset, gap, self._covered(anchor + offset, size)) for offset, gap in _offsets(size, over)]
        offset, gap, covered = next((t for t in tried if t[2] == 0.0), min(tried, key=lambda t: t[2]))
        if covered > 0.0 and not required:
            label.remove()
            return False
        label.set_position(tuple(offset))
        if gap >= _LEADER_FROM:
            near = anchor + offset + np.clip(-offset, -size, size)
            self._leader(anchor, near)
        self._taken.append(_box(anchor + offset, size))
        return True

    def _leader(self, anchor: np.ndarray, near: np.ndarray) -> None:
        """Draw a thin line from a point to the edge of its label, both in pixels."""
        to_data = self._axes.transData.inverted()
        self._axes.annotate(
            "",
            tuple(to_data.transform(anchor)),
            tuple(to_data.transform(near)),
            arrowprops=_LEADER,
            zorder=10,
        )

    def _covered(self, middle: np.ndarray, size: np.ndarray) -> float:
        """Return the covered area under a label, square pixels; area outside the axes counts tenfold."""
        box = _box(middle, size)
        inside = Bbox.intersection(box, self._frame)
        outside = box.width * box.height - (inside.width * inside.height if inside is not None else 0.0)
        return (10.0 * outside if outside > 1e-3 else 0.0) + sum(_common(box, other) for other in self._taken)


def _offsets(size: np.ndarray, over: bool) -> list[tuple[np.ndarray, float]]:
    """Return (offset of a label's centre from its point, gap between them), pixels, nearest first."""
    offsets = [(np.zeros(2), 0.0)] if over else []
    for gap in _GAPS:
        for angle in _DIRECTIONS:
            way = np.array([np.cos(angle), np.sin(angle)])
            # distance from the label's centre to its edge
            reach = min(size[k] / abs(way[k]) for k in (0, 1) if abs(way[k]) > 1e-6)
            offsets.append((way * (gap + reach), gap))
    return offsets


def _box(middle: np.ndarray, size: np.ndarray) -> Bbox:
    return Bbox([middle - size, middle + size])


def _common(a: Bbox, b: Bbox) -> float:
    """Return the area of two boxes' intersection."""
    width = min(a.x1, b.x1) - max(a.x0, b.x0)
    height = min(a.y1, b.y1) - max(a.y0, b.y0)
    return float(width * height) if width > 0.0 and height > 0.0 else 0.0


def runs_of(numbers: Sequence[int]) -> str:
    """Return ascending numbers in short form, such as "1, 4–7, 9"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(r[0]) if len(r) == 1 else f"{r[0]}–{r[-1]}" for r in runs)
