"""Chain that builds the plan grid (2D occupancy grid for planning) from scans or depth, where due."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from lodestar.assembly.config import MappingConfig
from lodestar.assembly.parts import plan_mapper, plan_mapper_from
from lodestar.assembly.range_turns import LidarTurn, RangeTurn, ScannerTurn
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.overlay import confirmed_by, overlay_obstacles
from lodestar.mapping.config import SCAN_GRID_MIN_RANGE
from lodestar.mapping.movers.range_movers import RangeMovers
from lodestar.mapping.occupancy.grid_file import VERSIONS, Mapper, grid_archive, resume_odometry
from lodestar.mapping.occupancy.octomap import OctoMapper
from lodestar.mapping.occupancy.scan_grid import ScanGridMapper
from lodestar.mapping.occupancy.turn_filter import TurnFilter
from lodestar.perception.frames import RgbdFrame
from lodestar.storage.archive import Archive
from lodestar.storage.saved_map import GRID, ArchivePart
from lodestar.timing.stamps import Periodic
from lodestar.worldmodel.amendments import ClosedWay
from lodestar.worldmodel.closed_ways import WayOverlay


class PlanChain:
    """Builds the 2D grid from scans or depth images: selects scans, updates the mapper, tracks people and animals,
    and draws the closed ways (passages that were reported as blocked) into the grid.

    `movers`, the tracker, also uses scans that the mapper skips. `grid` is the newest grid, a new object after
    each change; with the source "slam" it is empty until the first `take_slam`.

    Call it on one thread. Exceptions: any thread may call `take_slam` and `opened_ways`; one other thread may
    call `is_due` and `restart_clock` while an input is taken. After `restart_clock` the next input discards
    the state from earlier ones.

    Poses are (4, 4). `take_turn` and `take_depth` return whether the map has jumped, and raise ValueError for
    a pose that is not finite or out of bounds.
    """

    def __init__(self, config: MappingConfig) -> None:
        self.config = config
        self.mapper: Mapper = plan_mapper(config)
        self._turns = TurnFilter()
        planar = config.source == "scan"
        near = max(config.movers.near, SCAN_GRID_MIN_RANGE if planar else config.octomap.min_range)
        feet = None if planar else config.octomap.floor.base_height
        self.movers = RangeMovers(replace(config.movers, near=near), config.motion, config.body, feet)
        self._due = Periodic(config.grid_period)
        self._ways = WayOverlay()
        self._slam: OccupancyGrid2D | None = None
        self._place: np.ndarray | None = None  # (3,) sensor position in map
        self._projected = self.mapper.project(0.0)  # without the closed ways
        self.grid: OccupancyGrid2D = self._projected

    def use(self, mapper: Mapper, now: Callable[[], float]) -> Callable[[], None]:
        """Replace the mapper and project its grid at once. Returns an undo function."""
        former, self.mapper = self.mapper, mapper
        self._show(now())

        def take_back() -> None:
            self.mapper = former
            self._show(now())

        return take_back

    def resume(self, archive: Archive, stamp: float) -> bool:
        """Resume the mapper of an earlier process with the same odometry frame. Returns True.

        Raises ForeignFile.
        """
        self.use(resume_odometry(self._fitting(archive), archive), lambda: stamp)
        return True

    def part(
        self,
        now: Callable[[], float],
        kept: Callable[[], object] = lambda: None,
        put: Callable[[Mapper], Callable[[], object]] | None = None,
        lock: AbstractContextManager[Any] | None = None,
    ) -> ArchivePart[Mapper]:
        """Return the part of a saved map that holds the 2D map.

        put: puts a loaded mapper into use and returns an undo function; default: `use`. now, kept: see
        `FloorStack.part`. lock: held while the mapper is copied.
        """

        def capture() -> Archive:
            with lock or nullcontext():
                return grid_archive(self.mapper, now())

        put = put or (lambda mapper: self.use(mapper, now))
        return ArchivePart(GRID, VERSIONS, capture, self._fitting, put, kept, is_optional=True)

    def _fitting(self, archive: Archive) -> Mapper:
        return plan_mapper_from(self.config, archive.kind, archive.arrays)

    def restart_clock(self) -> None:
        """Accept the next input although its stamp is older: the clock went back."""
        self._turns.restart_clock()
        self.movers.restart_clock()

    def take_slam(self, grid: OccupancyGrid2D) -> None:
        """Store SLAM's map for the next projection; used only with the source slam."""
        self._slam = grid

    @property
    def waits_for_slam(self) -> bool:
        """Return whether there is no plan grid because SLAM's map is missing."""
        return self.config.source == "slam" and self._slam is None

    @property
    def opened_ways(self) -> frozenset[ClosedWay]:
        """Return the closed ways that turned out to be open, because sensor rays passed through them."""
        return self._ways.opened

    @property
    def ways(self) -> tuple[ClosedWay, ...]:
        """Return the newest list of closed ways."""
        return self._ways.ways

    def follow_ways(self, ways: Iterable[ClosedWay]) -> None:
        """Replace the closed ways drawn on the grid."""
        if self._ways.follow(ways):
            self._lay_ways()

    def _lay_ways(self) -> None:
        self.grid = self._ways.laid_over(self._projected, self._place)

    def is_due(self, stamp: float) -> bool:
        """Return whether an input of the configured sensor is due; if so, count it."""
        return self._turns.due(stamp)

    def needs(self, stamp: float, map_from_sensor: np.ndarray) -> bool:
        """Return whether a due scan is needed.

        It is always needed if movers are tracked, else only if its pose promises new information, and is then
        counted as taken.
        """
        return self.config.movers.enabled or self._is_new(stamp, map_from_sensor)

    def _is_new(self, stamp: float, map_from_sensor: np.ndarray) -> bool:
        return self._turns.takes(stamp, map_from_sensor[:3, 3])

    def wants_turn(self, stamp: float, map_from_sensor: np.ndarray) -> bool:
        """Return whether to take a LiDAR or scanner scan from this pose; if so, count it as taken."""
        return self.config.source != "depth" and self.is_due(stamp) and self.needs(stamp, map_from_sensor)

    def wants_depth(self, stamp: float) -> bool:
        """Return whether to integrate a depth image; if so, count it as taken."""
        return self.config.source == "depth" and self.is_due(stamp)

    def take_turn(self, turn: RangeTurn) -> bool:
        """Integrate a scan selected by `needs`. Return whether the map has jumped.

        If movers are tracked, every scan updates their tracks, and only scans with new information are
        integrated.
        """
        map_from_odom, mapper = turn.map_from_odom, self.mapper
        map_from_sensor = map_from_odom @ turn.odom_from_sensor
        if self.config.movers.enabled:
            passed = (
                turn.unmet if isinstance(turn, ScannerTurn) and self.config.scan.free_without_return else None
            )
            self.movers.take(
                turn.stamp, turn.points, turn.odom_from_sensor, map_from_odom, turn.odom_from_base, passed
            )
            if not self._is_new(turn.stamp, map_from_sensor):
                return False
        jumped = mapper.follow(map_from_odom, turn.odom_from_sensor, turn.stamp)
        if isinstance(turn, LidarTurn):
            assert isinstance(mapper, OctoMapper)
            mapper.insert_points(turn.points, map_from_sensor, map_from_odom @ turn.odom_from_base)
        else:
            assert isinstance(mapper, ScanGridMapper)
            mapper.insert_scan(turn.ranges, *turn.angles, turn.range_max, map_from_sensor)
        self._place = map_from_sensor[:3, 3]
        if self._ways.laid(turn.stamp):
            self._ways.look(map_from_sensor, turn.points, turn.stamp)
        self._project(turn.stamp, jumped)
        return jumped

    def take_depth(self, frame: RgbdFrame, odom_from_base: np.ndarray | None = None) -> bool:
        """Integrate a depth image selected by `wants_depth`. Return whether the map has jumped."""
        assert isinstance(self.mapper, OctoMapper)
        jumped = self.mapper.follow(frame.map_from_odom, frame.odom_from_camera, frame.stamp)
        base = None if odom_from_base is None else frame.map_from_odom @ odom_from_base
        self.mapper.insert_depth(frame, base)
        self._place = frame.map_from_camera[:3, 3]
        if self._ways.laid(frame.stamp):
            self._ways.look(frame.map_from_camera, self.mapper.depth_points(frame), frame.stamp)
        self._project(frame.stamp, jumped)
        return jumped

    def _project(self, stamp: float, jumped: bool) -> None:
        if jumped:
            self._due.reset()
        if self._due.due(stamp):
            self._show(stamp)

    def _show(self, stamp: float) -> None:
        """Project the grid and draw the closed ways on it."""
        grid = self.mapper.project(stamp)
        if self.config.source == "slam":
            if self._slam is None:
                return
            grid = _on_slam(self._slam, grid, self.mapper)
        self._projected = grid
        self._lay_ways()


def _on_slam(slam: OccupancyGrid2D, points: OccupancyGrid2D, mapper: Mapper) -> OccupancyGrid2D:
    """Return SLAM's map with the obstacles of `points`.

    If the mapper senses the floor, only cells where `points` shows floor are free.
    """
    seen = isinstance(mapper, OctoMapper) and mapper.sees_drop_offs
    return confirmed_by(slam, points) if seen else overlay_obstacles(slam, points)
