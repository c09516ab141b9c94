"""States DECIDING and VALIDATING: ask the experts, admit their answers, choose one, or end the errand."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from lodestar.agent.activities.activity import Activity, Tools
from lodestar.agent.activities.table import Activities
from lodestar.agent.decisions.admission import FRONTIER, KNOWN, SEMANTIC_MAP, admit
from lodestar.agent.decisions.approach import heads_for
from lodestar.agent.decisions.requests import Answer, HeardAnswer, late_objection
from lodestar.agent.errands.commands import RequestProposals
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.errand import Choice
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.errands.words import going, name_of
from lodestar.agent.facts.config import (
    LOOP_FRESH_LOOKS,
    LOOP_LOOK_TIME,
    LOOP_RETRY_INTERVAL,
    LOOP_SETTLE_TIME,
)
from lodestar.agent.facts.errors import ErrorCode
from lodestar.agent.facts.times import NEVER, Stamp
from lodestar.agent.loop.resting import PlaceCheck
from lodestar.experts.facing_places import place_to_face
from lodestar.experts.protocol import ActionKind, Proposal, ProposalRequest, RejectionReason
from lodestar.experts.reach import Reach
from lodestar.grid.viewpoints import NoViewpoint
from lodestar.language.directive import Step, StepKind
from lodestar.models.english import with_article
from lodestar.query.targets import TargetView
from lodestar.scene.captions import clean_text
from lodestar.scene.records import Entity
from lodestar.selection.admission import Admission
from lodestar.worldmodel.records import TraceError, Verdict

# m of path within which a possible match is looked at while experts are late (ours)
LOOP_PROMISING_REACH = 5.0


class Inquiry:
    """Sends the experts rounds of requests (epochs), and decides which of their answers the policy may
    choose.
    """

    def __init__(self, context: LoopContext) -> None:
        self._context = context

    def ask(self, run: DirectiveRun, activity: Activity, review: bool = False) -> None:
        """Open an epoch: send a request to the activity's experts, or for a review to the explorer alone.
        Experts with a pending request are not asked again.
        """
        context = self._context
        facts, now = context.facts, context.now
        run.errand.goals.refresh(facts.known_grid)
        if run.errand.begun == NEVER:
            run.errand.begun = facts.stamp
        context.searched.count_from(self._looks_since(run).seconds)
        request = ProposalRequest(
            epoch=context.next_epoch(),
            stamp=facts.stamp.seconds,
            directive=run.asked(activity.asked(run)),
            step_index=run.step_index,
            robot_pose=facts.known_pose.copy(),
            excluded_entities=frozenset(run.errand.excluded)
            | run.errand.doubt.put_off(facts.entities, facts.known_pose)
            | self._context.search.unmeant(run),
            excluded_goals=run.errand.goals.active(),
            errand=context.directives % 2**20 * 2**12 + run.errand.number % 2**12 + 1,
            looks_since=context.searched.since,
            deadline=facts.stamp.after(context.config.expert_deadline).seconds,
        )
        experts = (FRONTIER,) if review else self.experts_for(request.step)
        asked = run.requests.open(request, experts, now, facts.labels, review)
        if asked:
            context.commands.append(RequestProposals(request, asked))

    def _looks_since(self, run: DirectiveRun) -> Stamp:
        """Return the stamp from which camera observations count for the errand: LOOP_FRESH_LOOKS seconds
        before its directive, but not earlier than the age limit allows. COUNT and LIST also use older
        observations, which their answers mention.
        """
        config = self._context.config
        oldest = run.errand.begun.after(-config.look_limits.age)
        if run.check is None and run.step.kind in (StepKind.COUNT, StepKind.LIST):
            return oldest
        return max(run.begun_stamp.after(-LOOP_FRESH_LOOKS), oldest)

    def experts_for(self, step: Step) -> tuple[str, ...]:
        """Return the experts to ask for a step: all for FIND, else the explorer alone."""
        experts = self._context.experts
        return experts if step.kind is StepKind.FIND or FRONTIER not in experts else (FRONTIER,)

    def answers(self, run: DirectiveRun) -> dict[str, Answer]:
        """Return the valid answers to the current round of requests, by expert."""
        return run.requests.take(self._context.now, partial(self._objection, run))

    def _objection(self, run: DirectiveRun, heard: HeardAnswer) -> str:
        """Return why an answer is no longer valid; "" if it is."""
        context, identity = self._context, heard.answer.entity_id if isinstance(heard.answer, Proposal) else 0
        label = heard.asked.labels.get(identity, "")
        if context.search.is_another(run, identity, label):
            return (
                f"entity {identity} was {with_article(clean_text(label))} when it was asked, and is none now"
            )
        if not heard.is_late:
            return ""
        return late_objection(heard, context.now, run.step_index, context.facts)

    def is_sure(self, run: DirectiveRun, proposals: list[Proposal]) -> bool:
        """Return whether a target is known and one of the proposals heads for it."""
        context = self._context
        accepted = context.search.accepted(context.search.look(run))
        return any(heads_for(proposal, accepted, context.config) for proposal in proposals)

    def admit(self, run: DirectiveRun, view: TargetView) -> Admission:
        """Return for every expert's answer whether the policy may choose it."""
        facts = self._context.facts
        avoid: tuple[tuple[Entity, float], ...] = ()
        if facts.mirror is not None:
            avoid = self._context.targets.constraints(facts.mirror, run.constraints)
        config, errand = self._context.config, run.errand
        accepted = self._context.search.accepted(view) if config.known_first else []
        answers, check = self.answers(run), partial(self._verdict, run, view)
        return admit(
            run.requests.asked, answers, errand.goals, errand.excluded, accepted, avoid, config, check
        )

    def _verdict(self, run: DirectiveRun, view: TargetView, proposal: Proposal) -> Verdict:
        """Return the validator's verdict on a proposal.

        An unreachable goal is excluded until the map around it changes. Otherwise its expert would propose it again
        instead of another viewpoint of the same object.
        """
        context = self._context
        verdict = context.verdict(run.step, proposal, view)
        if verdict.code is TraceError.UNREACHABLE and proposal.action is ActionKind.GO:
            run.errand.goals.exclude(proposal.goal, verdict.reason, context.facts.grid)
        return verdict

    def gave_way(self, run: DirectiveRun, admission: Admission) -> bool:
        """Set the nearest ambiguous candidate aside if no viewpoint of it is reachable. Return whether one
        was set aside, so that another candidate is visited next.
        """
        facts = self._context.facts
        if admission.rejection(SEMANTIC_MAP) is not RejectionReason.NO_VIEWPOINT:
            return False
        return run.errand.doubt.give_way(facts.entities, facts.known_pose)


