"""The journal of a mission: written before and after each step, so that a killed runner's successor goes on.

An end that is in the journal is never done again. A step that was begun and has no end is done again, or its outcome is
fetched where it is still to be had; so every step is done at least once.
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
MAX_BYTES = 4 << 20  # of the journal; chosen: thousands of rounds


class JournalBusy(RuntimeError):
    """Another process runs this mission."""


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
    """An attempt without an end. token: names the goal that was sent. until: end of a wait, seconds since the epoch.

    words: of the step.
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
    """A step that is over, done or not. begun, ended: seconds since the epoch, of its first and its last attempt."""

    step: int
    title: str
    kind: str
    outcome: Outcome
    attempts: int
    begun: float
    ended: float


@dataclass
class RoundState:
    """Progress of one round. due: seconds since the epoch at which it was to begin."""

    number: int
    due: float
    begun: float
    records: list[StepRecord] = field(default_factory=list)
    pending: StepRecord | None = None  # the next step, where it was tried and is not over
    open: Begun | None = None  # an attempt that a dead runner left
    attempts: int = 0  # ended attempts of the next step
    first: float = 0.0  # time of the first of them
    words: list[str] = field(default_factory=list)  # of each step that was begun

    @property
    def next_step(self) -> int:
        """Return the index of the first step that is not over."""
        return len(self.records)


class MissionJournal:
    """The journal of one mission in a folder of its own; one process at a time.

    run: number of the run, 0 = none. round: the round that is not over. last: number, due time and beginning of the
    newest round. problems: lines that could not be read. Raises JournalBusy, OSError, UnsafeFolder.
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
        self.failed = False  # a step of the run failed and the run went on
        self.round: RoundState | None = None
        self.last: RoundState | None = None
        for line in self._file.lines:
            self._apply(line)

    def begin_run(self, at: float) -> None:
        """Begin a new run; the lines of older ones are dropped."""
        line = _Run(self.run + 1, at)
        self._file.rewrite([line])
        self._apply(line)

    def end_run(self, at: float) -> None:
        """The mission is complete, or given up."""
        self._write(_RunEnd(at))

    def begin_round(self, number: int, due: float, at: float) -> RoundState:
        """Begin a round; the journal of an endless mission is kept small."""
        line = _Round(number, due, at)
        if self._file.is_full:
            self._file.rewrite([_Run(self.run, self.run_begun, self.failed), line])
            self._apply(line)
        else:
            self._write(line)
        assert self.round is not None
        return self.round

    def end_round(self, at: float) -> None:
        """The round is over."""
        self._write(_RoundEnd(at))

    def begin_step(self, begun: Begun) -> None:
        """Tell what is done next, before it is done."""
        self._write(begun)

    def end_step(self, number: int, step: Step, outcome: Outcome, at: float, over: bool) -> None:
        """Tell the outcome of the attempt. over: the step is not tried again."""
        facts = outcome.verdict, outcome.code, outcome.text, dict(outcome.data)
        self._write(_End(number, over, at, step.title, step.kind, *facts))

    def changed_step(self, steps: tuple[Step, ...]) -> int:
        """Return the index of the first step of the open round that the file has otherwise now, -1 for none."""
        said = self.round.words if self.round is not None else []
        for index, words in enumerate(said):
            if index >= len(steps) or steps[index].words != words:
                return index
        return -1

    def close(self) -> None:
        """Close the file and let others run the mission. Safe to repeat."""
        self._file.close()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def _write(self, line: Line) -> None:
        self._file.append(line)
        self._file.sync()
        self._apply(line)

    def _apply(self, line: Line) -> None:
        """Follow a line. One that does not fit, because lines before it were damaged, changes nothing."""
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
