"""Configuration of the rule by which a CHECK answers that an object is absent."""

from __future__ import annotations

from dataclasses import dataclass

# probability that the object is there from which a finished search gives no answer (ours)
ABSENCE_UNSURE = 0.3


@dataclass(frozen=True)
class AbsenceConfig:
    """Largest probability that the object is there with which a CHECK may answer "no" before the whole floor
    was looked at.
    """

    bound: float = 0.12  # probability that the object is there up to which the answer is no (ours)
