"""Pictures of a run's map: grid, path, named entities and goals."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Polygon, Rectangle
from matplotlib.patheffects import withStroke

from lodestar.experts import registry
from lodestar.experts.specs import Role
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar_eval.labels import LabelLayout, runs_of
from lodestar_eval.map_records import MapEntity, MapGoal, MapPicture

_FLOOR, _WALL, _UNKNOWN, PAPER = "#ffffff", "#39424e", "#e4e7eb", "#f4f5f7"
INK, _MUTED, _TARGET, _CLAIMED, _START = "#1f2933", "#7b8794", "#d64545", "#e8890c", "#0b7a75"
_DPI = 100
# pixels: radius of a goal's arrow; distance within which goals share a label
_GOAL_RADIUS, _SAME_GOAL = 12.0, 14.0
_PURPOSES = {
    Role.EXPLORER: "goal: to explore",
    Role.MAP_EXPERT: "goal: a thing on the map",
    Role.VIEWER: "goal: seen by the camera",
}
_NAME: dict[str, Any] = {
    "zorder": 11,
    "bbox": {"facecolor": "white", "alpha": 0.72, "edgecolor": "none", "pad": 0.7},
}


def expert_colors() -> dict[str, tuple[float, float, float]]:
    """Return the colour of each expert's goals."""
    return {spec.name: spec.color for spec in registry.experts()}


def save_map(picture: MapPicture, file: Path, pixels_per_metre: float = 80.0) -> None:
    """Write a PNG of the known part of the building, at most 2600 pixels wide and high."""
    low, high = extent_of(picture)
    size = high - low
    scale = float(min(pixels_per_metre, 2400.0 / max(size)))
    width, height = size * scale / _DPI
    page = max(width, 7.0) + 0.4
    columns = max(3, int(page / 1.75))  # columns of the legend
    subtitle = textwrap.fill(picture.subtitle, int(page * 11.5))
    header = 0.62 + 0.19 * (subtitle.count("\n") + 1)
    footer = 0.75 + 0.22 * (6 // columns)
    figure = Figure(figsize=(page, height + header + footer), dpi=_DPI, facecolor=PAPER)
    FigureCanvasAgg(figure)
    total = figure.get_size_inches()[1]
    left = (page - width) / 2.0
    axes = figure.add_axes((left / page, footer / total, width / page, height / total))
    draw_map(axes, picture, low, high)
    figure.text(0.2 / page, 1 - 0.38 / total, picture.title, fontsize=15, weight="bold", color=INK)
    figure.text(0.2 / page, 1 - 0.5 / total, subtitle, fontsize=10.5, color=_MUTED, va="top")
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="lower center", ncols=columns, frameon=False, fontsize=9, labelcolor=INK
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, facecolor=PAPER)


def draw_map(
    axes: Axes, picture: MapPicture, low: np.ndarray | None = None, high: np.ndarray | None = None
) -> None:
    """Draw the picture on `axes` between the corners `low` and `high` (2,), by default the whole known part."""
    if low is None or high is None:
        low, high = extent_of(picture)
    axes.set_facecolor(_UNKNOWN)
    axes.set_aspect("equal")
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    axes.set_xticks([])
    axes.set_yticks([])
    for side in axes.spines.values():
        side.set_visible(False)
    if picture.grid is not None:
        _draw_grid(axes, picture.grid)
    for wall in picture.walls:
        axes.plot(wall[:, 0], wall[:, 1], color=_WALL, linewidth=1.2, zorder=2)
    _draw_boxes(axes, picture)
    _draw_path(axes, picture)
    _draw_goals(axes, picture.goals)
    _draw_scale(axes, low, high)
    _draw_labels(axes, picture)


