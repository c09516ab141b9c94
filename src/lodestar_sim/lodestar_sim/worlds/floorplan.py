"""Buildings from occupancy maps: rooms are segmented, labelled by size and shape, and furnished."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from lodestar.grid.map_images import BadMapFile, read_map_image
from lodestar_sim.worlds.errors import WorldError
from lodestar_sim.worlds.plan import CELL, Door, Plan

PASSAGE = 0.35  # m, half the width of the narrowest passage that connects rooms
SEEDS = (1.05, 0.75, 0.55)  # m from walls beyond which floor belongs to the core of a room
SMALLEST = 2.5  # m2, smaller pieces join a neighbour
DOORWAY = 2.6  # m, longest border between rooms that counts as a door
FREE_VALUE = 254  # value of free cells in occ_map.npy
RESOLUTIONS = (0.01, 0.5)  # m per pixel, allowed range of source maps; chosen


@dataclass(frozen=True)
class RoomKinds:
    """Room labels for a kind of building; rooms of one size class take its labels in turn.

    largest, smallest: labels for the building's largest and smallest rooms, which take precedence.
    """

    small: tuple[str, ...]  # labels of rooms below 9 m2
    medium: tuple[str, ...]  # labels of rooms below 42 m2
    large: tuple[str, ...]  # labels of larger rooms
    corridor: str
    largest: tuple[str, ...] = ()
    smallest: tuple[str, ...] = ()


KINDS = {
    "apartment": RoomKinds(
        small=("storage room", "laundry room", "bathroom"),
        medium=("bedroom", "study", "bedroom"),
        large=("bedroom", "living room"),
        corridor="hall",
        largest=("living room", "kitchen"),
        smallest=("bathroom",),
    ),
    "office": RoomKinds(
        small=("storage room", "toilets", "print room", "storage room"),
        medium=(
            "office",
            "office",
            "meeting room",
            "office",
            "kitchenette",
            "office",
            "print room",
            "laboratory",
        ),
        large=("open plan", "classroom", "laboratory", "open plan", "workshop", "classroom", "reception"),
        corridor="corridor",
    ),
    "warehouse": RoomKinds(
        small=("storage room", "toilets", "office"),
        medium=("office", "workshop", "storage room"),
        large=("warehouse", "workshop"),
        corridor="corridor",
        largest=("warehouse",),
    ),
}


@dataclass(frozen=True)
class FloorMap:
    """A map of free floor. free: (rows, columns) bool, row 0 at the lowest y. resolution: metres per cell.

    origin: (x, y) of cell (0, 0)'s corner, metres.
    """

    free: np.ndarray
    resolution: float
    origin: tuple[float, float]


def read_arrays(folder: Path) -> FloorMap:
    """Return the map stored in occ_map.npy and valid_space.npy, 0.1 m per cell, centred on the origin."""
    arrays = []
    for name in ("occ_map.npy", "valid_space.npy"):
        try:
            arrays.append(np.load(folder / name, allow_pickle=False))
        except (OSError, ValueError) as error:
            raise WorldError(f"{folder / name}: cannot be read as a numpy array ({error})") from error
    occupancy, valid = arrays
    if occupancy.ndim != 2 or occupancy.shape != valid.shape:
        raise WorldError(
            f"{folder}: occ_map {occupancy.shape} and valid_space {valid.shape} must be one 2-D shape"
        )
    free = ((occupancy == FREE_VALUE) & (valid > 0))[::-1]
    return FloorMap(free, CELL, (-CELL * (free.shape[1] // 2), -CELL * (free.shape[0] // 2)))


def read_ros_map(path: Path) -> FloorMap:
    """Return the map of a map_server YAML file and its image; unknown cells count as solid."""
    try:
        grid = read_map_image(path)
    except BadMapFile as error:
        raise WorldError(str(error)) from error
    low, high = RESOLUTIONS
    if not low <= grid.resolution <= high:
        raise WorldError(
            f"{path}: resolution is {grid.resolution:g}; a world needs {low} to {high} m per pixel"
        )
    return FloorMap(grid.free, grid.resolution, grid.origin)


def floor_plan(source: FloorMap, rng: np.random.Generator, kind: str = "office") -> Plan:
    """Return the plan of a map: rooms labelled for a kind of building, and doorways; unreachable floor stays empty."""
    free, origin = _on_lattice(source)
    reach = _connected(free)
    if reach.sum() * CELL**2 < 10.0:
        raise WorldError("the map has less than 10 m2 of connected free floor; is free space marked as free?")
    rooms = _segment(reach)
    plan = Plan(rooms, free, origin, {})
    plan.labels = _labels(rooms, rng, KINDS[kind])
    plan.doors = _doors(plan)
    plan.finishes = {room: _finish(label) for room, label in plan.labels.items()}
    return plan


def _on_lattice(source: FloorMap) -> tuple[np.ndarray, tuple[float, float]]:
    """Return the free cells, resampled to CELL metres, with a solid border, and the origin (x, y).

    A cell is free if its whole area is free in the source.
    """
    free = source.free.astype(np.float32)
    if abs(source.resolution - CELL) > 1e-6:
        scale = source.resolution / CELL
        size = (max(int(free.shape[1] * scale), 1), max(int(free.shape[0] * scale), 1))
        method = cv2.INTER_AREA if scale < 1 else cv2.INTER_NEAREST
        free = np.asarray(cv2.resize(free, size, interpolation=method), np.float32)
    border = 2
    padded = np.pad(free >= 0.99, border)
    return padded, (round(source.origin[0] - border * CELL, 3), round(source.origin[1] - border * CELL, 3))


def _distance(mask: np.ndarray) -> np.ndarray:
    return cv2.distanceTransform(mask.astype(np.uint8), cv2.DIST_L2, 5) * CELL


def _connected(free: np.ndarray) -> np.ndarray:
    """Return (rows, columns) bool: free cells around the largest connected area that a robot can walk through."""
    wide = (_distance(free) >= PASSAGE).astype(np.uint8)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(wide, connectivity=4)
    if len(stats) < 2:
        raise WorldError("the map has no free floor wide enough for the robot; is free space marked as free?")
    largest = labels == 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA]))
    from skimage.segmentation import watershed

    seeds = np.where(largest, 1, np.where(wide > 0, 2, 0))
    return watershed(-_distance(free), seeds, mask=free) == 1


def _segment(reach: np.ndarray) -> np.ndarray:
    """Return (rows, columns) uint16: each cell's room id, 0 = none, by a watershed of the wall distance."""
    from skimage.segmentation import watershed

    distance = _distance(reach)
    markers = np.zeros(reach.shape, np.int32)
    for level in SEEDS:
        number, labels = cv2.connectedComponents((distance > level).astype(np.uint8), connectivity=4)
        for label in range(1, number):
            piece = labels == label
            if not markers[piece].any():
                markers[piece] = markers.max() + 1
    rooms = watershed(-distance, markers, mask=reach)
    return _merged(rooms).astype(np.uint16)


