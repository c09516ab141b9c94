"""Input of the closed ways (segments that the robot must not cross) in the mapping node."""

from __future__ import annotations

from collections.abc import Callable, Sized

from lodestar.worldmodel.amendments import ClosedWay
from lodestar_interfaces.msg import ClosedWayArray
from lodestar_ros import qos
from lodestar_ros.conversions_world import ways_from_msg
from lodestar_ros.node import LodestarNode


class WayInput:
    """Keeps the newest list of closed ways, `told`. Subscribes: ``closed_ways``. opened(): returns the closed
    ways that the sensors have seen open.
    """

    def __init__(self, node: LodestarNode, opened: Callable[[], Sized]) -> None:
        self.told: tuple[ClosedWay, ...] = ()
        node.listen(ClosedWayArray, "closed_ways", self._on_ways, qos.LATCHED)
        node.diagnostics.value("closed_ways", lambda: len(self.told))
        node.diagnostics.value("closed_ways.seen_open", lambda: len(opened()))

    def _on_ways(self, message: ClosedWayArray) -> None:
        self.told = ways_from_msg(message)
