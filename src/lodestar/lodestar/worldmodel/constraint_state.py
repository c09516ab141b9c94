"""The constraint state CS, changed only by events (VLM-DEWM 3.3.1 b).

It consists of the robot's phase and its subject: the entity or region that the phase is about.
"""

from __future__ import annotations

from lodestar.worldmodel.outcomes import ActionOutcome, ConstraintState, Result
from lodestar.worldmodel.records import Phase, Skill, Trace
from lodestar.worldmodel.skills import SkillTable, load_skills

_IDLE = ConstraintState(Phase.IDLE)


class ConstraintTracker:
    """Updates the constraint state from events of actions and directives. state: the newest one."""

    def __init__(self, skills: SkillTable | None = None) -> None:
        self._skills = skills or load_skills()
        self._skill, self._about = Skill.TURN, ""  # of the newest action
        self.state = self._paused = _IDLE

    def begin(self, trace: Trace) -> None:
        """Begin an action: set its phase and subject."""
        self._skill, self._about = trace.action.skill, trace.expectation.about
        self.state = ConstraintState(self._skills.rule(self._skill).phase, self._about)

    def arrive(self) -> None:
        """Set the phase VERIFYING after the arrival at the goal; the subject is that of the action."""
        self.state = ConstraintState(Phase.VERIFYING, self._about)

    def interrupt(self) -> None:
        """Set the phase INTERRUPTED after a failure of unknown cause; the subject is that of the action."""
        self.state = ConstraintState(Phase.INTERRUPTED, self._about)

    def end(self, outcome: ActionOutcome) -> None:
        """Set the phase at the end of an action.

        It is AT the action's subject if committed, INTERRUPTED with the cause as subject if rolled back.
        """
        about = self._about
        if outcome.result is Result.COMMITTED:
            self.state = ConstraintState(Phase.AT, about) if about or self._skill == Skill.GO_TO else _IDLE
        elif outcome.result is Result.ROLLED_BACK:
            cause = about if outcome.diagnosis is None else outcome.diagnosis.cause.value
            self.state = ConstraintState(Phase.INTERRUPTED, cause)

    def rest(self) -> None:
        """Set the phase IDLE after a directive or a hold; but a phase AT is kept, with its subject."""
        if self.state.phase is not Phase.AT:
            self.state = _IDLE

    def pause(self) -> None:
        """Set the phase HELD without a subject during a pause."""
        self._paused, self.state = self.state, ConstraintState(Phase.HELD)

    def resume(self) -> None:
        """End a pause: restore the phase AT with its subject if it was set before, else set IDLE."""
        self.state = self._paused
        self.rest()

    def hold(self) -> None:
        """Set the phase HELD because motion is forbidden."""
        self.state = ConstraintState(Phase.HELD)
