"""Top views of worlds."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lodestar_sim.worlds.palette import rgb
from lodestar_sim.worlds.world import World


def draw_world(world: World, path: str | Path, names: bool = True, time: float = 0.0) -> None:
    """Write a PNG of the world from above at `time` (s): floors, walls and objects, with object names if `names`."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure
    from matplotlib.patches import Ellipse, Rectangle

    x0, y0, x1, y1 = world.bounds
    scale = 16.0 / max(x1 - x0, y1 - y0)
    figure = Figure(figsize=((x1 - x0) * scale, (y1 - y0) * scale), dpi=100)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    for slab in world.slabs:
        if not slab.ceiling:
            face = np.clip(np.array(rgb(slab.color)) / 255 * 0.5 + 0.5, 0, 1)
            axes.add_patch(
                Rectangle((slab.x0, slab.y0), slab.x1 - slab.x0, slab.y1 - slab.y0, color=face, lw=0)
            )
    for decal in world.decals:
        axes.add_patch(Ellipse(decal.center, *decal.size, color=np.array(rgb(decal.color)) / 255, alpha=0.6))
    for wall in world.walls:
        grey = (0.25, 0.25, 0.25, 1.0) if wall.z0 == 0.0 else (0.25, 0.25, 0.25, 0.15)
        axes.add_patch(Rectangle((wall.x0, wall.y0), wall.x1 - wall.x0, wall.y1 - wall.y0, color=grey, lw=0))
    for thing in sorted(world.objects_at(time), key=lambda t: t.pose[2] + t.size[2]):
        mesh = world.placed_mesh(thing)
        order = np.argsort(mesh.vertices[mesh.triangles][:, :, 2].max(axis=1))
        corners = mesh.vertices[mesh.triangles][order][:, :, :2]
        axes.add_collection(PolyCollection(corners, facecolors=mesh.colors[order] / 255, edgecolors="none"))
        low, high = world.box(thing)
        axes.add_patch(
            Rectangle((low[0], low[1]), high[0] - low[0], high[1] - low[1], fill=False, lw=0.4, ec="k")
        )
        if names:
            x, y = ((low + high) / 2)[:2]
            axes.text(x, y, f"{thing.id} {thing.category}", size=5, ha="center", va="center",
                      bbox={"fc": "white", "alpha": 0.5, "lw": 0, "pad": 0.2})  # fmt: skip
    for room in world.rooms:
        rx0, _, rx1, ry1 = room.rect
        axes.text((rx0 + rx1) / 2, ry1 - 0.15, room.label, size=8, ha="center", va="top", color="navy")
    x, y, yaw = world.start
    axes.arrow(x, y, 0.5 * np.cos(yaw), 0.5 * np.sin(yaw), width=0.08, color="magenta")
    axes.set_xlim(x0, x1)
    axes.set_ylim(y0, y1)
    axes.axis("off")
    figure.savefig(path)
