"""Configuration of the room belief."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BeliefConfig:
    """Weights of the kind of room and of nearby objects in the belief of where the target is
    (docs/measurements/room-belief.md).
    """

    # exponent of the likelihood ratio from nearby objects; measured on rooms of nr3d_dev (fit)
    near_trust: float = 3.4
    room_trust: float = 0.2  # exponent of the likelihood ratio from the kind of room; measured likewise
    # factor of an object's evidence for the kind of its room; measured likewise
    evidence_trust: float = 0.6
    plate_trust: float = 0.9  # probability that a room is what its plate says; `scene.regions.ON_PLATE`
    bounds: tuple[float, float] = (0.1, 10.0)  # of a weight; chosen

    def __post_init__(self) -> None:
        """Raise ValueError for negative weights, or probabilities and bounds out of range."""
        if min(self.near_trust, self.room_trust, self.evidence_trust) < 0.0:
            raise ValueError("near_trust, room_trust and evidence_trust must not be negative")
        if not 0.0 <= self.plate_trust <= 1.0:
            raise ValueError("plate_trust must be from 0 to 1")
        if not 0.0 < self.bounds[0] <= 1.0 <= self.bounds[1]:
            raise ValueError("bounds must be positive and have 1 between them")
