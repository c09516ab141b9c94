"""Directives that the loop does not begin, because nothing of them could be done here."""

from __future__ import annotations

from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.errors import OtherFloor
from lodestar.language.directive import Directive


def refuse(directive: Directive, config: LoopConfig) -> None:
    """Raises OtherFloor for a step on another floor."""
    for step in directive.steps:
        level = step.scope.level
        if level is not None and level != config.level:
            raise OtherFloor(
                f"it asks for floor {level}, and the robot is on floor {config.level} and takes no stairs or lifts; "
                "leave the floor out, or bring the robot there and load that floor's map"
            )
