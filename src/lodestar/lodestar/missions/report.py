"""Report of a round: a table for the terminal, and JSON lines for programs."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from lodestar.missions.journal import RoundState, StepRecord
from lodestar.missions.records import Mission, Verdict
from lodestar.models.english import duration_in_words
from lodestar.scene.captions import clean_text
from lodestar.storage.files import write_file
from lodestar.storage.private import private_folder

_WIDE = 44  # characters of the step and outcome columns; chosen for 120 columns


def report_lines(mission: Mission, state: RoundState) -> list[str]:
    """Return the lines of the table. Texts are cleaned of control characters and line breaks."""
    records = state.records
    shown = _shown(state)
    done = sum(record.outcome.verdict is Verdict.DONE for record in records)
    failed = sum(record.outcome.verdict is Verdict.FAILED for record in shown)
    took = duration_in_words(shown[-1].ended - state.begun) if shown else "0 seconds"
    head = f"Mission {mission.name}, round {state.number}: {done} of {len(mission.steps)} steps done"
    lines = [f"{head}{f', {failed} failed' if failed else ''}, in {took}."]
    rows = [("", "step", "outcome", "tries", "s", "what came of it"), *(_row(record) for record in shown)]
    rows += [
        (str(index + 1), _short(step.title), "open", "", "", "")
        for index, step in enumerate(mission.steps)
        if index >= len(shown)
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    return lines + [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[5]]).rstrip() for row in rows
    ]


def _shown(state: RoundState) -> list[StepRecord]:
    """Return the records of the finished steps, and of the current step if it was already tried."""
    return [*state.records, *([] if state.pending is None else [state.pending])]


def _row(record: StepRecord) -> tuple[str, ...]:
    code = f" {record.outcome.code}" if record.outcome.code else ""
    return (
        str(record.step + 1), _short(record.title), f"{record.outcome.verdict.value}{code}", str(record.attempts),
        f"{record.ended - record.begun:.0f}", _short(record.outcome.text),
    )  # fmt: skip


def _short(text: str) -> str:
    clean = clean_text(text)
    return clean if len(clean) <= _WIDE else f"{clean[: _WIDE - 3].rstrip()}..."


def plain_text(text: str, most: int = 20_000) -> str:
    """Return an untrusted text as lines without control characters. It is only displayed, never executed."""
    lines = (
        "".join(c if c.isprintable() else " " for c in line).rstrip() for line in text[:most].splitlines()
    )
    return "\n".join(line for line in lines if line)


def report_path(folder: Path, run: int, number: int) -> Path:
    """Return the path of a round's JSON lines file."""
    return folder / f"run-{run:06d}-round-{number:06d}.jsonl"


def write_report(folder: Path, mission: Mission, run: int, state: RoundState) -> Path:
    """Write a round's JSON lines, one per tried step, and return the file. Raises OSError, UnsafeFolder.

    The file is written from the journal, so that an interrupted and resumed round has each step once.
    """
    path = report_path(private_folder(folder), run, state.number)
    lines = [_line(mission, run, state, record) for record in _shown(state)]
    write_file(path, [json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines])
    os.chmod(path, 0o600)
    return path


def _line(mission: Mission, run: int, state: RoundState, record: StepRecord) -> dict[str, Any]:
    return {
        "mission": mission.name,
        "run": run,
        "round": state.number,
        "step": record.step + 1,
        "kind": record.kind,
        "title": record.title,
        "words": state.words[record.step] if record.step < len(state.words) else "",
        "outcome": record.outcome.verdict.value,
        "code": record.outcome.code,
        "text": record.outcome.text,
        "over": record is not state.pending,
        "attempts": record.attempts,
        "begun": _iso(record.begun),
        "ended": _iso(record.ended),
        "seconds": round(record.ended - record.begun, 3),
        **record.outcome.data,
    }


def _iso(stamp: float) -> str:
    return datetime.fromtimestamp(stamp, timezone.utc).isoformat(timespec="milliseconds")


def plan_lines(mission: Mission, due: Sequence[str] = ()) -> list[str]:
    """Return the steps of a mission as text lines, without running it."""
    rounds = (
        "until it is stopped"
        if not mission.rounds
        else f"{mission.rounds} round{'s' if mission.rounds > 1 else ''}"
    )
    lines = [f"Mission {mission.name}: {len(mission.steps)} steps, {rounds}."]
    if mission.every:
        lines.append(f"A round begins every {duration_in_words(mission.every)}.")
    if due:
        lines.append(f"Rounds begin on {', '.join(due)} and so on.")
    for number, step in enumerate(mission.steps, start=1):
        tries = f"; tried again {step.retries} times" if step.retries else ""
        limit = f"; at most {duration_in_words(step.time_limit)}" if step.time_limit else ""
        then = "the mission goes on" if step.go_on else "the mission stops"
        lines.append(f"{number:4}. {step.kind.value:<9} {step.words} (failed: {then}{tries}{limit})")
    return lines
