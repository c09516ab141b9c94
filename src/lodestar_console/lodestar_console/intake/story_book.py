"""Conversion of decision records to items of the board, from a running stack or a recorded log."""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import Any

from lodestar.selection.decisions import ArmRecord, Decision, Outcome
from lodestar.worldmodel.decision_log import Record
from lodestar.worldmodel.outcome_sentences import causes_in_words, discrepancy_in_words
from lodestar.worldmodel.outcomes import ActionOutcome
from lodestar.worldmodel.records import Trace
from lodestar.worldmodel.trace_sentences import action_in_words, belief_in_words, expectation_in_words
from lodestar_console import protocol
from lodestar_console.board.board import Board
from lodestar_console.intake.convert import brief, number
from lodestar_ros.decision_history import episodes, why

MOST = 2000  # largest number of decisions kept


class StoryBook:
    """Show the page's parts ``decisions`` and ``events``.

    Each event gets the robot's pose and keyframe of its time.
    """

    def __init__(self, board: Board) -> None:
        self._board = board
        self._records: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._count = 0

    def take(self, record: Record) -> None:
        """Add a decision, a reasoning trace or the outcome of an action."""
        if isinstance(record, Decision):
            self._take_decision(record)
        elif isinstance(record, Trace):
            self._of(record.id)["trace"] = record
            self._show(record.id)
        else:
            self._take_outcome(record)

    def _take_decision(self, decision: Decision) -> None:
        key = decision.trace_id or f"epoch {decision.epoch}"
        records = self._of(key)
        is_new = "decision" not in records
        records["decision"] = decision
        self._show(key)
        if is_new:
            text = f"{decision.chosen or 'nothing'} was chosen: {decision.explanation}"
            self.tell("DECISION", text, decision.stamp, decision=key, entities=decision.evidence_entities)

    def _take_outcome(self, outcome: ActionOutcome) -> None:
        self._of(outcome.trace_id).setdefault("outcomes", []).append(outcome)
        self._show(outcome.trace_id)
        if outcome.diagnosis is not None:
            self.tell("FAILURE", _failure(outcome).text, outcome.stamp, decision=outcome.trace_id)

    def _of(self, key: str) -> dict[str, Any]:
        records = self._records.setdefault(key, {})
        while len(self._records) > MOST:
            self._records.popitem(last=False)
        return records

    def _show(self, key: str) -> None:
        records = self._records[key]
        decision: Decision | None = records.get("decision")
        trace: Trace | None = records.get("trace")
        outcomes: list[ActionOutcome] = records.get("outcomes", [])
        if decision is None and trace is None:
            return
        known = [one for one in (trace, decision) if one is not None]
        (episode,) = episodes([*known, *outcomes])[:1]
        failed = [one for one in outcomes if one.diagnosis is not None]
        self._board.put(
            "decisions",
            protocol.Decision(
                id=key,
                epoch=decision.epoch if decision else trace.epoch if trace else 0,
                at=round(episode.stamp, 3),
                directive=brief(decision.directive) if decision else "",
                chosen=decision.chosen if decision else trace.proposer if trace else "",
                explanation=brief(
                    decision.explanation if decision else action_in_words(trace) if trace else ""
                ),
                arms=[_arm(arm) for arm in decision.arms] if decision else [],
                reward=number(decision.reward["total"]) if decision and "total" in decision.reward else None,
                outcome=_outcome(decision, outcomes),
                entities=[int(i) for i in decision.evidence_entities] if decision else [],
                keyframes=[int(i) for i in decision.evidence_keyframes] if decision else [],
                trace=_trace(trace) if trace else None,
                failure=_failure(failed[-1]) if failed else None,
                why=why(episode),
            ),
        )

    def tell(
        self, kind: str, text: str, at: float, *, decision: str = "", entities: Any = (), key: str = ""
    ) -> None:
        """Add an event to the timeline."""
        self._count += 1
        self._board.put(
            "events",
            protocol.Event(
                id=key or f"e{self._count}",
                at=round(at, 3),
                kind=kind,
                text=brief(text),
                pose=self._board.poses.at(at),
                keyframe=self._board.shots.at(at) or 0,
                entities=[int(i) for i in entities][:20],
                decision=decision,
            ),
        )


def _arm(arm: ArmRecord) -> protocol.Arm:
    proposal = arm.proposal
    goal = None if proposal is None else tuple(round(float(v), 2) for v in proposal.goal)
    return protocol.Arm(
        name=arm.expert,
        admissible=arm.admissible,
        value=number(arm.estimate),
        bound=number(arm.bound),
        reason=brief(arm.reason or ("" if proposal is None else proposal.rationale)),
        propensity=number(arm.propensity),
        goal=goal if goal is not None and all(map(math.isfinite, goal)) else None,  # type: ignore[arg-type]
    )


def _trace(trace: Trace) -> protocol.DecisionTrace:
    checks = [protocol.Check(kind="believed", text=belief_in_words(one)) for one in trace.beliefs[:20]]
    expected = expectation_in_words(trace.expectation, trace.stamp)
    if expected:
        checks.append(protocol.Check(kind="expected", text=expected.removeprefix("Expected: ")))
    if trace.fallback:
        checks.append(protocol.Check(kind="otherwise", text=brief(trace.fallback)))
    return protocol.DecisionTrace(text=f"{action_in_words(trace)}: {brief(trace.reason)}", checks=checks)


def _failure(outcome: ActionOutcome) -> protocol.Failure:
    diagnosis = outcome.diagnosis
    if diagnosis is None:
        return protocol.Failure(
            text=outcome.result.value if hasattr(outcome.result, "value") else str(outcome.result)
        )
    return protocol.Failure(
        text=discrepancy_in_words(diagnosis.discrepancy),
        diagnosis=causes_in_words(diagnosis),
        recovery=outcome.recovery.replace("_", " "),
    )


def _outcome(decision: Decision | None, outcomes: list[ActionOutcome]) -> str:
    if decision is not None and decision.outcome is not Outcome.PENDING:
        return decision.outcome.name.lower()
    return str(getattr(outcomes[-1].result, "value", outcomes[-1].result)).lower() if outcomes else "pending"
