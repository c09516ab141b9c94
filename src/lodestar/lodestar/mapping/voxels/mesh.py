"""Triangle meshes of the surfaces in a TSDF, and PLY files of meshes and points."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from skimage.measure import marching_cubes

from lodestar.mapping.voxels.blocks import SIDE
from lodestar.mapping.voxels.tsdf import TsdfVolume

_TILE = 8  # blocks along an edge of the cubes that are meshed separately


@dataclass(frozen=True)
class Mesh:
    """Triangle mesh with a colour per vertex.

    vertices: (V, 3) float32, metres. faces: (F, 3) int32, anticlockwise seen from outside. colors: (V, 3)
    uint8.
    """

    vertices: np.ndarray
    faces: np.ndarray
    colors: np.ndarray


def extract_mesh(volume: TsdfVolume, min_weight: int = 2) -> Mesh:
    """Return the surfaces of a volume, in its frame, where adjacent voxels were seen often enough.

    min_weight: number of times that all adjacent voxels must have been seen.
    """
    arrays = volume.snapshot()
    coords, distance, weight = arrays["coords"], arrays["distance"], arrays["weight"]
    place_of = {tuple(coord): place for place, coord in enumerate(coords.tolist())}
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    count = 0
    for tile in np.unique(coords // _TILE, axis=0):
        field, seen, voxel_of = _dense(tile * _TILE, place_of, distance, weight, min_weight)
        found = _march(field, seen)
        if found is None:
            continue
        points, faces = found
        nearest = np.minimum(np.rint(points).astype(np.int64), _TILE * SIDE)
        owner = voxel_of[tuple(nearest.T)]
        colors = arrays["color"].reshape(-1, 3)[np.maximum(owner, 0)]
        parts.append((points + tile * _TILE * SIDE, faces + count, colors))
        count += len(points)
    if not parts:
        return Mesh(np.zeros((0, 3), np.float32), np.zeros((0, 3), np.int32), np.zeros((0, 3), np.uint8))
    points, faces, colors = (np.concatenate(part) for part in zip(*parts))
    _, first, same = np.unique(
        np.rint(points * 1e3).astype(np.int64), axis=0, return_index=True, return_inverse=True
    )
    faces = same.reshape(-1)[faces].astype(np.int32)
    whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 0] != faces[:, 2])
    vertices = ((points[first] + 0.5) * volume.config.voxel).astype(np.float32)
    return Mesh(vertices, faces[whole], colors[first])


def _dense(
    low: np.ndarray, place_of: dict[tuple, int], distance: np.ndarray, weight: np.ndarray, min_weight: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return dense arrays of a cube of blocks: distances, whether they were observed, and flat voxel indices.

    The cube includes one layer of the next blocks along each axis.
    """
    edge = _TILE * SIDE + 1
    field = np.ones((edge, edge, edge), np.float32)
    seen = np.zeros(field.shape, bool)
    voxel_of = np.full(field.shape, -1, np.int64)
    for offset in np.ndindex(_TILE + 1, _TILE + 1, _TILE + 1):
        place = place_of.get((low[0] + offset[0], low[1] + offset[1], low[2] + offset[2]))
        if place is None:
            continue
        target = tuple(slice(o * SIDE, min((o + 1) * SIDE, edge)) for o in offset)
        source = tuple(slice(0, s.stop - s.start) for s in target)
        cube = (SIDE, SIDE, SIDE)
        field[target] = distance[place].reshape(cube)[source]
        seen[target] = weight[place].reshape(cube)[source] >= min_weight
        numbers = place * SIDE**3 + np.arange(SIDE**3).reshape(cube)
        voxel_of[target] = numbers[source]
    return field, seen, voxel_of


def _march(field: np.ndarray, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return vertices in voxels and faces of the zero level; None if there is no surface."""
    whole = np.zeros(seen.shape, bool)  # scikit-image reads the mask at the far corner of each cell
    corners = [
        seen[a : a - 1 or None, b : b - 1 or None, c : c - 1 or None] for a, b, c in np.ndindex(2, 2, 2)
    ]
    whole[1:, 1:, 1:] = np.logical_and.reduce(corners)
    inside = whole & (field <= 0.0)
    if not inside.any() or not (field[seen] > 0.0).any():
        return None
    try:
        points, faces, _, _ = marching_cubes(
            field, 0.0, mask=whole, gradient_direction="descent", allow_degenerate=True
        )
    except RuntimeError:  # no surface in the cells of the mask
        return None
    return points, faces


def write_ply(file: Path, points: np.ndarray, colors: np.ndarray, faces: np.ndarray | None = None) -> None:
    """Write a binary PLY of points (N, 3), metres, with colors (N, 3) uint8, and triangles faces (F, 3)."""
    vertex = np.zeros(
        len(points), [(axis, "<f4") for axis in "xyz"] + [(c, "u1") for c in ("red", "green", "blue")]
    )
    for a, axis in enumerate("xyz"):
        vertex[axis] = points[:, a]
    for a, channel in enumerate(("red", "green", "blue")):
        vertex[channel] = colors[:, a]
    header = ["ply", "format binary_little_endian 1.0", f"element vertex {len(points)}"]
    header += [f"property float {axis}" for axis in "xyz"]
    header += [f"property uchar {channel}" for channel in ("red", "green", "blue")]
    face = np.zeros(0 if faces is None else len(faces), [("count", "u1"), ("corners", "<i4", (3,))])
    if faces is not None:
        header += [f"element face {len(faces)}", "property list uchar int vertex_indices"]
        face["count"], face["corners"] = 3, faces
    with open(file, "wb") as out:
        out.write(("\n".join([*header, "end_header"]) + "\n").encode("ascii"))
        out.write(vertex.tobytes())
        out.write(face.tobytes())
