"""Runner of a mission: rounds on time, steps in order, retries, and resumption after a crash."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from lodestar.missions.journal import Begun, MissionJournal, RoundState
from lodestar.missions.records import FOREVER, Mission, Outcome, Step, StepKind, Verdict
from lodestar.missions.times import clock_words, next_due
from lodestar.models.english import duration_in_words


class Performer(Protocol):
    """Interface that makes the robot do single steps."""

    def perform(self, step: Step, token: str) -> Outcome:
        """Do one step and return its outcome. If the runner is asked to stop, cancel the robot's goal.

        token: 32 hexadecimal digits that identify the goal for `take_back`.
        """

    def take_back(self, kind: StepKind, token: str) -> Outcome | None:
        """Cancel a step left by a crashed runner. Return its outcome if it had ended by itself, else None."""


class Ending(Enum):
    """Reasons why a runner ends."""

    COMPLETE = "complete"
    FAILED = "a step failed"
    HALTED = "the robot was halted"
    GONE = "the goal selector is gone"
    INTERRUPTED = "interrupted"


_ENDINGS = {
    Verdict.FAILED: Ending.FAILED,
    Verdict.HALTED: Ending.HALTED,
    Verdict.GONE: Ending.GONE,
    Verdict.INTERRUPTED: Ending.INTERRUPTED,
}


@dataclass(frozen=True)
class Waiting:
    """Clock of a mission's runner, and its function to wait. pause(seconds): waits and returns whether the
    runner is asked to stop. now: seconds since the epoch, because schedules and waits use the wall clock.
    """

    pause: Callable[[float], bool]
    now: Callable[[], float] = time.time


_NAP = 60.0  # seconds; a change of the wall clock is noticed within this time
_NOTHING: Callable[..., None] = lambda *_: None  # noqa: E731


class MissionRunner:
    """Runs one mission from the state of its journal.

    tell: prints one line at the terminal. on_round: called with each round that ended or was stopped.
    """

    def __init__(
        self,
        mission: Mission,
        journal: MissionJournal,
        performer: Performer,
        waiting: Waiting,
        tell: Callable[[str], None] = _NOTHING,
        on_round: Callable[[RoundState], None] = _NOTHING,
    ) -> None:
        self._mission, self._journal, self._performer = mission, journal, performer
        self._waiting, self._tell, self._on_round = waiting, tell, on_round

    def run(self) -> Ending:
        """Begin or resume the mission, and return why it ended."""
        if self._journal.run_over:
            self._journal.begin_run(self._waiting.now())
        while True:
            state = self._journal.round
            if state is None:
                due = self._next_round()
                if due is None:
                    self._journal.end_run(self._waiting.now())
                    return Ending.COMPLETE
                if not self._wait_until(due):
                    return Ending.INTERRUPTED
                number = self._journal.last.number + 1 if self._journal.last else 1
                state = self._journal.begin_round(number, due, self._waiting.now())
                self._tell(f"Round {number} begins.")
            elif self._is_late(state):
                self._give_up(state)
                continue
            else:
                self._tell(f"Going on with round {state.number}, step {state.next_step + 1}.")
            ending = self._round(state)
            if ending is None:
                self._journal.end_round(self._waiting.now())
            self._on_round(state)
            if ending is not None:
                return ending

    def give_up(self) -> None:
        """End the run in the journal, so that the next run begins with the first step."""
        if self._journal.round is not None:
            self._take_back(self._journal.round)
        self._journal.end_run(self._waiting.now())

    def _next_round(self) -> float | None:
        """Return the time of the next round, seconds since the epoch; None if there is none."""
        mission, last = self._mission, self._journal.last
        if mission.rounds != FOREVER and last is not None and last.number >= mission.rounds:
            return None
        now = self._waiting.now()
        if mission.schedule is not None:
            due = next_due(mission.schedule, now, self._journal.run_begun if last is None else last.due)
            self._tell(f"The next round begins on {clock_words(due)}.")
        else:
            due = now if last is None else max(now, last.begun + mission.every)
            if due > now:
                self._tell(f"The next round begins in {duration_in_words(due - now)}.")
        return due

    def _is_late(self, state: RoundState) -> bool:
        schedule = self._mission.schedule
        return schedule is not None and self._waiting.now() - state.due > schedule.window

    def _give_up(self, state: RoundState) -> None:
        """End a scheduled round that a crashed runner left and whose time window is over."""
        self._take_back(state)
        window = duration_in_words(self._mission.schedule.window) if self._mission.schedule else ""
        self._tell(
            f"Round {state.number} of {clock_words(state.due)} is given up after step {state.next_step}: its window of "
            f"{window} is over."
        )
        self._journal.end_round(self._waiting.now())
        self._on_round(state)

    def _round(self, state: RoundState) -> Ending | None:
        """Do the remaining steps. Return why the mission ends, None if it continues."""
        while state.next_step < len(self._mission.steps):
            number = state.next_step
            step = self._mission.steps[number]
            self._tell(f"Step {number + 1} of {len(self._mission.steps)}: {step.title}")
            outcome = self._step(state, number, step)
            self._tell(
                f"  {outcome.verdict.value}: {outcome.text}" if outcome.text else f"  {outcome.verdict.value}"
            )
            if outcome.verdict is not Verdict.DONE and state.next_step == number:
                return _ENDINGS[outcome.verdict]
        return None

    def _step(self, state: RoundState, number: int, step: Step) -> Outcome:
        """Do one step with its retries."""
        left = step.retries
        while True:
            outcome = self._attempt(state, number, step)
            again = outcome.verdict is Verdict.FAILED and left > 0
            over = outcome.verdict is Verdict.DONE or (
                outcome.verdict is Verdict.FAILED and step.go_on and not again
            )
            self._journal.end_step(number, step, outcome, self._waiting.now(), over)
            if not again:
                return outcome
            left -= 1
            self._tell(f"  failed, is tried again: {outcome.text}")
            if self._waiting.pause(self._mission.retry_delay):
                return Outcome(Verdict.INTERRUPTED)

    def _attempt(self, state: RoundState, number: int, step: Step) -> Outcome:
        left_open = state.open
        found = self._take_back(state)
        if found is not None:
            return found
        now = self._waiting.now()
        until = 0.0
        if step.kind is StepKind.WAIT:
            until = left_open.until if left_open is not None and left_open.until else now + step.seconds
        token = uuid.uuid4().hex
        self._journal.begin_step(Begun(number, step.kind, state.attempts + 1, token, now, until, step.words))
        if step.kind is StepKind.WAIT:
            whole = self._wait_until(min(until, now + step.seconds))
            return Outcome(Verdict.DONE if whole else Verdict.INTERRUPTED)
        return self._performer.perform(step, token)

    def _take_back(self, state: RoundState) -> Outcome | None:
        """Cancel a step left by a crashed runner. Return its outcome if it had ended by itself, else None."""
        left = state.open
        return None if left is None else self._performer.take_back(left.kind, left.token)

    def _wait_until(self, moment: float) -> bool:
        """Wait until `moment`. Return False if the runner was asked to stop."""
        while (left := moment - self._waiting.now()) > 0.0:
            if self._waiting.pause(min(left, _NAP)):
                return False
        return not self._waiting.pause(0.0)
