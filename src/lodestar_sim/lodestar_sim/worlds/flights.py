"""Straight flights of stairs between two storeys."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lodestar_sim.worlds.elements import Ramp
from lodestar_sim.worlds.errors import WorldError
from lodestar_sim.worlds.mesh import Assembly, Mesh
from lodestar_sim.worlds.terrain import CLIMB

LABEL = "stairs"
_SIDE = 0.05  # m, a cell of the terrain


@dataclass(frozen=True)
class Flight:
    """A straight flight in map, metres, which rises along `along` ("x" or "y") from z0 to z1.

    id: of its triangles, for labels. Raises WorldError for steps that are higher than a Go2 climbs.
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
        """Return the ramp through the edges of the steps, on which the feet of a robot's gait are on average.

        It reaches a cell of the terrain into the walls at its sides, so that what ends there lies on it.
        """
        if self.along == "y":
            return Ramp(
                self.x0 - _SIDE, self.y0 - self.tread, self.x1 + _SIDE, self.y1, self.z0, self.z1, "y"
            )
        return Ramp(self.x0 - self.tread, self.y0 - _SIDE, self.x1, self.y1 + _SIDE, self.z0, self.z1, "x")

    def shifted(self, dz: float) -> Flight:
        """Return the flight `dz` metres higher."""
        return replace(self, z0=self.z0 + dz, z1=self.z1 + dz)

    def mesh(self) -> Mesh:
        """Return its solid steps."""
        assembly = Assembly("gray", "concrete")
        for step in range(self.steps - 1):
            near, far = step * self.tread, (step + 1) * self.tread
            top = self.z0 + (step + 1) * self.rise
            if self.along == "y":
                assembly.box((self.x0, self.y0 + near, self.z0), (self.x1, self.y0 + far, top))
            else:
                assembly.box((self.x0 + near, self.y0, self.z0), (self.x0 + far, self.y1, top))
        return assembly.mesh()
