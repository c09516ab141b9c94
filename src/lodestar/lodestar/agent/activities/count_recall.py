"""Answers COUNT steps from the memory if the whole floor is known and was observed recently."""

from __future__ import annotations

from lodestar.agent.activities.activity import Tools
from lodestar.agent.activities.asking import answer_in_words, asked_in_words, question_of
from lodestar.agent.errands.run import DirectiveRun
from lodestar.experts.rooms import rooms_mask
from lodestar.experts.searched_floor import open_edges


class CountRecall:
    """Queries the memory once before the robot counts by looking."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._is_over = False

    def begins(self, run: DirectiveRun) -> bool:
        """Query the memory if the floor is known; the robot stands until the answer comes. Return whether the
        memory was queried.
        """
        if self._is_over:
            return False
        self._is_over = True
        step, tools = run.step, self._tools
        if step.item is None or step.scope.around is not None or not self._is_known(run):
            return False
        tools.memory.ask(run, question_of(step), tools.context.config.look_limits.age)
        run.text = f"Asking my memory: {asked_in_words(step)}"
        tools.transitions.wait(run)
        return True

    def hear(self, run: DirectiveRun) -> None:
        """Report the number from the memory's answer. Without a fresh answer, decide again, so that the robot
        counts by looking.
        """
        tools, config = self._tools, self._tools.context.config
        outcome = tools.memory.outcome(run)
        if outcome is None:
            return
        answer = outcome.answer if outcome.is_known else None
        age = config.look_limits.age
        if answer is None or answer.coverage is None or not tools.memory.is_fresh(answer, age):
            run.text = "I have not looked at enough of the floor of late: counting anew."
            tools.transitions.redecide(run)
            return
        tools.steps.answer(run, answer_in_words(answer, tools.context), answer)

    def _is_known(self, run: DirectiveRun) -> bool:
        """Return whether no reachable cell borders on unknown space, within the scope's rooms if it names any."""
        facts = self._tools.context.facts
        assert facts.grid is not None and facts.pose is not None
        inside = rooms_mask(run.step.scope, facts.grid, facts.mirror)
        if inside is not None and not inside.any():
            return False
        return not open_edges(facts.grid, facts.pose, inside).any()
