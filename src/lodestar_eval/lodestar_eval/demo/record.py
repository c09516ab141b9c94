"""What the demo keeps of a run, free of ROS."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar_eval.maps import MapEntity, MapGoal


@dataclass
class RunRecord:
    """One run of the demo. Lengths in metres, times in seconds, poses (3,) x, y, yaw in map.

    path: true poses, (N, 4) stamp, x, y, yaw. decisions: one dictionary per line of decisions.jsonl.
    """

    directive: str
    world: str
    seed: int
    start: np.ndarray
    path: np.ndarray = field(default_factory=lambda: np.empty((0, 4)))
    grid: OccupancyGrid2D | None = None
    entities: dict[int, MapEntity] = field(default_factory=dict)
    targets: tuple[MapEntity, ...] = ()
    decisions: list[dict[str, Any]] = field(default_factory=list)
    success: bool = False
    verdict: str = ""
    claimed_success: bool = False
    claimed_entities: tuple[int, ...] = ()
    shortest: float = float("nan")
    distance: float = float("nan")
    path_length: float = 0.0
    duration: float = 0.0
    wall: float = 0.0
    real_time_factor: float = float("nan")
    coverage: float = 0.0
    collisions: int = 0
    peak_pss_mib: float = float("nan")
    error_code: int = 0
    error_msg: str = ""

    @property
    def final_pose(self) -> np.ndarray:
        """(3,), where the robot truly stands at the end."""
        return np.asarray(self.path[-1, 1:4] if len(self.path) else self.start, dtype=float)

    def decisions_by_expert(self) -> dict[str, int]:
        """How often each expert's proposal was chosen; every decision counts once."""
        chosen = {record["epoch"]: record["chosen"] for record in self.decisions if record.get("chosen")}
        return dict(sorted(Counter(chosen.values()).items()))

    def goals(self) -> list[MapGoal]:
        """Goals that were pursued, in order."""
        goals: dict[int, MapGoal] = {}
        for record in self.decisions:
            for arm in record.get("arms", ()):
                proposal = arm.get("proposal")
                if proposal and arm["expert"] == record.get("chosen"):
                    goals[record["epoch"]] = MapGoal(np.asarray(proposal["goal"], dtype=float), arm["expert"])
        return list(goals.values())
