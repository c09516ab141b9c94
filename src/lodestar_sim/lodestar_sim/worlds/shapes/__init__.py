"""Parametric shapes by the name used in mesh references; each module registers its own."""

from lodestar_sim.worlds.shapes import (
    appliances,
    beds,
    beings,
    devices,
    industrial,
    panels,
    seats,
    small,
    storage,
    tables,
    turned,
)
from lodestar_sim.worlds.shapes.design import SHAPES, Design

__all__ = [
    "SHAPES",
    "Design",
    "appliances",
    "beds",
    "beings",
    "devices",
    "industrial",
    "panels",
    "seats",
    "small",
    "storage",
    "tables",
    "turned",
]
