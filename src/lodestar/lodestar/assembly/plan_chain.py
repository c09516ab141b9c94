"""From ranges or depth to the plan grid, at the rates of the mapping node."""

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
from lodestar.mapping.grid_file import VERSIONS, Mapper, grid_archive, resume_odometry
from lodestar.mapping.octomap import OctoMapper
from lodestar.mapping.range_movers import RangeMovers
from lodestar.mapping.scan_grid import ScanGridMapper
from lodestar.mapping.turn_filter import TurnFilter
from lodestar.perception.frames import RgbdFrame
from lodestar.storage.archive import Archive
from lodestar.storage.saved_map import GRID, ArchivePart
from lodestar.timing.stamps import Periodic
from lodestar.worldmodel.amendments import ClosedWay
from lodestar.worldmodel.closed_ways import WayOverlay


class PlanChain:
    """Mapper, turn filter, movers, closed ways and the grid that was projected last. `movers` follows whom the turns
    show, also those turns that the mapper needs not.

    Not safe for threads, but for `take_slam` and `opened_ways`, which each do one thing, and for `is_due` and
    `restart_clock`, which may be called on another thread (one for both) while an input is taken: what had been
    noted of inputs before is then forgotten with the next one.

    Poses are (4, 4). `take_turn` and `take_depth` return whether the map has jumped, and raise ValueError for a pose
    that is not finite or lies out of bounds. `grid` is another object whenever it was projected or ways were laid over
    it. With the source slam it stays empty until `take_slam`.
    """

    def __init__(self, config: MappingConfig) -> None:
        self.config = config
        self.mapper: Mapper = plan_mapper(config)
        self._turns = TurnFilter(config.thinning)
        planar = config.source == "scan"
        near = max(config.movers.near, config.scan.min_range if planar else config.octomap.min_range)
        feet = None if planar else config.octomap.floor.base_height
        self.movers = RangeMovers(replace(config.movers, near=near), config.motion, config.body, feet)
        self._due = Periodic(config.grid_period)
        self._ways = WayOverlay(config.ways)
        self._slam: OccupancyGrid2D | None = None
        self._place: np.ndarray | None = None  # (3,) of the sensor in map
        self._projected = self.mapper.project(0.0)  # without the closed ways
        self.grid: OccupancyGrid2D = self._projected

    def use(self, mapper: Mapper, now: Callable[[], float]) -> Callable[[], None]:
        """Take another mapper into use, and project its grid at once; return what takes that back."""
        former, self.mapper = self.mapper, mapper
        self._show(now())

        def take_back() -> None:
            self.mapper = former
            self._show(now())

        return take_back

    def resume(self, archive: Archive, stamp: float) -> bool:
        """Go on from a predecessor's mapper; the odometry is the same. Raises ForeignFile."""
        self.use(resume_odometry(self._fitting(archive), archive), lambda: stamp)
        return True

    def part(
        self,
        now: Callable[[], float],
        kept: Callable[[], object] = lambda: None,
        put: Callable[[Mapper], Callable[[], object]] | None = None,
        lock: AbstractContextManager[Any] | None = None,
    ) -> ArchivePart[Mapper]:
        """Return the part of a saved map. put: by default `use`. lock: held while the mapper is copied."""

        def capture() -> Archive:
            with lock or nullcontext():
                return grid_archive(self.mapper, now())

        put = put or (lambda mapper: self.use(mapper, now))
        return ArchivePart(GRID, VERSIONS, capture, self._fitting, put, kept, is_optional=True)

    def _fitting(self, archive: Archive) -> Mapper:
        return plan_mapper_from(self.config, archive.kind, archive.arrays)

    def restart_clock(self) -> None:
        """Accept the next input: the clock went back."""
        self._turns.restart_clock()
        self.movers.restart_clock()

    def take_slam(self, grid: OccupancyGrid2D) -> None:
        """Note SLAM's map, for the next projection; it counts for the source slam only."""
        self._slam = grid

    @property
    def waits_for_slam(self) -> bool:
        """Return whether there is no plan for want of SLAM's map."""
        return self.config.source == "slam" and self._slam is None

    @property
    def opened_ways(self) -> frozenset[ClosedWay]:
        """Return the closed ways that were opened by sight."""
        return self._ways.opened

    @property
    def ways(self) -> tuple[ClosedWay, ...]:
        """Return the newest list of closed ways."""
        return self._ways.ways

    def follow_ways(self, ways: Iterable[ClosedWay]) -> None:
        """Lay these closed ways over the grid from now on, in place of the former ones."""
        if self._ways.follow(ways):
            self._lay_ways()

    def _lay_ways(self) -> None:
        self.grid = self._ways.laid_over(self._projected, self._place)

    def is_due(self, stamp: float) -> bool:
        """Return whether an input of the configured sensor is due; counts it if so."""
        return self._turns.due(stamp)

    def needs(self, stamp: float, map_from_sensor: np.ndarray) -> bool:
        """Return whether a turn that is due is needed: each one where movers are followed, else one that shows
        something new from this pose, which counts as taken.
        """
        return self.config.movers.enabled or self._is_new(stamp, map_from_sensor)

    def _is_new(self, stamp: float, map_from_sensor: np.ndarray) -> bool:
        return self._turns.takes(stamp, map_from_sensor[:3, 3])

    def wants_turn(self, stamp: float, map_from_sensor: np.ndarray) -> bool:
        """Return whether to take a LiDAR or scanner turn from this pose; counts the turn as taken."""
        return self.config.source != "depth" and self.is_due(stamp) and self.needs(stamp, map_from_sensor)

    def wants_depth(self, stamp: float) -> bool:
        """Return whether to integrate a depth image; counts it as taken."""
        return self.config.source == "depth" and self.is_due(stamp)

    def take_turn(self, turn: RangeTurn) -> bool:
        """Integrate a turn of the configured sensor; `needs` selects the turns. Where movers are followed, that is done
        with each turn, and those that show something new are integrated.
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
        """Integrate a depth image; `wants_depth` selects the images."""
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
        """Project the grid, and lay the closed ways over it."""
        grid = self.mapper.project(stamp)
        if self.config.source == "slam":
            if self._slam is None:
                return
            grid = _on_slam(self._slam, grid, self.mapper)
        self._projected = grid
        self._lay_ways()


def _on_slam(slam: OccupancyGrid2D, points: OccupancyGrid2D, mapper: Mapper) -> OccupancyGrid2D:
    """Return SLAM's map with the obstacles in the points; with a floor layer, free only where they show floor."""
    seen = isinstance(mapper, OctoMapper) and mapper.sees_drop_offs
    return confirmed_by(slam, points) if seen else overlay_obstacles(slam, points)
