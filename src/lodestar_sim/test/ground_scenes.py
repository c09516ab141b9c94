"""Simulators in buildings with ramps and stairs, for tests of the ground and of its map."""

from __future__ import annotations

import numpy as np

from lodestar_sim.robot import RobotConfig
from lodestar_sim.simulator import SimConfig, Simulator

BODY = 0.32  # m, height of base_link of a standing Go2 above the ground


def simulator(world, start, base_height=0.0) -> Simulator:
    return Simulator(world, SimConfig(robot=RobotConfig(base_height=base_height)), 1, start)


def opening(world) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and the highest corner, (2,) each, of the drop-offs in plan."""
    cells = np.argwhere(world.terrain.drops)[:, ::-1] * 0.05
    return cells.min(axis=0) + world.terrain.origin, cells.max(axis=0) + 0.05 + world.terrain.origin
