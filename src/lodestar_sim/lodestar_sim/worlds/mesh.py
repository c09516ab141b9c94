"""Triangle meshes assembled from boxes, surfaces of revolution and bars."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lodestar_sim.worlds.palette import material_index, rgb

_BOX_CORNERS = np.array(
    [[x, y, z] for z in (0.0, 1.0) for y in (0.0, 1.0) for x in (0.0, 1.0)], dtype=np.float64
)
_BOX_TRIANGLES = np.array(
    [
        [0, 2, 3], [0, 3, 1], [4, 5, 7], [4, 7, 6], [0, 1, 5], [0, 5, 4],
        [2, 6, 7], [2, 7, 3], [0, 4, 6], [0, 6, 2], [1, 3, 7], [1, 7, 5],
    ],
    dtype=np.uint32,
)  # fmt: skip


@dataclass(frozen=True)
class Mesh:
    """Triangles, each with one colour and one material, counter-clockwise seen from outside.

    vertices: (V, 3) float32, metres. triangles: (T, 3) uint32. colors: (T, 3) uint8, sRGB.
    materials: (T,) uint8, index into `palette.MATERIALS`.
    """

    vertices: np.ndarray
    triangles: np.ndarray
    colors: np.ndarray
    materials: np.ndarray

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the lowest and the highest corner, (3,) each."""
        return self.vertices.min(axis=0), self.vertices.max(axis=0)


@dataclass(frozen=True)
class Surface:
    """A horizontal surface that can support other objects, in its object's frame, metres.

    inside: whether it is the floor of a compartment, closed above at z + headroom.
    """

    x0: float
    y0: float
    x1: float
    y1: float
    z: float
    headroom: float = math.inf
    inside: bool = False


@dataclass(frozen=True)
class Shape:
    """A mesh with its base at z = 0 centred on the origin and its front towards +x, and its supporting surfaces."""

    mesh: Mesh
    surfaces: tuple[Surface, ...] = ()


