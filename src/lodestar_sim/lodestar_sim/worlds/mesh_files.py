"""Readers of mesh files beside a world: OBJ, PLY, STL, OFF, glTF and COLLADA, with the colours of their textures.

The files are untrusted: their size is limited, and they and the files they refer to must lie in the folder of the
world.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from lodestar_sim.worlds.errors import WorldError

MESH_SUFFIXES = (".obj", ".ply", ".stl", ".off", ".glb", ".gltf", ".dae")
MAX_BYTES = 64 << 20  # limit of a mesh file, and of each file it refers to
MAX_TRIANGLES = 300_000  # limit per object; rendering slows down beyond
_TEXTURE = 64  # pixels; textures are reduced to this size, so that one sample averages its surroundings
_Z_FROM_Y = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # rotation z up <- y up
_Z_FROM_X = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])  # rotation z up <- x up


@dataclass(frozen=True)
class MeshFile:
    """A mesh as stored in its file, z up, in metres if the file states its unit.

    vertices: (V, 3) float64. triangles: (T, 3) uint32. colors: (T, 3) uint8, sRGB, or None if the file has none.
    """

    vertices: np.ndarray
    triangles: np.ndarray
    colors: np.ndarray | None

    @property
    def size(self) -> tuple[float, float, float]:
        """Return the lengths along x, y and z, metres."""
        x, y, z = self.vertices.max(axis=0) - self.vertices.min(axis=0)
        return float(x), float(y), float(z)


@lru_cache(maxsize=64)
def read_mesh(reference: str, folder: str) -> MeshFile:
    """Return the mesh of a file named relative to the world's folder; raises WorldError that names the reference."""
    path = _inside(reference, folder)
    try:
        data = _bounded(path)
    except OSError as error:
        raise WorldError(f"mesh {reference!r}: {path} cannot be read ({error.strerror or error})") from error
    parts, refused = _load(data, path, Path(folder).resolve(), reference)
    if refused:
        raise WorldError(f"mesh {reference!r}: {refused[0]}")
    if not parts:
        raise WorldError(f"mesh {reference!r}: {path} holds no triangles")
    offsets = np.cumsum([0, *(len(vertices) for vertices, _, _ in parts)])
    vertices = np.concatenate([vertices for vertices, _, _ in parts])
    triangles = np.concatenate([t + offset for (_, t, _), offset in zip(parts, offsets)]).astype(np.uint32)
    if not np.isfinite(vertices).all():
        raise WorldError(f"mesh {reference!r}: {path} has coordinates that are not finite")
    if len(triangles) > MAX_TRIANGLES:
        raise WorldError(
            f"mesh {reference!r}: {len(triangles)} triangles are more than {MAX_TRIANGLES}; simplify it"
        )
    turn, unit = _axes(path.suffix.lower(), data)
    gray = np.array([134, 136, 140], np.uint8)
    colors = [c if c is not None else np.tile(gray, (len(t), 1)) for _, t, c in parts]
    painted = any(c is not None for _, _, c in parts)
    return MeshFile(vertices @ turn.T * unit, triangles, np.concatenate(colors) if painted else None)


def _inside(reference: str, folder: str) -> Path:
    """Return the path of a mesh file, with links resolved.

    Raises WorldError unless it is an existing mesh file in the world's folder.
    """
    root = Path(folder).resolve()
    path = (root / reference).resolve()
    if path.suffix.lower() not in MESH_SUFFIXES:
        raise WorldError(
            f"mesh {reference!r}: use param:shape/variant or a file of {', '.join(MESH_SUFFIXES)}"
        )
    if not path.is_relative_to(root):
        raise WorldError(f"mesh {reference!r} lies outside the world's folder {root}; copy it there")
    if not path.is_file():
        raise WorldError(f"mesh {reference!r} is missing: no file at {path}")
    return path


def _bounded(path: Path) -> bytes:
    """Return the content of a file. Raises OSError if it is too large."""
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise OSError(f"{size >> 20} MiB are more than {MAX_BYTES >> 20} MiB")
    return path.read_bytes()


_Part = tuple[np.ndarray, np.ndarray, "np.ndarray | None"]


