"""Record of the nearest distance from which the camera observed each cell and height (a look), and the area
that further looks would show.

A LiDAR measures a room's floor before the camera has looked into the room. A search therefore treats a cell
as unseen if it is unknown to the grid, or known and not yet looked at (the explored region of SnapMem App. 8,
made exact).

Looks are recorded per band of height (`heights.BANDS`). A cell has at most two relevant bands: that of the
floor if it is free, and the one above a known furniture top on which an object may stand. A band is relevant
only if the camera, at its height and pitch, can show it from within the range that counts. A search thus ends
when no pose shows more.

A view ends at the first occupied cell. If that cell belongs to known furniture, the view continues over the
top of this furniture while cells are occupied.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numba import njit

from lodestar.experts import view_kernels
from lodestar.experts.heights import BANDS, Lens, SurfaceMap
from lodestar.experts.view_kernels import ray_over
from lodestar.grid.config import VIEWPOINT_CAMERA_FORWARD, LookConfig, ViewpointConfig
from lodestar.grid.extent_change import carried_over
from lodestar.grid.looks import NEVER, Looks
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.visibility import ray_buffers
from lodestar.scene.records import Entity

SURFACE_STANDS = 0.2  # metres that an object on a top is taken to rise above the top's edge; chosen

# m, upper edges of the four bins of distance in which views of a cell are counted; chosen: about those of the detector
TRIAL_EDGES = np.array([1.0, 1.5, 2.5, np.inf])
_TRIALS = 250  # most counted views of a cell and bin

kernels: Any = view_kernels  # mypy cannot check the tuples of arrays in calls
SECTORS = 36  # of 10 degrees: resolution of headings
_RAYS = 4  # per sector
_LIMITS = LookConfig()
_WIDEST = math.radians(60.0)  # largest half field of view for which the range at the image edge is corrected


@njit(cache=True)
def _edge(height, band, top, inside, stands):
    """Return the horizontal distance, metres, beyond which the edge of a furniture top no longer hides a
    height band from a camera at `height`. band, top: heights, metres; inside: metres from the cell to the
    edge.
    """
    if height < top and band > top:
        return inside * (top + stands - height) / stands
    if height > top and band < top:
        return inside * (height - band) / (top - band)
    return 0.0


@njit(cache=True)
def _restart(marks, last, trials, sides, cell):
    last[cell] = -np.inf
    trials[cell] = 0
    sides[cell] = 0
    for band in range(marks.shape[1]):
        marks[cell, band] = NEVER


@njit(cache=True)
def _count(trials, sides, cell, away, side, distance):
    """Count a view of a cell, if it is a trial of its own: from a viewpoint from which none counted. Only the bin of
    its distance is counted.
    """
    if view_kernels.is_new_view(sides, cell, away, side):
        sides[cell, away] |= np.uint64(1) << np.uint64(side)
        b = np.searchsorted(TRIAL_EDGES, distance)
        trials[cell, b] = min(trials[cell, b] + 1, _TRIALS)


@njit(cache=True)
def _mark(cells, occupied_from, nearest, last, stamp, begin, owner, tops, inside, bands, near, far, eye, reach,
          fov, heading, resolution, stands, trials, sides, forward):  # fmt: skip
    """Lower `nearest` (rows, columns, bands), centimetres, for the cells in view, store the stamp of the
    shown ones, and count the views.

    last: flat array of stamps, as in `Looks`. trials, sides: (cells, ...), see `LookedAt`. eye: u, v in cells, height
    in metres; NaN height sees every band. The robot stands `forward` metres behind it.
    """
    flat, entered = ray_buffers(reach)
    more, further = ray_buffers(reach)
    u0, v0, height = eye
    back = forward / resolution
    robot = u0 - back * math.cos(heading), v0 - back * math.sin(heading)
    marks, owners, depth = nearest.reshape(-1, nearest.shape[2]), owner.ravel(), inside.ravel()
    floor = 0
    while floor + 1 < len(bands) and near[floor] > reach * resolution:
        floor += 1
    rays = max(8, math.ceil(fov * reach * 1.5))
    for i in range(rays):
        turned = fov * i / (rays - 1) - fov / 2.0
        angle, cosine = heading + turned, math.cos(turned)
        n, solid = ray_over(
            cells, occupied_from, owner, u0, v0, math.cos(angle), math.sin(angle), reach, flat, entered, more,
            further,
        )  # fmt: skip
        for k in range(n):
            distance = entered[k] * resolution
            ahead = distance * cosine
            away = np.uint16(math.ceil(distance * 100.0))
            who = owners[flat[k]]
            if last[flat[k]] < begin:  # earlier looks at it no longer count
                _restart(marks, last, trials, sides, flat[k])
            shown, counts = False, False
            wanted = floor if who < 0 else np.abs(bands - (tops[who] + 0.75 * stands)).argmin()
            for b in range(len(bands)):
                if not math.isnan(height):
                    if ahead < near[b] or ahead > far[b]:
                        continue
                    if who >= 0 and distance < _edge(height, bands[b], tops[who], depth[flat[k]], stands):
                        continue
                if k > solid and bands[b] < tops[who]:
                    continue
                shown = True
                counts = counts or b == wanted
                marks[flat[k], b] = min(marks[flat[k], b], away)
            if counts:
                far_bin, side = view_kernels.view_of(flat[k], cells.shape[1], robot[0], robot[1], resolution)
                _count(trials, sides, flat[k], far_bin, side, distance)
            if shown:
                last[flat[k]] = max(last[flat[k]], stamp)


@njit(cache=True)
def _left(
    cells,
    occupied_from,
    nearest,
    last,
    begin,
    owner,
    tops,
    inside,
    bands,
    needs,
    height,
    stands,
    settled,
    within,
):
    """Return the cells not yet looked at, (rows, columns) bool, those that can be looked at again, and the least
    distance, float32 metres, at which the camera can see each.

    needs: (bands,) metres from which a band is visible. settled, within: as for `LookedAt.unseen`,
    centimetres.
    """
    rows, columns = cells.shape
    unseen = np.zeros((rows, columns), np.bool_)
    known = np.zeros((rows, columns), np.bool_)
    closest = np.zeros((rows, columns), np.float32)
    floor = 0
    while floor + 1 < len(bands) and needs[floor] * 100.0 > within:
        floor += 1
    for row in range(rows):
        for column in range(columns):
            looks, who = nearest[row, column], owner[row, column]
            old = last[row, column] < begin
            if cells[row, column] < 0:
                unseen[row, column] = old or looks.min() > settled
                continue
            least, possible = np.inf, np.inf  # of the bands that were not looked at, and of all
            if cells[row, column] < occupied_from:
                possible = needs[floor]
                if who >= 0:
                    possible = max(
                        possible, _edge(height, bands[floor], tops[who], inside[row, column], stands)
                    )
                if old or looks[floor] > within:
                    least = possible
            if who >= 0:
                above = np.abs(bands - (tops[who] + 0.75 * stands)).argmin()
                edge = max(needs[above], _edge(height, bands[above], tops[who], inside[row, column], stands))
                possible = min(possible, edge)
                if old or looks[above] > within:
                    least = min(least, edge)
            if least * 100.0 <= within:
                unseen[row, column], closest[row, column] = True, least
            elif possible * 100.0 <= within:
                known[row, column], closest[row, column] = True, possible
    return unseen, known, closest


class LookedAt:
    """Record of the camera's observations (looks) of the cells of the newest grid, per band of height.

    looks: limits of the observations that count, or only their range in metres. settled: metres, see
    `unseen`. camera_height: metres above the floor.

    A detector misses what it missed from the same viewpoint. Views of a cell are therefore counted as trials per bin
    of distance (TRIAL_EDGES), where none was counted while the robot stood about there (`view_kernels.view_code`).
    """

    def __init__(
        self,
        looks: LookConfig | float = _LIMITS,
        settled: float = 1.5,
        camera_height: float = ViewpointConfig.camera_height,
    ) -> None:
        limits = (
            looks if isinstance(looks, LookConfig) else LookConfig(looks, near=min(looks, LookConfig.near))
        )
        self.looks = Looks(limits, layers=len(BANDS))
        self.settled = settled
        self.count = 0  # number of views so far
        self._trials = np.empty((0, 0, len(TRIAL_EDGES)), np.uint8)
        # bits of the viewpoints whose views counted, see `view_kernels.is_new_view`
        self._sides = np.empty((0, 0, len(view_kernels.VIEW_EDGES) + 2), np.uint64)
        self._grid: OccupancyGrid2D | None = None
        self._surfaces = SurfaceMap(np.empty((0, 0), np.int32), np.empty(0), np.empty((0, 0), np.float32))
        self._lens: Lens | None = None  # of the newest look
        self._camera_height = camera_height
        self._floor = 0.0  # metres in map, under the camera of the newest look

    @property
    def grid(self) -> OccupancyGrid2D | None:
        """Return the newest grid."""
        return self._grid

    def set_grid(self, grid: OccupancyGrid2D) -> None:
        """Set the grid, which may have grown or moved its origin; recorded observations are kept."""
        before = self._grid
        self.looks.set_grid(grid)
        if before is not grid:
            self._trials = carried_over(self._trials, before, grid, 0)
            self._sides = carried_over(self._sides, before, grid, 0)
        surfaces = self._surfaces
        if surfaces.owner.size == 0:
            self._surfaces = SurfaceMap.none(grid)
        else:
            owner = carried_over(surfaces.owner, before, grid, -1)
            self._surfaces = SurfaceMap(
                owner, surfaces.tops, carried_over(surfaces.inside, before, grid, 0.0)
            )
        self._grid = grid

    def set_entities(self, entities: Iterable[Entity]) -> None:
        """Add the top surfaces of these entities (furniture) to the surfaces that the camera must observe.
        Requires a grid.
        """
        assert self._grid is not None
        self._surfaces = SurfaceMap.over(self._grid, entities, self._camera_height, self._floor)

    def count_from(self, stamp: float) -> None:
        """Treat cells whose newest observation is older than the stamp, seconds, as never looked at. A later
        call may pass an earlier stamp.
        """
        self.looks.begin = stamp

    def clear(self) -> None:
        """Forget all observations, because the clock restarted."""
        self.looks.clear()
        self._trials[:], self._sides[:] = 0, 0

    def look(
        self,
        xy: np.ndarray,
        heading: float,
        fov: float,
        lens: Lens | None = None,
        floor: float = 0.0,
        stamp: float = math.inf,
        forward: float = VIEWPOINT_CAMERA_FORWARD,
    ) -> None:
        """Record a view from `xy` along `heading` (map) with `fov` (radians). Without a lens it shows all
        heights.

        floor: height in map, metres, of the floor under the camera. stamp: seconds; inf = an observation that
        does not age. forward: metres by which `xy` lies ahead of the robot.
        """
        if self._grid is None:
            return
        grid, surfaces, looks = self._grid, self._surfaces, self.looks
        u0, v0 = ((float(xy[k]) - grid.origin[k]) / grid.resolution for k in (0, 1))
        near, far = (np.zeros(len(BANDS)), np.full(len(BANDS), np.inf)) if lens is None else lens.reach()
        eye = (u0, v0, math.nan if lens is None else lens.height)
        _mark(
            grid.cells, grid.occupied_from, looks.nearest, looks.last.reshape(-1), float(stamp),
            looks.begin, surfaces.owner, surfaces.tops, surfaces.inside, BANDS, near, far, eye,
            looks.config.range / grid.resolution, float(fov), float(heading), grid.resolution, SURFACE_STANDS,
            self._trials.reshape(-1, len(TRIAL_EDGES)), self._sides.reshape(-1, self._sides.shape[2]), forward,
        )  # fmt: skip
        self._lens, self._floor = lens, floor
        self.count += 1

    def unseen(self, within: float) -> np.ndarray:
        """Return (rows, columns) bool: cells unknown, or with a relevant band not looked at from `within` metres.

        An unknown cell that was looked at from within `settled` metres and stayed unknown does not count: the
        sensors cannot fill it. Before the first view, only unknown cells count.
        """
        return self.wanted(within)[0]

    def wanted(self, within: float) -> tuple[np.ndarray, np.ndarray]:
        """Return `unseen`, and for each cell the least distance, (rows, columns) float32 metres, at which a
        camera with the newest lens has the unseen bands in its image, also at the image's sides.
        """
        unseen, _, closest = self._wanted(within)
        return unseen, closest

    def missed(
        self, within: float, chances: np.ndarray, again: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the probability, (rows, columns) float32, that all views so far missed a thing in a cell, and the
        least distance of another view, as from `wanted`.

        It is 1 for `unseen` cells, and 0 where no view from within `within` metres can show anything. chances: (cases,
        bins) probability that one view from each bin of TRIAL_EDGES detects the thing, in cases of equal probability.
        again: return what another best view of a cell can show, as a share of what the first one could: less than the
        probability of a miss, as many misses tell that the thing is one that the detector hardly sees.
        """
        unseen, known, closest = self._wanted(within)
        logs = np.log1p(-np.clip(chances, 0.0, 0.999)).astype(np.float32)
        left = unseen.astype(np.float32)
        packed, codes = np.unique(self._trials[known].view(np.uint32), return_inverse=True)
        counts = packed.view(np.uint8).reshape(-1, len(TRIAL_EDGES)).astype(np.float32)
        weights = chances.max(axis=1) if again else np.ones(len(chances))
        left[known] = np.average(np.exp(counts @ logs.T), axis=1, weights=weights)[codes.ravel()]
        return left, closest

    @property
    def _counted(self) -> np.ndarray:
        """Return `_sides` without the views that do not count any more."""
        old = (self.looks.last < self.looks.begin) & (self.looks.last > -math.inf)
        return np.where(old[..., None], np.uint64(0), self._sides) if old.any() else self._sides

    def is_new(self, xy: np.ndarray) -> np.ndarray:
        """Return (rows, columns) bool: the cells of which the view of a robot at xy (2+,) would be a trial."""
        assert self._grid is not None
        u0, v0 = ((float(xy[k]) - self._grid.origin[k]) / self._grid.resolution for k in (0, 1))
        return np.asarray(kernels.new_views(self._counted, u0, v0, self._grid.resolution))

    def _wanted(self, within: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        assert self._grid is not None
        grid, surfaces, lens = self._grid, self._surfaces, self._lens
        if self.count == 0:
            nothing = np.zeros(grid.cells.shape, np.float32)
            return grid.unknown, np.zeros(grid.cells.shape, np.bool_), nothing
        needs, height = np.zeros(len(BANDS)), math.nan
        if lens is not None:
            needs = lens.reach()[0] / math.cos(min(lens.fov / 2.0, _WIDEST))
            height = lens.height
        unseen, known, closest = _left(
            grid.cells, grid.occupied_from, self.looks.nearest, self.looks.last, self.looks.begin, surfaces.owner,
            surfaces.tops, surfaces.inside, BANDS, needs, height, SURFACE_STANDS, self.settled * 100.0,
            within * 100.0,
        )  # fmt: skip
        self._sides[..., -1] = unseen
        return unseen, known, closest

    def sector_gains(
        self,
        points_xy: np.ndarray,
        worth: np.ndarray,
        reach: float,
        depth: float = math.inf,
        closest: np.ndarray | None = None,
        factors: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return (N, SECTORS) m^2 in view of points (N, 2) within `reach` metres (RoboAtlas eq. 15), times what a
        view of them is `worth`, (rows, columns), and the factors (bins,) of its distance (`view_sums`).

        Sector k covers headings [k, k + 1) * 360 / SECTORS degrees. depth: metres that a view extends into unknown
        space, where walls must be expected. closest: see `wanted`; 0 m for every cell by default.
        """
        assert self._grid is not None
        grid = self._grid
        to_cells = 1.0 / grid.resolution
        gains = kernels.sector_gains(
            grid.cells, grid.occupied_from, worth.astype(np.float32), self._in_cells(closest), self._surfaces.owner,
            self._starts(points_xy), reach * to_cells, depth * to_cells, SECTORS, _RAYS, self._counted,
            TRIAL_EDGES * to_cells, np.ones(len(TRIAL_EDGES)) if factors is None else factors, grid.resolution,
        )  # fmt: skip
        return gains * grid.resolution**2

    def views(
        self,
        points_xy: np.ndarray,
        in_view: np.ndarray,
        index: np.ndarray,
        reach: float,
        depth: float,
        closest: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return (N, n) bool: whether each of N points (N, 2) sees a cell of each of n blocks of cells.
        index: (rows, columns) block numbers 0..n - 1, -1 = none.

        in_view: (N, SECTORS) bool, directions that count. reach, depth, closest: as for `sector_gains`.
        """
        count = int(index.max(initial=-1)) + 1
        return kernels.views(
            *self._scene(points_xy, index, closest),
            np.ascontiguousarray(in_view),
            *self._ranges(reach, depth),
            count,
            self._rays(reach, 1),
        )

    def view_sums(
        self,
        points_xy: np.ndarray,
        in_view: np.ndarray,
        index: np.ndarray,
        weights: np.ndarray,
        reach: float,
        depth: float,
        stride: int,
        closest: np.ndarray,
        factors: np.ndarray,
    ) -> np.ndarray:
        """Return (N, W) float64: for each point (N, 2) the sums of the W weights (n, W) of the n blocks of
        which it sees a cell, as in `views`, each times the factor of its distance. A view from about where
        one of a cell was counted shows nothing new. stride: side of a block in cells. factors: (bins,) of TRIAL_EDGES.
        """
        assert self._grid is not None
        return kernels.view_sums(
            *self._scene(points_xy, index, closest), np.ascontiguousarray(in_view), *self._ranges(reach, depth),
            weights, self._rays(reach, stride), self._counted, TRIAL_EDGES / self._grid.resolution,
            np.ascontiguousarray(factors, np.float64), self._grid.resolution,
        )  # fmt: skip

    def _scene(self, points_xy: np.ndarray, index: np.ndarray, closest: np.ndarray | None) -> tuple:
        """Return the arguments that describe the grid, furniture and points for the functions of
        `view_kernels`.
        """
        assert self._grid is not None
        grid = self._grid
        return (
            grid.cells, grid.occupied_from, index, self._in_cells(closest), self._surfaces.owner,
            self._starts(points_xy),
        )  # fmt: skip

    def _ranges(self, reach: float, depth: float) -> tuple[float, float]:
        assert self._grid is not None
        return reach / self._grid.resolution, depth / self._grid.resolution

    def _rays(self, reach: float, stride: int) -> int:
        """Return the number of rays per sector that is dense enough to hit every block of `stride` cells
        within reach.
        """
        assert self._grid is not None
        return math.ceil(2.0 * math.pi * (reach / self._grid.resolution) * 1.1 / (SECTORS * stride))

    def _starts(self, points_xy: np.ndarray) -> np.ndarray:
        """Return points (N, 2), given in map, in grid coordinates (u, v), cells."""
        assert self._grid is not None
        points = np.ascontiguousarray(points_xy, np.float64).reshape(-1, 2)
        return (points - self._grid.origin) / self._grid.resolution

    def _in_cells(self, closest: np.ndarray | None) -> np.ndarray:
        assert self._grid is not None
        if closest is None:
            return np.zeros(self._grid.cells.shape, np.float32)
        return closest / np.float32(self._grid.resolution)
