"""Energy budget from the battery's state."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from sensor_msgs.msg import BatteryState

from lodestar.grid.energy import EnergyBudget
from lodestar_ros import qos
from lodestar_ros.node import LodestarNode


@dataclass(frozen=True)
class BatteryConfig:
    """Range of the battery and place of the charger."""

    full_range: float = 0.0  # metres that a full battery drives, 0 = no energy limit; to be set for the robot
    reserve: float = 5.0  # metres that are never planned with; chosen
    charger_x: float = math.nan  # metres in map, NaN = the robot's first position
    charger_y: float = math.nan  # likewise


def budget_of(percentage: float, config: BatteryConfig) -> EnergyBudget | None:
    """Return the budget of a charge in [0, 1]; None for an invalid charge (not measured, or out of range)."""
    if not (math.isfinite(percentage) and 0.0 <= percentage <= 1.0):
        return None
    known = math.isfinite(config.charger_x) and math.isfinite(config.charger_y)
    charger = (config.charger_x, config.charger_y) if known else None
    return EnergyBudget(percentage * config.full_range, charger, config.reserve)


class BatteryInput:
    """Budgets from a battery's messages. Subscribes: ``battery``, if a full battery's range is configured."""

    def __init__(
        self, node: LodestarNode, config: BatteryConfig, on_budget: Callable[[EnergyBudget], None]
    ) -> None:
        self._config, self._on_budget, self._node = config, on_budget, node
        if config.full_range > 0.0:
            node.listen(BatteryState, "battery", self._on_battery, qos.SENSOR)

    def _on_battery(self, message: BatteryState) -> None:
        budget = budget_of(message.percentage, self._config)
        if budget is None:
            self._node.diagnostics.status(
                f"battery percentage {message.percentage} is not in [0, 1]", ok=False
            )
        else:
            self._on_budget(budget)
