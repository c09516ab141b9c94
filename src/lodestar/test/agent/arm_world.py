"""Fake world whose robot has an arm, with the skills of the how-to page."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from agent_fakes import EXPERTS, FACING, TARGET, World, room, thing

from lodestar.agent.errands.commands import CancelSkill, RecordOutcome, RecordTrace, RunSkill, SkillEnd
from lodestar.agent.errands.context import make_context
from lodestar.agent.loop.machine import DecisionLoop
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import Directive, Step, StepKind
from lodestar.worldmodel.amendments import Change
from lodestar.worldmodel.outcomes import Result
from lodestar.worldmodel.records import Trace
from lodestar.worldmodel.skills import load_skills, read_skills
from lodestar.worldmodel.transactions import Transactions
from lodestar.worldmodel.world_model import Reply, WorldModel

PAGE = Path(__file__).parents[4] / "docs" / "how-to" / "extend.md"
ARM = re.search(r"^```\n(# arm.yaml\n.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL).group(1)
DONE = SkillEnd(True)
CHAIR = "red chair"


@dataclass
class ArmWorld(World):
    """World whose robot has the skills of ARM. arm(trace): returns the end of a skill; None = no report."""

    arm: Callable[[Trace], SkillEnd | None] = lambda trace: DONE
    begun: list[RunSkill] = field(default_factory=list)
    stopped: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.table = load_skills().with_more(read_skills(ARM))
        self.loop = DecisionLoop(
            make_context(self.config, self.policy, None, EXPERTS, targets=self.targets, skills=self.table)
        )
        self.loop.on_grid(self.grid_of())
        self.loop.on_scene(self.mirror)
        self.loop.on_pose(self.pose, 0.0)
        self.changes: list[Change] = []
        self.world = WorldModel(Transactions(), self, skills=self.table, scene=self.mirror)

    def grid_of(self) -> OccupancyGrid2D:
        return room() if self.grid is None else self.grid

    def amend(self, amendments, answered) -> None:
        self.changes += [amendment.change for amendment in amendments]
        answered(Reply())

    def stand_before_the_chair(self) -> None:
        self.mirror.put(TARGET)
        self.targets.scores = {7: 0.9}
        self.pose = np.array(FACING)
        self.loop.on_pose(self.pose, 0.0)

    def _carry_out(self, command) -> None:
        super()._carry_out(command)
        if isinstance(command, RunSkill):
            self.begun.append(command)
            end = self.arm(command.trace)
            if end is not None:
                self.loop.on_skill(command.ticket, end)
        elif isinstance(command, CancelSkill):
            self.stopped.append(command.ticket)
        elif isinstance(command, RecordTrace):
            self.world.take_trace(command.trace)
        elif isinstance(command, RecordOutcome):
            self.world.take_outcome(command.outcome)


def do(skill: str, *words: str) -> Step:
    items = [thing(w) for w in words]
    return Step(StepKind.DO, items[0] if items else None, skill=skill, others=tuple(items[1:]))


def directive(*steps: Step) -> Directive:
    return Directive("do it", steps)


def ends_of(world: ArmWorld) -> list[Result]:
    """Return the results of the actions that carried out skills."""
    ids = {run.trace.id for run in world.begun}
    return [c.outcome.result for c in world.of(RecordOutcome) if c.outcome.trace_id in ids]
