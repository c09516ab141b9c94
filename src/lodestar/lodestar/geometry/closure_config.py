"""Rules for loop closures, and whose pose graphs are read (ADR 0095)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from lodestar.geometry.pose_graph import PoseGraphFeed


@dataclass(frozen=True)
class ClosureConfig:
    """Rules for what is a loop closure, and how the map follows it."""

    enabled: bool = True  # False: every jump moves the whole map, as before ADR 0095
    spacing: float = 0.5  # metres between nodes; SLAM Toolbox's minimum_travel_distance
    heading: float = 0.5  # radians between nodes; SLAM Toolbox's minimum_travel_heading
    shortest: float = 10.0  # metres of way of a loop; scan_buffer_maximum_scan_distance of our profile
    near: float = (
        5.0  # metres to the old way; loop_search_maximum_distance of our profile is 4, and 1 for sensors
    )
    storey: float = (
        1.0  # metres above or below it; chosen: heights drift by 0.5 m, storeys are 2.5 m apart or more
    )
    share: float = (
        0.15  # metres per metre of loop that odometry drifts at most; chosen, a Go2's are 0.01 to 0.02
    )
    turn: float = 0.01  # radians per metre of loop, likewise; chosen, a Go2's are 0.004
    slack: float = 0.1  # metres and radians beyond both; chosen, the size of a jump
    # metres that a match moves the newest node at once, after a slip; half of correlation_search_space_dimension
    matched: float = 0.25
    # Drift of odometry by which a correction is spread (issue 37: 1 to 2 % of the way, 0.25 degrees per metre, 1 %).
    way_drift: float = 0.015  # metres per metre
    heading_drift: float = 0.0044  # radians per metre
    turn_drift: float = 0.01  # radians per radian turned
    # Shares of it that are left where SLAM matches scans on the way: a buffer of ten leaves 2 / 11 of each match's
    # error, 0.004 m and 0.0005 rad per half metre where odometry leaves 0.0075 and 0.0022 (`lodestar_sim/slam.py`).
    matched_way: float = 0.5  # of metres
    matched_heading: float = 0.25  # of radians
    settled: float = (
        0.02  # share by which a closed loop bends where another is closed; chosen: both ends hold it
    )
    beside: float = (
        2.0  # metres beside the old way that count as being there again; chosen, a corridor's width
    )
    proof: float = 10.0  # metres there without a jump after which the loop counts as closed; chosen
    submap: float = 10.0  # metres of way of a submap; chosen, `shortest`
    most: int = 20_000  # nodes (10 km) after which every second old one is dropped; chosen
    still: float = (
        0.05  # metres, 3 m beside the way, by which a node moves at least, or not; half an octree's voxel
    )
    # metres, likewise, that a pose graph moves at least after a closure; chosen, two voxels: each move rounds anew
    remainder: float = 0.2
    graph_every: float = 5.0  # metres of way between two looks at the graph without a jump; chosen


#: The pose graphs that this process hears.
POSE_GRAPHS = PoseGraphFeed()
_CONFIG = [(ClosureConfig(), POSE_GRAPHS)]


@contextmanager
def closures_as(config: ClosureConfig, graphs: PoseGraphFeed | None = None) -> Iterator[None]:
    """Have anchors that are made within follow this configuration and these graphs, None = none; for comparisons."""
    _CONFIG.append((config, PoseGraphFeed() if graphs is None else graphs))
    try:
        yield
    finally:
        _CONFIG.pop()


def in_use() -> tuple[ClosureConfig, PoseGraphFeed]:
    """Return what anchors that are made now follow."""
    return _CONFIG[-1]
