"""From ranges or depth to the plan grid, at the rates of the mapping node."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from lodestar.assembly.config import MappingConfig
from lodestar.assembly.mapping_parts import plan_mapper, turn_filter, way_overlay
from lodestar.assembly.periods import Periodic
from lodestar.assembly.range_turns import LidarTurn, RangeTurn
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.mapping.octomap import OctoMapper
from lodestar.mapping.scan_grid import ScanGridMapper
from lodestar.perception.frames import RgbdFrame
from lodestar.worldmodel.amendments import ClosedWay


class PlanChain:
    """Mapper, turn filter, closed ways and the grid that was projected last.

    Poses are (4, 4). Each `take_...` returns whether the map has jumped, and raises ValueError for a pose that is not
    finite or lies out of bounds.
    """

    def __init__(self, config: MappingConfig) -> None:
        self.config = config
        self.mapper: OctoMapper | ScanGridMapper = plan_mapper(config)
        self._turns = turn_filter(config)
        self._due = Periodic(config.grid_period)
        self._ways = way_overlay(config)
        self._place: np.ndarray | None = None  # (3,) of the sensor in map
        self._projected = self.mapper.project(0.0)  # without the closed ways
        self.grid: OccupancyGrid2D = self._projected

    def go_on_with(self, mapper: OctoMapper | ScanGridMapper, stamp: float) -> None:
        """Replace the mapper, and project its grid at once."""
        self.mapper = mapper
        self.grid = self._projected = mapper.project(stamp)
        self._lay_ways()

    def follow_ways(self, ways: Iterable[ClosedWay]) -> None:
        """Lay these closed ways over the grid from now on, in place of the former ones."""
        if self._ways.follow(ways):
            self._lay_ways()

    def _lay_ways(self) -> None:
        self.grid = self._ways.laid_over(self._projected, self._place)

    def wants_turn(self, stamp: float, map_from_sensor: np.ndarray) -> bool:
        """Return whether to integrate a LiDAR or scanner turn from this pose; counts the turn as taken."""
        if self.config.source == "depth":
            return False
        return self._turns.due(stamp) and self._turns.takes(stamp, map_from_sensor[:3, 3])

    def take_turn(self, turn: RangeTurn) -> bool:
        """Integrate a turn of the configured sensor; `wants_turn` selects the turns."""
        map_from_odom, mapper = turn.map_from_odom, self.mapper
        jumped = mapper.follow(map_from_odom, turn.odom_from_sensor)
        map_from_sensor = map_from_odom @ turn.odom_from_sensor
        if isinstance(turn, LidarTurn):
            assert isinstance(mapper, OctoMapper)
            base = None if turn.odom_from_base is None else map_from_odom @ turn.odom_from_base
            mapper.insert_points(turn.points, map_from_sensor, base)
        else:
            assert isinstance(mapper, ScanGridMapper)
            mapper.insert_scan(turn.ranges, *turn.angles, turn.range_max, map_from_sensor)
        self._place = map_from_sensor[:3, 3]
        if self._ways.laid(turn.stamp):
            self._ways.look(map_from_sensor, turn.points, turn.stamp)
        self._project(turn.stamp, jumped)
        return jumped

    def take_depth(self, frame: RgbdFrame, odom_from_base: np.ndarray | None = None) -> bool:
        """Integrate a depth image if depth is the source and the image is due."""
        if self.config.source != "depth" or not self._turns.due(frame.stamp):
            return False
        assert isinstance(self.mapper, OctoMapper)
        jumped = self.mapper.follow(frame.map_from_odom, frame.odom_from_camera)
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
            self._projected = self.mapper.project(stamp)
            self._lay_ways()
