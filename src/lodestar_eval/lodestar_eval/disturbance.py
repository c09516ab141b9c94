"""A small disturbance of every search that runs meanwhile, and how each of them ended.

`jitter` uses it around a run of tests: a search of a test is disturbed and noted without the test's doing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Ended:
    """The end of a search. code: error code, 0 = success. seconds: simulated. metres: of its path."""

    directive: str
    seed: int
    code: int
    seconds: float
    metres: float
    collisions: int


class Disturbance:
    """Moves the starts of searches by up to `metres`, and by as many radians; 0 is no disturbance.

    index: number of the disturbance; the same index is the same one. noise: whether the sensors and the detector draw
    other noise as well. around: one that comes on top, and notes the same searches. ended: the searches, in the order
    of their ends.
    """

    def __init__(
        self, index: int, metres: float = 1e-6, noise: bool = False, around: Disturbance | None = None
    ) -> None:
        self.index, self.noise = index, noise
        self._around = around
        self.ended: list[Ended] = []
        rng = np.random.default_rng(index)
        self._offset = rng.uniform(-metres, metres, 3) if index else np.zeros(3)

    def start(self, pose: Sequence[float] | np.ndarray) -> np.ndarray:
        """Return the pose (3,) at which a search starts instead of `pose` (3,)."""
        moved = pose if self._around is None else self._around.start(pose)
        return np.asarray(moved, np.float64) + self._offset

    def seed(self, seed: int) -> int:
        """Return the seed of a search's noise instead of `seed`."""
        seed = seed if self._around is None else self._around.seed(seed)
        if not self.noise or not self.index:
            return seed
        return int(np.random.SeedSequence((seed, self.index)).generate_state(1)[0])

    def note(self, ended: Ended) -> None:
        """Note the end of a search."""
        self.ended.append(ended)
        if self._around is not None:
            self._around.note(ended)


_CURRENT: ContextVar[Disturbance | None] = ContextVar("disturbance", default=None)


def current() -> Disturbance:
    """Return the disturbance of the searches that begin now; none outside `disturbed`."""
    return _CURRENT.get() or Disturbance(0)


@contextmanager
def disturbed(index: int, metres: float = 1e-6, noise: bool = False) -> Iterator[Disturbance]:
    """Disturb and note the searches that begin within the block, besides what blocks around it do."""
    disturbance = Disturbance(index, metres, noise, around=_CURRENT.get())
    token = _CURRENT.set(disturbance)
    try:
        yield disturbance
    finally:
        _CURRENT.reset(token)
