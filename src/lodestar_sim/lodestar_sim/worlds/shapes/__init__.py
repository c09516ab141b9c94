"""Parametric shapes, by the name that a mesh reference uses."""

from lodestar_sim.worlds.shapes.design import SHAPES, Design
from lodestar_sim.worlds.shapes import beds, seats, storage, tables  # noqa: F401, I001  (they register themselves)

__all__ = ["SHAPES", "Design"]
