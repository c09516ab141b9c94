"""Picture of a mapped place: a camera image, and the map from near that camera and from above."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import open3d as o3d
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from lodestar.geometry.poses import inverse
from lodestar.mapping.voxels.mesh import Mesh
from lodestar.perception.frames import RgbdFrame, SegmentedFrame

_GOLDEN = 0.618033988749895
_NOBODY = (205, 208, 212)
_PAPER = (255, 255, 255)


def instance_colors(owners: np.ndarray, others: np.ndarray | None = None) -> np.ndarray:
    """Return colours (N, 3) uint8 of N points by instance id (N,); points of no instance get grey, from their
    own colours `others` (N, 3) if given.
    """
    import colorsys

    nobody = np.full((len(owners), 3), _NOBODY, np.uint8)
    if others is not None:
        nobody = (150 + 0.35 * others.mean(1, keepdims=True)).astype(np.uint8).repeat(3, 1)
    ids, places = np.unique(owners, return_inverse=True)
    palette = np.array(
        [
            colorsys.hsv_to_rgb(i * _GOLDEN % 1.0, 0.55 + 0.3 * (i % 2), 0.80 + 0.15 * (i // 2 % 2))
            for i in ids.tolist()
        ]
    ).reshape(-1, 3)
    return np.where((owners > 0)[:, None], (palette[places] * 255).astype(np.uint8), nobody)


def save_portrait(
    file: Path, mesh: Mesh, owners: np.ndarray, frame: RgbdFrame, segmented: SegmentedFrame, title: str
) -> None:
    """Write a PNG of four panels: segments in the image, the map in colour and by instance, and from above."""
    colors = instance_colors(owners, mesh.colors)
    behind = frame.map_from_camera.copy()
    behind[:3, 3] -= 0.5 * behind[:3, 2]  # half a metre back, to show more of the map than the image
    figure = Figure(figsize=(13.0, 10.2), dpi=100, facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(2, 2)
    _show(axes[0, 0], _overlay(frame, segmented), f"segments of the frame at {frame.stamp:.2f} s")
    _show(axes[0, 1], _view(mesh, mesh.colors, behind, frame), "mesh, as seen")
    _show(
        axes[1, 0],
        _view(mesh, colors, behind, frame),
        f"mesh, by instance ({len(np.unique(owners[owners > 0]))})",
    )
    _show(axes[1, 1], _above(mesh, colors), "from above, by instance; ceiling cut off")
    figure.suptitle(title)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file)


def _show(axes: Axes, image: np.ndarray, title: str) -> None:
    axes.imshow(image)
    axes.set_title(title, fontsize=10)
    axes.axis("off")


def _overlay(frame: RgbdFrame, segmented: SegmentedFrame) -> np.ndarray:
    shade = np.clip(frame.depth / max(float(frame.depth.max()), 1e-6) * 255, 0, 255).astype(np.uint8)
    image = frame.rgb if frame.rgb is not None else np.repeat(shade[..., None], 3, 2)
    tint = instance_colors(segmented.labels.ravel().astype(np.int64)).reshape(*segmented.labels.shape, 3)
    inside = (segmented.labels > 0)[..., None]
    return np.where(inside, (0.4 * image + 0.6 * tint).astype(np.uint8), image)


def _view(mesh: Mesh, colors: np.ndarray, map_from_camera: np.ndarray, frame: RgbdFrame) -> np.ndarray:
    """Return the shaded mesh as the frame's camera would see it from the pose `map_from_camera`."""
    camera = frame.camera
    matrix = np.array([[camera.fx, 0, camera.cx], [0, camera.fy, camera.cy], [0, 0, 1.0]])
    rays = o3d.t.geometry.RaycastingScene.create_rays_pinhole(
        o3d.core.Tensor(matrix), o3d.core.Tensor(inverse(map_from_camera)), camera.width, camera.height
    )
    return _cast(mesh, colors, rays)


def _above(mesh: Mesh, colors: np.ndarray) -> np.ndarray:
    """Return the mesh from above without its highest parts, north (y) up."""
    if not len(mesh.vertices):
        return np.full((10, 10, 3), 255, np.uint8)
    low, high = np.percentile(mesh.vertices, (0.5, 99.5), axis=0)
    top = low[2] + 0.85 * (high[2] - low[2])
    step = max(float((high - low)[:2].max()) / 600.0, 1e-3)
    x, y = np.meshgrid(np.arange(low[0], high[0], step), np.arange(high[1], low[1], -step))
    rays = np.zeros((*x.shape, 6), np.float32)
    rays[..., 0], rays[..., 1], rays[..., 2], rays[..., 5] = x, y, top, -1.0
    return _cast(mesh, colors, o3d.core.Tensor(rays))


def _cast(mesh: Mesh, colors: np.ndarray, rays: o3d.core.Tensor) -> np.ndarray:
    """Return the image (H, W, 3) uint8 of rays (H, W, 6) cast on the mesh."""
    if not len(mesh.faces):
        return np.full((*rays.shape[:2], 3), 255, np.uint8)
    scene = o3d.t.geometry.RaycastingScene()
    scene.add_triangles(o3d.core.Tensor(mesh.vertices), o3d.core.Tensor(mesh.faces.astype(np.uint32)))
    answer = scene.cast_rays(rays)
    hit = np.isfinite(answer["t_hit"].numpy())
    face = mesh.faces[np.where(hit, answer["primitive_ids"].numpy(), 0).astype(np.int64)]
    uv = answer["primitive_uvs"].numpy()
    weights = np.stack([1.0 - uv.sum(-1), uv[..., 0], uv[..., 1]], -1)
    mixed = (colors[face] * weights[..., None]).sum(-2)
    direction = rays.numpy()[..., 3:]
    facing = np.abs((answer["primitive_normals"].numpy() * direction).sum(-1)) / np.linalg.norm(
        direction, axis=-1
    )
    lit = mixed * (0.45 + 0.55 * facing)[..., None]
    return np.where(hit[..., None], np.clip(lit, 0, 255), np.array(_PAPER)).astype(np.uint8)
