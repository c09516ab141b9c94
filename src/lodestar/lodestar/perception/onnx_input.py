"""Form of the images that networks read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class InputForm:
    """Form of the image that a network reads.

    mean, std: (3,), 0..255, in the network's order of channels. bgr: blue first. stretched: the image is resized to the
    input's shape, else it keeps its proportions and is padded with the value `padding`.
    """

    mean: tuple[float, float, float] = (0.0, 0.0, 0.0)
    std: tuple[float, float, float] = (255.0, 255.0, 255.0)
    bgr: bool = False
    stretched: bool = False
    padding: int = 114  # Ultralytics
