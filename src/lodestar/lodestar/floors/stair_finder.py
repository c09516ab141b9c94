"""Detection of straight flights of stairs in the height map of the lowest surfaces."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from lodestar.floors.records import UNKNOWN, Passage, PassageKind

STAIR_SLOPE = (0.35, 0.95)  # least and most rise over run of a flight (DIN 18065: 20 to 45 degrees)
# most rise over run of one that is walked: 0.16 m (a Go2's step) over 0.28 m, 30 degrees
STAIR_STEEPEST = 0.58
# m by which the rise of what is seen may be off: a slope that is measured over L metres is off by STAIR_DOUBT / L;
# measured: at most 0.13 m, over 1 to 4 m of nine generated flights
STAIR_DOUBT = 0.15
STAIR_WINDOW = 7  # cells, side of the piece that is compared with a plane: two treads; chosen
# m between adjacent cells, above which they are not steps: steps of 45 degrees rise 0.2 m
STAIR_LEAP = 0.22
STAIR_LEAPS = 0.05  # share of such cells from which a piece is the edge of an object; chosen: above noise


@dataclass(frozen=True)
class StairConfig:
    """Limits on the form of a flight of stairs that a Go2 may walk."""

    least_cells: int = 14  # cells of a piece that must be known; chosen
    roughness: float = 0.075  # m, rms of a piece's heights off its plane; half a step of 0.16 m
    turned: float = math.radians(25.0)  # rad that a piece's way up may differ from the flight's; chosen
    least_rise: float = 0.45  # m, three steps
    least_width: float = 0.6  # m; a Go2 is 0.32 m wide
    # m, largest difference between the nearer end and the floor's height; chosen: two hidden steps
    join: float = 0.35


# limits for a hint: few steps seen from afar or from the side; chosen: a piece of one tread and two risers, seen over
# a third of the width
HINT = StairConfig(
    least_cells=6, turned=math.radians(45.0), least_rise=0.2, least_width=0.3, roughness=0.1, join=0.6
)


def find_flights(
    heights: np.ndarray, origin: tuple[float, float], resolution: float, level: float, config: StairConfig
) -> list[Passage]:
    """Return the flights of stairs, up or down, that begin at the height `level` of a floor, without ids.

    level: metres in map. heights: (rows, columns) float32, metres in map, NaN = not seen. origin: (x, y) of
    the corner of cell (0, 0), metres. An unseen end is placed where the plane of the steps meets the last
    seen height. `lower` or `upper` of a result is -1 for the floor at `level`.
    """
    known = np.isfinite(heights)
    if not known.any():
        return []
    pieces, gx, gy = _slopes(heights, known, resolution, config)
    found = []
    number, labels = cv2.connectedComponents(cv2.dilate(pieces.view(np.uint8), np.ones((3, 3), np.uint8)))
    for label in range(1, number):
        rows, columns = np.nonzero((labels == label) & pieces)
        if len(rows) < config.least_cells or _leaps(heights, rows, columns):
            continue
        up = math.atan2(float(np.median(gy[rows, columns])), float(np.median(gx[rows, columns])))
        flight = _fitted(heights, rows, columns, up, origin, resolution, level, config)
        if flight is not None:
            found.append(flight)
    return found


def _leaps(heights: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> bool:
    """Return whether connected cells are the edge of an object on a ramp rather than steps.

    They are if many neighbouring cells differ in height by more than STAIR_LEAP. rows, columns: (N,).
    """
    own = np.full((int(np.ptp(rows)) + 1, int(np.ptp(columns)) + 1), np.nan)
    own[rows - rows.min(), columns - columns.min()] = heights[rows, columns]
    for axis in (0, 1):
        steps = np.abs(np.diff(own, axis=axis))
        steps = steps[np.isfinite(steps)]
        if len(steps) and np.mean(steps > STAIR_LEAP) > STAIR_LEAPS:
            return True
    return False


def is_in_doubt(passage: Passage) -> bool:
    """Return whether a flight of stairs was refused as too steep only by less than the measurement error."""
    if not passage.refused or UNKNOWN not in (passage.lower, passage.upper):
        return False
    shown = max(math.dist(passage.low, passage.high), 1e-6)
    return STAIR_STEEPEST < passage.slope <= STAIR_STEEPEST + STAIR_DOUBT / shown


def _slopes(
    heights: np.ndarray, known: np.ndarray, resolution: float, config: StairConfig
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the cells that lie on a plane as steep as stairs, and the gradient of that plane along x and y.

    Three arrays (rows, columns), the first bool. The plane is fitted to the surroundings of each cell.
    """
    rows, columns = heights.shape
    y, x = (axis * resolution for axis in np.mgrid[:rows, :columns].astype(np.float64))
    z = np.where(known, heights, 0.0).astype(np.float64)
    one = known.astype(np.float64)

    def total(values: np.ndarray) -> np.ndarray:
        return cv2.boxFilter(
            values, cv2.CV_64F, (STAIR_WINDOW,) * 2, normalize=False, borderType=cv2.BORDER_CONSTANT
        )

    count = np.maximum(total(one), 1.0)
    mx, my, mz = (total(v * one) / count for v in (x, y, z))

    def spread(a: np.ndarray, b: np.ndarray, ma: np.ndarray, mb: np.ndarray) -> np.ndarray:
        return total(a * b * one) / count - ma * mb

    xx, yy, xy = spread(x, x, mx, mx), spread(y, y, my, my), spread(x, y, mx, my)
    xz, yz, zz = spread(x, z, mx, mz), spread(y, z, my, mz), spread(z, z, mz, mz)
    determinant = np.maximum(xx * yy - xy * xy, 1e-12)
    gx, gy = (xz * yy - yz * xy) / determinant, (yz * xx - xz * xy) / determinant
    rest = np.sqrt(np.maximum(zz - gx * xz - gy * yz, 0.0))
    slope = np.hypot(gx, gy)
    low, high = STAIR_SLOPE
    enough = (total(one) >= config.least_cells) & (np.minimum(xx, yy) > resolution**2)
    return known & enough & (slope >= low) & (slope <= high) & (rest <= config.roughness), gx, gy