class Assembly:
    """Collect the parts of an object's mesh. A part without colour or material takes the object's own."""

    def __init__(self, color: str, material: str) -> None:
        self._color, self._material = color, material
        self._vertices: list[np.ndarray] = []
        self._triangles: list[np.ndarray] = []
        self._colors: list[np.ndarray] = []
        self._materials: list[np.ndarray] = []
        self._surfaces: list[Surface] = []
        self._count = 0

    def add(self, vertices: np.ndarray, triangles: np.ndarray, color: str = "", material: str = "") -> None:
        """Add (V, 3) vertices and (T, 3) triangles."""
        self._vertices.append(np.asarray(vertices, dtype=np.float64))
        self._triangles.append(np.asarray(triangles, dtype=np.uint32) + np.uint32(self._count))
        number = len(triangles)
        self._colors.append(np.tile(np.array(rgb(color or self._color), np.uint8), (number, 1)))
        self._materials.append(np.full(number, material_index(material or self._material), np.uint8))
        self._count += len(vertices)

    def box(self, low: Sequence[float], high: Sequence[float], color: str = "", material: str = "") -> None:
        """Add an axis-aligned box between two corners."""
        low_array, high_array = np.minimum(low, high), np.maximum(low, high)
        self.add(low_array + _BOX_CORNERS * (high_array - low_array), _BOX_TRIANGLES, color, material)

    def tilted_box(
        self,
        center: Sequence[float],
        size: Sequence[float],
        pitch: float,
        color: str = "",
        material: str = "",
    ) -> None:
        """Add a box rotated by `pitch` radians about y: its top leans towards +x."""
        c, s = math.cos(pitch), math.sin(pitch)
        local = (_BOX_CORNERS - 0.5) * np.asarray(size)
        turned = local @ np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]).T
        self.add(turned + np.asarray(center), _BOX_TRIANGLES, color, material)

    def lathe(
        self,
        profile: Sequence[tuple[float, float]],
        center: Sequence[float] = (0.0, 0.0, 0.0),
        segments: int = 10,
        color: str = "",
        material: str = "",
        axis: str = "z",
    ) -> None:
        """Add a surface of revolution: a (radius, height) profile about an axis at `center`; radius 0 closes it."""
        angles = np.arange(segments) * (2.0 * math.pi / segments)
        ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        vertices: list[np.ndarray] = []
        triangles: list[list[int]] = []
        previous: list[int] = []
        for radius, height in profile:
            start = sum(len(v) for v in vertices)
            if radius <= 0.0:
                vertices.append(np.array([[0.0, 0.0, height]]))
                current = [start] * segments
            else:
                vertices.append(np.column_stack([ring * radius, np.full(segments, height)]))
                current = list(range(start, start + segments))
            for i in range(segments if previous else 0):
                j = (i + 1) % segments
                if previous[i] != previous[j]:
                    triangles.append([previous[i], previous[j], current[j]])
                if current[i] != current[j]:
                    triangles.append([previous[i], current[j], current[i]])
            previous = current
        points = np.concatenate(vertices)
        if axis == "x":
            points = points[:, [2, 0, 1]]
        elif axis == "y":
            points = points[:, [1, 2, 0]]
        self.add(points + np.asarray(center), np.array(triangles, np.uint32), color, material)

    def cylinder(
        self,
        radius: float,
        z0: float,
        z1: float,
        center: Sequence[float] = (0.0, 0.0),
        top_radius: float | None = None,
        segments: int = 10,
        color: str = "",
        material: str = "",
    ) -> None:
        """Add an upright closed cylinder or cone about (x, y) = `center`."""
        top = radius if top_radius is None else top_radius
        profile = [(0.0, z0), (radius, z0), (top, z1), (0.0, z1)]
        if top <= 0.0:
            profile = profile[:3]
        self.lathe(profile, (center[0], center[1], 0.0), segments, color, material)

    def bar(
        self,
        start: Sequence[float],
        end: Sequence[float],
        thickness: float,
        color: str = "",
        material: str = "",
    ) -> None:
        """Add a square bar from `start` to `end`."""
        a, b = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
        along = b - a
        length = float(np.linalg.norm(along))
        x = along / length
        helper = np.array([0.0, 0.0, 1.0]) if abs(x[2]) < 0.9 else np.array([0.0, 1.0, 0.0])
        y = np.cross(helper, x)
        y /= np.linalg.norm(y)
        rotation = np.stack([x, y, np.cross(x, y)], axis=1)
        local = (_BOX_CORNERS - [0.0, 0.5, 0.5]) * [length, thickness, thickness]
        self.add(local @ rotation.T + a, _BOX_TRIANGLES, color, material)

    def ellipsoid(
        self,
        center: Sequence[float],
        radii: Sequence[float],
        segments: int = 8,
        rings: int = 5,
        color: str = "",
        material: str = "",
    ) -> None:
        """Add a faceted ellipsoid."""
        angles = np.linspace(-math.pi / 2, math.pi / 2, rings + 1)
        sphere = Assembly("white", "plaster")
        profile = [
            (max(0.0, math.cos(a)) if 0 < i < rings else 0.0, math.sin(a)) for i, a in enumerate(angles)
        ]
        sphere.lathe(profile, segments=segments)
        self.add(
            np.concatenate(sphere._vertices) * np.asarray(radii) + np.asarray(center),
            np.concatenate(sphere._triangles),
            color,
            material,
        )

    def surface(
        self,
        low: Sequence[float],
        high: Sequence[float],
        z: float,
        headroom: float = math.inf,
        inside: bool = False,
    ) -> None:
        """Add a horizontal supporting surface at height `z` between two corners (x, y)."""
        self._surfaces.append(Surface(low[0], low[1], high[0], high[1], z, headroom, inside))

    def mesh(self) -> Mesh:
        """Return one mesh of all parts, without scaling."""
        return Mesh(
            np.concatenate(self._vertices).astype(np.float32),
            np.concatenate(self._triangles),
            np.concatenate(self._colors),
            np.concatenate(self._materials),
        )

    def finish(self, size: Sequence[float]) -> Shape:
        """Return the parts scaled to fill `size` exactly, with their base at z = 0 centred on the origin."""
        vertices = np.concatenate(self._vertices)
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        scale = np.asarray(size, dtype=np.float64) / np.maximum(high - low, 1e-9)
        shift = np.array([(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2]])
        mesh = Mesh(
            ((vertices - shift) * scale).astype(np.float32),
            np.concatenate(self._triangles),
            np.concatenate(self._colors),
            np.concatenate(self._materials),
        )
        surfaces = tuple(
            Surface(
                (s.x0 - shift[0]) * scale[0],
                (s.y0 - shift[1]) * scale[1],
                (s.x1 - shift[0]) * scale[0],
                (s.y1 - shift[1]) * scale[1],
                (s.z - shift[2]) * scale[2],
                s.headroom * scale[2],
                s.inside,
            )
            for s in self._surfaces
        )
        return Shape(mesh, surfaces)
