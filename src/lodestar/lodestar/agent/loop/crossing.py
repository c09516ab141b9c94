"""State CROSSING: the robot takes stairs or a lift. The passage driver moves it; its height tells the floor."""

from __future__ import annotations

from lodestar.agent.activities.activity import Tools
from lodestar.agent.errands.commands import CancelSkill
from lodestar.agent.errands.run import DirectiveRun

# s after a passage, in which the floor must be known: WATCH_SETTLE, FLOORS_LOOK, a margin; chosen
FLOORS_ARRIVAL = 12.0


class CrossingState:
    """State in which the robot takes stairs or a lift. Left by `redecide`, on another floor or after a
    failure.
    """

    def __init__(self, tools: Tools) -> None:
        self._context, self._tools = tools.context, tools

    def step(self, run: DirectiveRun) -> None:
        """Wait until the stairs or lift are taken, then until the building reports another floor. Report a
        failure if either takes too long.
        """
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
        elif context.now - skill.ended >= FLOORS_ARRIVAL:
            note = context.facts.building.note
            self._fail(run, note or "I am still on the same floor")

    def _fail(self, run: DirectiveRun, why: str) -> None:
        run.under_way.skill = None
        self._tools.floors.failed(run, why)
