"""Fake robot that walks over floors, for tests of `FloorStack`."""

from __future__ import annotations

import math

import numpy as np

from lodestar.assembly.config import MappingConfig
from lodestar.assembly.floor_stack import FloorStack
from lodestar.assembly.plan_chain import PlanChain
from lodestar.assembly.range_turns import LidarTurn
from lodestar.floors.config import FloorsConfig
from lodestar.geometry.poses import make_transform, planar_transform
from lodestar.grid.occupancy import UNKNOWN as UNSEEN
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.storage.saved_map import SavedMap

STEP = 0.2  # s per step
SLOPE = math.atan(0.52)
MOUNT = planar_transform(0.0, 0.0, 0.0, 0.5)


class Walker:
    """Feeds a stack with the poses and scans of a robot; each floor has different walls."""

    def __init__(self, things: int = 60, config: FloorsConfig | None = None) -> None:
        self.things = things  # number of objects on a floor
        self.plan = PlanChain(MappingConfig())
        self.stack = FloorStack(config or FloorsConfig(stairs=True), self.plan)
        self.now, self.x, self.z, self.walls, self.floor = 0.0, 0.0, 0.0, 0, 0.0
        self.map_from_odom = np.eye(4)

    def be(self, x: float, z: float, tilt: float = 0.0, walls: int = 0) -> None:
        """Stand at (x, 0, z) for STEP seconds and take a scan. walls: seed of the objects on this floor."""
        self.now += STEP
        self.x, self.z = x, z
        c, s = math.cos(tilt), math.sin(tilt)
        base = make_transform(np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]]), (x, 0.0, z))
        odom_from_map = np.linalg.inv(self.map_from_odom)
        self.stack.follow(self.map_from_odom, odom_from_map @ base @ MOUNT, self.now)
        self.stack.observe(self.now, base)
        if not self.stack.rests:
            rng = np.random.default_rng(walls)
            middles = rng.uniform((-11.0, -3.0), (11.0, 3.0), (self.things, 2))
            turns = rng.uniform(0.0, math.pi, self.things)
            ends = 0.3 * np.column_stack([np.cos(turns), np.sin(turns)])
            plan = np.vstack([middles + share * ends for share in np.linspace(-1.0, 1.0, 7)])
            points = np.vstack([np.column_stack([plan, np.full(len(plan), h)]) for h in (0.2, 0.4)])
            sensor = base @ MOUNT
            up = np.array([0.0, 0.0, self.floor])
            seen = (points + up - sensor[:3, 3]) @ sensor[:3, :3]
            drifted = odom_from_map @ sensor, self.map_from_odom, odom_from_map @ base
            self.plan.take_turn(LidarTurn(self.now, seen.astype(np.float32), *drifted))

    def stay(self, walls: int, seconds: float = 4.0) -> None:
        self.walls, self.floor = walls, self.z
        for i in range(int(seconds / STEP)):
            self.be(self.x + 0.001 * i, self.z, walls=walls)

    def drift(self, metres: float, turn: float, share: float) -> None:
        """Walk to and fro with odometry that drifts by radians and metres per metre, corrected by map <- odom."""
        x, pace = self.x, 0.25
        for i in range(int(metres / pace)):
            self.map_from_odom = self.map_from_odom @ planar_transform(0.0, share * pace, turn * pace)
            self.be(x + pace * (8 - abs(8 - i % 16)), self.z, walls=self.walls)
        self.be(x, self.z, walls=self.walls)

    def climb(self, rise: float, walls: int) -> None:
        """Walk up or down a flight of stairs, and stand on the level beyond."""
        steps = int(abs(rise) / 0.05)
        x, z = self.x, self.z
        for i in range(1, steps + 1):
            self.be(x + 0.05 * i / 0.52 * math.copysign(1.0, rise), z + rise * i / steps, SLOPE, self.walls)
        self.stay(walls)


def kept(now: OccupancyGrid2D, before: OccupancyGrid2D) -> bool:
    """Return whether nearly all known cells are unchanged, on a grid that may have grown."""
    known = np.argwhere(before.cells != UNSEEN)
    cells = now.cells_of(before.points_of(known))
    same = now.cells[cells[:, 0], cells[:, 1]] == before.cells[known[:, 0], known[:, 1]]
    return bool(same.mean() > 0.95)


def saved(robot: Walker) -> SavedMap:
    return SavedMap.of([robot.stack.part(lambda: robot.now)])
