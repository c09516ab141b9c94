"""Settings for loop closures, and the source of SLAM's pose graphs (ADR 0095)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from lodestar.geometry.pose_graph import PoseGraphFeed


@dataclass(frozen=True)
class ClosureConfig:
    """Thresholds that make a jump a loop closure, and limits of the map's correction."""

    enabled: bool = True  # False: every jump moves the whole map, as before ADR 0095
    # largest metres to the old path; loop_search_maximum_distance of our profile is 4, and 1 more for the
    # sensor
    near: float = 5.0
    most: int = 20_000  # nodes (10 km) after which every second old one is dropped; chosen
    # metres; a node that a correction would move by less, measured 3 m beside the path, stays; half an
    # octree's voxel
    still: float = 0.05


#: The pose graphs that this process receives.
POSE_GRAPHS = PoseGraphFeed()
_CONFIG = [(ClosureConfig(), POSE_GRAPHS)]


@contextmanager
def closures_as(config: ClosureConfig, graphs: PoseGraphFeed | None = None) -> Iterator[None]:
    """Use other loop-closure settings for anchors created inside the block; for comparisons.

    graphs: source of SLAM's pose graphs; None = no graphs.
    """
    _CONFIG.append((config, PoseGraphFeed() if graphs is None else graphs))
    try:
        yield
    finally:
        _CONFIG.pop()


def in_use() -> tuple[ClosureConfig, PoseGraphFeed]:
    """Return the configuration and the source of pose graphs that new anchors use."""
    return _CONFIG[-1]
