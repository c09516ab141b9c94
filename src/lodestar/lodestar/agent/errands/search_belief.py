"""The belief about a thing that a search has not found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SearchBelief:
    """Belief after a search without a find.

    present: probability that the thing is there. missed: that it would have been missed so far, if it were there.
    share: of the floor that the robot can come to. open_area: m^2 that open edges of the map are taken to hide.
    barred_area: m^2 of known floor that no way leads to and that was not looked at.
    """

    present: float
    missed: float
    share: float
    open_area: float
    barred_area: float

    def in_words(self) -> str:
        """Return how sure it is that the thing is not there, and what was not looked at, as sentences."""
        sure = f"I am {100.0 * (1.0 - self.present):.0f} % sure of it."
        return f"{sure} {self.left_in_words()}".rstrip()

    def left_in_words(self) -> str:
        """Return what was not looked at, as a sentence; "" where it is little."""
        left = (
            [f"about {self.open_area:.0f} m2 behind open edges of the map"] if self.open_area >= 1.0 else []
        )
        left += [f"{self.barred_area:.0f} m2 that no way leads to"] if self.barred_area >= 1.0 else []
        return f"Not looked at: {' and '.join(left)}." if left else ""
