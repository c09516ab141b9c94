"""What a decision brought (RoboAtlas eq. 5, Table I; credit: eq. 24)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RewardConfig:
    """Weights of RoboAtlas Table I. success_decay: gamma of eq. 24; empty_penalty: of a goal that was not
    reached.
    """

    coverage_rate: float = 1.0
    backtracking: float = -1.0
    vlm: float = 1.0
    similarity: float = 1.0
    success: float = 10.0
    empty_penalty: float = -0.5
    success_decay: float = 0.7


def turn_reward(
    config: RewardConfig,
    coverage_rate: float,
    backtracking: float,
    vlm: float,
    similarity: float,
    reached: bool = True,
    success: bool = False,
) -> dict[str, float]:
    """Reward by component and its "total", from features in [0, 1] (eq. 5)."""
    components = {
        "coverage_rate": config.coverage_rate * coverage_rate,
        "backtracking": config.backtracking * backtracking,
        "vlm": config.vlm * vlm,
        "similarity": config.similarity * similarity,
        "not_reached": 0.0 if reached else config.empty_penalty,
        "success": config.success if success else 0.0,
    }
    return {**components, "total": sum(components.values())}


def success_shares(config: RewardConfig, turns: int) -> list[float]:
    """Share of the success reward for each of `turns` turns, oldest first; the last gets all of it (eq.
    24).
    """
    return [config.success * config.success_decay ** (turns - 1 - i) for i in range(turns)]
