"""State DECIDING: ask the experts, admit their answers, and choose one, or end a search that has nothing left."""

from __future__ import annotations

from lodestar.agent.actions.account import Account
from lodestar.agent.actions.transitions import Transitions
from lodestar.agent.activities.charger_trip import ChargerTrip
from lodestar.agent.activities.table import Activities
from lodestar.agent.decisions.admission import Admission
from lodestar.agent.decisions.proposers import EXPLORER, KNOWER
from lodestar.agent.decisions.targets import TargetView
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.errand import Choice
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.errands.target_search import TargetSearch
from lodestar.agent.facts.errors import ErrorCode
from lodestar.agent.loop.inquiry import Inquiry
from lodestar.agent.loop.known_target import KnownTarget
from lodestar.agent.loop.place_check import PlaceCheck
from lodestar.experts.protocol import RejectionReason
from lodestar.worldmodel.records import TraceError


class DecidingState:
    """Leaves by `choose`, `send` (a goal of the activity's own, or a target that the map knows), `wait` or `finish`."""

    def __init__(
        self,
        context: LoopContext,
        search: TargetSearch,
        account: Account,
        inquiry: Inquiry,
        transitions: Transitions,
        trip: ChargerTrip,
        known: KnownTarget,
        activities: Activities,
    ) -> None:
        self._context, self._search, self._account = context, search, account
        self._inquiry, self._transitions, self._trip = inquiry, transitions, trip
        self._known, self._activities = known, activities
        self._place = PlaceCheck(context, transitions)

    def step(self, run: DirectiveRun) -> None:
        """Ask where nothing was asked; decide when the answers are due."""
        if self._trip.turned_back(run):
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
            self._trip.begin(run)
        elif run.questions.request is None:
            activity = self._activities.of(run)
            if now >= run.errand.ask_after and not activity.act(run):
                self._inquiry.ask(run, activity)
        elif run.questions.is_due(now):
            self._decide(run)

    def _decide(self, run: DirectiveRun) -> None:
        view = self._search.look(run)
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
        """Note since when a target is known to which no way leads, or that was given up."""
        no_way = admission.rejection(KNOWER) is RejectionReason.NO_VIEWPOINT
        run.errand.note_barred(no_way if view.accepted else bool(run.errand.given_up), self._context.now)

    def _wait_for_map(self, run: DirectiveRun) -> None:
        context = self._context
        timeout = context.config.no_map_timeout
        if context.now - run.started <= timeout:
            return
        if context.facts.grid is None:
            self._transitions.finish(run, ErrorCode.NO_MAP, f"No grid came in {timeout:.0f} s.")
        else:
            self._transitions.finish(run, ErrorCode.TF_ERROR, "The robot's pose in the map is not known.")

    def _choose(self, run: DirectiveRun, admission: Admission, view: TargetView) -> None:
        """Take one of the admitted proposals; it is validated next."""
        context = self._context
        request, asked = run.questions.request, run.questions.asked_at
        assert request is not None
        run.questions.close()
        decision, proposal = self._account.open(request, admission, view, run.step)
        context.epoch_seconds = context.now - asked
        run.decisions += 1
        run.errand.explored_at = None
        run.errand.decided(context.now, view)
        self._transitions.choose(run, Choice(decision, proposal, view))

    def _nothing_to_do(self, run: DirectiveRun, admission: Admission, view: TargetView) -> None:
        """No expert has an admissible proposal: wait, try excluded goals once more, or give up."""
        context = self._context
        run.questions.close()
        if any(arm.refusal is TraceError.ENERGY for arm in admission.arms):
            self._trip.turn_back(run)
            return
        if admission.rejection(EXPLORER) is RejectionReason.EXPLORED:
            run.errand.explored_at = context.now if run.errand.explored_at is None else run.errand.explored_at
            self._activities.of(run).explored(run, admission, view)
            return
        self._transitions.redecide(run, context.config.retry_interval)
        if run.errand.idle_for(context.now) > context.config.no_expert_timeout:
            reasons = "; ".join(f"{arm.expert}: {arm.reason}" for arm in admission.arms)
            self._transitions.finish(
                run, ErrorCode.NO_EXPERT, f"No expert could propose anything ({reasons})."
            )
