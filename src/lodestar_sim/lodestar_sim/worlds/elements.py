"""Records of a building's elements: walls, floors, ceilings, ramps, and marks painted on floors and walls."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Wall:
    """A structural box between two corners, metres."""

    x0: float
    y0: float
    x1: float
    y1: float
    z0: float
    z1: float
    color: str = "white"
    material: str = "plaster"


@dataclass(frozen=True)
class Slab:
    """A horizontal rectangle of floor (facing up) or ceiling (facing down), metres."""

    x0: float
    y0: float
    x1: float
    y1: float
    z: float
    color: str
    material: str
    ceiling: bool = False


@dataclass(frozen=True)
class Ramp:
    """A sloping rectangle of floor, metres, from height z0 to z1 in direction `along` ("x" or "y")."""

    x0: float
    y0: float
    x1: float
    y1: float
    z0: float
    z1: float
    along: str = "x"
    color: str = "gray"
    material: str = "concrete"


@dataclass(frozen=True)
class Decal:
    """A flat mark on the floor: an ellipse of `size` (x, y) about `center`. `id`: not used by an object."""

    id: int
    category: str
    caption: str
    color: str
    material: str
    center: tuple[float, float]
    size: tuple[float, float]


@dataclass(frozen=True)
class Sign:
    """A plate painted on a wall: it has a colour image and no geometry of its own.

    text: lines are separated by a line break. center: (x, y, z). yaw: of its normal. size: (width, height).
    letter_height: of a capital letter, metres. mirrored: painted in mirror writing, as seen in a mirror.
    room: id of the room named by the sign, 0 = none.
    """

    kind: str
    text: str
    center: tuple[float, float, float]
    yaw: float
    size: tuple[float, float]
    letter_height: float
    ink: str = "black"
    background: str = "white"
    mirrored: bool = False
    room: int = 0

    @property
    def normal(self) -> tuple[float, float, float]:
        """Return the unit normal in map, pointing out of the wall."""
        return math.cos(self.yaw), math.sin(self.yaw), 0.0
