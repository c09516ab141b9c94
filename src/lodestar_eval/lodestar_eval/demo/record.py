"""Record of a demo run, independent of ROS."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar_eval.map_records import MapEntity, MapGoal

_NOTICE = 2.0  # s before the reception of a claim, within which the robot stood in front of the object
_STILL = 0.005, 0.01  # m and rad, greatest difference between two poses of a standing robot


@dataclass
class RunRecord:
    """One run of the demo. Lengths in metres, times in seconds, poses (3,) x, y, yaw in map.

    path: true poses, (N, 4) stamp, x, y, yaw. decisions: one dictionary per line of decisions.jsonl.
    step_begins: (index, stamp at which its start was received) of the directive's second and later steps.
    ended: stamp at which the directive's end was received. first_decision: seconds from the start of the
    program. grown: grids of the run, the oldest first. ending: reason if the run was cut short, "" = it was
    not. told: the robot's own report. searched: share of the reachable floor that was looked at. rooms:
    (name, m^2).
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
    step_begins: tuple[tuple[int, float], ...] = ()
    ended: float = float("nan")
    shortest: float = float("nan")
    distance: float = float("nan")
    path_length: float = 0.0
    duration: float = 0.0
    wall: float = 0.0
    first_decision: float = float("nan")
    real_time_factor: float = float("nan")
    coverage: float = 0.0
    collisions: int = 0
    peak_pss_mib: float = float("nan")
    error_code: int = 0
    error_msg: str = ""
    grown: tuple[OccupancyGrid2D, ...] = ()
    ending: str = ""
    told: str = ""
    searched: float = float("nan")
    rooms: tuple[tuple[str, float], ...] = ()

    @property
    def final_pose(self) -> np.ndarray:
        """Return the true pose (3,) at the end."""
        return np.asarray(self.path[-1, 1:4] if len(self.path) else self.start, dtype=float)

    @property
    def begun(self) -> float:
        """Return the stamp, s, at which the directive began: its duration before the stamp of the last pose."""
        return float(self.path[-1, 0]) - self.duration if len(self.path) else 0.0

    def step_end(self, step: int) -> float | None:
        """Return the stamp at which a step's end was received; None if it has not ended or has failed."""
        later = [stamp for begun, stamp in self.step_begins if begun > step]
        return min(later) if later else self.ended if self.claimed_success else None

    def pose_at_claim(self, stamp: float) -> np.ndarray:
        """Return the true pose (3,) at the claim that was received at `stamp`.

        The robot stands when it claims a find, but may already drive to the next step when the claim is received.
        So this is the last standing pose before `stamp`, or the pose at `stamp` if the robot did not stand.
        """
        path = self.path[self.path[:, 0] <= stamp + 1e-6]
        if not len(path):
            return np.asarray(self.start, dtype=float)
        late = path[path[:, 0] >= stamp - _NOTICE]
        steps = np.abs(np.diff(late[:, 1:4], axis=0))
        turns = np.minimum(steps[:, 2], 2.0 * np.pi - steps[:, 2])
        still = np.flatnonzero((np.hypot(steps[:, 0], steps[:, 1]) < _STILL[0]) & (turns < _STILL[1]))
        return np.asarray(late[still[-1] + 1 if len(still) else -1, 1:4], dtype=float)

    def decisions_by_expert(self) -> dict[str, int]:
        """Return the number of chosen proposals by expert; every decision counts once."""
        chosen = {record["epoch"]: record["chosen"] for record in self.decisions if record.get("chosen")}
        return dict(sorted(Counter(chosen.values()).items()))

    def goals(self) -> list[MapGoal]:
        """Return the pursued goals in order."""
        goals: dict[int, MapGoal] = {}
        for record in self.decisions:
            for arm in record.get("arms", ()):
                proposal = arm.get("proposal")
                if proposal and arm["expert"] == record.get("chosen"):
                    goals[record["epoch"]] = MapGoal(np.asarray(proposal["goal"], dtype=float), arm["expert"])
        return list(goals.values())
