"""Journal of a mission, written before and after each step, so that a restarted runner can resume.

A step with an end in the journal is never repeated. A step without an end is repeated, or its outcome is fetched if
it is still available. So every step is done at least once.
"""

from __future__ import annotations

import fcntl
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import Struct

from lodestar.missions.records import Outcome, Step, StepKind, Verdict
from lodestar.storage.journal_file import JournalFile
from lodestar.storage.lock_holders import holder_of
from lodestar.storage.private import FILE_MODE, private_folder
from lodestar.storage.records import Stamp

FILE, LOCK, REPORTS = "journal", "LOCK", "reports"
_KIND, _VERSION = "mission", 1
MAX_BYTES = 4 << 20  # limit of the journal; chosen: thousands of rounds


class JournalBusy(RuntimeError):
    """Error: another process is running this mission."""


class _Line(Struct, frozen=True, tag_field="op"):
    """A line of the journal. at: seconds since the epoch."""


class _Run(_Line, frozen=True, tag="run"):
    run: int
    at: Stamp
    failed: bool = False


class _RunEnd(_Line, frozen=True, tag="run_end"):
    at: Stamp


class _Round(_Line, frozen=True, tag="round"):
    number: int
    due: Stamp
    at: Stamp


class _RoundEnd(_Line, frozen=True, tag="round_end"):
    at: Stamp


class Begun(_Line, frozen=True, tag="begin"):
    """The beginning of an attempt at a step.

    token: identifies the goal sent to the robot. until: end of a wait, seconds since the epoch. words: the
    step as a sentence.
    """

    step: int
    kind: StepKind
    attempt: int
    token: str
    at: Stamp
    until: Stamp = 0.0
    words: str = ""


class _End(_Line, frozen=True, tag="end"):
    step: int
    over: bool
    at: Stamp
    title: str
    kind: StepKind
    verdict: Verdict
    code: int
    text: str
    data: dict[str, Any]


Line = _Run | _RunEnd | _Round | _RoundEnd | Begun | _End


@dataclass(frozen=True)
class StepRecord:
    """Outcome of a step's newest attempt.

    begun: time of the first attempt's beginning; ended: end of the newest one; both in seconds since the
    epoch.
    """

    step: int
    title: str
    kind: str
    outcome: Outcome
    attempts: int
    begun: float
    ended: float


@dataclass
class RoundState:
    """Progress of one round. due: scheduled begin, seconds since the epoch."""

    number: int
    due: float
    begun: float
    records: list[StepRecord] = field(default_factory=list)
    pending: StepRecord | None = None  # the next step, if it was tried and has to be tried again
    open: Begun | None = None  # an attempt that a crashed runner left open
    attempts: int = 0  # ended attempts of the next step
    first: float = 0.0  # time of the first attempt, seconds since the epoch
    words: list[str] = field(default_factory=list)  # sentence of each begun step

    @property
    def next_step(self) -> int:
        """Return the index of the first step that still has to be done or tried again."""
        return len(self.records)


class MissionJournal:
    """Journal of one mission in its own folder; one process at a time.

    run: number of the run, 0 = none. round: the current round. last: number, due time and begin of the newest round.
    problems: unreadable lines. Raises JournalBusy, OSError, UnsafeFolder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = private_folder(folder)
        self._lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._lock)
            holder = holder_of(folder / LOCK) or "another process"
            raise JournalBusy(f"{holder} runs this mission: it holds {folder / LOCK}") from error
        self._file = JournalFile[Line](folder / FILE, _KIND, _VERSION, Line, max_bytes=MAX_BYTES)
        self.problems = self._file.problems
        self.run, self.run_begun, self.run_over = 0, 0.0, True
        self.failed = False  # a step of the run failed, and the run continued
        self.round: RoundState | None = None
        self.last: RoundState | None = None
        for line in self._file.lines:
            self._apply(line)

    def begin_run(self, at: float) -> None:
        """Begin a new run, dropping the lines of older runs."""
        line = _Run(self.run + 1, at)
        self._file.rewrite([line])
        self._apply(line)

    def end_run(self, at: float) -> None:
        """Record that the mission is complete or was given up."""
        self._write(_RunEnd(at))

    def begin_round(self, number: int, due: float, at: float) -> RoundState:
        """Begin a round. A full journal is rewritten, so that an endless mission keeps it small."""
        line = _Round(number, due, at)
        if self._file.is_full:
            self._file.rewrite([_Run(self.run, self.run_begun, self.failed), line])
            self._apply(line)
        else:
            self._write(line)
        assert self.round is not None
        return self.round

    def end_round(self, at: float) -> None:
        """Record the end of the round."""
        self._write(_RoundEnd(at))

    def begin_step(self, begun: Begun) -> None:
        """Record the next step before it is done."""
        self._write(begun)

    def end_step(self, number: int, step: Step, outcome: Outcome, at: float, over: bool) -> None:
        """Record the outcome of the attempt. over: the step is not tried again."""
        facts = outcome.verdict, outcome.code, outcome.text, dict(outcome.data)
        self._write(_End(number, over, at, step.title, step.kind, *facts))

    def changed_step(self, steps: tuple[Step, ...]) -> int:
        """Return the index of the first begun step of the open round that differs in the file, -1 = none."""
        said = self.round.words if self.round is not None else []
        for index, words in enumerate(said):
            if index >= len(steps) or steps[index].words != words:
                return index
        return -1

    def close(self) -> None:
        """Close the file and release the lock. Safe to repeat."""
        self._file.close()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def _write(self, line: Line) -> None:
        self._file.append(line)
        self._file.sync()
        self._apply(line)

    def _apply(self, line: Line) -> None:
        """Apply a line to the state. A line that does not fit, because earlier lines were damaged, is ignored."""
        state = self.round
        if isinstance(line, _Run):
            self.run, self.run_begun, self.run_over = line.run, line.at, False
            self.failed, self.round, self.last = line.failed, None, None
        elif isinstance(line, _RunEnd):
            self.run_over, self.round = True, None
        elif isinstance(line, _Round):
            self.round = self.last = RoundState(line.number, line.due, line.at)
        elif isinstance(line, _RoundEnd):
            self.round = None
        elif state is not None and line.step == state.next_step:
            if isinstance(line, _End):
                self._apply_end(line, state)
                return
            state.open = line
            state.first = state.first or line.at
            state.words[state.next_step :] = [line.words]

    def _apply_end(self, line: _End, state: RoundState) -> None:
        state.attempts += line.verdict in (Verdict.DONE, Verdict.FAILED)
        state.open = None
        outcome = Outcome(line.verdict, line.text, line.code, line.data)
        record = StepRecord(
            state.next_step, line.title, line.kind.value, outcome, state.attempts, state.first, line.at
        )
        if not line.over:
            state.pending = record
            return
        self.failed |= line.verdict is not Verdict.DONE
        state.records.append(record)
        state.pending, state.attempts, state.first = None, 0, 0.0
