"""Straight flights of stairs between two storeys."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lodestar_sim.worlds.elements import Ramp
from lodestar_sim.worlds.errors import WorldError
from lodestar_sim.worlds.mesh import Assembly, Mesh
from lodestar_sim.worlds.terrain import CLIMB

LABEL = "stairs"
_SIDE = 0.05  # m, cell size of the terrain


@dataclass(frozen=True)
class Flight:
    """A straight flight of stairs in map, metres, which rises along `along` ("x" or "y") from z0 to z1.

    id: object id of its triangles, for labels. Raises WorldError if the steps are too high for a Go2.
    """

    id: int
    x0: float
    y0: float
    x1: float
    y1: float
    z0: float
    z1: float
    steps: int
    along: str = "y"

    def __post_init__(self) -> None:
        if self.steps < 2 or self.rise > CLIMB:
            raise WorldError(f"a flight with steps of {self.rise:.2f} m is too steep; at most {CLIMB:.2f} m")

    @property
    def rise(self) -> float:
        """Return the height of a step, metres."""
        return (self.z1 - self.z0) / self.steps

    @property
    def tread(self) -> float:
        """Return the depth of a step, metres; the last riser ends at the upper floor."""
        length = self.y1 - self.y0 if self.along == "y" else self.x1 - self.x0
        return length / (self.steps - 1)

    @property
    def foot(self) -> tuple[float, float, float]:
        """Return the middle of the first riser's lower edge, metres."""
        if self.along == "y":
            return (self.x0 + self.x1) / 2.0, self.y0, self.z0
        return self.x0, (self.y0 + self.y1) / 2.0, self.z0

    @property
    def head(self) -> tuple[float, float, float]:
        """Return the middle of the last riser's upper edge, metres."""
        if self.along == "y":
            return (self.x0 + self.x1) / 2.0, self.y1, self.z1
        return self.x1, (self.y0 + self.y1) / 2.0, self.z1

    @property
    def slope(self) -> Ramp:
        """Return the ramp through the edges of the steps, the average height of a walking robot's feet.

        It extends one terrain cell into the walls at its sides, so that the boundary cells are covered.
        """
        if self.along == "y":
            return Ramp(
                self.x0 - _SIDE, self.y0 - self.tread, self.x1 + _SIDE, self.y1, self.z0, self.z1, "y"
            )
        return Ramp(self.x0 - self.tread, self.y0 - _SIDE, self.x1, self.y1 + _SIDE, self.z0, self.z1, "x")

    def shifted(self, dz: float) -> Flight:
        """Return a copy of the flight, raised by `dz` metres."""
        return replace(self, z0=self.z0 + dz, z1=self.z1 + dz)

    def mesh(self) -> Mesh:
        """Return the mesh of the solid steps."""
        assembly = Assembly("gray", "concrete")
        for step in range(self.steps - 1):
            near, far = step * self.tread, (step + 1) * self.tread
            top = self.z0 + (step + 1) * self.rise
            if self.along == "y":
                assembly.box((self.x0, self.y0 + near, self.z0), (self.x1, self.y0 + far, top))
            else:
                assembly.box((self.x0 + near, self.y0, self.z0), (self.x0 + far, self.y1, top))
        return assembly.mesh()
