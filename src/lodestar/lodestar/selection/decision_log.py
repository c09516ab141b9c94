"""Records of decisions and their JSON lines file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np

from lodestar.experts.protocol import ActionKind, Proposal


class Outcome(IntEnum):
    """Outcome of a decision; values of Decision.msg's constants."""

    PENDING = 0
    REACHED = 1
    ABORTED = 2
    PREEMPTED = 3
    CANCELLED = 4


@dataclass(frozen=True)
class ArmRecord:
    """One arm at one decision. propensity: probability with which the logging policy chooses it."""

    expert: str
    admissible: bool
    reason: str = ""
    estimate: float = 0.0
    bound: float = 0.0
    propensity: float = 0.0
    proposal: Proposal | None = None


@dataclass(frozen=True)
class Decision:
    """A decision with all data to replay it and to evaluate another policy offline (DESIGN section 3)."""

    epoch: int
    stamp: float
    directive: str
    subtask: int
    context: dict[str, float]
    arms: tuple[ArmRecord, ...]
    chosen: str
    map_id: int = 1
    reward: dict[str, float] = field(default_factory=dict)
    evidence_entities: tuple[int, ...] = ()
    evidence_keyframes: tuple[int, ...] = ()
    trace_id: str = ""
    outcome: Outcome = Outcome.PENDING
    explanation: str = ""


def _proposal_to_dict(proposal: Proposal) -> dict[str, Any]:
    record = dict(vars(proposal))
    record["goal"] = [float(x) for x in proposal.goal]
    record["action"] = proposal.action.name
    return record


def _proposal_from_dict(record: dict[str, Any]) -> Proposal:
    record = dict(record)
    record["goal"] = np.asarray(record["goal"], dtype=np.float64)
    record["action"] = ActionKind[record["action"]]
    for name in ("evidence_entities", "evidence_keyframes"):
        record[name] = tuple(record[name])
    return Proposal(**record)


def decision_to_dict(decision: Decision) -> dict[str, Any]:
    """Return the decision as JSON types; `decision_from_dict` is the inverse."""
    record = dict(vars(decision))
    record["outcome"] = decision.outcome.name
    record["arms"] = [
        {**vars(arm), "proposal": _proposal_to_dict(arm.proposal) if arm.proposal else None}
        for arm in decision.arms
    ]
    return record


def decision_from_dict(record: dict[str, Any]) -> Decision:
    """Return the decision of a record. Raises KeyError or TypeError if the record is not a decision."""
    record = dict(record)
    record["outcome"] = Outcome[record["outcome"]]
    arms = []
    for arm in record["arms"]:
        proposal = arm.get("proposal")
        arms.append(ArmRecord(**{**arm, "proposal": _proposal_from_dict(proposal) if proposal else None}))
    record["arms"] = tuple(arms)
    for name in ("evidence_entities", "evidence_keyframes"):
        record[name] = tuple(record[name])
    return Decision(**record)


class DecisionLog:
    """Append one JSON line per record to `path`; every line is flushed, so that a crash loses none.

    Beside decisions it takes the traces of actions; theirs have a `kind`.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)

    def write(self, decision: Decision) -> None:
        """Write the decision to disk."""
        self.append(decision_to_dict(decision))

    def append(self, record: dict[str, Any]) -> None:
        """Write a record of JSON types to disk."""
        line = json.dumps(record, ensure_ascii=False, sort_keys=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


def read_decisions(path: str | Path) -> Iterator[Decision]:
    """Yield the decisions of a log; the last record of an epoch in a run holds its outcome.

    Raises ValueError with the line number for a line that is not a decision.
    """
    with Path(path).open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
                if "kind" not in record:
                    yield decision_from_dict(record)
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"{path}:{number} is not a decision: {error}") from error
