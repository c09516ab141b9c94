"""Selector that decides on the questions of another robot's run, for comparison with its decisions."""

from __future__ import annotations

import numpy as np

from lodestar.agent.decisions.admission import GoalMemory
from lodestar.agent.decisions.requests import Answer, Requests
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.run import DirectiveRun, Itinerary
from lodestar.agent.facts.newest import Facts
from lodestar.agent.facts.times import Stamp
from lodestar.agent.loop.deciding import Inquiry
from lodestar.experts.protocol import ProposalRequest
from lodestar.language.directive import Directive
from lodestar.selection.decisions import Decision, Outcome

_EXCLUDED = "the other robot excludes it"


class ShadowSelector:
    """Selector that chooses among experts' answers like the decision loop, but without the loop's states and
    motion.

    The other robot drives, so the owner of this object passes in each question (request for a decision), its
    exclusions and the outcome of each goal. Commands of the decision context are ignored.
    """

    def __init__(self, context: LoopContext) -> None:
        self._context = context
        self._search, self._account = context.search, context.account
        self._inquiry = Inquiry(context)

    @property
    def facts(self) -> Facts:
        """Return the facts of the decision context; the owner sets their grid and scene."""
        return self._context.facts

    def begin(self, directive: Directive, now: float, time_limit: float) -> None:
        """Begin a directive that the other robot follows from `now` on, seconds of its clock."""
        context = self._context
        context.clock.restart(now)
        context.directives += 1
        context.run = DirectiveRun(
            directive=directive,
            itinerary=Itinerary(directive, context.place_names),
            started=now,
            time_limit=time_limit,
            config=context.config,
            distance_before=context.facts.odometer.distance,
            requests=Requests(context.config.expert_deadline),
        )
        context.ledger.begin_directive(now, time_limit)

    def on_pose(self, pose: np.ndarray, now: float) -> None:
        """Set the other robot's pose (3,) x, y, yaw in map."""
        context = self._context
        context.clock.restart(now)
        if context.facts.take_pose(pose, Stamp(now), now):
            context.ledger.builder.observe_pose(pose, now)

    def ask(self, request: ProposalRequest, experts: tuple[str, ...] | None = None) -> None:
        """Take a question of the other robot. experts: None = all that apply to the step."""
        run = self._run
        if request.step_index != run.step_index or request.step != run.step:
            run.itinerary.follow(request.step_index, request.step)
            run.begin_errand()
            self._context.ledger.begin_subtask(self._context.now)
        run.errand.excluded = dict.fromkeys(request.excluded_entities, _EXCLUDED)
        run.errand.goals = GoalMemory(self._context.config)
        for goal in request.excluded_goals:
            run.errand.goals.exclude(goal, _EXCLUDED, self.facts.grid, lasting=True)
        asked = experts or self._inquiry.experts_for(request.step)
        run.requests.open(request, asked, self._context.now, self.facts.labels)

    def on_answer(self, answer: Answer) -> None:
        """Take an expert's answer; see `DecisionLoop.on_answer`."""
        self._run.requests.hear(answer, self._context.now)

    def decide(self) -> Decision | None:
        """Return the decision on the newest question from the answers so far; None if none is admissible."""
        run = self._run
        request = run.requests.request
        assert request is not None
        view = self._search.look(run)
        admission = self._inquiry.admit(run, view)
        run.requests.close()
        if not admission.admissible:
            return None
        return self._account.open(request, admission, view, run.step)[0]

    def close(self, outcome: Outcome) -> None:
        """Record the outcome of the other robot's goal."""
        self._account.close(outcome, self._search.look(self._run))

    @property
    def _run(self) -> DirectiveRun:
        assert self._context.run is not None, "a directive is needed first"
        return self._context.run
