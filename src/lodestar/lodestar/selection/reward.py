"""Rewards of decisions: eq. 5 with Table I for one directive, App. A for a sequence of subtasks (RoboAtlas)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from lodestar.selection.config import REWARDS, RewardConfig, SequenceConfig
from lodestar.selection.perceived import Match


@dataclass(frozen=True)
class Turn:
    """Effects of one decision, as perceived by the robot."""

    coverage_rate: float = 0.0  # 0..1
    backtracking: float = 0.0  # 0 or 1
    vlm: float = 0.0  # 0..1
    similarity: float = 0.0  # 0..1
    similarity_change: float = 0.0  # -1..1
    discovery: float = 0.0  # 0..1
    displacement: float = 0.0  # 0..1
    reached: bool = True  # the goal was reached, or replaced by a better one
    shown: bool = False  # a target that meets the query came into the map or into view during the turn
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
    """Reward turns and subtasks. decay: gamma of eq. 24. max_empty: empty choices punished per arm and subtask.

    mask_after: consecutive empty choices after which an arm is masked for the subtask, 0 = never.
    """

    decay: float
    max_empty: int
    mask_after: int

    def turn(self, turn: Turn) -> dict[str, float]:
        """Return the reward of a turn by component."""
        ...

    def subtask(self, end: SubtaskEnd) -> float:
        """Return the reward of the subtask, which its turns share by `credit_shares`."""
        ...


class DirectiveReward:
    """Eq. 5: weighted context features, and the success of the directive (Table I)."""

    max_empty = 0
    mask_after = 0

    def __init__(self, config: RewardConfig | None = None) -> None:
        self.config = config or RewardConfig()
        self.decay = self.config.success_decay

    def turn(self, turn: Turn) -> dict[str, float]:
        """Return the weighted features of eq. 5."""
        config = self.config
        return {
            "coverage_rate": config.coverage_rate * turn.coverage_rate,
            "backtracking": config.backtracking * turn.backtracking,
            "vlm": config.vlm * turn.vlm,
            "similarity": config.similarity * turn.similarity,
            "not_reached": 0.0 if turn.reached else config.empty_penalty,
        }

    def subtask(self, end: SubtaskEnd) -> float:
        """Return w_succ if the loop verified the target, else 0."""
        return self.config.success if end.claimed else 0.0


class SequenceReward:
    """App. A: changes during the turn, and the proxy of success times efficiency (eq. 23)."""

    def __init__(self, config: SequenceConfig | None = None) -> None:
        self.config = config or SequenceConfig()
        self.decay = self.config.decay
        self.max_empty = self.config.max_empty
        self.mask_after = self.config.mask_after

    def turn(self, turn: Turn) -> dict[str, float]:
        """Return the weighted one-step changes and penalties."""
        config = self.config
        return {
            "coverage_rate": config.coverage * turn.coverage_rate,
            "similarity": config.similarity * turn.similarity_change,
            "discovery": config.discovery * turn.discovery,
            "displacement": config.displacement * turn.displacement,
            "stuck": config.stuck if turn.stuck else 0.0,
            "empty": config.empty if turn.empty else 0.0,
        }

    def succeeded(self, end: SubtaskEnd) -> bool:
        """Tell whether the proxy of success holds: confidence and arrival, without ground truth."""
        config = self.config
        confident = (
            any(match.similarity >= config.sigma for match in end.matches)
            and sum(match.similarity >= config.tau for match in end.matches) >= config.min_matches
        )
        arrived = end.settled and any(
            match.similarity >= config.sigma and match.distance <= config.rho and match.overlaps
            for match in end.matches
        )
        return confident and arrived

    def subtask(self, end: SubtaskEnd) -> float:
        """Return eq. 23; 0 if the proxy does not hold."""
        if not self.succeeded(end):
            return 0.0
        efficiency = 1.0 - (1.0 - self.config.floor) * min(max(end.used, 0.0), 1.0)
        return self.config.success * efficiency


class FoundReward:
    """1 for the turn in which the target showed or was claimed, else 0: what `RateUcb` counts (ADR 0094)."""

    decay = 0.0
    max_empty = 0
    mask_after = 0

    def turn(self, turn: Turn) -> dict[str, float]:
        """Return whether the target showed."""
        return {"shown": float(turn.shown)}

    def subtask(self, end: SubtaskEnd) -> float:
        """Return whether the loop verified the target."""
        return float(end.claimed)


def make_reward(
    name: str, single: RewardConfig | None = None, sequence: SequenceConfig | None = None
) -> RewardModel:
    """Return the reward of a name. Raises ValueError for an unknown name."""
    if name == "single":
        return DirectiveReward(single)
    if name == "sequence":
        return SequenceReward(sequence)
    if name == "found":
        return FoundReward()
    raise ValueError(f"unknown reward {name!r}; known: {', '.join(REWARDS)}")


def credit_shares(decay: float, turns: int) -> list[float]:
    """Return the share of a subtask's reward for each of its turns, oldest first; the last gets all (eq. 24)."""
    return [decay ** (turns - 1 - index) for index in range(turns)]