def _merged(rooms: np.ndarray) -> np.ndarray:
    """Return the room ids of the cells, with each room below SMALLEST merged into a neighbour.

    The neighbour is the one with the longest common border. The new ids count up from 1.
    """
    for _ in range(int(rooms.max())):
        areas = np.bincount(rooms.ravel(), minlength=2) * CELL**2
        areas[0] = np.inf
        areas[areas == 0.0] = np.inf
        smallest = int(np.argmin(areas))
        if areas[smallest] >= SMALLEST:
            break
        around = cv2.dilate((rooms == smallest).astype(np.uint8), np.ones((3, 3), np.uint8)).astype(bool)
        others = rooms[around & (rooms != smallest) & (rooms > 0)]
        rooms[rooms == smallest] = int(np.bincount(others).argmax()) if len(others) else 0
    ids = np.unique(rooms[rooms > 0])
    return np.searchsorted(np.concatenate([[0], ids]), rooms)


def _labels(rooms: np.ndarray, rng: np.random.Generator, kinds: RoomKinds) -> dict[int, str]:
    """Return room id -> label, by the room's size and shape; see `RoomKinds`."""
    by_size = (("s", kinds.small), ("m", kinds.medium), ("l", kinds.large))
    turns = {name: list(rng.permutation(choices)) for name, choices in by_size}
    labels: dict[int, str] = {}
    areas: dict[int, float] = {}
    for room in range(1, int(rooms.max()) + 1):
        mask = (rooms == room).astype(np.uint8)
        area = float(mask.sum()) * CELL**2
        (_, sides, _) = cv2.minAreaRect(cv2.findNonZero(mask))
        breadth = 2.0 * float(_distance(np.pad(mask, 1)).max())
        if max(sides) * CELL > 3.5 * breadth and max(sides) * CELL > 8.0:
            labels[room] = kinds.corridor
            continue
        areas[room] = area
        kind = "s" if area < 9.0 else "m" if area < 42.0 else "l"
        labels[room] = str(turns[kind][0])
        turns[kind].append(turns[kind].pop(0))
    ranked = sorted(areas, key=lambda room: -areas[room])
    labels |= dict(zip(ranked, kinds.largest))
    labels |= dict(zip(ranked[len(kinds.largest) :][::-1], kinds.smallest))
    return labels


def _doors(plan: Plan) -> list[Door]:
    """Return one door, with its rectangle, for each border between two rooms."""
    rooms = plan.rooms.astype(np.int32)
    pairs: dict[tuple[int, int], np.ndarray] = {}
    for dr, dc in ((0, 1), (1, 0)):
        a, b = rooms[: rooms.shape[0] - dr, : rooms.shape[1] - dc], rooms[dr:, dc:]
        meet = np.argwhere((a != b) & (a > 0) & (b > 0))
        for row, column in meet:
            one, other = int(a[row, column]), int(b[row, column])
            mask = pairs.setdefault((min(one, other), max(one, other)), np.zeros(rooms.shape, np.uint8))
            mask[row, column] = mask[row + dr, column + dc] = 1
    doors = []
    for key, mask in sorted(pairs.items()):
        number, _, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
        for left, top, width, height, _ in stats[1:number]:
            wide = max(width, height) * CELL > DOORWAY or min(width, height) > 5
            rect = plan.rectangle(int(left), int(top), int(width), int(height))
            doors.append(Door(rect, "x" if width >= height else "y", key, lintel=not wide))
    return doors


def _finish(label: str) -> tuple[str, str]:
    if label in ("office", "open plan", "meeting room", "classroom"):
        return "gray", "carpet"
    if label in ("living room", "bedroom", "study", "hall"):
        return "beige", "wood"
    return ("gray", "concrete") if label in ("workshop", "warehouse") else ("beige", "tile")