def _fitted(
    heights: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
    up: float,
    origin: tuple[float, float],
    resolution: float,
    level: float,
    config: StairConfig,
) -> Passage | None:
    """Return the flight of stairs fitted to connected cells, or None if they are not one.

    rows, columns: (N,). up: radians, direction in which the cells rise. Other arguments: as for
    `find_flights`.
    """
    points = np.column_stack([columns + 0.5, rows + 0.5]) * resolution + origin
    z = heights[rows, columns].astype(np.float64)
    keep = np.ones(len(z), bool)
    plane = np.zeros(3)
    for _ in range(4):  # least squares without outliers
        matrix = np.column_stack([points[keep], np.ones(int(keep.sum()))])
        plane = np.linalg.lstsq(matrix, z[keep], rcond=None)[0]
        keep = np.abs(points @ plane[:2] + plane[2] - z) <= 2.0 * config.roughness
        if keep.sum() < config.least_cells:
            return None
    slope, way = math.hypot(plane[0], plane[1]), math.atan2(plane[1], plane[0])
    if (
        not STAIR_SLOPE[0] <= slope <= STAIR_SLOPE[1]
        or abs(math.remainder(way - up, math.tau)) > config.turned
    ):
        return None
    along, across = np.array([math.cos(way), math.sin(way)]), np.array([-math.sin(way), math.cos(way)])
    t, z = points[keep] @ across, z[keep]
    width = float(np.quantile(t, 0.95) - np.quantile(t, 0.05)) / 0.9 + resolution
    bottom, top = float(np.quantile(z, 0.02)), float(np.quantile(z, 0.98))
    nearest = min(abs(bottom - level), abs(top - level))
    if top - bottom < config.least_rise or width < config.least_width or nearest > config.join:
        return None
    middle = float(np.quantile(t, 0.05) + np.quantile(t, 0.95)) / 2.0
    rises = abs(bottom - level) <= abs(top - level)
    low, high = (level, top) if rises else (bottom, level)
    offset = plane[2] + middle * (plane[:2] @ across)
    ends = [along * ((end - offset) / slope) + across * middle for end in (low, high)]
    (x0, y0), (x1, y1) = (end.tolist() for end in ends)
    return Passage(
        0, PassageKind.STAIRS, (x0, y0), (x1, y1), way, -1 if rises else UNKNOWN, UNKNOWN if rises else -1, slope,
        math.nan, width,
        refused="" if slope <= STAIR_STEEPEST else _steep(slope),
    )  # fmt: skip


def _steep(slope: float) -> str:
    return f"its steps are too steep, {math.degrees(math.atan(slope)):.0f} degrees"
