"""Eyes of a detector: the probability that it detects a thing of some kind, size and distance that is in view."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.stats import norm

from lodestar.models.kinship import kind_of
from lodestar.perception.measured_noise import MeasuredNoise, measured_noise

EYES_RATE = 0.95  # of a detector that was not measured, for a thing in clear view (ours)
# square root of its pixels in an image 640 wide for that; below, the chance falls in proportion (ours)
EYES_CLEAR = 12.0
EYES_SIZE = 0.3  # m, longest side of things of a kind without a prior (ours)
EYES_FILLED = 0.6  # square root of a thing's area in an image over its longest side there; chosen
# What is not known of a thing before it is found: its size, as a factor of its kind's, and by how much the logit of its
# chance lies above the pooled one where its class was not measured. Three cases of equal probability; chosen: half of
# the spread of the measured classes. What lasts of a thing's misses (`MeasuredNoise.lasting`) follows them, too.
EYES_CASES = ((0.75, -1.0), (1.0, 0.0), (1.3, 1.0))
EYES_LASTING = (1.09, 0.0, -1.09)  # means of the thirds of a normal distribution
EYES_FOCAL = 381.0  # pixels, of a camera of 80 degrees and 640 pixels; chosen: the simulated Go2's


@dataclass(frozen=True)
class Eyes:
    """Chances of one detector. measured: its error statistics; None = it was not measured."""

    measured: MeasuredNoise | None = None

    def chance(self, label: str, pixels: float, distance: float | None = None) -> float:
        """Return the probability, (0, 1), that a thing in view is detected.

        pixels: square root of its area in an image 640 wide. distance: metres, None = unknown.
        """
        if self.measured is not None:
            return self.measured.chance(self._named(label), pixels, distance)
        return min(max(EYES_RATE * pixels / EYES_CLEAR, 1e-4), EYES_RATE)

    def _named(self, label: str) -> str:
        """Return a label of the same kind whose class was measured; the label itself if there is none."""
        assert self.measured is not None
        if self.measured.knows(label):
            return label
        kind = kind_of(label)
        return next(
            (one for one in (*self.measured.offsets, *self.measured.kinds) if kind_of(one) == kind), label
        )

    def chance_from(self, label: str, size: float, distance: float) -> float:
        """Return the same for a thing whose longest side is `size`, metres (NaN = unknown), at `distance`, metres."""
        side = size if size > 0.0 else EYES_SIZE
        return self.chance(label, EYES_FILLED * side * EYES_FOCAL / max(distance, 0.1), distance)

    def cases(
        self, label: str, size: float, distances: Sequence[float], is_found: bool = False
    ) -> np.ndarray:
        """Return the chances (cases, N) of a thing whose size and recall are unknown, from N distances, metres, for
        each of the EYES_CASES. size: longest side of its kind, metres, NaN = unknown. is_found: it was found, so that
        what lasts of misses does not hide it.
        """
        side = size if size > 0.0 else EYES_SIZE
        chances = np.array([[self.chance_from(label, f * side, d) for d in distances] for f, _ in EYES_CASES])
        if self.measured is None:
            return chances
        if not self.measured.knows(self._named(label)):
            factors = np.exp([[shift] for _, shift in EYES_CASES])  # of the odds
            chances = factors * chances / (1.0 - chances + factors * chances)
        lasting = 0.0 if is_found else min(self.measured.lasting, 0.99)
        if lasting > 0.0:
            missed = (math.sqrt(lasting) * np.array(EYES_LASTING)[:, None] - norm.ppf(chances)) / math.sqrt(
                1.0 - lasting
            )
            chances = norm.sf(missed)
        return np.asarray(chances)


@lru_cache(maxsize=8)
def eyes_of(name: str) -> Eyes:
    """Return the eyes of a measured detector (`perception/measured/`); "" = one that was not measured.

    Raises ValueError for an unknown name.
    """
    return Eyes(measured_noise(name) if name else None)
