"""The constraint state CS: the phase of the robot and what it is about, changed by events alone (VLM-DEWM 3.3.1 b)."""

from __future__ import annotations

from lodestar.worldmodel.outcomes import ActionOutcome, ConstraintState, Result
from lodestar.worldmodel.records import Phase, Skill, Trace
from lodestar.worldmodel.skills import SkillTable, load_skills

_IDLE = ConstraintState(Phase.IDLE)


class ConstraintTracker:
    """Follows the events of actions and directives. state: the newest constraint state."""

    def __init__(self, skills: SkillTable | None = None) -> None:
        self._skills = skills or load_skills()
        self._skill, self._about = Skill.TURN, ""  # of the newest action
        self.state = self._paused = _IDLE

    def begin(self, trace: Trace) -> None:
        """An action begins."""
        self._skill, self._about = trace.action.skill, trace.expectation.about
        self.state = ConstraintState(self._skills.rule(self._skill).phase, self._about)

    def arrive(self) -> None:
        """The robot is at its goal, and looks."""
        self.state = ConstraintState(Phase.VERIFYING, self._about)

    def interrupt(self) -> None:
        """The action failed, and the cause is not known yet."""
        self.state = ConstraintState(Phase.INTERRUPTED, self._about)

    def end(self, outcome: ActionOutcome) -> None:
        """An action is over: the robot is at what it was about, or interrupted by a cause."""
        about = self._about
        if outcome.result is Result.COMMITTED:
            self.state = ConstraintState(Phase.AT, about) if about or self._skill == Skill.GO_TO else _IDLE
        elif outcome.result is Result.ROLLED_BACK:
            cause = about if outcome.diagnosis is None else outcome.diagnosis.cause.value
            self.state = ConstraintState(Phase.INTERRUPTED, cause)

    def rest(self) -> None:
        """The directive is over, or a hold was released; where the robot has come to, it is still."""
        if self.state.phase is not Phase.AT:
            self.state = _IDLE

    def pause(self) -> None:
        """The directive is paused: the robot stands, and is about nothing."""
        self._paused, self.state = self.state, ConstraintState(Phase.HELD)

    def resume(self) -> None:
        """The directive goes on; where the robot had come to before, it is still."""
        self.state = self._paused
        self.rest()

    def hold(self) -> None:
        """Motion is forbidden."""
        self.state = ConstraintState(Phase.HELD)
