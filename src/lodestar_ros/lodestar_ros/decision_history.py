"""History of decisions with their traces, and explanations of them in plain English."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from lodestar.scene.captions import clean_text
from lodestar.selection.decisions import ArmRecord, Decision, Outcome
from lodestar.worldmodel.amendment_words import amendment_in_words
from lodestar.worldmodel.decision_log import Record
from lodestar.worldmodel.outcome_sentences import (
    causes_in_words,
    discrepancy_in_words,
    look_in_words,
    result_in_words,
)
from lodestar.worldmodel.outcomes import ActionOutcome
from lodestar.worldmodel.records import Trace
from lodestar.worldmodel.trace_sentences import action_in_words, belief_in_words, expectation_in_words, moment

#: Pattern of the ids that `LoopContext.trace_id` returns: prefix of the process and number of its directive.
_TRACE_ID = re.compile(r"(?P<prefix>.*)-d(?P<directive>\d{1,9})-t\d{1,9}")

_OUTCOMES = {
    Outcome.PENDING: "not known yet",
    Outcome.REACHED: "the goal was reached",
    Outcome.ABORTED: "the goal was given up",
    Outcome.PREEMPTED: "another goal was chosen on the way",
    Outcome.CANCELLED: "the directive was cancelled",
}


@dataclass(frozen=True)
class Episode:
    """One action of the robot: the newest record of its decision, or its trace, or both.

    number: number of its directive, counted from 1.
    """

    number: int
    decision: Decision | None
    trace: Trace | None
    outcomes: tuple[ActionOutcome, ...] = ()  # outcomes of the action in order, one per diagnosis

    @property
    def stamp(self) -> float:
        """Return the time of the decision, or of the trace without one; seconds."""
        return self.decision.stamp if self.decision is not None else self.trace.stamp if self.trace else 0.0


def episodes(records: Iterable[Record]) -> list[Episode]:
    """Return the actions of a history in order. An action that the decision loop started without asking
    experts, such as a return, has no decision.
    """
    decisions: dict[str, Decision] = {}
    traces: dict[str, Trace] = {}
    ends: dict[str, list[ActionOutcome]] = {}
    order: dict[str, None] = {}
    for record in records:
        if isinstance(record, ActionOutcome):
            ends.setdefault(record.trace_id, []).append(record)
            continue
        key = record.id if isinstance(record, Trace) else record.trace_id or f"epoch {record.epoch}"
        order[key] = None
        if isinstance(record, Trace):
            traces[key] = record
        else:
            decisions[key] = record
    found, numbers = [], _DirectiveCount()
    for key in order:
        decision = decisions.get(key)
        number = numbers.of(key, decision)
        outcomes = tuple(sorted(ends.get(key, ()), key=lambda outcome: outcome.stamp))
        found.append(Episode(number, decision, traces.get(key), outcomes))
    return found


class _DirectiveCount:
    """Numbers the directives of a history across the processes that wrote it.

    The id of a record's trace identifies its directive. In older logs, a new directive is detected by its
    changed text.
    """

    def __init__(self) -> None:
        self._newest, self._text = 0, ""
        self._before: dict[str, int] = {}  # prefix of a process -> directives before it

    def of(self, key: str, decision: Decision | None) -> int:
        """Return the number of the directive of the next record. key: id of its trace."""
        named = directive_of(key)
        if named is not None:
            prefix, count = named
            number = self._before.setdefault(prefix, self._newest) + count
            self._newest = max(self._newest, number)
            return max(number, 1)
        if decision is not None and decision.directive != self._text:
            self._newest, self._text = self._newest + 1, decision.directive
        return max(self._newest, 1)


def why(episode: Episode) -> list[str]:
    """Return the lines that explain an action: the action, its reason, the rejected proposals, and its outcome."""
    decision, trace = episode.decision, episode.trace
    lines = [f"{moment(episode.stamp)}{_of_directive(episode)}"]
    if trace is not None:
        lines += _row(
            "did", f"{action_in_words(trace)} ({trace.proposer}, confidence {trace.confidence:.2f})"
        )
        lines += _row("because", clean_text(trace.reason))
        lines += _row("believed", "; ".join(map(belief_in_words, trace.beliefs)))
        expected = expectation_in_words(trace.expectation, trace.stamp)
        lines += _row("expected", expected.removeprefix("Expected: ").rstrip("."))
        lines += _row("otherwise", trace.fallback)
    elif decision is not None:
        lines += _row("did", clean_text(decision.explanation))
    if decision is not None:
        for arm in decision.arms:
            if arm.expert != decision.chosen:
                lines += _row("instead", _loser(arm))
        reward = f"; reward {decision.reward['total']:.2f}" if "total" in decision.reward else ""
        lines += _row("outcome", f"{_OUTCOMES[decision.outcome]}{reward}")
        lines += _row("proof", _proof(decision))
    for outcome in episode.outcomes:
        lines += _of_outcome(outcome)
    return lines


def _of_outcome(outcome: ActionOutcome) -> list[str]:
    """Return the lines for an outcome: result, discrepancy, causes, recovery and corrections."""
    lines = _row("ended", result_in_words(outcome))
    diagnosis = outcome.diagnosis
    if diagnosis is not None:
        lines += _row("differs", discrepancy_in_words(diagnosis.discrepancy))
        lines += _row("causes", causes_in_words(diagnosis))
        lines += _row("look", "" if outcome.is_final else look_in_words(diagnosis))
    lines += _row("recovery", outcome.recovery.replace("_", " "))
    for amendment in outcome.amendments:
        lines += _row("corrected", amendment_in_words(amendment))
    return lines


def _of_directive(episode: Episode) -> str:
    decision = episode.decision
    if decision is None:
        return f", directive {episode.number}, on the decision loop's own account:"
    return f', directive {episode.number} "{clean_text(decision.directive)}", decision {decision.epoch}:'


def _row(name: str, text: str) -> list[str]:
    return [f"  {name:<10} {text}"] if text else []


def _loser(arm: ArmRecord) -> str:
    if arm.proposal is None or not arm.admissible:
        return f"{arm.expert} could not be chosen: {clean_text(arm.reason) or 'it proposed nothing'}"
    chances = f"bound {arm.bound:.2f}, probability {arm.propensity:.2f}"
    return f"{arm.expert} was not chosen ({chances}): {clean_text(arm.proposal.rationale)}"


def _proof(decision: Decision) -> str:
    parts = [
        f"{name} {', '.join(map(str, ids))}"
        for name, ids in (
            ("entities", decision.evidence_entities),
            ("keyframes", decision.evidence_keyframes),
        )
        if ids
    ]
    return "; ".join(parts)


def directive_of(trace_id: str) -> tuple[str, int] | None:
    """Return the process prefix and the directive number in a trace's id; None for an id without them."""
    found = _TRACE_ID.fullmatch(trace_id)
    return None if found is None else (found["prefix"], int(found["directive"]))
