"""Admission of the experts' answers: the arms that may be chosen, and reasons for the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lodestar.agent.decisions.goals import GoalMemory
from lodestar.experts.protocol import ActionKind, Proposal, Rejection, RejectionReason
from lodestar.geometry.boxes import box_distance
from lodestar.grid.success_pose import faced
from lodestar.scene.records import Entity
from lodestar.worldmodel.records import TraceError, Verdict

_SILENT = {
    None, RejectionReason.NO_DATA, RejectionReason.MODEL_UNAVAILABLE, RejectionReason.MODEL_ERROR,
    RejectionReason.DEADLINE, RejectionReason.CANCELLED, RejectionReason.TF_ERROR, RejectionReason.BAD_REQUEST,
    RejectionReason.UNKNOWN,
}  # fmt: skip


@dataclass(frozen=True)
class Arm:
    """One expert at one decision. rejection: None where it proposed, or was late."""

    expert: str
    proposal: Proposal | None
    admissible: bool
    reason: str = ""
    rejection: RejectionReason | None = None
    refusal: TraceError = TraceError.NONE  # of the validation of its trace

    @property
    def is_silent(self) -> bool:
        """Whether the expert said nothing of use: it is late, it failed, or it answered rubbish."""
        return not self.admissible and self.rejection in _SILENT


@dataclass(frozen=True)
class Admission:
    """Every expert's arm. note: what narrowed the choice, empty where nothing did."""

    arms: tuple[Arm, ...]
    note: str = ""

    @property
    def admissible(self) -> tuple[Arm, ...]:
        """Those that may be chosen."""
        return tuple(arm for arm in self.arms if arm.admissible)

    def rejection(self, expert: str) -> RejectionReason | None:
        """Return why an expert proposed nothing, None where it proposed or did not answer."""
        return next((arm.rejection for arm in self.arms if arm.expert == expert), None)


def heads_for(proposal: Proposal, entities: Sequence[Entity]) -> bool:
    """Whether the proposal's goal is a pose that faces one of the entities, or is made for it."""
    if any(proposal.entity_id == entity.id for entity in entities):
        return True
    if proposal.action is not ActionKind.GO or not entities:
        return False
    low, high = np.array([e.box_min for e in entities]), np.array([e.box_max for e in entities])
    return bool(faced(proposal.goal, low, high).any())


def admit(
    experts: Sequence[str],
    answers: Mapping[str, Proposal | Rejection],
    goals: GoalMemory,
    excluded: Mapping[int, str],
    accepted: Sequence[Entity],
    avoid: Sequence[tuple[Entity, float]],
    check: Callable[[Proposal], Verdict] = lambda proposal: Verdict(),
) -> Admission:
    """Judge every expert's answer; where targets are accepted and someone heads for one, only those may be
    chosen.

    excluded: entity -> reason. avoid: entities to keep away from, with the metres. check: returns the verdict
    on a proposal's trace.
    """
    arms = []
    for name in experts:
        answer = answers.get(name)
        if answer is None:
            arms.append(Arm(name, None, False, "late: no answer before the deadline"))
        elif isinstance(answer, Rejection):
            arms.append(Arm(name, None, False, f"{answer.reason.name}: {answer.message}", answer.reason))
        else:
            verdict = check(answer)
            if not verdict.accepted:
                why, bad = verdict.reason, RejectionReason.BAD_REQUEST
                arms.append(Arm(name, None, False, why, bad, verdict.code))
            else:
                why = _objection(answer, goals, excluded, avoid)
                arms.append(Arm(name, answer, not why, why))
    if accepted:
        heading = {a.expert for a in arms if a.admissible and a.proposal and heads_for(a.proposal, accepted)}
        if heading:
            reason = "a target that meets the query is known and this does not head for it"
            arms = [
                replace(a, admissible=False, reason=reason) if a.admissible and a.expert not in heading else a
                for a in arms
            ]
            named = ", ".join(f"entity {entity.id}" for entity in accepted[:3])
            return Admission(tuple(arms), f"known target {named}: only goals that head for it are considered")
    return Admission(tuple(arms))


def _objection(
    proposal: Proposal,
    goals: GoalMemory,
    excluded: Mapping[int, str],
    avoid: Sequence[tuple[Entity, float]],
) -> str:
    """Return why a well-formed proposal may not be chosen, "" where it may."""
    if proposal.entity_id in excluded and proposal.entity_id != 0:
        return f"entity {proposal.entity_id} is excluded: {excluded[proposal.entity_id]}"
    goal = np.asarray(proposal.goal, np.float64)
    failed = goals.reason(goal)
    if failed:
        return f"goal is excluded: {failed}"
    for entity, metres in avoid:
        away = box_distance(goal[:2], goal[:2], entity.box_min[:2], entity.box_max[:2])
        if proposal.entity_id != entity.id and away < metres:
            return f"goal lies within {metres:.1f} m of {entity.caption or entity.label}"
    return ""
