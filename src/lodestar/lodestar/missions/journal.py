"""The journal of a mission: written before and after each step, so that a killed runner's successor goes on.

An end that is in the journal is never done again. A step that was begun and has no end is done again, or its outcome is
fetched where it is still to be had; so every step is done at least once.
"""

from __future__ import annotations

import fcntl
import os
from dataclasses import dataclass, field
from pathlib import Path

from lodestar.missions.records import Outcome, Step, StepKind, Verdict
from lodestar.storage.checked_lines import Line
from lodestar.storage.journal_file import JournalFile
from lodestar.storage.lock_holders import holder_of
from lodestar.storage.private import FILE_MODE, private_folder

FILE, LOCK, REPORTS = "journal", "LOCK", "reports"
_KIND, _VERSION = "mission", 1
MAX_BYTES = 4 << 20  # of the journal; chosen: thousands of rounds


class JournalBusy(RuntimeError):
    """Another process runs this mission."""


@dataclass(frozen=True)
class Begun:
    """An attempt without an end. token: names the goal that was sent. until: end of a wait, seconds since the epoch."""

    step: int
    kind: StepKind
    attempt: int
    token: str
    at: float
    until: float = 0.0


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
        self._file = JournalFile(folder / FILE, _KIND, _VERSION, MAX_BYTES)
        self.problems = self._file.problems
        self.run, self.run_begun, self.run_over = 0, 0.0, True
        self.failed = False  # a step of the run failed and the run went on
        self.round: RoundState | None = None
        self.last: RoundState | None = None
        for line in self._file.lines:
            self._apply(line)

    def begin_run(self, at: float) -> None:
        """Begin a new run; the lines of older ones are dropped."""
        line = {"op": "run", "run": self.run + 1, "at": at}
        self._file.rewrite([line])
        self._apply(line)

    def end_run(self, at: float) -> None:
        """The mission is complete, or given up."""
        self._write({"op": "run_end", "at": at})

    def begin_round(self, number: int, due: float, at: float) -> RoundState:
        """Begin a round; the journal of an endless mission is kept small."""
        line = {"op": "round", "number": number, "due": due, "at": at}
        if self._file.is_full:
            head = {"op": "run", "run": self.run, "at": self.run_begun, "failed": self.failed}
            self._file.rewrite([head, line])
            self._apply(line)
        else:
            self._write(line)
        assert self.round is not None
        return self.round

    def end_round(self, at: float) -> None:
        """The round is over."""
        self._write({"op": "round_end", "at": at})

    def begin_step(self, begun: Begun, words: str) -> None:
        """Tell what is done next, before it is done."""
        self._write(
            {"op": "begin", "step": begun.step, "kind": begun.kind.value, "attempt": begun.attempt,
             "token": begun.token, "at": begun.at, "until": begun.until, "words": words}
        )  # fmt: skip

    def end_step(self, number: int, step: Step, outcome: Outcome, at: float, over: bool) -> None:
        """Tell the outcome of the attempt. over: the step is not tried again."""
        self._write(
            {"op": "end", "step": number, "over": over, "at": at, "title": step.title, "kind": step.kind.value,
             "verdict": outcome.verdict.value, "code": outcome.code, "text": outcome.text, "data": dict(outcome.data)}
        )  # fmt: skip

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
        op, state = line.get("op"), self.round
        if op == "run":
            self.run, self.run_begun, self.run_over = int(line["run"]), float(line["at"]), False
            self.failed, self.round, self.last = bool(line.get("failed", False)), None, None
        elif op == "run_end":
            self.run_over, self.round = True, None
        elif op == "round":
            self.round = self.last = RoundState(int(line["number"]), float(line["due"]), float(line["at"]))
        elif op == "round_end":
            self.round = None
        elif op == "begin" and state is not None and line["step"] == state.next_step:
            state.open = Begun(
                int(line["step"]), StepKind(line["kind"]), int(line["attempt"]), str(line["token"]),
                float(line["at"]), float(line["until"]),
            )  # fmt: skip
            state.first = state.first or state.open.at
            state.words[state.next_step :] = [str(line["words"])]
        elif op == "end" and state is not None and line["step"] == state.next_step:
            self._apply_end(line, state)

    def _apply_end(self, line: Line, state: RoundState) -> None:
        verdict = Verdict(line["verdict"])
        counts = verdict in (Verdict.DONE, Verdict.FAILED)
        state.attempts += counts
        state.open = None
        outcome = Outcome(verdict, str(line["text"]), int(line["code"]), dict(line["data"]))
        record = StepRecord(
            state.next_step, str(line["title"]), StepKind(line["kind"]).value, outcome, state.attempts,
            state.first, float(line["at"]),
        )  # fmt: skip
        if not line["over"]:
            state.pending = record
            return
        self.failed |= verdict is not Verdict.DONE
        state.records.append(record)
        state.pending, state.attempts, state.first = None, 0, 0.0
