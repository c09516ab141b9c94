"""Numbers of the world model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ValidationConfig:
    """Limits of the validation of traces. A belief fails only when it is clearly wrong, because boxes are noisy."""

    chi_square: float = 11.34  # of eq. 9: 3 degrees of freedom at 0.99 (VLM-DEWM B.5 leaves it open; ours)
    near: float = 2.0  # m between boxes, d_near of VLM-DEWM D.2; queries ask for less (ours)
    contact: float = 0.3  # m from a support's top up to a thing on it, epsilon_contact of D.2 (ours)
    slack: float = 0.3  # m by which a box may stick out of what it is on or in (ours)
    max_beliefs: int = 50  # of one trace (ours)
    max_age: float = 30.0  # s between a trace's stamp and its validation (ours)

    def __post_init__(self) -> None:
        if (
            min(self.chi_square, self.near, self.contact, self.slack, self.max_age) <= 0.0
            or self.max_beliefs < 1
        ):
            raise ValueError("the limits of the validation must be above 0")
