"""Property tests of errands with user skills, whose ends come late, twice, never, or as failures.

The rules of `errand_rules` hold. The arm moves only while the loop waits for it, the base does not move then, and
every action has one end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from agent_fakes import EXPERTS, thing
from errand_rules import Broken, short_timeouts  # noqa: F401
from errand_stage import FixedPolicy, Stage
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule
from test_errands import PLACES, Errands, spans, steps, things

from lodestar.agent.errands.commands import CancelSkill, Command, RecordOutcome, RunSkill, SkillEnd, State
from lodestar.agent.errands.context import make_context
from lodestar.agent.loop.machine import DecisionLoop
from lodestar.language.directive import Directive, Step, StepKind
from lodestar.selection.context import FEATURES
from lodestar.selection.linucb import LinUcbConfig
from lodestar.worldmodel.outcomes import Result
from lodestar.worldmodel.skills import load_skills, read_skills

SKILLS = """
Pick: {phase: AT, patience: 6.0, requires: [{predicate: Near, arguments: [robot, $1]}]}
Place: {phase: AT, patience: 6.0, confirms: [{predicate: "On", arguments: [$1, $2]}]}
Wave: {phase: IDLE, patience: 6.0}
"""
#: Ends of the arm's actions: seconds and result; None = it never reports.
ARMS: dict[str, list[tuple[float, SkillEnd]]] = {
    "prompt": [(0.0, SkillEnd(True))],
    "slow": [(3.0, SkillEnd(True))],
    "too late": [(9.0, SkillEnd(True))],
    "fails": [(1.0, SkillEnd(False, "stuck"))],
    "twice": [(0.0, SkillEnd(True)), (4.0, SkillEnd(False, "changed its mind"))],
    "silent": [],
}
JUDGED = ("it never fails", "nothing moves that must stand", "every directive ends within its limit")

skills = st.one_of(
    things.map(lambda words: Step(StepKind.DO, thing(words), skill="Pick")),
    st.just(Step(StepKind.DO, skill="Wave")),
    st.builds(
        lambda one, other: Step(StepKind.DO, thing(one), skill="Place", others=(thing(other),)),
        things,
        things,
    ),
)
directives = st.lists(st.one_of(skills, steps), min_size=1, max_size=4).map(
    lambda some: Directive("a directive with skills", tuple(some))
)


@dataclass
class ArmStage(Stage):
    """Stage whose robot has an arm. arm: the end of its actions."""

    arm: str = "prompt"

    def __post_init__(self) -> None:
        self.moving: dict[int, str] = {}  # skills in progress: ticket -> id of the trace
        self.asked_of_arm: list[str] = []
        super().__post_init__()
        policy = FixedPolicy(LinUcbConfig(mixing=0.0), EXPERTS, FEATURES, np.random.default_rng(0))
        table = load_skills().with_more(read_skills(SKILLS))
        self.loop = DecisionLoop(
            make_context(self.config, policy, None, EXPERTS, targets=self.targets, skills=table)
        )
        self._tell_facts()

    def _carry_out(self, command: Command) -> None:
        super()._carry_out(command)
        if isinstance(command, RunSkill):
            self.moving[command.ticket] = command.trace.id
            self.asked_of_arm.append(command.trace.id)
            for seconds, end in ARMS[self.arm]:
                tell = self._teller(command.ticket, end)
                if seconds:
                    self.held_back.append((self.now + seconds, tell))
                else:
                    self.judge.call("the arm", tell)
        elif isinstance(command, CancelSkill):
            self.moving.pop(command.ticket, None)

    def _teller(self, ticket: int, end: SkillEnd) -> Callable[[], None]:
        def tell() -> None:
            self.moving.pop(ticket, None)
            self.loop.on_skill(ticket, end)

        return tell

    def _judge(self) -> None:
        super()._judge()
        if len(self.moving) > 1 or (self.moving and self.loop.state is not State.WAITING):
            raise Broken(f"the arm moves for {list(self.moving)} while the loop is {self.loop.state.name}")
        if self.moving and (self.loop.motion_allowed or self.navigator.goal is not None):
            raise Broken("the base may move while the arm does")

    def judge_ends(self) -> None:
        """Check that every started skill has exactly one end."""
        outcomes = [c.outcome for c in self.commands if isinstance(c, RecordOutcome)]
        ends = Counter(o.trace_id for o in outcomes if o.result is not Result.ROLLED_BACK or o.is_final)
        wrong = {i: ends[i] for i in self.asked_of_arm if ends[i] != 1}
        assert not wrong, f"skills with none or several ends: {wrong}"


class SkilledErrands(Errands):
    """Random events for a robot with an arm."""

    @initialize(wall=st.booleans(), placed=st.lists(things, max_size=3, unique=True))
    def begin(self, wall: bool, placed: list[str]) -> None:
        self.stage = ArmStage(wall=wall, judged=JUDGED)
        for identity, (words, (x, y)) in enumerate(zip(placed, PLACES), 1):
            self.stage.put(identity, x, y, words)

    @rule(arm=st.sampled_from(sorted(ARMS)), directive=directives, seconds=spans)
    def use(self, arm: str, directive: Directive, seconds: float) -> None:
        self.stage.arm = arm
        self._go_on(directive, seconds)

    @rule(arm=st.sampled_from(sorted(ARMS)), directive=directives, seconds=st.sampled_from([0.25, 1.0, 5.0]))
    def use_another(self, arm: str, directive: Directive, seconds: float) -> None:
        self.stage.cancel()
        self.stage.run(0.25)
        self.use(arm, directive, seconds)

    def teardown(self) -> None:
        super().teardown()
        stage = getattr(self, "stage", None)
        if stage is not None:
            assert not stage.moving, "the directive is over, and the arm moves"
            stage.judge_ends()


TestSkilledErrands = SkilledErrands.TestCase
TestSkilledErrands.settings = settings(
    max_examples=max(settings.default.max_examples // 4, 10),
    stateful_step_count=14,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