def extent_of(picture: MapPicture) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of the drawn area, with a margin for the scale bar below."""
    points = [np.atleast_2d(np.asarray(picture.start, dtype=float)[:2])]
    if len(picture.path):
        points.append(np.asarray(picture.path)[:, :2])
    if picture.grid is not None:
        known = np.argwhere(~picture.grid.unknown)
        if len(known):
            points.append(picture.grid.points_of(np.stack([known.min(axis=0), known.max(axis=0)])))
    for entity in picture.targets:
        points.append(np.stack([np.asarray(entity.box_min)[:2], np.asarray(entity.box_max)[:2]]))
    points.extend(np.asarray(wall) for wall in picture.walls)
    corners = np.concatenate(points)
    return corners.min(axis=0) - (0.4, 0.7), corners.max(axis=0) + 0.4


def _draw_grid(axes: Axes, grid: OccupancyGrid2D) -> None:
    image = np.empty((*grid.cells.shape, 3))
    image[grid.unknown] = _rgb(_UNKNOWN)
    image[grid.free] = _rgb(_FLOOR)
    image[grid.occupied] = _rgb(_WALL)
    rows, columns = grid.cells.shape
    x, y = grid.origin
    extent = (x, x + columns * grid.resolution, y, y + rows * grid.resolution)
    axes.imshow(image, origin="lower", extent=extent, interpolation="nearest", zorder=1)


def _draw_boxes(axes: Axes, picture: MapPicture) -> None:
    for entity in picture.entities:
        color = _CLAIMED if entity.claimed else "#9aa5b1"
        _box(axes, entity, edgecolor=color, facecolor=color, alpha=0.9 if entity.claimed else 0.28, zorder=3)
    for index, target in enumerate(picture.targets):
        label = "what was asked for" if index == 0 else None
        _box(axes, target, 0.06, edgecolor=_TARGET, facecolor="none", linewidth=2.4, zorder=7, label=label)


def _box(axes: Axes, entity: MapEntity, margin: float = 0.0, **style: Any) -> None:
    low = np.asarray(entity.box_min)[:2] - margin
    size = np.asarray(entity.box_max)[:2] + margin - low
    axes.add_patch(Rectangle(tuple(low), *size, **style))


def _draw_path(axes: Axes, picture: MapPicture) -> None:
    path = np.asarray(picture.path)[:, :2] if len(picture.path) else np.empty((0, 2))
    if len(path) > 1:
        segments = np.stack([path[:-1], path[1:]], axis=1)
        line = LineCollection(
            list(segments), cmap="viridis", linewidths=2.2, zorder=5, alpha=0.9, capstyle="round"
        )
        line.set_array(np.linspace(0.0, 0.92, len(segments)))
        axes.add_collection(line)
        axes.plot([], [], color="#2a788e", linewidth=2.2, label="path (dark to bright)")
        axes.scatter(path[-1][0], path[-1][1], s=95, color=_CLAIMED, edgecolor="white", zorder=9, label="end")
    start = np.asarray(picture.start, dtype=float)
    axes.scatter(
        start[0], start[1], s=110, marker="D", color=_START, edgecolor="white", zorder=9, label="start"
    )


def _draw_goals(axes: Axes, goals: Sequence[MapGoal]) -> None:
    named: set[str] = set()
    for goal in goals:
        x, y, yaw = np.asarray(goal.pose, dtype=float)[:3]
        color = expert_colors().get(goal.expert, _MUTED)
        c, s = np.cos(yaw), np.sin(yaw)
        arrow = np.array([[0.26, 0.0], [-0.16, 0.15], [-0.07, 0.0], [-0.16, -0.15]]) @ np.array(
            [[c, s], [-s, c]]
        )
        axes.add_patch(
            Polygon(arrow + np.array([x, y]), facecolor=color, edgecolor="white", linewidth=0.9, zorder=8)
        )
        if goal.expert not in named:
            named.add(goal.expert)
            axes.scatter([], [], marker=(3, 0, -90), s=90, color=color, label=_purpose(goal.expert))


def _purpose(expert: str) -> str:
    """Return the purpose of an expert's goals in plain words; its name if it has no role of its own."""
    roles = next((spec.roles for spec in registry.experts() if spec.name == expert), ())
    return next((_PURPOSES[role] for role in roles), expert.replace("_", " "))


