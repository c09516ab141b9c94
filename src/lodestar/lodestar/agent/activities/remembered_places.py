"""GO to where a thing was last seen: the memory gives the place, and the robot goes to where it shows."""

from __future__ import annotations

import numpy as np

from lodestar.agent.activities.activity import Activity, Tools
from lodestar.agent.activities.asking import asked_in_words, question_of, unanswered
from lodestar.agent.decisions.proposers import PLACE
from lodestar.agent.decisions.verification import Arrival
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.facts.errors import ErrorCode
from lodestar.experts.reach import Reach
from lodestar.grid.viewpoints import NoViewpoint
from lodestar.memory.answer import Answer, AnswerPlace, ProofKind
from lodestar.scene.captions import clean_text

_HALF = 0.2  # m, half side of the box in which the thing stood, where only its middle is known
_LOOK = 1.0  # s (stamps) before the arrival that count as seen on arrival


class RememberedPlace(Activity):
    """Asks the memory once. What it does not know moves nothing; what it knows is gone to."""

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self._answer: Answer | None = None

    def act(self, run: DirectiveRun) -> bool:
        """Ask; then send the robot there."""
        if self._answer is None:
            self._tools.memory.ask(run, question_of(run.step))
            run.text = f"Asking my memory: {asked_in_words(run.step)}"
            self._tools.transitions.wait(run)
            return True
        place = self._answer.value.places[0]
        goal = self._goal(run, place)
        if goal is None:
            x, y = place.centre[:2]
            message = (
                f"{_said(self._answer)} No place from which ({x:.1f}, {y:.1f}) can be seen is reachable."
            )
            self._tools.steps.fail(run, ErrorCode.TARGET_UNREACHABLE, message)
        else:
            self.send_or_wait(run, PLACE, goal, f"{_said(self._answer)} Going there.", turns=False)
        return True

    def waited(self, run: DirectiveRun) -> None:
        """Go there, or fail where the memory knows no place."""
        outcome = self._tools.memory.outcome(run)
        if outcome is None:
            return
        if outcome.is_known and outcome.answer is not None and outcome.answer.value.places:
            self._answer = outcome.answer
            self._tools.transitions.redecide(run)
        else:
            self._tools.steps.fail(run, ErrorCode.CANNOT_ANSWER, unanswered(run.step, outcome))

    def arrived(self, run: DirectiveRun, arrival: Arrival) -> None:
        """The step has succeeded where the robot stands there."""
        assert self._answer is not None
        run.under_way.arrival = None
        if self._go_to.is_there(arrival.goal):
            words = f"I stand where I can see that place. {self._now(arrival)}"
            self._tools.steps.answer(run, words, self._answer)
        elif self._go_to.fell_short("it"):
            self.unreachable(run, f"the navigator stopped {self._go_to.away(arrival.goal):.1f} m from it")
        else:
            self.retry(run)

    def unreachable(self, run: DirectiveRun, why: str) -> None:
        """The place could not be come to."""
        message = f"Could not go to where I last saw the {run.step.target}: {why}."
        self._tools.steps.fail(run, ErrorCode.NAVIGATION_FAILED, message)

    def _goal(self, run: DirectiveRun, place: AnswerPlace) -> np.ndarray | None:
        """(3,) the memory's viewpoint where the robot can come to it, else one of its own; None where there is none."""
        context = self._tools.context
        facts, config = context.facts, context.config
        assert facts.grid is not None and facts.pose is not None
        reach = Reach(facts.grid, facts.pose, config.reach)
        if place.viewpoint is not None:
            goal = np.asarray(place.viewpoint, np.float64)
            cells = facts.grid.cells_of(goal[None, :2])
            inside = bool(facts.grid.contains(cells)[0])
            if inside and np.isfinite(reach.possible[tuple(cells[0])]) and not run.errand.goals.reason(goal):
                return goal
        low, high = place.centre - _HALF, place.centre + _HALF
        try:
            found = reach.viewpoints(low, high, [], run.errand.goals.active(), config.viewpoints)
        except NoViewpoint:
            return None
        return np.asarray(found[0].pose, np.float64)

    def _now(self, arrival: Arrival) -> str:
        """Return what stands there now, as far as it is known, with what was remembered."""
        assert self._answer is not None
        ids = (proof.id for proof in self._answer.proof if proof.kind is ProofKind.ENTITY)
        facts = self._tools.context.facts
        entity = facts.entity(next(ids, 0))
        seen = entity is not None and facts.last_seen(entity) > arrival.stamp.after(-_LOOK)
        return f"{_said(self._answer)}{' It is in view now.' if seen else ''}"


def _said(answer: Answer) -> str:
    return f"{clean_text(answer.sentence).rstrip('.')}."
