"""Sparse voxels with votes for the instances that were seen in them.

Only voxels with votes exist. They are indexed by blocks of 8 x 8 x 8; each instance has a list of the voxels
it owns. Pools are reserved once and the system commits their memory as they fill, so the map is never copied
to grow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lodestar.mapping.voxels import voxel_kernels
from lodestar.mapping.voxels.blocks import (
    CELLS,
    LIVE,
    REFUSED,
    SIDE,
    USED,
    BlockPool,
    farthest,
    in_view,
    reserve,
    shortage,
)
from lodestar.mapping.voxels.posterior import CANDIDATES
from lodestar.mapping.voxels.voxel_kernels import GONE

__all__ = ["CANDIDATES", "GONE", "VoxelStore"]

ARRAYS_VERSION = 1
kernels: Any = voxel_kernels  # mypy does not accept the tuples of arrays in their calls
_MOST = 127  # largest weight of one vote


@dataclass(frozen=True)
class Labelled:
    """Labels of an image, and weights of votes against voxels that are visible in it outside of all masks.

    labels: (H, W) uint16. masks: (65536,) int32, label -> mask, -1 = none. outlined: ids of instances whose
    extent the masks show. unseen, outside: weights, 0 (no vote) to 127; `outside` is for voxels of outlined
    instances, `unseen` for those of others, which the masks may have overlooked. gain, top: increase and
    limit of a seen voxel's occupancy.
    """

    labels: np.ndarray
    masks: np.ndarray
    outlined: list[int]
    unseen: int
    outside: int
    gain: int
    top: int

    def votes(self, count: int) -> tuple:
        """Return the arguments of the kernel `look`. count: number of instances in the store."""
        _check_weight(self.unseen, least=0)
        _check_weight(self.outside, least=0)
        against = np.full(count, self.unseen, np.uint8)
        against[[i for i in self.outlined if 0 < i < count]] = self.outside
        return self.labels, self.masks, against, self.gain, self.top


_NO_LABELS = np.zeros((0, 0), np.uint16), np.zeros(0, np.int32), np.zeros(0, np.uint8), 0, 0


class VoxelStore:
    """Voxels by integer coordinates, each with a posterior over instances, an owner and an occupancy.

    The owner is the instance with the most certain votes. size: edge of a voxel, metres. capacity: largest
    number of voxels. prior: mass of unknown instances before the first vote, in units of votes. Not safe for
    threads; the map that owns it holds the lock.
    """

    def __init__(self, size: float, capacity: int, prior: float = 2.0):
        self.size = size
        self.prior = prior
        self.coords = reserve((capacity, 3), np.int32)
        self.owner = reserve((capacity,), np.int32)
        self.weights = reserve((capacity, CANDIDATES), np.uint8)
        self.occupancy = reserve((capacity,), np.int8)
        self._ids = reserve((capacity, CANDIDATES), np.int32)
        self._errors = reserve((capacity, CANDIDATES), np.uint8)
        self._other = reserve((capacity, 3), np.uint8)
        self._seen = reserve((capacity,), np.int32)
        # serial number of the first trajectory node that saw the voxel, + 1; 0 = unknown
        self.begun = reserve((capacity,), np.int32)
        self._free = reserve((capacity,), np.int32)
        self._state = np.zeros(4, np.int64)
        self._links = reserve((capacity, 2), np.int32)  # previous and next voxel in the owner's list
        self._heads = np.zeros((1024, 2), np.int32)  # per instance: first voxel of its list + 1, length
        # per instance: lowest block with votes for it, and highest + 1; all 0 = none. A span never shrinks
        self._spans = np.zeros((1024, 6), np.int32)
        self._blocks = BlockPool(min(capacity, capacity // 16 + 4096))
        self._pages = reserve((self._blocks.capacity, CELLS), np.int32)
        self._filters = reserve((self._blocks.capacity,), np.uint64)
        self._filled = reserve((self._blocks.capacity,), np.int32)

    @property
    def used(self) -> int:
        """Return the number of pool entries used so far, including released ones.

        Rows below it are valid if their `owner` is not GONE.
        """
        return int(self._state[USED])

    @property
    def live(self) -> int:
        """Return the number of voxels in the map."""
        return int(self._state[LIVE])

    @property
    def refused(self) -> int:
        """Return the number of voxels dropped since the start because the pool was full."""
        return int(self._state[REFUSED])

    @property
    def shortage(self) -> str:
        """Return a warning with its remedy if a pool is nearly full or has refused requests; "" otherwise."""
        blocks, setting = self._blocks, "semantic_voxels.voxels.capacity"
        return shortage("voxels of instances", self.live, len(self.owner), self.refused, setting) or shortage(
            "blocks of voxels", blocks.live, blocks.capacity, blocks.refused, setting
        )

    @property
    def _index(self) -> tuple:
        pool = self._blocks
        return pool.table, pool.coords, pool.free, pool.state, self._pages, self._filters, self._filled

    @property
    def _votes(self) -> tuple:
        return self._ids, self.weights, self._errors, self._other

    def vote(
        self,
        points: np.ndarray,
        voters: np.ndarray,
        weight: int,
        gain: int,
        top: int,
        mark: int,
        node: int = 0,
    ) -> np.ndarray:
        """Add one vote of frame `mark` to each voxel of `points`; return the voxels' pool indices (N,) int32.

        An index is -1 if the pool was full. points: (N, 3) int32. voters: (N,) int32 > 0; if points share a
        voxel, the first voter counts. Occupancy rises by `gain` up to `top`. weight: 1..127, else ValueError.
        node: serial number of the trajectory node + 1, see `begun`.
        """
        _check_weight(weight)
        self._know(int(voters.max(initial=0)))
        return kernels.vote(
            *self._index, self.coords, self.owner, *self._votes, self.occupancy, self._seen, self.begun, self._free,
            self._state, self._links, self._heads, self._spans, points, voters, weight, gain, top, mark, node,
        )  # fmt: skip

    def owners(self, points: np.ndarray) -> np.ndarray:
        """Return (N,) int32: the owners of the voxels at points (N, 3) int32; 0 = no owner or no voxel."""
        places = self.places(points)
        return np.where(places >= 0, self.owner[places], 0).astype(np.int32)

    def owners_near(self, points: np.ndarray) -> np.ndarray:
        """Return (N,) int32: the owner of the voxel at or within half a voxel of each point; 0 = none.

        points: (N, 3), metres, voxel frame.
        """
        found = np.zeros(len(points), np.int32)
        for offset in np.concatenate([np.zeros((1, 3)), 0.5 * np.eye(3), -0.5 * np.eye(3)]):
            owners = self.owners(np.floor(points / self.size + offset).astype(np.int32))
            found = np.where(found == 0, owners, found)
        return found

    def posterior(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the mean of the posterior of each voxel at points (N, 3) int32, as three arrays.

        Candidates by falling probability: ids (N, 4) int32, 0 = none, and probability (N, 4) float32.
        Remaining mass (N,) float32: background, other instances and the prior (1 without a voxel).
        """
        return kernels.read(*self._votes, self.places(points), self.prior)

    def look(
        self, depth: np.ndarray, camera: tuple, camera_from_voxels: np.ndarray, near: float, far: float,
        margins: tuple[float, float], mark: int, ids: int, labelled: Labelled | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
        """Lower the occupancy of voxels that were seen empty, and remove those that have none left.

        With labels, visible voxels outside of all masks get a background vote of frame `mark`. margins:
        metres, and metres per metre of range, by which the depth must exceed a voxel's. Returns three counts
        (ids,) int32 per instance id below `ids`: voxels inside the image, seen empty, and hidden.
        """
        pool = self._blocks
        counts = np.zeros((3, ids), np.int32)
        rotation = np.ascontiguousarray(camera_from_voxels[:3, :3], np.float64)
        offset = np.ascontiguousarray(camera_from_voxels[:3, 3], np.float64)
        blocks = np.empty(pool.live, np.int32)
        seen = in_view(
            pool.table, pool.coords, SIDE * self.size, depth.shape, camera, rotation, offset, near, far,
            farthest(depth), margins[0] + margins[1] * far, blocks,
        )  # fmt: skip
        dead = np.empty(self.live, np.int32)
        votes = _NO_LABELS if labelled is None else labelled.votes(len(self._heads))
        found = kernels.look(
            blocks[:seen], self._pages, self.coords, self.owner, *self._votes, self.occupancy, self._seen, self._links,
            self._heads, mark, self.size, depth, camera, rotation, offset, near, far, margins, *votes, counts[0],
            counts[1], counts[2], dead,
        )  # fmt: skip
        self.remove(dead[:found])
        return counts[0], counts[1], counts[2]

    def remove(self, indices: np.ndarray) -> None:
        """Remove the voxels at these pool indices."""
        kernels.remove(
            *self._index, self.coords, self.owner, self._free, self._state, self._links, self._heads,
            np.asarray(indices, np.int32),
        )  # fmt: skip

    def relocate(self, places: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Move the voxels `places` (N,) to coordinates (N, 3) int32; return the owners of voxels that met.

        The owners are pairs (M, 2). If two voxels meet, the one with more votes stays.
        """
        return kernels.relocate(
            *self._index, self.coords, self.owner, *self._votes, self.occupancy, self.begun, self._free, self._state,
            self._links, self._heads, self._spans, np.asarray(places, np.int32),
            np.ascontiguousarray(targets, np.int32),
        )  # fmt: skip

    def rename(self, old: int, new: int) -> int:
        """Turn all votes for `old` into votes for `new`; return the number of voxels that changed owner."""
        self._know(max(old, new))
        return kernels.rename(
            self._blocks.table, self._blocks.coords, self._blocks.used, self._pages, self._filters, self._filled,
            self.owner, *self._votes, self._links, self._heads, self._spans, old, new,
        )  # fmt: skip

    def reassign(self, places: np.ndarray, old: int, new: int) -> None:
        """Turn the votes for `old` in the voxels at these pool indices into votes for `new`."""
        self._know(max(old, new))
        kernels.reassign(
            self._blocks.table, self._blocks.coords, self._filters, self.coords, self.owner, *self._votes,
            self._links, self._heads, self._spans, np.asarray(places, np.int32), old, new,
        )  # fmt: skip

    def drop(self, instance: int) -> None:
        """Remove the voxels of an instance and all votes for it."""
        self.remove(self.members(np.array([instance]))[0])
        self.rename(instance, 0)

    def owned(self) -> np.ndarray:
        """Return the pool indices of the voxels that belong to an instance."""
        return np.flatnonzero(self.owner[: self.used] > 0)

    def members(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the pool indices of the voxels that instances `ids` (M,) own, and their starts, (M + 1,).

        The run time depends on the number of these voxels, not on the size of the map.
        """
        ids = np.asarray(ids, np.int64)
        known = np.where((ids > 0) & (ids < len(self._heads)), ids, 0)
        start = np.concatenate([[0], np.cumsum(self._heads[known, 1], dtype=np.int64)])
        return kernels.members(self._links, self._heads, ids, start), start

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the whole state for a file: version, size of a voxel, and one row per voxel."""
        places = np.flatnonzero(self.owner[: self.used] != GONE)
        rows = {name: getattr(self, attribute)[places] for name, (attribute, _, _) in _ROWS.items()}
        return {
            "version": np.array(ARRAYS_VERSION), "size": np.array(self.size), **rows, "begun": self.begun[places]
        }  # fmt: skip

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], capacity: int, prior: float = 2.0) -> VoxelStore:
        """Return the store written by `to_arrays`.

        Raises ValueError for malformed arrays or more than `capacity` voxels.
        """
        count = _check_arrays(arrays, capacity)
        store = cls(float(arrays["size"]), capacity, prior)
        for name, (attribute, _, _) in _ROWS.items():
            getattr(store, attribute)[:count] = arrays[name]
        begun = np.asarray(arrays.get("begun", np.zeros(count)), np.int32)
        if begun.shape != (count,):
            raise ValueError(f"begun is {begun.shape}, not {(count,)}")
        store.begun[:count] = begun
        store._know(int(arrays["ids"].max(initial=0)))
        indexed = kernels.restore(
            *store._index,
            store.coords,
            store.owner,
            *store._votes,
            store._links,
            store._heads,
            store._spans,
            count,
        )
        if indexed != count:
            raise ValueError("a voxel stands twice in the file, or there are too many blocks")
        store._state[USED] = store._state[LIVE] = count
        return store

    def places(self, points: np.ndarray) -> np.ndarray:
        """Return (N,) int32: pool indices of the voxels at points (N, 3) int32, -1 = none."""
        return kernels.places(self._blocks.table, self._blocks.coords, self._pages, points)

    def _know(self, identity: int) -> None:
        """Enlarge the per-instance arrays to hold ids up to this one."""
        if identity >= len(self._heads):
            more = ((0, 2 * identity - len(self._heads)), (0, 0))
            self._heads, self._spans = np.pad(self._heads, more), np.pad(self._spans, more)


def _check_weight(weight: int, least: int = 1) -> None:
    """Raise ValueError unless `least` <= weight <= 127."""
    if not least <= weight <= _MOST:
        raise ValueError(f"a vote weighs {least} to {_MOST}, not {weight}")


_ROWS: dict[str, tuple[str, tuple[int, ...], type]] = {  # rows in a file: attribute, shape of a row, dtype
    "coords": ("coords", (3,), np.int32),
    "ids": ("_ids", (CANDIDATES,), np.int32),
    "weights": ("weights", (CANDIDATES,), np.uint8),
    "errors": ("_errors", (CANDIDATES,), np.uint8),
    "other": ("_other", (3,), np.uint8),
    "occupancy": ("occupancy", (), np.int8),
}


def _check_arrays(arrays: Mapping[str, np.ndarray], capacity: int) -> int:
    """Return the number of voxels in the arrays.

    Raises ValueError that names the fault if they are invalid.
    """
    missing = ({"version", "size"} | _ROWS.keys()) - set(arrays)
    if missing:
        raise ValueError(f"no voxels: {', '.join(sorted(missing))} is missing")
    if int(arrays["version"]) != ARRAYS_VERSION:
        raise ValueError(f"voxels of version {int(arrays['version'])}; this reads {ARRAYS_VERSION}")
    count = len(arrays["coords"])
    for name, (_, shape, dtype) in _ROWS.items():
        if arrays[name].shape != (count, *shape) or arrays[name].dtype != dtype:
            raise ValueError(
                f"{name} is {arrays[name].shape} {arrays[name].dtype}, not {(count, *shape)} {dtype}"
            )
    if count > capacity:
        raise ValueError(f"{count} voxels; there is room for {capacity}")
    if (arrays["errors"] > arrays["weights"]).any() or (arrays["ids"] < 0).any():
        raise ValueError("votes are out of range")
    return count
