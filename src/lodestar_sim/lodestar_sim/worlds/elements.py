"""Records of what a building is made of: walls, floors, ceilings, ramps and what is painted on floors."""

from __future__ import annotations

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
    """A sloping rectangle of floor, metres: at height z0 where `along` ("x" or "y") begins and z1 where it ends."""

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
    """A flat mark on the floor: an ellipse of `size` (x, y) about `center`. `id` is unique among objects too."""

    id: int
    category: str
    caption: str
    color: str
    material: str
    center: tuple[float, float]
    size: tuple[float, float]
