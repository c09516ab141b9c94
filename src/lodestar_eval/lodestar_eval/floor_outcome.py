"""Outcome of a search in a building of two storeys."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FloorOutcome:
    """Outcome of one search. start, target, end: storeys of robot start, target and robot end, 0 = lower.
    named: the robot's report names the storey of the found object.

    shortest, path: metres. crossings: number of changes of storey.
    """

    seed: int
    world: str
    directive: str
    start: int
    target: int
    end: int
    success: bool
    claimed: bool
    named: bool
    falls: int
    collisions: int
    crossings: int
    duration: float
    path: float
    shortest: float
    cpu: float
    message: str

    @property
    def spl(self) -> float:
        """Return success weighted by path length (Anderson et al. 2018)."""
        return self.shortest / max(self.path, self.shortest) if self.success and self.shortest > 0.0 else 0.0
