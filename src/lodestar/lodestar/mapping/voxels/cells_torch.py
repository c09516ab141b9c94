"""Contents of the signed distance field's blocks, as torch tensors on any device.

It computes the same as the compiled loops of `tsdf_kernels`, on all cells of all blocks in view at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from lodestar.mapping.config import (
    GEOMETRY_CLEAR_MARGIN,
    GEOMETRY_CLEAR_PER_METRE,
    GEOMETRY_TOP,
    GeometryConfig,
)
from lodestar.mapping.voxels.blocks import CELLS, SIDE
from lodestar.mapping.voxels.cells import View
from lodestar.mapping.voxels.tsdf_kernels import FREE_SPACE, SCALE

_SLAB = 2048  # blocks per allocation: 6 MiB
_MOST_SPREAD = 12  # pixels, largest radius around a cell in which depth is compared
_OF_BLOCK = np.stack(np.meshgrid(*[np.arange(SIDE)] * 3, indexing="ij"), -1).reshape(-1, 3).astype(np.float64)
Tensor = Any  # torch takes seconds to import and is imported only where it is used


def has_cuda() -> bool:
    """Return whether torch can compute on a CUDA device. Raises ImportError without torch."""
    return bool(import_module("torch").cuda.is_available())


class _Slab:
    """Distance, weight and colour of a fixed number of blocks, allocated at once."""

    def __init__(self, torch: Any, blocks: int, device: str):
        self.distance = torch.zeros((blocks, CELLS), dtype=torch.int16, device=device)
        self.weight = torch.zeros((blocks, CELLS), dtype=torch.uint8, device=device)
        self.color = torch.zeros((blocks, CELLS, 3), dtype=torch.uint8, device=device)


class TorchCells:
    """Cells in slabs that are added as the map grows: nothing is copied, and at most one slab is allocated ahead of
    use.
    """

    def __init__(self, config: GeometryConfig, device: str):
        self._config = config
        self._torch = import_module("torch")
        self.device = device
        self._slabs: list[_Slab] = []

    def integrate(self, places: np.ndarray, coords: np.ndarray, view: View) -> np.ndarray:
        if not len(places):
            return places
        depth, rgb = (self._torch.tensor(image, device=self.device) for image in (view.depth, view.rgb))
        empty = [
            rows[self._fuse(slab, local, coords[rows], view, depth, rgb).cpu().numpy()]
            for slab, local, rows in self._parts(places)
        ]
        return places[np.sort(np.concatenate(empty))]

    def clear(self, places: np.ndarray) -> None:
        for slab, local, _ in self._parts(places):
            slab.distance[local] = 0
            slab.weight[local] = 0
            slab.color[local] = 0

    def read(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        distance = np.zeros((len(places), CELLS), np.int16)
        weight = np.zeros((len(places), CELLS), np.uint8)
        color = np.zeros((len(places), CELLS, 3), np.uint8)
        for slab, local, rows in self._parts(places):
            distance[rows] = slab.distance[local].cpu().numpy()
            weight[rows] = slab.weight[local].cpu().numpy()
            color[rows] = slab.color[local].cpu().numpy()
        return distance, weight, color

    def write(self, places: np.ndarray, distance: np.ndarray, weight: np.ndarray, color: np.ndarray) -> None:
        for slab, local, rows in self._parts(places):
            slab.distance[local] = self._torch.from_numpy(distance[rows]).to(self.device)
            slab.weight[local] = self._torch.from_numpy(weight[rows]).to(self.device)
            slab.color[local] = self._torch.from_numpy(color[rows]).to(self.device)

    def _parts(self, places: np.ndarray) -> list[tuple[_Slab, Tensor, np.ndarray]]:
        """Return, per slab with blocks of `places`: the slab, their indices in it, their rows in `places`."""
        places = np.asarray(places, np.int64)
        numbers = places // _SLAB
        while len(places) and len(self._slabs) <= numbers.max():
            self._slabs.append(_Slab(self._torch, _SLAB, self.device))
        parts = []
        for number in np.unique(numbers).tolist():
            rows = np.flatnonzero(numbers == number)
            parts.append(
                (self._slabs[number], self._torch.from_numpy(places[rows] % _SLAB).to(self.device), rows)
            )
        return parts

    def _fuse(
        self, slab: _Slab, local: Tensor, coords: np.ndarray, view: View, depth: Tensor, rgb: Tensor
    ) -> Tensor:
        """Fuse the view into blocks of one slab; return (B,) bool: the blocks that have no surface."""
        torch = self._torch
        c = self._config
        short = np.float32(c.truncation).item()
        near, far, end = (np.float32(value).item() for value in (c.near, c.far, c.far + c.truncation))
        z, pixel, good = self._project(coords, view, near, end)
        measured = torch.where(good, depth.reshape(-1)[pixel], torch.zeros_like(z))
        distance, weight = slab.distance[local], slab.weight[local]
        gap = measured - z
        seen = good & (measured >= near) & (gap >= -short)
        seen &= (measured <= far) | ((z <= far) & (gap >= short))
        clear = seen & (gap >= short) & (weight > 0) & (distance < int(FREE_SPACE))
        taken = seen & ~clear
        gap = gap.clamp(max=short)
        if rgb.shape[0]:
            slab.color[local] = self._paint(slab.color[local], weight, rgb, pixel, taken & (gap < short))
        count = weight.to(torch.float32)
        mean = torch.floor((distance.to(torch.float32) * count + gap * np.float32(SCALE / c.truncation).item()) /
                           (count + 1.0) + 0.5)  # fmt: skip
        new_weight = torch.where(
            taken, (weight.to(torch.int16) + 1).clamp(max=GEOMETRY_TOP).to(torch.uint8), weight
        )
        new_distance = torch.where(taken, mean.nan_to_num().to(torch.int16), distance)
        self._empty(clear, z, pixel, depth, view, new_distance, new_weight)
        slab.distance[local], slab.weight[local] = new_distance, new_weight
        return ~((new_weight > 0) & (new_distance < FREE_SPACE)).any(dim=1)

    def _project(
        self, coords: np.ndarray, view: View, near: float, end: float
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return three tensors (B, 512) for the cells: depth, pixel, and whether it is inside the image.

        The pixel is an index into the flat image, 0 if outside.
        """
        torch = self._torch
        fx, fy, cx, cy = (np.float32(value).item() for value in view.lens)
        cx, cy = np.float32(view.lens[2] + 0.5).item(), np.float32(view.lens[3] + 0.5).item()
        rows, columns = view.depth.shape
        size = self._config.voxel
        first = ((coords.astype(np.float64) * SIDE + 0.5) * size) @ view.rotation.T + view.offset
        lattice = (_OF_BLOCK @ view.rotation.T) * size
        a = torch.from_numpy(first.astype(np.float32)).to(self.device)
        b = torch.from_numpy(lattice.astype(np.float32)).to(self.device)
        x, y, z = (a[:, k, None] + b[None, :, k] for k in range(3))
        scale = 1.0 / z
        u, v = x * scale * fx + cx, y * scale * fy + cy
        good = (z >= near) & (z <= end) & (u >= 0.0) & (u < columns) & (v >= 0.0) & (v < rows)
        column, row = (torch.where(good, value, torch.zeros_like(value)).to(torch.int64) for value in (u, v))
        return z, row * columns + column, good

    def _paint(self, color: Tensor, weight: Tensor, rgb: Tensor, pixel: Tensor, near: Tensor) -> Tensor:
        """Update the running means of the colours of cells near the surface."""
        torch = self._torch
        old = color[near].to(torch.float64)
        # the cell may have been free space before
        known = weight[near].to(torch.float64) * (old > 0.0).any(dim=1)
        seen = rgb.reshape(-1, 3)[pixel[near]].to(torch.float64)
        color[near] = ((old * known[:, None] + seen) / (known[:, None] + 1.0) + 0.5).to(torch.uint8)
        return color

    def _empty(
        self,
        clear: Tensor,
        z: Tensor,
        pixel: Tensor,
        depth: Tensor,
        view: View,
        distance: Tensor,
        weight: Tensor,
    ) -> None:
        """Halve the weight of surface cells that were seen empty: all depth around them is larger."""
        torch = self._torch
        c = self._config
        rows, columns = view.depth.shape
        which = clear.nonzero(as_tuple=True)
        if not len(which[0]):
            return
        range_, place = z[which].to(torch.float64), pixel[which]
        row, column = place // columns, place % columns
        spread = (0.5 * c.voxel * view.lens[0] / range_).to(torch.int64).add(1).clamp(max=_MOST_SPREAD)
        bound = range_ + GEOMETRY_CLEAR_MARGIN + GEOMETRY_CLEAR_PER_METRE * range_
        free = (row >= spread) & (column >= spread) & (row + spread < rows) & (column + spread < columns)
        for down in (-1, 1):
            for right in (-1, 1):
                at_row = (row + down * spread).clamp(0, rows - 1)
                free &= (
                    depth[at_row, (column + right * spread).clamp(0, columns - 1)].to(torch.float64) > bound
                )
        which = which[0][free], which[1][free]
        count = (weight[which].to(torch.int64) >> 1).clamp(min=1)
        mean = (distance[which].to(torch.float64) * count + SCALE) / (count + 1)
        distance[which] = torch.floor(mean + 0.5).to(torch.int16)
        weight[which] = (count + 1).clamp(max=GEOMETRY_TOP).to(torch.uint8)
