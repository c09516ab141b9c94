"""Outcome of an episode as plain numbers that can be sent between processes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lodestar.agent.errands.commands import DirectiveResult
from lodestar_eval.metrics import sct, spl
from lodestar_sim.judge import Verdict


@dataclass(frozen=True)
class EpisodeOutcome:
    """Result and measurements of one episode. Times in seconds (duration simulated, cpu of this process),
    lengths in metres.

    success: claimed and true. reached: by ground truth. claimed: by the loop. failure: the reason, empty on
    success. coverage: known share of the reachable floor, whose area is floor_m2. marked: share of the
    obstacles within a metre of the path that the floor plan marks (`coverage.marked_share`). rejected: frames
    that the map rejected, by reason. stages: seconds of the main thread and calls by stage. epoch_seconds:
    processor time of each decision epoch. driven: metres by the expert of the goal, "" = none. way: parts of
    the path, see `path_split.WaySplit`. looks: see `looks.looks_of`. seconds: see `time_split.TimeWatcher`.
    seen_after: seconds until a target was first in the camera's view, NaN = never. quickest: seconds that the
    robot needs for the shortest path. target: label of the target. setting, policy: of the run.
    """

    world: str
    seed: int
    directive: str
    success: bool
    reached: bool
    claimed: bool
    error_code: int
    error_msg: str
    failure: str
    distance: float
    path_length: float
    shortest: float
    duration: float
    cpu: float
    setup_cpu: float
    collisions: int
    coverage: float
    epochs: int
    frames: int
    decisions: dict[str, int] = field(default_factory=dict)
    rejected: dict[str, int] = field(default_factory=dict)
    stages: dict[str, tuple[float, int]] = field(default_factory=dict)
    epoch_seconds: tuple[float, ...] = ()
    driven: dict[str, float] = field(default_factory=dict)
    way: dict[str, float] = field(default_factory=dict)
    looks: dict[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    seen_after: float = float("nan")
    quickest: float = float("nan")
    floor_m2: float = float("nan")
    marked: float = float("nan")
    falls: int = 0  # times that the robot had no ground under a foot
    target: str = ""
    setting: str = "unexplored"
    policy: str = "bandit"

    def under(self, setting: str, policy: str, world: str, setup_cpu: float = 0.0) -> EpisodeOutcome:
        """Return a copy with setting, policy and the world's requested name; `setup_cpu` is added to its own."""
        return replace(
            self, setting=setting, policy=policy, world=world, setup_cpu=self.setup_cpu + setup_cpu
        )

    @property
    def spl(self) -> float:
        """Return success weighted by path length; NaN if the episode began at a success pose."""
        return spl(self.success, self.shortest, self.path_length)

    @property
    def sct(self) -> float:
        """Return success weighted by completion time; NaN if the episode began at a success pose."""
        return sct(self.success, self.quickest, self.duration)

    @property
    def speed(self) -> float:
        """Return simulated seconds per processor second."""
        return self.duration / self.cpu if self.cpu > 0.0 else float("nan")

    def row(self) -> dict[str, Any]:
        """Return this outcome as one flat row of a table."""
        row = {key: value for key, value in vars(self).items() if not isinstance(value, dict | tuple)}
        row |= {"spl": "" if np.isnan(self.spl) else round(self.spl, 4), "speed": round(self.speed, 2)}
        row |= {"sct": "" if np.isnan(self.sct) else round(self.sct, 4)}
        row |= {f"decisions_{name}": count for name, count in sorted(self.decisions.items())}
        row |= {f"driven_{name or 'none'}": round(metres, 2) for name, metres in sorted(self.driven.items())}
        row |= self.way
        row |= {f"looks_{name}": round(value, 2) for name, value in self.looks.items()}
        row |= {f"seconds_{name}": round(value, 1) for name, value in self.seconds.items()}
        row["frames_rejected"] = sum(self.rejected.values())
        return row


def failure_of(result: DirectiveResult, verdict: Verdict) -> str:
    """Return the reason for an episode's failure: the verdict on a false claim, else the loop's error."""
    if result.success:
        return f"claimed, but {verdict.message}"
    return f"{result.error_code.name}: {result.error_msg}"
