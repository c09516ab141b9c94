"""Which experts' answers may be chosen from, and why the others may not."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lodestar.agent.goals import GoalMemory
from lodestar.experts.protocol import ActionKind, Proposal, Rejection, RejectionReason
from lodestar.geometry.boxes import box_distance
from lodestar.grid.facing import is_facing
from lodestar.scene.records import Entity


@dataclass(frozen=True)
class Arm:
    """One expert at one decision. rejection: None where it proposed, or was late."""

    expert: str
    proposal: Proposal | None
    admissible: bool
    reason: str = ""
    rejection: RejectionReason | None = None


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
        """Why an expert proposed nothing; None where it proposed or did not answer."""
        return next((arm.rejection for arm in self.arms if arm.expert == expert), None)


def heads_for(proposal: Proposal, entities: Sequence[Entity]) -> bool:
    """Whether the proposal's goal is a pose that faces one of the entities, or is made for it."""
    if any(proposal.entity_id == entity.id for entity in entities):
        return True
    if proposal.action is not ActionKind.GO:
        return False
    return any(is_facing(proposal.goal, entity.box_min, entity.box_max) for entity in entities)


def admit(
    experts: Sequence[str],
    answers: Mapping[str, Proposal | Rejection],
    goals: GoalMemory,
    excluded: Mapping[int, str],
    accepted: Sequence[Entity],
    avoid: Sequence[Entity],
    keep_away: float,
) -> Admission:
    """Judge every expert's answer; where targets are accepted and someone heads for one, only those may be
    chosen.

    excluded: entity -> reason. avoid: entities to stay `keep_away` metres from.
    """
    arms = [_judge(name, answers.get(name), goals, excluded, avoid, keep_away) for name in experts]
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


def _judge(
    name: str,
    answer: Proposal | Rejection | None,
    goals: GoalMemory,
    excluded: Mapping[int, str],
    avoid: Sequence[Entity],
    keep_away: float,
) -> Arm:
    if answer is None:
        return Arm(name, None, False, "late: no answer before the deadline")
    if isinstance(answer, Rejection):
        return Arm(name, None, False, f"{answer.reason.name}: {answer.message}", answer.reason)
    goal = np.asarray(answer.goal, np.float64)
    if goal.shape != (3,) or not np.isfinite(goal).all() or not math.isfinite(answer.confidence):
        return Arm(name, None, False, f"goal {goal.tolist()} is not a pose", RejectionReason.BAD_REQUEST)
    if answer.entity_id in excluded and answer.entity_id != 0:
        return Arm(
            name, answer, False, f"entity {answer.entity_id} is excluded: {excluded[answer.entity_id]}"
        )
    failed = goals.reason(goal)
    if failed:
        return Arm(name, answer, False, f"goal is excluded: {failed}")
    here = np.array([goal[0], goal[1]])
    for entity in avoid:
        if (
            answer.entity_id != entity.id
            and box_distance(here, here, entity.box_min[:2], entity.box_max[:2]) < keep_away
        ):
            return Arm(
                name, answer, False, f"goal lies within {keep_away:.1f} m of {entity.caption or entity.label}"
            )
    return Arm(name, answer, True)
