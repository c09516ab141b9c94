"""What a decision brought: eq. 5 with Table I for one directive, App. A for a sequence of subtasks (RoboAtlas)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from lodestar.scene.similarity import TIERS
from lodestar.selection.perceived import Match

REWARDS = ("single", "sequence")


@dataclass(frozen=True)
class Turn:
    """What one decision brought, by what the robot perceived.

    coverage_rate, vlm, similarity, discovery, displacement in [0, 1]; similarity_change in [-1, 1];
    backtracking 0 or 1. reached: the goal was reached or given up for a better one. stuck: it hardly moved in all that
    time. empty: it sent the robot nowhere, and did so not oftener in this subtask than is punished.
    """

    coverage_rate: float = 0.0
    backtracking: float = 0.0
    vlm: float = 0.0
    similarity: float = 0.0
    similarity_change: float = 0.0
    discovery: float = 0.0
    displacement: float = 0.0
    reached: bool = True
    stuck: bool = False
    empty: bool = False


@dataclass(frozen=True)
class SubtaskEnd:
    """How a subtask ended, by what the robot perceived. claimed: the loop verified the target on arrival.

    matches: entities that resemble the target; settled: the robot stands; used: share of the budget spent on it.
    """

    claimed: bool
    matches: Sequence[Match] = ()
    settled: bool = False
    used: float = 0.0


class RewardModel(Protocol):
    """Judges turns and subtasks. decay: gamma of eq. 24. max_empty: empty picks per arm and subtask that are
    punished. mask_after: empty picks in a row after which an arm is masked for the subtask, 0 = never.
    """

    decay: float
    max_empty: int
    mask_after: int

    def turn(self, turn: Turn) -> dict[str, float]:
        """Reward of a turn by component."""
        ...

    def subtask(self, end: SubtaskEnd) -> float:
        """Reward of the subtask, which its turns share by `credit_shares`."""
        ...


@dataclass(frozen=True)
class RewardConfig:
    """Weights of RoboAtlas Table I. success_decay: gamma of eq. 24, with which earlier turns share the success; 0, as
    eq. 5 has it, pays the turn that succeeded (ADR 0017). empty_penalty: of a goal that was not reached.
    """

    coverage_rate: float = 1.0
    backtracking: float = -1.0
    vlm: float = 1.0
    similarity: float = 1.0
    success: float = 10.0
    empty_penalty: float = -0.5
    success_decay: float = 0.0


@dataclass(frozen=True)
class SequenceConfig:
    """App. A, which states the terms and not their weights.

    Per turn, weights of: coverage (rate), similarity (change), discovery, displacement, stuck, empty. max_empty and
    mask_after: see RewardModel. Per subtask: success, shared with `decay`, times an efficiency that falls from 1 to
    `floor` with the budget spent. The proxy of success needs one match of at least `sigma`, `min_matches` of at
    least `tau`, a settled robot, and a match of at least `sigma` within `rho` metres whose label overlaps.
    """

    coverage: float = 1.0
    similarity: float = 1.0
    discovery: float = 0.5
    displacement: float = 0.25
    stuck: float = -0.5
    empty: float = -0.25
    max_empty: int = 3
    mask_after: int = 3
    success: float = 10.0
    decay: float = 0.7
    floor: float = 0.2
    sigma: float = TIERS[1]
    tau: float = TIERS[0]
    min_matches: int = 1
    rho: float = 1.2


class DirectiveReward:
    """Eq. 5: levels of what the context says, and the success of the directive (Table I)."""

    max_empty = 0
    mask_after = 0

    def __init__(self, config: RewardConfig | None = None) -> None:
        self.config = config or RewardConfig()
        self.decay = self.config.success_decay

    def turn(self, turn: Turn) -> dict[str, float]:
        """Weighted features of eq. 5."""
        config = self.config
        return {
            "coverage_rate": config.coverage_rate * turn.coverage_rate,
            "backtracking": config.backtracking * turn.backtracking,
            "vlm": config.vlm * turn.vlm,
            "similarity": config.similarity * turn.similarity,
            "not_reached": 0.0 if turn.reached else config.empty_penalty,
        }

    def subtask(self, end: SubtaskEnd) -> float:
        """w_succ where the loop verified the target."""
        return self.config.success if end.claimed else 0.0


class SequenceReward:
    """App. A: what changed by the turn, and the proxy of success times efficiency (eq. 23)."""

    def __init__(self, config: SequenceConfig | None = None) -> None:
        self.config = config or SequenceConfig()
        self.decay = self.config.decay
        self.max_empty = self.config.max_empty
        self.mask_after = self.config.mask_after

    def turn(self, turn: Turn) -> dict[str, float]:
        """Weighted one-step changes and penalties."""
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
        """The agent-side proxy of success: confidence and arrival."""
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
        """Eq. 23; 0 where the proxy does not fire."""
        if not self.succeeded(end):
            return 0.0
        efficiency = 1.0 - (1.0 - self.config.floor) * min(max(end.used, 0.0), 1.0)
        return self.config.success * efficiency


def make_reward(
    name: str, single: RewardConfig | None = None, sequence: SequenceConfig | None = None
) -> RewardModel:
    """The reward of a name. Raises ValueError for one that there is not."""
    if name == "single":
        return DirectiveReward(single)
    if name == "sequence":
        return SequenceReward(sequence)
    raise ValueError(f"unknown reward {name!r}; known: {', '.join(REWARDS)}")


def credit_shares(decay: float, turns: int) -> list[float]:
    """Share of a subtask's reward for each of its turns, oldest first; the last gets all of it (eq. 24)."""
    return [decay ** (turns - 1 - index) for index in range(turns)]
