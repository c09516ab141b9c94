"""Configuration of how a decision stands for a model's word about the view."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class StandingConfig:
    """Time that a decision stands for a model's word about the view, and for which view that word holds."""

    patience: float = 3.0  # seconds from the question; never beyond the decision's deadline; chosen
    slack: float = 0.2  # seconds before either end at which it decides without the model; chosen
    # score of a thing in view, 0..1, from which nothing is waited for; chosen: what the detector knows it goes to
    sure: float = 0.5
    distance: float = 0.2  # metres within which a view is the same one; chosen
    angle: float = math.radians(10.0)  # radians likewise; chosen
    age: float = 30.0  # seconds after which the same view is asked about anew; chosen
    # seconds without standing after a wait that brought nothing, doubled for each further one in a row; chosen
    rest: float = 30.0
    longest_rest: float = 300.0  # seconds; chosen
