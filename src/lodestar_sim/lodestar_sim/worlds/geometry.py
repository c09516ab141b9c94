"""Geometry of a world for ray casting, as flat arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from lodestar_sim.worlds.mesh import Mesh


@dataclass(frozen=True)
class Geometry:
    """Triangles of a world in `map`.

    vertices: (V, 3) float32, metres. triangles: (T, 3) uint32.
    object_of_triangle: (T,) int32, object or decal id, 0 = structure.
    color_of_triangle: (T, 3) uint8, sRGB. material_of_triangle: (T,) uint8, index into `palette.MATERIALS`.
    """

    vertices: np.ndarray
    triangles: np.ndarray
    object_of_triangle: np.ndarray
    color_of_triangle: np.ndarray
    material_of_triangle: np.ndarray


def join(parts: Iterable[tuple[int, Mesh]]) -> Geometry:
    """Return one geometry from (object id, mesh in map) parts; empty arrays without parts."""
    vertices, triangles, owners, colors, materials = [], [], [], [], []
    count = 0
    for owner, mesh in parts:
        vertices.append(mesh.vertices)
        triangles.append(mesh.triangles + np.uint32(count))
        owners.append(np.full(len(mesh.triangles), owner, np.int32))
        colors.append(mesh.colors)
        materials.append(mesh.materials)
        count += len(mesh.vertices)
    if not vertices:
        return Geometry(
            np.zeros((0, 3), np.float32),
            np.zeros((0, 3), np.uint32),
            np.zeros(0, np.int32),
            np.zeros((0, 3), np.uint8),
            np.zeros(0, np.uint8),
        )
    return Geometry(
        np.concatenate(vertices),
        np.concatenate(triangles),
        np.concatenate(owners),
        np.concatenate(colors),
        np.concatenate(materials),
    )
