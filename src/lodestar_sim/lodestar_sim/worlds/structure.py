"""Meshes of walls, floors, ramps, ceilings and decals."""

from __future__ import annotations

import math

import numpy as np

from lodestar_sim.worlds.elements import Decal, Ramp, Slab, Wall
from lodestar_sim.worlds.mesh import Assembly, Mesh
from lodestar_sim.worlds.palette import material_index, rgb

DECAL_HEIGHT = 0.004  # m above the floor, so that rays hit the decal before the floor


def wall_mesh(wall: Wall) -> Mesh:
    """Return the mesh of a wall's six sides."""
    assembly = Assembly(wall.color, wall.material)
    assembly.box((wall.x0, wall.y0, wall.z0), (wall.x1, wall.y1, wall.z1))
    return assembly.mesh()


def slab_mesh(slab: Slab) -> Mesh:
    """Return the mesh of a floor or ceiling, two triangles."""
    corners = [(slab.x0, slab.y0), (slab.x1, slab.y0), (slab.x1, slab.y1), (slab.x0, slab.y1)]
    vertices = np.array([(x, y, slab.z) for x, y in corners], np.float32)
    triangles = np.array([[0, 1, 2], [0, 2, 3]], np.uint32)
    return _flat(vertices, triangles[:, ::-1] if slab.ceiling else triangles, slab.color, slab.material)


def ramp_mesh(ramp: Ramp) -> Mesh:
    """Return the mesh of a sloping floor, two triangles."""
    low, high = ramp.z0, ramp.z1
    heights = (low, high, high, low) if ramp.along == "x" else (low, low, high, high)
    corners = [(ramp.x0, ramp.y0), (ramp.x1, ramp.y0), (ramp.x1, ramp.y1), (ramp.x0, ramp.y1)]
    vertices = np.array([(x, y, z) for (x, y), z in zip(corners, heights)], np.float32)
    return _flat(vertices, np.array([[0, 1, 2], [0, 2, 3]], np.uint32), ramp.color, ramp.material)


def decal_mesh(decal: Decal, segments: int = 20) -> Mesh:
    """Return the mesh of an ellipse just above the floor."""
    angles = np.arange(segments) * (2.0 * math.pi / segments)
    rim = np.column_stack(
        [
            decal.center[0] + decal.size[0] / 2 * np.cos(angles),
            decal.center[1] + decal.size[1] / 2 * np.sin(angles),
            np.full(segments, DECAL_HEIGHT),
        ]
    )
    vertices = np.vstack([[*decal.center, DECAL_HEIGHT], rim]).astype(np.float32)
    index = np.arange(segments)
    triangles = np.column_stack([np.zeros(segments), 1 + index, 1 + (index + 1) % segments]).astype(np.uint32)
    return _flat(vertices, triangles, decal.color, decal.material)


def _flat(vertices: np.ndarray, triangles: np.ndarray, color: str, material: str) -> Mesh:
    number = len(triangles)
    colors = np.tile(np.array(rgb(color), np.uint8), (number, 1))
    return Mesh(
        vertices, np.ascontiguousarray(triangles), colors, np.full(number, material_index(material), np.uint8)
    )
