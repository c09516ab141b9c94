"""Diagnosis of a failed action: from measured facts to causes with probabilities (VLM-DEWM 3.3.5, C.6)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from lodestar.worldmodel.cause_table import CauseTable, Recovery, cause_table
from lodestar.worldmodel.outcomes import Cause, CauseEstimate, Diagnosis, Discrepancy, Look

_TOLD = 3  # facts that the words of a diagnosis give at most


@dataclass(frozen=True)
class Evidence:
    """Measured facts about a failed action.

    facts: name, of the table's, -> whether it is so; what was not measured is missing. where: (x, y) in map, metres, of
    what is in doubt: what came into the way, or the target's place. looks: that were made before.
    """

    discrepancy: Discrepancy
    facts: Mapping[str, bool] = field(default_factory=dict)
    where: tuple[float, float] | None = None
    looks: tuple[Look, ...] = ()


def diagnose(evidence: Evidence, sure: float, table: CauseTable | None = None) -> Diagnosis:
    """Return the causes with their probabilities, and the look that would tell the two likeliest apart.

    No look is named where one cause is as probable as `sure`, or none of the looks that are left would bring a fact
    that tells them apart.
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
    """Return the diagnosis of a failure whose cause is not asked for."""
    return Diagnosis(evidence.discrepancy, (CauseEstimate(Cause.UNKNOWN, 1.0),), text=why)


def recovery_of(diagnosis: Diagnosis, table: CauseTable | None = None) -> Recovery:
    """Return what is done: the recovery of the causes that together are likelier than not, else to ask again.

    Causes that cannot be told apart may share a recovery.
    """
    rows = (table or cause_table()).rows
    shares: dict[Recovery, float] = {}
    for one in diagnosis.causes:
        recovery = rows[one.cause].recovery
        shares[recovery] = shares.get(recovery, 0.0) + one.probability
    best = max(shares, key=lambda recovery: shares[recovery], default=Recovery.ASK_AGAIN)
    return best if shares.get(best, 0.0) > 0.5 else Recovery.ASK_AGAIN


def _telling(causes: tuple[CauseEstimate, ...], evidence: Evidence, table: CauseTable) -> Look:
    """Return the look whose facts, not known to be so yet, weigh most between the two likeliest causes."""
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
    """Return the likeliest cause with the facts that speak most for it."""
    row = table.rows[causes[0].cause]
    speaking = sorted(
        (fact for fact, holds in evidence.facts.items() if holds and row.weight(fact, True) > 0.0),
        key=lambda fact: -row.weight(fact, True),
    )
    why = "; ".join(table.facts[fact] for fact in speaking[:_TOLD])
    said = f"{causes[0].cause.value} ({causes[0].probability:.0%})"
    return f"{said}: {why}" if why else said
