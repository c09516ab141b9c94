"""Directives that the loop does not begin, because nothing of them could be done here."""

from __future__ import annotations

from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.errors import OtherFloor, SkillRefused
from lodestar.language.directive import Directive, StepKind
from lodestar.worldmodel.skill_steps import fault_of
from lodestar.worldmodel.skills import SkillTable


def refuse(directive: Directive, config: LoopConfig, skills: SkillTable) -> None:
    """Raises OtherFloor for a step on another floor, SkillRefused for an unknown skill or one that lacks a thing."""
    for step in directive.steps:
        if step.kind is StepKind.DO and (fault := fault_of(step, skills)):
            raise SkillRefused(fault)
        level = step.scope.level
        if level is not None and level != config.level:
            raise OtherFloor(
                f"it asks for floor {level}, and the robot is on floor {config.level} and takes no stairs or lifts; "
                "leave the floor out, or bring the robot there and load that floor's map"
            )
