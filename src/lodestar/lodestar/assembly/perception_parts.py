"""Makes detectors.

The configuration has its shared values filled in already (`RobotConfig` and the nodes' parameters do so).
"""

from __future__ import annotations

import numpy as np

from lodestar.assembly.config import PerceptionConfig
from lodestar.perception.config import UltralyticsConfig
from lodestar.perception.geometric import GeometricSegmenter
from lodestar.perception.ground_truth import GroundTruthDetector
from lodestar.perception.ultralytics import UltralyticsDetector

# The defaults, for those who measure a part by itself.
_SEEING = PerceptionConfig()


def ground_truth_detector(
    config: PerceptionConfig, rng: np.random.Generator | None = None
) -> GroundTruthDetector:
    """Return the detector that reads a simulator's label images. rng: of its noise; None = from the configured seed."""
    return GroundTruthDetector(config.noise, rng if rng is not None else np.random.default_rng(config.seed))


def geometric_segmenter(config: PerceptionConfig = _SEEING) -> GeometricSegmenter:
    """Return the segmenter that finds shapes in depth images, without names."""
    return GeometricSegmenter(config.geometric, config.seed)


def ultralytics_detector(config: PerceptionConfig) -> UltralyticsDetector:
    """Return the RGB detector; its model is loaded with the first image. Raises DetectorUnavailable."""
    detector = picture_detector(config.model, config.ultralytics)
    detector.check()
    return detector


def picture_detector(model: str, config: UltralyticsConfig) -> UltralyticsDetector:
    """Return the detector for pictures that come with a directive. model: path of weights."""
    return UltralyticsDetector(model, config)
