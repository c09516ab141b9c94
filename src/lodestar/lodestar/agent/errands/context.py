"""The context shared by all parts of the decision loop: facts, ports, ledger and action traces."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from lodestar.agent.decisions.admission import ASIDE, CHARGER, FRONTIER, HOME, LOOK
from lodestar.agent.errands.commands import Command, OpenQuestions, RecordDecision, State
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.errands.target_search import TargetSearch
from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.newest import Facts, Odometer
from lodestar.agent.facts.times import LoopClock
from lodestar.agent.facts.vocabulary import DirectiveWords
from lodestar.experts.protocol import ActionKind, Proposal, ProposalRequest
from lodestar.experts.searched_floor import SearchedFloor
from lodestar.floors.records import UNKNOWN, Building
from lodestar.language.directive import Step
from lodestar.language.query_graph import VIEWED
from lodestar.models.category_priors import CategoryPriors
from lodestar.models.lexicon import load_lexicon, words_of
from lodestar.models.phrases import PhraseBook
from lodestar.query.targets import SceneTargets, Targets, TargetView
from lodestar.selection.admission import Admission
from lodestar.selection.context import ContextBuilder
from lodestar.selection.decisions import Decision, Outcome
from lodestar.selection.ledger import Ledger, perceive
from lodestar.selection.perceived import Perceived
from lodestar.selection.policy import Policy
from lodestar.selection.reward import DirectiveReward, RewardModel
from lodestar.worldmodel.advice import Adviser
from lodestar.worldmodel.constraint_state import ConstraintTracker
from lodestar.worldmodel.records import Action, Belief, Expectation, Phase, Skill, Trace, Verdict, entity_name
from lodestar.worldmodel.skills import SkillTable, load_skills
from lodestar.worldmodel.validation import TraceValidator

LOOP_SLOWEST_SPEED = 0.12  # m/s of a drive, below which it is late (ours)


def trace_id_of(prefix: str, directive: int, epoch: int) -> str:
    """Return the id of the trace of an action by its epoch (request or goal number), such as "q-d2-t17"."""
    return f"{prefix}-d{directive}-t{epoch}"


@dataclass
class LoopContext:
    """Ports, newest facts, current run, and the commands that wait for the next tick.

    clock: loop time. epoch: number of the newest request or goal, never reused. epoch_seconds: from the newest
    request to its decision.
    """

    config: LoopConfig
    experts: tuple[str, ...]
    ledger: Ledger
    targets: Targets
    validator: TraceValidator
    facts: Facts
    searched: SearchedFloor
    questions: OpenQuestions
    prefix: str  # of trace ids
    words: DirectiveWords  # that perception detects
    directives: int = 0  # number of directives begun
    state: State = State.IDLE
    clock: LoopClock = field(default_factory=LoopClock)
    epoch: int = 0
    epoch_seconds: float = math.nan
    run: DirectiveRun | None = None
    constraint: ConstraintTracker = field(default_factory=ConstraintTracker)
    commands: list[Command] = field(default_factory=list)
    skills: SkillTable = field(default_factory=load_skills)
    priors: CategoryPriors = field(default_factory=CategoryPriors)  # how often objects move or vanish
    adviser: Adviser | None = None  # language model asked about failures, if configured
    # floor id -> searched floor, in a building of several floors
    searched_floors: dict[int, SearchedFloor] = field(default_factory=dict)
    search: TargetSearch = field(init=False)
    account: Account = field(init=False)

    def __post_init__(self) -> None:
        self.search, self.account = TargetSearch(self), Account(self)

    @property
    def now(self) -> float:
        """Return loop time in seconds; it does not advance while a directive is paused."""
        return self.clock.now

    @property
    def place_names(self) -> frozenset[str]:
        """Return the names of all known regions: labels and door plates, without plates that name an object
        ("CHAIR").
        """
        regions = {} if self.facts.mirror is None else self.facts.mirror.regions
        lexicon = load_lexicon()
        labels = (region.label for region in regions.values() if region.label)
        plates = (plate for region in regions.values() for plate in region.plates)
        rooms = (plate for plate in plates if lexicon.known_suffix(words_of(plate)) == 0)
        return frozenset(name.casefold() for name in (*labels, *rooms))

    @property
    def pose_is_old(self) -> bool:
        """Return whether the newest pose is older than `pose_patience`."""
        return self.facts.pose is not None and self.now - self.facts.pose_heard > self.config.pose_patience

    @property
    def grid_is_old(self) -> bool:
        """Return whether the newest grid is older than `grid_patience`; never if that is 0."""
        if self.state is State.CROSSING or (self.facts.building.floors and self.facts.building.here is None):
            return False  # no grid exists between floors
        return (
            self.facts.grid is not None and 0.0 < self.config.grid_patience < self.now - self.facts.grid_heard
        )

    def take_building(self, building: Building) -> None:
        """Store the known floors, and use the search record of the robot's floor from now on."""
        before = self.facts.building.active
        self.facts.take_building(building)
        if building.active in (UNKNOWN, before):
            return
        self.facts.grid_heard = self.now
        if not self.searched_floors:
            self.searched_floors[before or building.active] = self.searched
        if building.active not in self.searched_floors:
            self.searched_floors[building.active] = SearchedFloor(self.config.look_limits)
            self.searched_floors[building.active].count_from(self.searched.since)
        self.searched = self.searched_floors[building.active]

    def trace_id(self, epoch: int) -> str:
        """Return the id of the trace of the action with this epoch, in the newest directive."""
        return trace_id_of(self.prefix, self.directives, epoch)

    def verdict(self, step: Step, proposal: Proposal, view: TargetView) -> Verdict:
        """Return the validator's verdict on carrying out a proposal for a step."""
        return self.validator.check(trace_of(self, step, proposal, proposal.epoch, view))

    def next_epoch(self) -> int:
        """Return a number that no request or goal has had."""
        self.epoch += 1
        return self.epoch


