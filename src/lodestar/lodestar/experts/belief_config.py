"""Configuration of the room belief."""

from __future__ import annotations

from dataclasses import dataclass, field

from lodestar.language.config import PriorConfig


@dataclass(frozen=True)
class BeliefConfig:
    """Weight of rooms and of the things around a cell in the belief (docs/measurements/room-belief.md)."""

    spread: float = 1.5  # metres, sigma of an object's influence on the cells around it; chosen
    doubt: float = (
        1.0  # objects for which the average case counts where few are known; measured: 1 rather than 3
    )
    near_trust: float = (
        3.4  # power of the ratio that the objects around tell; measured on rooms of nr3d_dev (fit)
    )
    room_trust: float = 0.2  # power of the ratio that the kind of room tells; measured likewise
    evidence_trust: float = (
        0.6  # share of a kind of thing's evidence for the kind of its room; measured likewise
    )
    building_trust: float = (
        0.1  # the same for the kind of building; chosen: the things of a room depend on each other
    )
    plate_trust: float = 0.9  # probability that a room is what its plate says; `scene.regions.ON_PLATE`
    # metres, sigma around an object that the task names as near to the target, or that has the target's kind and look
    # but not (yet) its surroundings; chosen
    anchor_spread: float = 1.0
    anchor_weight: float = 5.0  # added to the weight at such an object; chosen
    bounds: tuple[float, float] = (0.1, 10.0)  # of a weight; chosen
    cell: float = 0.4  # metres, lattice on which the weights are computed; chosen
    prior: PriorConfig = field(default_factory=PriorConfig)

    def __post_init__(self) -> None:
        if min(self.spread, self.anchor_spread, self.cell, self.doubt) <= 0.0:
            raise ValueError("spread, anchor_spread, cell and doubt must be positive")
        if min(self.near_trust, self.room_trust, self.evidence_trust, self.building_trust) < 0.0:
            raise ValueError("near_trust, room_trust, evidence_trust and building_trust must not be negative")
        if not 0.0 <= self.plate_trust <= 1.0 or self.anchor_weight < 0.0:
            raise ValueError("plate_trust must be from 0 to 1, and anchor_weight not negative")
        if not 0.0 < self.bounds[0] <= 1.0 <= self.bounds[1]:
            raise ValueError("bounds must be positive and have 1 between them")
