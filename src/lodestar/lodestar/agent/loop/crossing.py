"""State CROSSING: the robot takes stairs or a lift; its owner moves it, and its height says where it comes to."""

from __future__ import annotations

from lodestar.agent.activities.activity import Tools
from lodestar.agent.errands.commands import CancelSkill
from lodestar.agent.errands.run import DirectiveRun


class CrossingState:
    """Leaves by `redecide`: on another floor, or where the robot stands after a failure."""

    def __init__(self, tools: Tools) -> None:
        self._context, self._tools = tools.context, tools

    def step(self, run: DirectiveRun) -> None:
        """Wait for the end of the walk or ride, and then for the floor that was come to."""
        context, skill = self._context, run.under_way.skill
        assert skill is not None
        if skill.end is None:
            if context.now >= skill.deadline:
                context.commands.append(CancelSkill(skill.ticket))
                self._fail(run, "it took too long")
            return
        if not skill.end.done:
            self._fail(run, skill.end.why or "no reason was given")
            return
        here = context.facts.building.here
        if here is not None and here.id != run.floors.left:
            run.under_way.skill = None
            self._tools.floors.came(run)
        elif context.now - skill.ended >= context.config.floors.arrival:
            note = context.facts.building.note
            self._fail(run, note or "I am still on the same floor")

    def _fail(self, run: DirectiveRun, why: str) -> None:
        run.under_way.skill = None
        self._tools.floors.failed(run, why)
