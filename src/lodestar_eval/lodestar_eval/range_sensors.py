"""Range scans of the simulator for a robot's map; scans that the map skips are not simulated."""

from __future__ import annotations

from lodestar.assembly.config import MappingConfig
from lodestar.assembly.local_map import LocalMap, Stages, unmeasured
from lodestar.assembly.plan_chain import PlanChain
from lodestar.assembly.range_turns import LidarTurn, RangeTurn, ScannerTurn
from lodestar.geometry.poses import planar_transform
from lodestar_sim.simulator import Simulator


class RangeSensors:
    """Passes scans of the configured range sensor to a map chain, at the robot's estimated pose."""

    def __init__(self, simulator: Simulator, config: MappingConfig, stages: Stages = unmeasured) -> None:
        self._simulator, self._stages = simulator, stages
        self._planar = config.source == "scan"
        sensors = simulator.config.sensors
        height = sensors.scan.z if self._planar else sensors.lidar.z
        self._base_from_sensor = simulator.base_from_ground @ planar_transform(0.0, 0.0, 0.0, height)

    def give(self, chain: LocalMap | PlanChain) -> None:
        """Pass the current scan to the chain, if it needs one."""
        simulator, now = self._simulator, self._simulator.time
        if not chain.wants_turn(now, simulator.map_from_base @ self._base_from_sensor):
            return
        base = simulator.odom_from_base
        where = base @ self._base_from_sensor, simulator.map_from_odom, base
        with self._stages("ranges"):
            if self._planar:
                scan = simulator.scan()
                angles = scan.angle_min, scan.angle_increment
                turn: RangeTurn = ScannerTurn(now, scan.ranges, angles, scan.range_max, *where)
            else:
                turn = LidarTurn(now, simulator.lidar(), *where)
        chain.take_turn(turn)
