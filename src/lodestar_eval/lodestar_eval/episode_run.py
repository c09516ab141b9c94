"""Record of one episode: task, outcome and path."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lodestar.agent.errands.commands import DirectiveResult
from lodestar.assembly.local_map import LocalMap
from lodestar.selection.decisions import Decision
from lodestar.worldmodel.decision_log import DecisionLog
from lodestar.worldmodel.outcomes import ActionOutcome
from lodestar.worldmodel.records import Trace
from lodestar_eval.outcomes import EpisodeOutcome
from lodestar_sim.judge import Verdict
from lodestar_sim.tasks import Task
from lodestar_sim.worlds.world import World


@dataclass(frozen=True)
class EpisodeRun:
    """Data of one episode. path: true poses, (N, 4) stamp, x, y, yaw; drivers: (N,) expert whose goal was pursued
    at each pose, "" = none.
    """

    world: World
    task: Task
    outcome: EpisodeOutcome
    verdict: Verdict
    result: DirectiveResult
    path: np.ndarray
    decisions: tuple[Decision, ...]
    map: LocalMap
    drivers: tuple[str, ...] = ()
    traces: tuple[Trace, ...] = ()
    outcomes: tuple[ActionOutcome, ...] = ()

    def save_decisions(self, file: Path) -> None:
        """Write the decision log."""
        file.unlink(missing_ok=True)
        log = DecisionLog(file)
        for decision in self.decisions:
            log.write(decision)

    def save_path(self, file: Path) -> None:
        """Write path (N, 4) and drivers (N,) as npz."""
        file.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(file, path=self.path, drivers=np.array(self.drivers, dtype="U16"))
