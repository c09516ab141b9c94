"""Resolution of mesh references, "param:chair/office?arms=1" or a file beside the world, to shapes."""

from __future__ import annotations

import math
from functools import lru_cache
from urllib.parse import parse_qsl

import numpy as np

from lodestar_sim.worlds.errors import WorldError
from lodestar_sim.worlds.mesh import Mesh, Shape
from lodestar_sim.worlds.mesh_files import read_mesh
from lodestar_sim.worlds.palette import COLORS, material_index, rgb
from lodestar_sim.worlds.shapes import SHAPES, Design

PARAMETRIC = "param:"


@lru_cache(maxsize=8192)
def load_shape(
    reference: str, size: tuple[float, float, float], color: str, material: str, folder: str = ""
) -> Shape:
    """Return the shape of a reference, scaled to `size`. Raises WorldError if it does not exist."""
    if len(size) != 3 or not all(math.isfinite(s) and s > 0.0 for s in size):
        raise WorldError(f"size {list(size)} of mesh {reference!r}: give three lengths above 0, in metres")
    if reference.startswith(PARAMETRIC):
        return _parametric(reference, size, color, material)
    return _from_file(reference, size, color, material, folder)


def _parametric(reference: str, size: tuple[float, float, float], color: str, material: str) -> Shape:
    name, _, query = reference[len(PARAMETRIC) :].partition("?")
    family, _, variant = name.partition("/")
    if family not in SHAPES:
        raise WorldError(f"mesh {reference!r}: no shape {family!r}; known: {', '.join(sorted(SHAPES))}")
    design = Design(size, variant, dict(parse_qsl(query)), color, material)
    SHAPES[family](design)
    return design.finish(size)


def _from_file(
    reference: str, size: tuple[float, float, float], color: str, material: str, folder: str
) -> Shape:
    loaded = read_mesh(reference, folder)
    vertices, triangles = loaded.vertices, loaded.triangles
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    middle = np.array([(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2]])
    scaled = (vertices - middle) * (np.asarray(size) / np.maximum(high - low, 1e-9))
    if loaded.colors is not None and not color:
        paint = loaded.colors
    else:
        paint = np.tile(np.array(rgb(color or "gray"), np.uint8), (len(triangles), 1))
    kind = np.full(len(triangles), material_index(material), np.uint8)
    return Shape(Mesh(scaled.astype(np.float32), triangles, paint, kind))


def color_of_file(reference: str, folder: str) -> str:
    """Return the name of the colour nearest to a mesh file's mean colour; "" if the file has no colours."""
    loaded = read_mesh(reference, folder)
    if loaded.colors is None:
        return ""
    corners = loaded.vertices[loaded.triangles]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    mean = np.average(loaded.colors, axis=0, weights=area + 1e-12)
    return min(COLORS, key=lambda name: float(np.sum((np.array(COLORS[name]) - mean) ** 2)))
