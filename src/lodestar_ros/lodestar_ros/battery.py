"""The battery's state as metres that the robot can still drive."""

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
    """full_range: metres that a full battery drives, 0 = energy is never a reason. reserve: metres that are never
    planned with. charger_x, charger_y: metres in map, not a number = where the robot was first.
    """

    full_range: float = 0.0
    reserve: float = 5.0
    charger_x: float = math.nan
    charger_y: float = math.nan


def budget_of(percentage: float, config: BatteryConfig) -> EnergyBudget | None:
    """What a charge in [0, 1] affords; None where it is no charge (not measured, or out of range)."""
    if not (math.isfinite(percentage) and 0.0 <= percentage <= 1.0):
        return None
    known = math.isfinite(config.charger_x) and math.isfinite(config.charger_y)
    charger = (config.charger_x, config.charger_y) if known else None
    return EnergyBudget(percentage * config.full_range, charger, config.reserve)


class BatteryInput:
    """Budgets from a battery's messages. Subscribes: ``battery``, where a full battery's range is configured."""

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