_TRIED_TARGETS = 3  # known targets whose viewpoints the loop itself searches, best first


class KnownTarget:
    """Sends the robot to a target that is in the map."""

    def __init__(self, tools: Tools) -> None:
        self._context, self._transitions = tools.context, tools.transitions

    def head_for(self, run: DirectiveRun, admission: Admission, view: TargetView) -> bool:
        """Send the robot to a known target if the target's expert is late or broken, or if the experts ignore a
        target that a person pointed at. Return whether a goal was sent.

        If no target is known, a nearby possible match is used. The open decision stays open and is credited with the
        result, since it brought the target into view.
        """
        late = any(arm.is_silent and arm.expert != FRONTIER for arm in admission.arms)
        if not late and not view.presumed and not view.is_accepted(run.errand.pointed):
            return False
        accepted, config = self._context.search.accepted(view), self._context.config
        proposed = (arm.proposal for arm in admission.admissible if arm.proposal is not None)
        if not view.presumed and any(heads_for(proposal, accepted, config) for proposal in proposed):
            return False
        likely = accepted or self._context.search.promising(run, view)
        found = self._viewpoint_of(run, likely[:_TRIED_TARGETS])
        if found is None or (not accepted and found[2] > LOOP_PROMISING_REACH):
            return False
        entity, goal, length = found
        assert run.requests.request is not None
        epoch = run.requests.request.epoch
        why = (
            "it is the likeliest one that I know"
            if entity.id == view.presumed
            else "the experts have not answered"
        )
        why = "you pointed at it" if entity.id == run.errand.pointed else why
        rationale = f"going to {name_of(entity)}, {length:.1f} m away, by the map: {why}"
        proposal = Proposal(KNOWN, epoch, goal, view.score(entity.id), rationale, entity.id)
        if not self._transitions.send(run, proposal, epoch, view, keeps=True).accepted:
            return False
        run.requests.close()
        run.text = going(proposal, entity, bool(accepted))
        run.errand.decided(self._context.now, view)
        return True

    def _viewpoint_of(
        self, run: DirectiveRun, entities: list[Entity]
    ) -> tuple[Entity, np.ndarray, float] | None:
        """Return the entity with the shortest path to a viewpoint, the viewpoint (3,) and the path length in metres;
        None if no entity can be faced.
        """
        facts = self._context.facts
        config = self._context.config
        reach = Reach(facts.known_grid, facts.known_pose, config.reach)
        best: tuple[Entity, np.ndarray, float] | None = None
        pose, tried = facts.known_pose, run.errand.goals.active()
        for entity in entities:
            box, views = (entity.box_min, entity.box_max), [view.map_from_camera for view in entity.views]
            try:
                found = place_to_face(reach, pose, box, views, tried, config.viewpoints, facts.mirror)
            except NoViewpoint:
                continue
            if found.path_length < (best[2] if best is not None else math.inf):
                best = entity, found.pose, found.path_length
        return best


