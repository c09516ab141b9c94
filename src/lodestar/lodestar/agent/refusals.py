"""Directives that the loop does not begin, because nothing of them could be done here."""

from __future__ import annotations

from lodestar.agent.config import LoopConfig
from lodestar.agent.errors import CannotAnswer, OtherFloor
from lodestar.agent.pauses import unanswered
from lodestar.language.directive import Directive, StepKind


def refuse(directive: Directive, config: LoopConfig) -> None:
    """Raises OtherFloor for a step on another floor, CannotAnswer where the first step asks something."""
    for step in directive.steps:
        level = step.scope.level
        if level is not None and level != config.level:
            raise OtherFloor(
                f"it asks for floor {level}, and the robot is on floor {config.level} and takes no stairs or lifts; "
                "leave the floor out, or bring the robot there and load that floor's map"
            )
    first = directive.steps[0]
    if first.kind in (StepKind.CHECK, StepKind.ASK):
        raise CannotAnswer(unanswered(first.question or first.target))
