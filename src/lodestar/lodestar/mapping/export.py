"""Export of the voxel map: points coloured by instance as PLY, surfaces as GLB."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np

from lodestar.mapping.semantic_voxels import SemanticVoxelMap
from lodestar.mapping.voxels.colors import colors_of
from lodestar.mapping.voxels.mesh import Mesh, write_ply
from lodestar.storage.files import whole_file

BARE = 128  # grey value of surfaces without colour
_FLOAT, _UINT, _UBYTE = 5126, 5125, 5121  # component types of glTF 2.0
_ARRAY, _ELEMENTS = 34962, 34963  # targets of buffer views
_Y_FROM_Z_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]], np.float32)


def write_instance_ply(voxels: SemanticVoxelMap, path: Path, *, replace: bool = True) -> int:
    """Write the voxels of confirmed instances, metres in map, coloured by instance; return the file's size in bytes.

    replace: see `storage.files.whole_file`.
    """
    points, ids = voxels.cloud()
    return _whole(path, lambda unfinished: write_ply(unfinished, points, colors_of(ids)), replace)


def write_glb(voxels: SemanticVoxelMap, path: Path, *, replace: bool = True) -> int:
    """Write the surfaces, coloured by instance if they belong to one; return the file's size in bytes.

    replace: see `storage.files.whole_file`. glTF has y upwards: its x, y, z are x, z, -y of map.
    """
    mesh = voxels.mesh()
    ids = voxels.instances_at(mesh.vertices) if len(mesh.vertices) else np.zeros(0, np.int64)
    plain = mesh.colors if mesh.colors.any() else np.full_like(mesh.colors, BARE)
    colors = np.where((ids > 0)[:, None], colors_of(ids), plain).astype(np.uint8) if len(ids) else plain
    data = glb_bytes(Mesh(mesh.vertices, mesh.faces, colors))
    return _whole(path, lambda unfinished: unfinished.write_bytes(data), replace)


def _whole(path: Path, write: Callable[[Path], object], replace: bool) -> int:
    """Write a temporary file beside the path and rename it; return its size in bytes."""
    with whole_file(path, replace=replace) as unfinished:
        write(unfinished)
    return path.stat().st_size


def glb_bytes(mesh: Mesh) -> bytes:
    """Return binary glTF 2.0 of one mesh with a colour per vertex; an empty mesh gives a scene without nodes."""
    vertices = (mesh.vertices.astype(np.float32) @ _Y_FROM_Z_UP.T).astype("<f4")
    colors = np.full((len(vertices), 4), 255, np.uint8)
    colors[:, :3] = mesh.colors
    parts = (vertices.tobytes(), colors.tobytes(), mesh.faces.astype("<u4").tobytes())
    content: dict = {
        "asset": {"version": "2.0", "generator": "lodestar"},
        "scene": 0,
        "scenes": [{"nodes": []}],
    }
    if len(mesh.faces):
        starts = np.cumsum([0, *(len(part) for part in parts)]).tolist()
        views = [
            {
                "buffer": 0,
                "byteOffset": starts[i],
                "byteLength": len(part),
                "target": _ELEMENTS if i == 2 else _ARRAY,
            }
            for i, part in enumerate(parts)
        ]
        low, high = vertices.min(axis=0).tolist(), vertices.max(axis=0).tolist()
        count = len(vertices)
        content |= {
            "scenes": [{"nodes": [0]}],
            "nodes": [{"mesh": 0, "name": "map"}],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "COLOR_0": 1}, "indices": 2}]}],
            "accessors": [
                {
                    "bufferView": 0,
                    "componentType": _FLOAT,
                    "count": count,
                    "type": "VEC3",
                    "min": low,
                    "max": high,
                },
                {
                    "bufferView": 1,
                    "componentType": _UBYTE,
                    "normalized": True,
                    "count": count,
                    "type": "VEC4",
                },
                {"bufferView": 2, "componentType": _UINT, "count": mesh.faces.size, "type": "SCALAR"},
            ],
            "bufferViews": views,
            "buffers": [{"byteLength": starts[-1]}],
        }
    text = json.dumps(content, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text
    if len(mesh.faces):
        body = b"".join(parts)
        chunks += struct.pack("<I4s", len(body), b"BIN\0") + body
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks
