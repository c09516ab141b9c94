"""Energy budget from battery messages."""

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
    """Range of a full battery, reserve, and place of the charger, metres."""

    full_range: float = 0.0  # metres that a full battery drives, 0 = no energy limit; to be set for the robot
    reserve: float = 5.0  # metres that are never planned with; chosen
    charger_x: float = math.nan  # metres in map, NaN = the robot's first position
    charger_y: float = math.nan  # likewise


def budget_of(percentage: float, config: BatteryConfig) -> EnergyBudget | None:
    """Return the metres that the robot can drive with a charge in [0, 1], as an energy budget; None for an
    invalid charge (not measured, or out of range).
    """
    if not (math.isfinite(percentage) and 0.0 <= percentage <= 1.0):
        return None
    known = math.isfinite(config.charger_x) and math.isfinite(config.charger_y)
    charger = (config.charger_x, config.charger_y) if known else None
    return EnergyBudget(percentage * config.full_range, charger, config.reserve)


class ChargeReader:
    """Reads charges in [0, 1] from battery messages, also from drivers that publish 0 to 100.

    A percentage above 1 shows that the driver publishes percents; from then on 1.0 means one percent. If the percentage
    is missing, charge / capacity is used. warning: why the driver's values are suspicious, "" = they are not.
    """

    def __init__(self) -> None:
        self.warning = ""
        self._scale = 1.0  # value of a full battery: 1, or 100 for a driver that publishes percents
        self._beyond: set[float] = set()  # percentages above 100; a single value means "unknown"

    def share(self, message: BatteryState) -> float:
        """Return the charge in [0, 1]; NaN where the message has none."""
        told = float(message.percentage)
        measured = _measured(message)
        if math.isfinite(measured) and (math.isnan(told) or told == 0.0):  # the percentage is missing
            return measured
        if math.isfinite(told) and told > _PERCENT * _OVER:
            self._beyond.add(told)
            if len(self._beyond) == 2:
                self.warning = (
                    f"battery percentages such as {told:g} are neither 0 to 1 nor 0 to 100: none is used; correct the "
                    "driver (sensor_msgs/BatteryState: 0 to 1)"
                )
        if not told >= 0.0 or told > _PERCENT * _OVER or len(self._beyond) > 1:
            return math.nan
        if told > _ROUNDED and self._scale == 1.0:
            self._scale = _PERCENT
            self.warning = (
                f"battery percentage {told:g}: the driver tells 0 to 100, which is read as percent; "
                "sensor_msgs/BatteryState asks for 0 to 1"
            )
        return min(told / self._scale, 1.0)


_PERCENT = 100.0
_OVER = 1.05  # greatest valid charge as a multiple of a full battery; chosen
_ROUNDED = 1.001  # greatest share that is still read as a rounded 1.0; chosen


def _measured(message: BatteryState) -> float:
    """Return charge / capacity, NaN where either is missing or invalid."""
    for capacity in (message.capacity, message.design_capacity):
        if math.isfinite(capacity) and capacity > 0.0 and math.isfinite(message.charge):
            share = message.charge / capacity
            return min(share, 1.0) if 0.0 < share <= _OVER else math.nan
    return math.nan


class BatteryInput:
    """Computes energy budgets from battery messages. Subscribes: ``battery``, if a full battery's range is
    configured.
    """

    def __init__(
        self, node: LodestarNode, config: BatteryConfig, on_budget: Callable[[EnergyBudget], None]
    ) -> None:
        self._config, self._on_budget, self._node = config, on_budget, node
        self._charges = ChargeReader()
        if config.full_range > 0.0:
            node.listen(BatteryState, "battery", self._on_battery, qos.SENSOR)

    def _on_battery(self, message: BatteryState) -> None:
        known = self._charges.warning
        budget = budget_of(self._charges.share(message), self._config)
        if self._charges.warning != known:
            self._node.diagnostics.status(self._charges.warning, ok=False)
        elif budget is None:
            text = (
                self._charges.warning or f"battery percentage {message.percentage} is no charge from 0 to 1"
            )
            self._node.diagnostics.status(text, ok=False)
        if budget is not None:
            self._on_budget(budget)
