"""Test bench for missions without a robot: a clock that waiting advances, and a scripted performer."""

from __future__ import annotations

from collections.abc import Callable

from lodestar.missions.journal import MissionJournal
from lodestar.missions.records import Mission, Outcome, Step, StepKind, Verdict
from lodestar.missions.runner import MissionRunner, Waiting

DONE = Outcome(Verdict.DONE, "done")
FAILED = Outcome(Verdict.FAILED, "no valid path", 11009)


class Killed(BaseException):
    """Stands for kill -9 in a test."""


def steps(count: int, **options) -> tuple[Step, ...]:
    return tuple(
        Step(StepKind.DIRECTIVE, f"find the chair {number}", **options) for number in range(1, count + 1)
    )


class Bench:
    """One mission whose runner can be killed and restarted."""

    def __init__(self, folder, mission: Mission, now: float = 1000.0) -> None:
        self.folder, self.mission, self.now = folder, mission, now
        self.done: list[str] = []
        self.tokens: list[str] = []
        self.taken_back: list[str] = []
        self.told: list[str] = []
        self.rounds: list = []
        self.answer: Callable[[Step], Outcome] = lambda step: DONE
        self.left: Outcome | None = None  # outcome of a goal that ended while the runner was dead
        self.stopped = False
        self.on_pause: Callable[[float], None] = lambda seconds: None

    def run(self):
        """Run the mission to its end, with the journal read from disk."""
        journal = MissionJournal(self.folder)
        try:
            return MissionRunner(
                self.mission, journal, self, Waiting(self.pause, lambda: self.now), self.told.append,
                self.rounds.append,
            ).run()  # fmt: skip
        finally:
            journal.close()

    def pause(self, seconds: float) -> bool:
        self.on_pause(seconds)
        self.now += seconds
        return self.stopped

    def perform(self, step: Step, token: str) -> Outcome:
        self.done.append(step.text)
        self.tokens.append(token)
        self.now += 5.0
        return self.answer(step)

    def take_back(self, kind: StepKind, token: str) -> Outcome | None:
        self.taken_back.append(token)
        return self.left


def killing_at(text: str) -> Callable[[Step], Outcome]:
    """Return a performer that kills the runner in one step."""

    def answer(step: Step) -> Outcome:
        if step.text == text:
            raise Killed
        return DONE

    return answer