def make_context(
    config: LoopConfig,
    policy: Policy,
    phrases: PhraseBook | None,
    experts: tuple[str, ...],
    *,
    targets: Targets | None = None,
    features: str = "iv_a",
    rewards: RewardModel | None = None,
    prefix: str = "q",
    adviser: Adviser | None = None,
    skills: SkillTable | None = None,
    priors: CategoryPriors | None = None,
) -> LoopContext:
    """Return a context without facts and without a run.

    experts: names of the experts to ask; they must be the policy's arms. features: key of FEATURE_SETS, the policy's
    input. prefix: of the ids of questions and traces. Raises ValueError if the arms differ, or if neither phrases nor
    targets are given.
    """
    if tuple(policy.arms) != tuple(experts):
        raise ValueError(f"the policy's arms {policy.arms} are not the experts {experts}")
    if targets is None:
        if phrases is None:
            raise ValueError("a phrase book or targets are needed")
        targets = SceneTargets(phrases)
    builder = ContextBuilder(experts, features)
    ledger = Ledger(policy, builder, rewards or DirectiveReward())
    facts = Facts(Odometer(config))
    skills = skills or load_skills()
    validator = TraceValidator(facts, config.validation, skills)
    return LoopContext(
        config,
        experts,
        ledger,
        targets,
        validator,
        facts,
        SearchedFloor(config.look_limits),
        OpenQuestions(config, prefix),
        prefix,
        DirectiveWords(prefix),
        constraint=ConstraintTracker(skills),
        skills=skills,
        priors=priors or CategoryPriors(),
        adviser=adviser,
    )


class Account:
    """Records the loop's decisions and outcomes in the ledger."""

    def __init__(self, context: LoopContext) -> None:
        self._context = context

    def perceived(self, view: TargetView | None, step: Step) -> Perceived:
        """Return the current situation for the ledger. view: candidates for the target of `step`, None = not
        computed.
        """
        facts = self._context.facts
        return perceive(self._context.now, facts.area, facts.pose, facts.grid, facts.entities, view, step)

    def open(
        self, request: ProposalRequest, admission: Admission, view: TargetView, step: Step
    ) -> tuple[Decision, Proposal]:
        """Let the policy choose among the admitted proposals, and record the decision. A decision that is
        still open is closed as preempted.
        """
        self.close(Outcome.PREEMPTED, view)
        context = self._context
        perceived = self.perceived(view, step)
        decision, proposal = context.ledger.choose(
            request,
            admission,
            step,
            perceived,
            context.facts.stamp.seconds,
            context.config.map_id,
            context.trace_id(request.epoch),
            context.epoch_seconds,
        )
        context.commands.append(RecordDecision(decision))
        return decision, proposal

    def close(
        self, outcome: Outcome, view: TargetView | None = None, success: bool = False, ended: bool = False
    ) -> None:
        """Record the outcome of the open decision, if there is one."""
        ledger = self._context.ledger
        decision = ledger.close(outcome, self.perceived(view, ledger.step), success, ended)
        if decision is not None:
            self._context.commands.append(RecordDecision(decision))


