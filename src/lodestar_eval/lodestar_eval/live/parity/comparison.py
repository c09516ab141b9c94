"""Comparison of one recorded run with the headless robot."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from lodestar.assembly.config import RobotConfig
from lodestar.models.phrases import PhraseBook
from lodestar.perception.config import NoiseConfig
from lodestar_eval.live.parity.agreement import EntityAgreement, entity_agreement, grid_agreement
from lodestar_eval.live.parity.recording import LiveRecording
from lodestar_eval.live.parity.replay import RecordingPlayer
from lodestar_eval.recordings import BadRecording
from lodestar_eval.settings import robot_config


@dataclass(frozen=True)
class Comparison:
    """Agreement of a live run with the headless robot. grid: share of known cells that agree. goals: number
    of live decisions; equal: number of those with equal goals.
    """

    name: str
    grid: float
    entities: EntityAgreement
    goals: int
    equal: int
    dropped: Counter[str] = field(default_factory=Counter)

    def line(self) -> str:
        """Return the comparison as one line of text."""
        return (
            f"{self.name}: grids agree on {self.grid:.1%}, F1 of entities {self.entities.f1:.3f}, "
            f"{self.equal} of {self.goals} goals equal"
        )

    def row(self) -> tuple[str, ...]:
        """Return the cells of a table row."""
        things = self.entities
        dropped = ", ".join(f"{count} {reason}" for reason, count in sorted(self.dropped.items()) if count)
        return (
            self.name, f"{self.grid:.3f}", str(things.found), str(things.missed), str(things.spurious),
            f"{things.f1:.3f}", str(self.goals), str(self.equal), dropped or "-",
        )  # fmt: skip


def compare(name: str, bag: Path, phrases: PhraseBook, config: RobotConfig | None = None) -> Comparison:
    """Compare a recorded run of the nodes with a headless robot that is given the same inputs.

    name: label of the recording. phrases: vectors of phrases. config: None = the default robot. Raises
    BadRecording.
    """
    recording = LiveRecording(bag)
    if recording.grid is None:
        raise BadRecording(f"{bag} has no grid")
    run = RecordingPlayer(recording, config or robot_config(NoiseConfig()), phrases).play()
    if recording.scene_gaps:
        run.dropped["deltas of the live scene missing"] += recording.scene_gaps
    return Comparison(
        name,
        grid_agreement(recording.grid, run.grid),
        entity_agreement(recording.mirror.entities.values(), run.robot.map.mirror.entities.values()),
        len(run.goals),
        sum(goal.equal for goal in run.goals),
        run.dropped,
    )