class DecidingState:
    """State in which the experts are asked and the policy chooses. Left by `choose`, `send` (a goal of the
    activity, or a known target), `wait` or `finish`.
    """

    def __init__(self, tools: Tools, activities: Activities) -> None:
        self._tools, self._activities = tools, activities
        self._context, self._transitions = tools.context, tools.transitions
        self._inquiry, self._known, self._place = (
            Inquiry(tools.context),
            KnownTarget(tools),
            PlaceCheck(tools),
        )

    def step(self, run: DirectiveRun) -> None:
        """Ask the experts if no request is open; decide when the answers are due."""
        if self._tools.trip.turned_back(run):
            return
        facts, now = self._context.facts, self._context.now
        if facts.pose is None or facts.grid is None:
            self._wait_for_map(run)
            return
        if run.begun_at is None:
            run.begun_at, run.begun_stamp = facts.pose.copy(), facts.stamp
        if not self._place.is_known(run):
            return
        if run.charging:
            if not self._tools.floors.act(run):
                self._tools.trip.begin(run, self._tools.floors.no_way)
        elif run.requests.request is None:
            if self._tools.floors.act(run):
                return
            activity = self._activities.of(run)
            if now >= run.errand.ask_after and not activity.act(run):
                self._inquiry.ask(run, activity)
        elif run.requests.is_due(now, partial(self._inquiry.is_sure, run)):
            self._decide(run)

    def _decide(self, run: DirectiveRun) -> None:
        view = self._context.search.look(run)
        admission = self._inquiry.admit(run, view)
        self._note_barred(run, admission, view)
        if self._inquiry.gave_way(run, admission):
            self._transitions.redecide(run)
        elif self._known.head_for(run, admission, view):
            run.errand.idle_since = None
        elif admission.admissible:
            run.errand.idle_since = None
            if not self._activities.of(run).settled(run, admission, view):
                self._choose(run, admission, view)
        else:
            self._nothing_to_do(run, admission, view)

    def _note_barred(self, run: DirectiveRun, admission: Admission, view: TargetView) -> None:
        """Note whether every known target is unreachable or given up, and since when."""
        no_way = admission.rejection(SEMANTIC_MAP) is RejectionReason.NO_VIEWPOINT
        known = view.accepted and not view.presumed
        run.errand.note_barred(no_way if known else bool(run.errand.given_up), self._context.now)

    def _wait_for_map(self, run: DirectiveRun) -> None:
        context = self._context
        if context.now - run.started <= context.config.no_map_timeout:
            return
        code, message = ErrorCode.TF_ERROR, "The robot's pose in the map is not known."
        if context.facts.grid is None:
            code, message = ErrorCode.NO_MAP, f"No grid came in {context.config.no_map_timeout:.0f} s."
        self._transitions.finish(run, code, message)

    def _choose(self, run: DirectiveRun, admission: Admission, view: TargetView) -> None:
        """Let the policy choose one of the admitted proposals; it is validated next."""
        context = self._context
        request, asked = run.requests.request, run.requests.asked_at
        assert request is not None
        run.requests.close()
        context.epoch_seconds = context.now - asked
        decision, proposal = self._context.account.open(request, admission, view, run.step)
        run.decisions += 1
        run.errand.explored_at = None
        run.errand.decided(context.now, view)
        self._transitions.choose(run, Choice(decision, proposal, view))

    def _still_looks(self, run: DirectiveRun) -> bool:
        """Return whether the last goal may still yield detections: the robot still drives to it, or its
        images are being processed.
        """
        navigation = run.under_way.navigation
        if navigation is not None and navigation.passed:
            return True
        return self._context.now - run.errand.shown_at <= LOOP_LOOK_TIME + LOOP_SETTLE_TIME

    def _awaits_look(self, run: DirectiveRun) -> bool:
        """Return whether the first look on this floor may still come, as while the detector loads."""
        context = self._context
        return (
            not context.searched.has_looks
            and run.errand.idle_for(context.now) <= context.config.no_expert_timeout
        )

    def _nothing_to_do(self, run: DirectiveRun, admission: Admission, view: TargetView) -> None:
        """Handle a round of requests without an admissible proposal: return to the charger, wait, end the
        exploration, or give up.
        """
        context = self._context
        run.requests.close()
        if any(arm.refusal == TraceError.ENERGY for arm in admission.arms):
            self._tools.trip.turn_back(run)
            return
        is_waiting = self._still_looks(run) or self._awaits_look(run)
        if admission.rejection(FRONTIER) is RejectionReason.EXPLORED and is_waiting:
            self._transitions.redecide(run, LOOP_RETRY_INTERVAL)
            return
        if admission.rejection(FRONTIER) is RejectionReason.EXPLORED:
            run.errand.explored_at = context.now if run.errand.explored_at is None else run.errand.explored_at
            self._activities.of(run).explored(run, admission, view)
            return
        self._transitions.redecide(run, LOOP_RETRY_INTERVAL)
        if run.errand.idle_for(context.now) > context.config.no_expert_timeout:
            reasons = "; ".join(f"{arm.expert}: {arm.reason}" for arm in admission.arms)
            self._transitions.finish(
                run, ErrorCode.NO_EXPERT, f"No expert could propose anything ({reasons})."
            )


class ValidatingState:
    """State in which the chosen goal is validated. Left by `send` in the same tick in which it began, so that
    the checked facts still hold.
    """

    def __init__(self, tools: Tools) -> None:
        self._context, self._transitions = tools.context, tools.transitions

    def step(self, run: DirectiveRun) -> None:
        """Send the chosen goal."""
        context, choice = self._context, run.under_way.choice
        assert choice is not None
        decision, proposal, view = choice.decision, choice.proposal, choice.view
        entity = context.facts.entity(proposal.entity_id)
        run.text = going(proposal, entity, view.is_accepted(proposal.entity_id))
        self._transitions.send(run, proposal, decision.epoch, view, is_checked=True, keeps=True)
