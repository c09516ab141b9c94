"""Port to an occupancy octree, and its adapter to pyoctomap."""

from __future__ import annotations

import tempfile
from typing import Any, Protocol

import numpy as np

UNSEEN, EMPTY, FULL = -1, 0, 1


class Octree(Protocol):
    """A probabilistic octree in the map frame (Hornung et al. 2013)."""

    def insert(self, points: np.ndarray, origin: np.ndarray, max_range: float) -> None:
        """Rays from `origin` (3,) to `points` (N, 3) are integrated; longer ones are free up to `max_range`."""
        ...

    def labels(self, points: np.ndarray) -> np.ndarray:
        """(N,) int: UNSEEN, EMPTY or FULL at points (N, 3)."""
        ...

    def full_data(self) -> bytes:
        """The stream of octomap_msgs/Octomap with binary = false."""
        ...

    def to_bytes(self) -> bytes:
        """Everything that the octree knows, for `read`."""
        ...

    def read(self, data: bytes) -> None:
        """The octree is the one that `to_bytes` wrote. Raises ValueError for one of another resolution."""
        ...

    def resampled(self, centres: np.ndarray, labels: np.ndarray) -> Octree:
        """A new octree of this resolution whose voxels at centres (N, 3) are EMPTY or FULL by labels (N,)."""
        ...

    def heights(self) -> tuple[float, float]:
        """Lowest and highest z of what was ever seen, metres; (0, 0) where nothing was."""
        ...

    def binary_data(self) -> bytes:
        """The stream of octomap_msgs/Octomap with binary = true; probabilities of the octree stay."""
        ...

    def memory(self) -> int:
        """Bytes held."""
        ...


class PyOctomapOctree:
    """Octree of the pyoctomap package. Raises ImportError with what to install where it is missing."""

    def __init__(self, resolution: float):
        try:
            import pyoctomap
        except ImportError as error:
            raise ImportError(
                "OctoMap needs the package pyoctomap (pip install pyoctomap). Where it has no wheel, as on aarch64, "
                "build it from source, or let SLAM's map do: the mapping node's parameter source is slam then"
            ) from error
        self._module = pyoctomap
        self._resolution = resolution
        self._tree = pyoctomap.OcTree(resolution)

    def insert(self, points: np.ndarray, origin: np.ndarray, max_range: float) -> None:
        """See Octree; one ray per end voxel and scan, inner nodes are updated when the tree is written."""
        self._tree.insertPointCloud(
            np.ascontiguousarray(points, np.float64),
            np.ascontiguousarray(origin, np.float64),
            max_range=max_range,
            lazy_eval=True,
            discretize=True,
        )

    def labels(self, points: np.ndarray) -> np.ndarray:
        """See Octree."""
        return np.asarray(self._tree.getLabels(np.ascontiguousarray(points, np.float64)))

    def full_data(self) -> bytes:
        """See Octree."""
        self._tree.updateInnerOccupancy()
        return _without_header(self._tree.write())

    def binary_data(self) -> bytes:
        """See Octree. OctoMap's writer first rounds every probability, so a copy is written."""
        return _without_header(self._copy_of(self.to_bytes()).writeBinary())

    def to_bytes(self) -> bytes:
        """See Octree."""
        self._tree.updateInnerOccupancy()
        return self._tree.write()

    def read(self, data: bytes) -> None:
        """See Octree."""
        tree = self._copy_of(data)
        if tree is None or abs(tree.getResolution() - self._resolution) > 1e-9:
            found = "nothing" if tree is None else f"{tree.getResolution():.3f} m"
            raise ValueError(f"its octree has voxels of {found}, this map's measure {self._resolution} m")
        self._tree = tree

    def _copy_of(self, data: bytes) -> Any:
        with tempfile.NamedTemporaryFile(suffix=".ot") as file:  # pyoctomap reads from named files only
            file.write(data)
            file.flush()
            return self._module.OcTree(self._resolution).read(file.name)

    def resampled(self, centres: np.ndarray, labels: np.ndarray) -> PyOctomapOctree:
        """See Octree."""
        made = PyOctomapOctree(self._resolution)
        for label in (EMPTY, FULL):
            made._tree.updateNodes(np.ascontiguousarray(centres[labels == label], np.float64), label == FULL)
        return made

    def heights(self) -> tuple[float, float]:
        """See Octree."""
        if not self._tree.size():
            return 0.0, 0.0
        return float(self._tree.getMetricMin()[2]), float(self._tree.getMetricMax()[2])

    def memory(self) -> int:
        """See Octree."""
        return int(self._tree.memoryUsage())


def tree_from_binary(data: bytes, resolution: float) -> Any:
    """A pyoctomap tree from the data of a binary octomap message, for readers and tests."""
    import pyoctomap

    codes = np.frombuffer(data, np.uint8)[:, None] >> np.array([0, 2, 4, 6], np.uint8) & 3  # 2 bits per child
    node_count = 1 + int(np.count_nonzero(codes))
    header = f"# Octomap OcTree binary file\nid OcTree\nsize {node_count}\nres {resolution}\ndata\n"
    tree = pyoctomap.OcTree(resolution)
    with tempfile.NamedTemporaryFile(suffix=".bt") as file:
        file.write(header.encode() + data)
        file.flush()
        if not tree.readBinary(file.name):
            raise ValueError("not the data of a binary octomap message")
    return tree


def _without_header(stream: bytes) -> bytes:
    marker = b"\ndata\n"
    start = stream.index(marker) + len(marker)
    return stream[start:]