def _load(data: bytes, path: Path, root: Path, reference: str) -> tuple[list[_Part], list[str]]:
    """Return (vertices, triangles, colours) of each part, and the references that were refused."""
    try:
        import trimesh
        from trimesh.resolvers import FilePathResolver
    except ImportError as error:
        raise WorldError(
            f"mesh {reference!r}: mesh files are read with trimesh and pycollada: pip install trimesh pycollada"
        ) from error
    refused: list[str] = []

    class Inside(FilePathResolver):
        """Give access to files of the world's folder only."""

        def get(self, name: str) -> bytes:
            target = (Path(self.parent) / name.strip()).resolve()
            if not target.is_relative_to(root):
                refused.append(f"it names {name!r}, which lies outside the world's folder; copy it there")
                raise FileNotFoundError(name)
            if target.is_file() and target.stat().st_size > MAX_BYTES:
                refused.append(f"it names {name!r}, which is larger than {MAX_BYTES >> 20} MiB")
                raise FileNotFoundError(name)
            return _bounded(target)

        def namespaced(self, namespace: str) -> Inside:
            return Inside(str(Path(self.parent) / namespace))

    logging.getLogger("trimesh").setLevel(logging.ERROR)
    try:
        scene = trimesh.load_scene(
            trimesh.util.wrap_as_stream(data),
            file_type=path.suffix.lower()[1:],
            resolver=Inside(str(path.parent)),
            process=False,
        )
        parts = [part for node in scene.graph.nodes_geometry if (part := _part(scene, node)) is not None]
    except WorldError:
        raise
    except Exception as error:  # readers raise arbitrary errors for damaged files
        if refused:
            return [], refused
        raise WorldError(f"mesh {reference!r}: {path} is broken ({type(error).__name__}: {error})") from error
    return parts, refused


def _part(scene: Any, node: str) -> _Part | None:
    """Return the mesh of a scene node in the scene's frame; None for points and lines."""
    matrix, name = scene.graph[node]
    mesh = scene.geometry[name]
    triangles = np.asarray(getattr(mesh, "faces", ()), np.int64).reshape(-1, 3)
    if not len(triangles):
        return None
    vertices = np.asarray(mesh.vertices, np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
    if np.linalg.det(matrix[:3, :3]) < 0.0:  # mirrored: triangles would face inwards
        triangles = triangles[:, ::-1]
    return vertices, triangles, _colors(mesh, triangles)


def _colors(mesh: Any, triangles: np.ndarray) -> np.ndarray | None:
    """Return (T, 3) uint8 colours of the triangles, None if the file states none."""
    visual = mesh.visual
    if visual.kind == "texture":
        material = visual.material
        image = getattr(material, "baseColorTexture", None) or getattr(material, "image", None)
        if image is not None and visual.uv is not None:
            return _sampled(image, np.asarray(visual.uv, np.float64)[triangles], _factor(material))
        color = np.asarray(material.main_color, np.uint8)[:3]
        return np.tile(color, (len(triangles), 1))
    if visual.kind in ("face", "vertex"):
        return np.asarray(visual.face_colors, np.uint8)[:, :3]
    return None


def _factor(material: Any) -> np.ndarray:
    """Return the colour (3,), 0..1, by which glTF multiplies a texture; ones if the material has none."""
    factor = getattr(material, "baseColorFactor", None)
    return np.ones(3) if factor is None else np.asarray(factor, np.float64)[:3] / 255.0


def _sampled(image: Any, uv: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """Return colours (T, 3) uint8 of triangles: means of the texture at corners and middle. uv: (T, 3, 2)."""
    small = image.convert("RGB")
    small.thumbnail((_TEXTURE, _TEXTURE), resample=4)  # 4 = box, an average
    pixels = np.asarray(small, np.float64)
    rows, columns = pixels.shape[:2]
    places = np.concatenate([uv, uv.mean(axis=1, keepdims=True)], axis=1)
    places = np.nan_to_num(places) % 1.0  # textures repeat
    column = np.minimum((places[..., 0] * columns).astype(int), columns - 1)
    row = np.minimum(((1.0 - places[..., 1]) % 1.0 * rows).astype(int), rows - 1)
    return np.clip(pixels[row, column].mean(axis=1) * factor, 0, 255).round().astype(np.uint8)


def _axes(suffix: str, data: bytes) -> tuple[np.ndarray, float]:
    """Return the rotation (3, 3) of a mesh file to z up, and its metres per unit.

    glTF files have y up; COLLADA files state both in their head.
    """
    if suffix in (".glb", ".gltf"):
        return _Z_FROM_Y, 1.0
    if suffix != ".dae":
        return np.eye(3), 1.0
    head = data[: 1 << 16]
    axis = re.search(rb"<up_axis>\s*([XYZ])_UP", head)
    unit = re.search(rb"<unit\b[^>]*\bmeter\s*=\s*[\"']([0-9.eE+-]{1,20})[\"']", head)
    try:
        metres = float(unit[1]) if unit else 1.0
    except ValueError:
        metres = 1.0
    turn = {b"X": _Z_FROM_X, b"Z": np.eye(3)}.get(axis[1] if axis else b"Y", _Z_FROM_Y)
    return turn, metres if 0.0 < metres < np.inf else 1.0
