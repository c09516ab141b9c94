"""Questions to the experts, and which of their answers may be chosen from."""

from __future__ import annotations

from lodestar.agent.actions.reasoning import trace_of
from lodestar.agent.activities.activity import Activity
from lodestar.agent.decisions.admission import Admission, admit
from lodestar.agent.decisions.proposers import EXPLORER, KNOWER
from lodestar.agent.decisions.questions import Answer, LateAnswer, objection
from lodestar.agent.decisions.targets import TargetView
from lodestar.agent.errands.commands import RequestProposals
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.errands.target_search import TargetSearch
from lodestar.agent.facts.stamps import NEVER, Stamp
from lodestar.experts.protocol import ActionKind, Proposal, ProposalRequest, RejectionReason
from lodestar.language.directive import Step, StepKind
from lodestar.scene.records import Entity
from lodestar.worldmodel.records import TraceError, Verdict


class Inquiry:
    """Opens epochs and judges what was answered."""

    def __init__(self, context: LoopContext, search: TargetSearch) -> None:
        self._context, self._search = context, search

    def ask(self, run: DirectiveRun, activity: Activity, review: bool = False) -> None:
        """Open an epoch of the activity's experts, for a review of the explorer alone; an expert that still works on
        an older question is left to it.
        """
        context = self._context
        facts, now = context.facts, context.now
        assert facts.pose is not None and facts.grid is not None
        run.errand.goals.refresh(facts.grid)
        if run.errand.begun == NEVER:
            run.errand.begun = facts.stamp
        context.searched.count_from(self._looks_since(run))
        request = ProposalRequest(
            epoch=context.next_epoch(),
            stamp=facts.stamp.seconds,
            directive=run.asked(activity.asked(run)),
            step_index=run.step_index,
            robot_pose=facts.pose.copy(),
            excluded_entities=frozenset(run.errand.excluded)
            | run.errand.doubt.put_off(facts.entities, facts.pose)
            | self._search.unmeant(run),
            excluded_goals=run.errand.goals.active(),
            errand=context.directives % 2**20 * 2**12 + run.errand.number % 2**12 + 1,
            looks_since=context.searched.since.seconds,
            deadline=facts.stamp.after(context.config.expert_deadline).seconds,
        )
        experts = (EXPLORER,) if review else self.experts_for(request.step)
        asked = run.questions.open(request, experts, now, review)
        if asked:
            context.commands.append(RequestProposals(request, asked))

    def _looks_since(self, run: DirectiveRun) -> Stamp:
        """Return the stamp from which looks count for the errand: since the directive began, and not older than
        the age of looks. A count or a list counts older ones too: it says so.
        """
        config = self._context.config
        oldest = run.errand.begun.after(-config.look_limits.age)
        if run.check is None and run.step.kind in (StepKind.COUNT, StepKind.LIST):
            return oldest
        return max(run.begun_stamp.after(-config.fresh_looks), oldest)

    def experts_for(self, step: Step) -> tuple[str, ...]:
        """The experts that have something to say to a step: without a target, only the explorer."""
        experts = self._context.experts
        return experts if step.kind is StepKind.FIND or EXPLORER not in experts else (EXPLORER,)

    def answers(self, run: DirectiveRun) -> dict[str, Answer]:
        """The answers that count in the open epoch, by expert."""
        return run.questions.take(self._context.now, lambda late: self._objection(run, late))

    def admit(self, run: DirectiveRun, view: TargetView) -> Admission:
        """Every expert's answer, judged."""
        facts = self._context.facts
        avoid: tuple[tuple[Entity, float], ...] = ()
        if facts.mirror is not None:
            avoid = self._context.targets.constraints(facts.mirror, run.constraints)
        return admit(
            run.questions.asked,
            self.answers(run),
            run.errand.goals,
            run.errand.excluded,
            self._search.accepted(view) if self._context.config.known_first else [],
            avoid,
            lambda proposal: self._verdict(run, proposal, view),
        )

    def _verdict(self, run: DirectiveRun, proposal: Proposal, view: TargetView) -> Verdict:
        """Return the verdict on a proposal's trace.

        A goal that cannot be reached is left out of the next requests, until the map around it changes: its expert
        would propose it again, and no other place of the same thing.
        """
        context = self._context
        verdict = context.validator.check(trace_of(context, run.step, proposal, proposal.epoch, view))
        if verdict.code is TraceError.UNREACHABLE and proposal.action is ActionKind.GO:
            run.errand.goals.exclude(proposal.goal, verdict.reason, context.facts.grid)
        return verdict

    def gave_way(self, run: DirectiveRun, admission: Admission) -> bool:
        """Whether one of several candidates has no viewpoint, so that another is looked at next."""
        facts = self._context.facts
        assert facts.pose is not None
        if admission.rejection(KNOWER) is not RejectionReason.NO_VIEWPOINT:
            return False
        return run.errand.doubt.give_way(facts.entities, facts.pose)

    def _objection(self, run: DirectiveRun, late: LateAnswer) -> str:
        facts = self._context.facts
        assert facts.pose is not None and facts.grid is not None
        known = lambda identity: facts.entity(identity) is not None  # noqa: E731
        return objection(
            late, self._context.now, run.step_index, facts.pose, facts.grid, known, self._context.config
        )
