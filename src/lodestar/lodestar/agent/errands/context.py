"""The context that the states of the decision loop share."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from lodestar.agent.decisions.credit import Ledger
from lodestar.agent.decisions.targets import SceneTargets, Targets
from lodestar.agent.errands.commands import Command, State
from lodestar.agent.errands.open_questions import OpenQuestions
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.errands.searched_floor import SearchedFloor
from lodestar.agent.errands.trace_ids import trace_id_of
from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.loop_clock import LoopClock
from lodestar.agent.facts.motion import Odometer
from lodestar.agent.facts.newest import Facts
from lodestar.models.phrases import PhraseBook
from lodestar.selection.config import ContextConfig
from lodestar.selection.context import ContextBuilder
from lodestar.selection.policy import Policy
from lodestar.selection.reward import DirectiveReward, RewardModel
from lodestar.worldmodel.advice import Adviser
from lodestar.worldmodel.constraint_state import ConstraintTracker
from lodestar.worldmodel.records import Trace, Verdict
from lodestar.worldmodel.skills import SkillTable, load_skills
from lodestar.worldmodel.validation import TraceValidator


class Unchecked(TraceValidator):
    """Accepts every trace; for comparisons."""

    def check(self, trace: Trace, now: float | None = None) -> Verdict:
        """Return that it may be carried out."""
        return Verdict()


@dataclass
class LoopContext:
    """Ports, the newest facts, the open run, and the commands that wait for the next tick.

    clock: of loop time. epoch: of the newest request or goal, never reused. epoch_seconds: from
    the newest question to its decision.
    """

    config: LoopConfig
    experts: tuple[str, ...]
    ledger: Ledger
    targets: Targets
    validator: TraceValidator
    facts: Facts
    searched: SearchedFloor
    questions: OpenQuestions
    prefix: str  # of the ids of traces
    directives: int = 0  # that have begun
    state: State = State.IDLE
    clock: LoopClock = field(default_factory=LoopClock)
    epoch: int = 0
    epoch_seconds: float = math.nan
    run: DirectiveRun | None = None
    constraint: ConstraintTracker = field(default_factory=ConstraintTracker)
    commands: list[Command] = field(default_factory=list)
    skills: SkillTable = field(default_factory=load_skills)
    adviser: Adviser | None = None  # a language model that is asked about failures, where one is configured

    @property
    def now(self) -> float:
        """Return loop time in seconds, which stands while a directive is paused."""
        return self.clock.now

    @property
    def place_names(self) -> frozenset[str]:
        """Names of the regions that are known now."""
        mirror = self.facts.mirror
        return (
            frozenset()
            if mirror is None
            else frozenset(r.label.casefold() for r in mirror.regions.values() if r.label)
        )

    @property
    def pose_age(self) -> float:
        """Return the seconds of loop time since the newest pose came."""
        return self.now - self.facts.pose_heard

    @property
    def grid_age(self) -> float:
        """Return the seconds of loop time since the newest grid came."""
        return self.now - self.facts.grid_heard

    @property
    def pose_is_old(self) -> bool:
        """Return whether the robot no longer knows where it is."""
        return self.facts.pose is not None and self.pose_age > self.config.pose_patience

    @property
    def grid_is_old(self) -> bool:
        """Return whether the robot no longer knows what is around it; never where a grid is good for ever."""
        return self.facts.grid is not None and 0.0 < self.config.grid_patience < self.grid_age

    def trace_id(self, epoch: int) -> str:
        """Return the id of the trace of an epoch's action in the newest directive."""
        return trace_id_of(self.prefix, self.directives, epoch)

    def next_epoch(self) -> int:
        """A number that no request or goal has had."""
        self.epoch += 1
        return self.epoch


def make_context(
    config: LoopConfig,
    policy: Policy,
    phrases: PhraseBook | None,
    experts: tuple[str, ...],
    *,
    targets: Targets | None = None,
    context: ContextConfig | None = None,
    features: str = "iv_a",
    rewards: RewardModel | None = None,
    prefix: str = "q",
    adviser: Adviser | None = None,
    skills: SkillTable | None = None,
) -> LoopContext:
    """A context in which nothing is known and nothing runs.

    experts: names of those that are asked, which are the policy's arms. features: of FEATURE_SETS, those that the
    policy learns of. prefix: of the ids of questions that are asked back, and of traces. Raises ValueError where the
    arms are others, or neither phrases nor targets are given.
    """
    if tuple(policy.arms) != tuple(experts):
        raise ValueError(f"the policy's arms {policy.arms} are not the experts {experts}")
    if targets is None:
        if phrases is None:
            raise ValueError("a phrase book or targets are needed")
        targets = SceneTargets(phrases)
    builder = ContextBuilder(context or ContextConfig(), experts, features)
    ledger = Ledger(policy, builder, rewards or DirectiveReward())
    facts = Facts(Odometer(config))
    skills = skills or load_skills()
    validator = (TraceValidator if config.validates else Unchecked)(facts, config.validation, skills)
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
        constraint=ConstraintTracker(skills),
        skills=skills,
        adviser=adviser,
    )
