"""Diagnosis of a failed action: from measured facts to causes with probabilities (VLM-DEWM 3.3.5, C.6)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from lodestar.worldmodel.cause_table import CauseTable, Recovery, cause_table
from lodestar.worldmodel.outcomes import Cause, CauseEstimate, Diagnosis, Discrepancy, Look

_TOLD = 3  # maximum number of facts in a diagnosis text


@dataclass(frozen=True)
class Evidence:
    """Measured facts about a failed action.

    facts: name in the cause table -> whether it holds; unmeasured facts are missing. where: (x, y) in map,
    metres, of the blockage or the target's place. looks: diagnostic observations already made.
    """

    discrepancy: Discrepancy
    facts: Mapping[str, bool] = field(default_factory=dict)
    where: tuple[float, float] | None = None
    looks: tuple[Look, ...] = ()


def diagnose(evidence: Evidence, sure: float, table: CauseTable | None = None) -> Diagnosis:
    """Return the causes with their probabilities, and the observation that best separates the two likeliest.

    No observation is returned if one cause has at least the probability `sure`, or if no observation that is
    left could bring a separating fact.
    """
    table = table or cause_table()
    unknown = [fact for fact in evidence.facts if fact not in table.facts]
    if unknown:
        raise ValueError(f"the table has no fact {unknown[0]!r}")
    scores = {
        cause: row.prior + sum(row.weight(fact, holds) for fact, holds in evidence.facts.items())
        for cause, row in table.rows.items()
    }
    top = max(scores.values())
    shares = {cause: math.exp(score - top) for cause, score in scores.items()}
    total = sum(shares.values())
    causes = tuple(
        CauseEstimate(cause, share / total)
        for cause, share in sorted(shares.items(), key=lambda item: -item[1])
    )
    look = Look.NONE if causes[0].probability >= sure else _telling(causes, evidence, table)
    return Diagnosis(
        evidence.discrepancy,
        causes,
        look,
        evidence.where if look is not Look.NONE else None,
        _in_words(causes, evidence, table),
    )


def undiagnosed(evidence: Evidence, why: str) -> Diagnosis:
    """Return a diagnosis that leaves the cause of a failure unknown. why: its text for a person."""
    return Diagnosis(evidence.discrepancy, (CauseEstimate(Cause.UNKNOWN, 1.0),), text=why)


def recovery_of(diagnosis: Diagnosis, table: CauseTable | None = None) -> Recovery:
    """Return the recovery whose causes together have a probability above 0.5, else ASK_AGAIN.

    Causes that cannot be told apart may share a recovery, so that their probabilities add up.
    """
    rows = (table or cause_table()).rows
    shares: dict[Recovery, float] = {}
    for one in diagnosis.causes:
        recovery = rows[one.cause].recovery
        shares[recovery] = shares.get(recovery, 0.0) + one.probability
    best = max(shares, key=lambda recovery: shares[recovery], default=Recovery.ASK_AGAIN)
    return best if shares.get(best, 0.0) > 0.5 else Recovery.ASK_AGAIN


def _telling(causes: tuple[CauseEstimate, ...], evidence: Evidence, table: CauseTable) -> Look:
    """Return the observation, not made yet, whose facts best separate the two likeliest causes.

    Facts that are known to hold are ignored. NONE if no observation separates the causes.
    """
    first, second = (table.rows[one.cause] for one in causes[:2])
    best, most = Look.NONE, 0.0
    for look, facts in table.looks.items():
        if look in evidence.looks:
            continue
        weight = sum(
            abs(first.weight(fact, True) - second.weight(fact, True))
            for fact in facts
            if not evidence.facts.get(fact, False)
        )
        if weight > most:
            best, most = look, weight
    return best


def _in_words(causes: tuple[CauseEstimate, ...], evidence: Evidence, table: CauseTable) -> str:
    """Return the likeliest cause with its probability and its strongest facts, in words."""
    row = table.rows[causes[0].cause]
    speaking = sorted(
        (fact for fact, holds in evidence.facts.items() if holds and row.weight(fact, True) > 0.0),
        key=lambda fact: -row.weight(fact, True),
    )
    why = "; ".join(table.facts[fact] for fact in speaking[:_TOLD])
    said = f"{causes[0].cause.value} ({causes[0].probability:.0%})"
    return f"{said}: {why}" if why else said
