"""Requests to the memory and what they find."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lodestar.memory.records import Memory


@dataclass(frozen=True)
class Hit:
    """A memory that was found. score: cosine with the words, 0 for one without a vector or a request without words.

    vector: (D,) float32 unit, None while it is not embedded.
    """

    memory: Memory
    score: float = 0.0
    vector: np.ndarray | None = field(default=None, compare=False)