def _draw_scale(axes: Axes, low: np.ndarray, high: np.ndarray) -> None:
    length = max(step for step in (1, 2, 5, 10, 20) if step <= max(1.0, (high[0] - low[0]) / 5.0))
    x, y = high[0] - 0.25 - length, low[1] + 0.16
    axes.plot([x, x + length], [y, y], color=INK, linewidth=2.5, zorder=10, solid_capstyle="butt")
    axes.text(
        x + length / 2, y + 0.07, f"{length} m", ha="center", va="bottom", fontsize=8, color=INK, zorder=10
    )


def _draw_labels(axes: Axes, picture: MapPicture) -> None:
    """Draw names and goal numbers; less important names without room are left out."""
    layout = LabelLayout(axes)
    for goal in picture.goals:
        layout.keep_disc(np.asarray(goal.pose)[:2], _GOAL_RADIUS)
    layout.keep_disc(np.asarray(picture.start, dtype=float)[:2], 10)
    if len(picture.path):
        layout.keep_disc(np.asarray(picture.path)[-1, :2], 8)
    for thing in (*picture.targets, *(e for e in picture.entities if e.claimed)):
        layout.keep_box(np.asarray(thing.box_min)[:2] - 0.06, np.asarray(thing.box_max)[:2] + 0.06)
    entities = sorted(
        picture.entities,
        key=lambda e: (not e.claimed, -float(np.prod(np.asarray(e.box_max)[:2] - np.asarray(e.box_min)[:2]))),
    )
    claimed = [entity for entity in entities if entity.claimed]
    style = {**_NAME, "required": True, "fontsize": 10, "color": _TARGET, "weight": "bold"}
    for entity in (*claimed, *(one for one in picture.targets if not _is_among(one, claimed))):
        layout.place(_short(entity.name), entity.center, **style)
    _number_goals(axes, layout, picture.goals)
    for entity in (e for e in entities if not e.claimed):
        layout.place(_short(entity.name), entity.center, over=True, fontsize=7, color=INK, **_NAME)


def _is_among(target: MapEntity, entities: Sequence[MapEntity]) -> bool:
    """Return whether the centre of an entity lies within the target's box."""
    low, high = np.asarray(target.box_min)[:2], np.asarray(target.box_max)[:2]
    return any(bool(((low <= one.center) & (one.center <= high)).all()) for one in entities)


def _number_goals(axes: Axes, layout: LabelLayout, goals: Sequence[MapGoal]) -> None:
    """Draw every goal's number beside it; goals at one place share a label."""
    places: list[tuple[np.ndarray, list[int], set[str]]] = []
    for number, goal in enumerate(goals, 1):
        point = axes.transData.transform(np.asarray(goal.pose, dtype=float)[:2])
        for other, numbers, experts in places:
            if np.hypot(*(point - other)) <= _SAME_GOAL:
                numbers.append(number)
                experts.add(goal.expert)
                break
        else:
            places.append((point, [number], {goal.expert}))
    halo = [withStroke(linewidth=2.5, foreground="white")]
    for point, numbers, experts in places:
        color = expert_colors().get(next(iter(experts)), _MUTED) if len(experts) == 1 else INK
        layout.place(
            runs_of(numbers), axes.transData.inverted().transform(point), required=True, fontsize=8, color=color,
            weight="bold", zorder=12, path_effects=halo,
        )  # fmt: skip


def _short(name: str) -> str:
    return name if len(name) <= 24 else name[:22].rstrip() + "…"


def _rgb(color: str) -> tuple[float, float, float]:
    return tuple(int(color[i : i + 2], 16) / 255.0 for i in (1, 3, 5))  # type: ignore[return-value]