_SKILLS = {HOME: Skill.RETURN, CHARGER: Skill.CHARGE, ASIDE: Skill.STEP_ASIDE, LOOK: Skill.TURN}
_PHASES = {
    Skill.GO_TO: Phase.AT,
    Skill.SEARCH: Phase.EXPLORING,
    Skill.TURN: Phase.EXPLORING,
    Skill.RETURN: Phase.RETURNING,
    Skill.CHARGE: Phase.RETURNING,
    Skill.STEP_ASIDE: Phase.EXPLORING,
}
_FALLBACKS = {
    Skill.GO_TO: "look at it from another side, then take the next candidate",
    Skill.SEARCH: "leave this place out and ask the experts again",
    Skill.TURN: "ask the experts again",
    Skill.RETURN: "try again from another pose",
    Skill.CHARGE: "try again from another pose",
    Skill.STEP_ASIDE: "step to another side",
}
_PLACE_FALLBACK = "try another pose there, then report that it cannot be reached"


def goal_patience(start: np.ndarray, goal: np.ndarray, context: LoopContext) -> float:
    """Return the seconds that the drive from start (3,) to goal (3,) may take."""
    straight = math.hypot(goal[0] - start[0], goal[1] - start[1])
    return context.config.goal_time_base + 2.0 * straight / LOOP_SLOWEST_SPEED


def trace_of(context: LoopContext, step: Step, proposal: Proposal, epoch: int, view: TargetView) -> Trace:
    """Return the trace of an action that carries out a proposal. view: candidates for the step's target, from
    which the beliefs about it are taken.
    """
    facts = context.facts
    entity = facts.entity(proposal.entity_id)
    entity_id = entity.id if entity is not None else proposal.entity_id
    skill = _skill(proposal)
    about = entity_name(entity_id) if entity_id else ""
    goal = np.asarray(proposal.goal, np.float64)
    stamp = facts.stamp.seconds
    beliefs = _beliefs(step, view, entity_id)
    lasting = tuple(b for b in beliefs if b.predicate not in VIEWED)  # the others depend on the viewpoint
    known = facts.pose is not None and goal.shape == (3,) and np.isfinite(goal).all()
    return Trace(
        id=context.trace_id(epoch),
        epoch=epoch,
        stamp=stamp,
        proposer=proposal.expert,
        action=Action(skill, (about,) if about else (), goal),
        expectation=Expectation(
            Phase.AT if about else _PHASES[skill],
            about,
            lasting,
            visible=(entity_id,) if about else (),
            by=stamp + goal_patience(facts.pose, goal, context)
            if known and facts.pose is not None
            else math.inf,
        ),
        confidence=float(proposal.confidence),
        beliefs=beliefs,
        reason=proposal.rationale,
        fallback=_FALLBACKS[skill] if about or skill != Skill.GO_TO else _PLACE_FALLBACK,
        evidence_entities=proposal.evidence_entities or ((entity_id,) if about else ()),
        evidence_keyframes=proposal.evidence_keyframes,
    )


def _skill(proposal: Proposal) -> Skill:
    if proposal.action is not ActionKind.GO:
        return Skill.TURN
    exploring = proposal.expert == FRONTIER and not proposal.entity_id
    return _SKILLS.get(proposal.expert, Skill.SEARCH if exploring else Skill.GO_TO)


def _beliefs(step: Step, view: TargetView, entity_id: int) -> tuple[Belief, ...]:
    """Return the relations for which an entity was accepted as the target; () if it is only a candidate."""
    candidate = next((c for c in view.accepted if c.entity_id == entity_id), None)
    if candidate is None or view.presumed == entity_id or candidate.reading >= len(step.graphs):
        return ()
    bound = {0: entity_id, **candidate.bindings}
    return tuple(
        Belief(predicate.name, tuple(entity_name(bound[i]) for i in predicate.arguments))
        for predicate in step.graphs[candidate.reading].predicates
        if not predicate.is_literal and not predicate.negated and _is_bound(predicate.arguments, bound)
    )


def _is_bound(arguments: tuple[int, ...], bound: dict[int, int]) -> bool:
    return len(arguments) > 1 and all(i in bound for i in arguments)
