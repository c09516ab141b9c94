"""From a mesh reference to a shape: "param:chair/office?arms=1", or a file beside the world."""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path
from urllib.parse import parse_qsl

import numpy as np

from lodestar_sim.worlds.errors import WorldError
from lodestar_sim.worlds.mesh import Mesh, Shape
from lodestar_sim.worlds.palette import material_index, rgb
from lodestar_sim.worlds.shapes import SHAPES, Design

PARAMETRIC = "param:"
MESH_SUFFIXES = (".obj", ".ply", ".stl", ".off", ".glb", ".gltf")


@lru_cache(maxsize=8192)
def load_shape(
    reference: str, size: tuple[float, float, float], color: str, material: str, folder: str = ""
) -> Shape:
    """The shape that a reference names, scaled to `size`; raises WorldError where there is none."""
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
    path = Path(folder) / reference
    if path.suffix.lower() not in MESH_SUFFIXES:
        raise WorldError(
            f"mesh {reference!r}: use param:shape/variant or a file of {', '.join(MESH_SUFFIXES)}"
        )
    if not path.is_file():
        raise WorldError(f"mesh {reference!r} is missing: no file at {path}")
    import open3d

    loaded = open3d.io.read_triangle_mesh(str(path))
    vertices = np.asarray(loaded.vertices, dtype=np.float64)
    triangles = np.asarray(loaded.triangles, dtype=np.uint32)
    if not len(triangles) or not np.isfinite(vertices).all():
        raise WorldError(f"mesh {reference!r}: {path} holds no triangles, or coordinates that are not finite")
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    middle = np.array([(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2]])
    scaled = (vertices - middle) * (np.asarray(size) / np.maximum(high - low, 1e-9))
    if loaded.has_vertex_colors() and not color:
        paint = (np.asarray(loaded.vertex_colors)[triangles].mean(axis=1) * 255).round().astype(np.uint8)
    else:
        paint = np.tile(np.array(rgb(color or "gray"), np.uint8), (len(triangles), 1))
    kind = np.full(len(triangles), material_index(material), np.uint8)
    return Shape(Mesh(scaled.astype(np.float32), triangles, paint, kind))
