"""Format of the images that networks take as input."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class InputForm:
    """Format of a network's input image.

    mean, std: (3,), 0..255, in the network's order of channels. bgr: blue first. stretched: the image is resized to
    the input's shape; otherwise it keeps its proportions and is padded with the value `padding`.
    """

    mean: tuple[float, float, float] = (0.0, 0.0, 0.0)
    std: tuple[float, float, float] = (255.0, 255.0, 255.0)
    bgr: bool = False
    stretched: bool = False
    padding: int = 114  # grey value; Ultralytics' default
