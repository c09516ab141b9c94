"""Admission of the experts' answers: arms that may be chosen, reasons for the others, and goals that failed before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lodestar.agent.decisions.approach import heads_for
from lodestar.agent.facts.config import LoopConfig
from lodestar.experts.protocol import Proposal, Rejection, RejectionReason
from lodestar.experts.registry import holder
from lodestar.experts.specs import Role
from lodestar.geometry.boxes import box_distance
from lodestar.geometry.poses import apart
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.scene.records import Entity
from lodestar.selection.admission import Admission, Arm
from lodestar.worldmodel.records import Verdict

FRONTIER = holder(Role.EXPLORER)  # the expert whose EXPLORED ends exploration
SEMANTIC_MAP = holder(Role.MAP_EXPERT)  # the expert that has viewpoints of known entities
HOME = "return"  # the way back to the start
CHARGER = "charger"  # the way to the charger
PLACE = "place"  # a room, a pose or a spot that a step names
ASIDE = "retreat"  # a step out of a tight place
KNOWN = "known_target"  # a known target, taken by the loop because the experts were late
PASSAGE = "passage"  # the way to stairs or a lift
SKILL = "skill"  # a skill of a user's
LOOK = "look"  # a turn that tells the causes of a failure apart


@dataclass
class _Exclusion:
    goal: tuple[float, float, float]
    reason: str
    before: np.ndarray | None
    lasting: bool = False
    active: bool = True
    retries: int = 0


class GoalMemory:
    """Remembers goals that are not to be proposed again, with the reason."""

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
        """The goal (x, y, yaw) is excluded while the map around it stays as it is now; a lasting exclusion until it is
        forgiven.
        """
        key = (float(goal[0]), float(goal[1]), float(goal[2]))
        before = grid.around(key, self._config.retry_radius) if grid is not None else None
        for known in self._exclusions:
            if self._same(known.goal, key):
                known.active, known.reason, known.before, known.lasting = True, reason, before, lasting
                return
        self._exclusions.append(_Exclusion(key, reason, before, lasting))

    def refresh(self, grid: OccupancyGrid2D) -> None:
        """Goals where enough of the map changed may be proposed again, `max_retries` times each."""
        for known in self._exclusions:
            if not known.active or known.lasting or known.retries >= self._config.max_retries:
                continue
            now = grid.around(known.goal, self._config.retry_radius)
            comparable = known.before is not None and now.shape == known.before.shape
            if not comparable or (now != known.before).mean() >= self._config.retry_changed_share:
                known.active = False
                known.retries += 1

    def forgive(self) -> bool:
        """Every goal that was never retried may be proposed once more; whether there was any."""
        fresh = [known for known in self._exclusions if known.active and known.retries == 0]
        for known in fresh:
            known.active = False
            known.retries += 1
        return bool(fresh)

    def active(self) -> tuple[tuple[float, float, float], ...]:
        """Excluded goals (x, y, yaw)."""
        return tuple(known.goal for known in self._exclusions if known.active)

    def reason(self, goal: Sequence[float] | np.ndarray) -> str:
        """Return why this goal is excluded, empty where it is not."""
        for known in self._exclusions:
            if known.active and self._same(known.goal, goal):
                return known.reason
        return ""

    def _same(self, a: Sequence[float] | np.ndarray, b: Sequence[float] | np.ndarray) -> bool:
        metres, turned = apart(a, b)
        return metres <= self._config.same_goal_distance and turned <= self._config.same_goal_angle


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
