"""Admission of the experts' answers: which of them the policy may choose (the admissible arms), the reasons
against the others, and a memory of failed goals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lodestar.agent.decisions.approach import heads_for
from lodestar.agent.facts.config import LOOP_SAME_GOAL_ANGLE, LoopConfig
from lodestar.experts.protocol import Proposal, Rejection, RejectionReason
from lodestar.experts.registry import holder
from lodestar.experts.specs import Role
from lodestar.geometry.boxes import box_distance
from lodestar.geometry.poses import apart
from lodestar.grid.config import SAME_GOAL
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.scene.records import Entity
from lodestar.selection.admission import Admission, Arm
from lodestar.worldmodel.records import Verdict

LOOP_RETRY_RADIUS = 1.5  # m around a failed goal that are compared (ours)
LOOP_RETRY_CHANGED_SHARE = 0.10  # share of the cells there that must change for a retry (ours)

FRONTIER = holder(Role.EXPLORER)  # the expert whose EXPLORED ends an exploration
SEMANTIC_MAP = holder(Role.MAP_EXPERT)  # the expert that proposes viewpoints of known entities
HOME = "return"  # return to the start
CHARGER = "charger"  # return to the charger
PLACE = "place"  # a room, pose or spot named by a step
ASIDE = "retreat"  # a step out of a tight place
KNOWN = "known_target"  # a known target, chosen by the loop because the experts were late
PASSAGE = "passage"  # the approach of stairs or a lift
SKILL = "skill"  # a user-defined skill
LOOK = "look"  # a turn that distinguishes the causes of a failure


@dataclass
class _Exclusion:
    goal: tuple[float, float, float]
    reason: str
    before: np.ndarray | None
    lasting: bool = False
    active: bool = True
    retries: int = 0


class GoalMemory:
    """Stores goals that failed or showed nothing new, with the reasons. They are not proposed again until the
    map around them changes.
    """

    def __init__(self, config: LoopConfig) -> None:
        self._config = config
        self._exclusions: list[_Exclusion] = []

    def __len__(self) -> int:
        return len(self._exclusions)

    def exclude(
        self,
        goal: Sequence[float] | np.ndarray,
        reason: str,
        grid: OccupancyGrid2D | None,
        lasting: bool = False,
    ) -> None:
        """Exclude the goal (x, y, yaw) until the map around it changes, or, if lasting, until `forgive` is
        called. grid: the current map, None = unknown.
        """
        key = (float(goal[0]), float(goal[1]), float(goal[2]))
        before = grid.around(key, LOOP_RETRY_RADIUS) if grid is not None else None
        for known in self._exclusions:
            if self._same(known.goal, key):
                known.active, known.reason, known.before, known.lasting = True, reason, before, lasting
                return
        self._exclusions.append(_Exclusion(key, reason, before, lasting))

    def refresh(self, grid: OccupancyGrid2D) -> None:
        """Readmit goals if enough of the map around them changed, at most `max_retries` times each."""
        for known in self._exclusions:
            if not known.active or known.lasting or known.retries >= self._config.max_retries:
                continue
            now = grid.around(known.goal, LOOP_RETRY_RADIUS)
            comparable = known.before is not None and now.shape == known.before.shape
            if not comparable or (now != known.before).mean() >= LOOP_RETRY_CHANGED_SHARE:
                known.active = False
                known.retries += 1

    def forgive(self) -> bool:
        """Readmit all excluded goals that were never retried. Return whether there was any."""
        fresh = [known for known in self._exclusions if known.active and known.retries == 0]
        for known in fresh:
            known.active = False
            known.retries += 1
        return bool(fresh)

    def active(self) -> tuple[tuple[float, float, float], ...]:
        """Return the excluded goals (x, y, yaw)."""
        return tuple(known.goal for known in self._exclusions if known.active)

    def reason(self, goal: Sequence[float] | np.ndarray) -> str:
        """Return why this goal is excluded, "" if it is not."""
        for known in self._exclusions:
            if known.active and self._same(known.goal, goal):
                return known.reason
        return ""

    def _same(self, a: Sequence[float] | np.ndarray, b: Sequence[float] | np.ndarray) -> bool:
        metres, turned = apart(a, b)
        return metres <= SAME_GOAL and turned <= LOOP_SAME_GOAL_ANGLE


def admit(
    experts: Sequence[str],
    answers: Mapping[str, Proposal | Rejection],
    goals: GoalMemory,
    excluded: Mapping[int, str],
    accepted: Sequence[Entity],
    avoid: Sequence[tuple[Entity, float]],
    config: LoopConfig,
    check: Callable[[Proposal], Verdict] = lambda proposal: Verdict(),
) -> Admission:
    """Return the admission: for every expert's answer, whether the policy may choose it. If proposals head
    for accepted targets, only these proposals are admissible.

    excluded: entity id -> reason. avoid: entities to keep away from, with the distance in metres. check:
    returns the validator's verdict on a proposal.
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
        heading = {
            a.expert for a in arms if a.admissible and a.proposal and heads_for(a.proposal, accepted, config)
        }
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
    proposal: Proposal, goals: GoalMemory, excluded: Mapping[int, str], avoid: Sequence[tuple[Entity, float]]
) -> str:
    """Return why a valid proposal may not be chosen, "" if it may."""
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
