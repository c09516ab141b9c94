"""Constant colours of instance ids, different in hue for successive ids."""

from __future__ import annotations

import numpy as np

GOLDEN = 0.618033988749895


def color_of(identity: int) -> np.ndarray:
    """Return the colour (3,) uint8 of an id; successive ids differ in hue."""
    hue = (identity * GOLDEN) % 1.0 * 6.0
    wedge, part = int(hue), hue - int(hue)
    r, g, b = [
        (1, part, 0),
        (1 - part, 1, 0),
        (0, 1, part),
        (0, 1 - part, 1),
        (part, 0, 1),
        (1, 0, 1 - part),
    ][wedge]
    return (np.array([r, g, b]) * 200 + 40).astype(np.uint8)


def colors_of(identities: np.ndarray) -> np.ndarray:
    """Return the colours (N, 3) uint8 of ids (N,)."""
    unique, places = np.unique(identities, return_inverse=True)
    palette = np.array([color_of(int(identity)) for identity in unique], np.uint8).reshape(-1, 3)
    return palette[places.reshape(-1)]
