"""Rewards of decisions: eq. 5 with Table I for one directive, App. A for a sequence of subtasks (RoboAtlas)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from lodestar.scene.similarity import TIERS
from lodestar.selection.config import REWARDS
from lodestar.selection.perceived import Match

# Reward of one directive: weights without unit.
REWARD_COVERAGE_RATE = 1.0  # Table I
REWARD_BACKTRACKING = -1.0  # Table I
REWARD_VLM = 1.0  # Table I
REWARD_SIMILARITY = 1.0  # Table I
REWARD_SUCCESS = 10.0  # w_succ of Table I
REWARD_NOT_REACHED = -0.5  # of a goal that was not reached; chosen
# Reward of a sequence: weights and thresholds of App. A, which states the terms and not all of their values. A
# subtask's success is multiplied by an efficiency that falls from 1 to SEQUENCE_FLOOR with the budget spent (eq. 23).
SEQUENCE_COVERAGE = 1.0  # weight of the coverage rate per turn; chosen: that of Table I
SEQUENCE_SIMILARITY = 1.0  # weight of the change of similarity per turn; chosen: that of Table I
SEQUENCE_DISCOVERY = 0.5  # weight of new entities per turn; chosen
SEQUENCE_DISPLACEMENT = 0.25  # weight of the displacement per turn; chosen
SEQUENCE_STUCK = -0.5  # per turn without motion; chosen: as REWARD_NOT_REACHED
SEQUENCE_EMPTY = -0.25  # per empty choice; chosen: half of SEQUENCE_STUCK
SEQUENCE_SUCCESS = 10.0  # weight of a subtask's success; that of Table I
SEQUENCE_FLOOR = 0.2  # least efficiency, 0..1; chosen
# The proxy of success needs SEQUENCE_MIN_MATCHES matches of at least SEQUENCE_TAU, a settled robot, and a match of at
# least SEQUENCE_SIGMA within SEQUENCE_RHO whose label overlaps.
SEQUENCE_SIGMA = TIERS[1]  # similarity of a confident match; a tier of eq. 3
SEQUENCE_TAU = TIERS[0]  # similarity of a match; a tier of eq. 3
SEQUENCE_MIN_MATCHES = 1  # matches; chosen
SEQUENCE_RHO = 1.2  # metres to the match; chosen: 1.0 m of success plus localisation error


@dataclass(frozen=True)
class Turn:
    """Effects of one decision, as perceived by the robot: changes of coverage, similarity and position, and
    its result.
    """

    coverage_rate: float = 0.0  # 0..1
    backtracking: float = 0.0  # 0 or 1
    vlm: float = 0.0  # 0..1
    similarity: float = 0.0  # 0..1
    similarity_change: float = 0.0  # -1..1
    discovery: float = 0.0  # 0..1
    displacement: float = 0.0  # 0..1
    reached: bool = True  # the goal was reached, or replaced by a better one
    shown: bool = False  # a matching target entered the map or the view during the turn
    stuck: bool = False  # the robot hardly moved during the whole turn
    empty: bool = False  # the decision gave no goal, and its arm has not reached `max_empty` in this subtask


@dataclass(frozen=True)
class SubtaskEnd:
    """End of a subtask, as perceived by the robot. claimed: the loop verified the target on arrival.

    matches: entities similar to the target; settled: the robot stands still; used: share of the budget spent on it.
    """

    claimed: bool
    matches: Sequence[Match] = ()
    settled: bool = False
    used: float = 0.0


class RewardModel(Protocol):
    """Rewards turns and subtasks. decay: gamma of eq. 24. max_empty: number of choices without a goal (empty)
    penalised per arm and subtask.

    mask_after: consecutive empty choices after which an arm is masked for the subtask, 0 = never.
    """

    decay: float
    max_empty: int
    mask_after: int

    def turn(self, turn: Turn) -> dict[str, float]:
        """Return the reward of a turn by component."""

    def subtask(self, end: SubtaskEnd) -> float:
        """Return the reward of the subtask, which its turns share by `credit_shares`."""


class DirectiveReward:
    """Reward of eq. 5: weighted context features, and the success of the directive (Table I)."""

    decay = 0.0  # as in eq. 5: only the turn that succeeded is paid
    max_empty = 0
    mask_after = 0

    def turn(self, turn: Turn) -> dict[str, float]:
        """Return the weighted features of eq. 5."""
        return {
            "coverage_rate": REWARD_COVERAGE_RATE * turn.coverage_rate,
            "backtracking": REWARD_BACKTRACKING * turn.backtracking,
            "vlm": REWARD_VLM * turn.vlm,
            "similarity": REWARD_SIMILARITY * turn.similarity,
            "not_reached": 0.0 if turn.reached else REWARD_NOT_REACHED,
        }

    def subtask(self, end: SubtaskEnd) -> float:
        """Return w_succ if the loop verified the target, else 0."""
        return REWARD_SUCCESS if end.claimed else 0.0


class SequenceReward:
    """Reward of App. A: changes during the turn, and the proxy of success times efficiency (eq. 23)."""

    decay = 0.7  # eq. 24 states only (0, 1); chosen
    max_empty = 3  # chosen: equals mask_after
    mask_after = 3  # chosen

    def turn(self, turn: Turn) -> dict[str, float]:
        """Return the weighted one-step changes and penalties."""
        return {
            "coverage_rate": SEQUENCE_COVERAGE * turn.coverage_rate,
            "similarity": SEQUENCE_SIMILARITY * turn.similarity_change,
            "discovery": SEQUENCE_DISCOVERY * turn.discovery,
            "displacement": SEQUENCE_DISPLACEMENT * turn.displacement,
            "stuck": SEQUENCE_STUCK if turn.stuck else 0.0,
            "empty": SEQUENCE_EMPTY if turn.empty else 0.0,
        }

    def succeeded(self, end: SubtaskEnd) -> bool:
        """Return whether the proxy of success holds: confidence and arrival, without ground truth."""
        confident = (
            any(match.similarity >= SEQUENCE_SIGMA for match in end.matches)
            and sum(match.similarity >= SEQUENCE_TAU for match in end.matches) >= SEQUENCE_MIN_MATCHES
        )
        arrived = end.settled and any(
            match.similarity >= SEQUENCE_SIGMA and match.distance <= SEQUENCE_RHO and match.overlaps
            for match in end.matches
        )
        return confident and arrived

    def subtask(self, end: SubtaskEnd) -> float:
        """Return the reward of eq. 23; 0 if the proxy does not hold."""
        if not self.succeeded(end):
            return 0.0
        efficiency = 1.0 - (1.0 - SEQUENCE_FLOOR) * min(max(end.used, 0.0), 1.0)
        return SEQUENCE_SUCCESS * efficiency


class FoundReward:
    """Reward of 1 for the decision in which the target came into view or was claimed, else 0. `RateUcb`
    counts such successes (ADR 0094).
    """

    decay = 0.0
    max_empty = 0
    mask_after = 0

    def turn(self, turn: Turn) -> dict[str, float]:
        """Return 1 if a target came into view, else 0, as "shown"."""
        return {"shown": float(turn.shown)}

    def subtask(self, end: SubtaskEnd) -> float:
        """Return 1 if the loop verified the target, else 0."""
        return float(end.claimed)


def make_reward(name: str) -> RewardModel:
    """Return the reward with this name. Raises ValueError for an unknown name."""
    if name == "single":
        return DirectiveReward()
    if name == "sequence":
        return SequenceReward()
    if name == "found":
        return FoundReward()
    raise ValueError(f"unknown reward {name!r}; known: {', '.join(REWARDS)}")


def credit_shares(decay: float, turns: int) -> list[float]:
    """Return each turn's share of a subtask's reward, oldest first; the last turn's share is 1 (eq. 24)."""
    return [decay ** (turns - 1 - index) for index in range(turns)]
