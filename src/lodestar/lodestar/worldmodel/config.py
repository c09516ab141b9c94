"""Configuration of the world model."""

from __future__ import annotations

from dataclasses import dataclass, field

from lodestar.models.config import ChatConfig

ADVISER_LEAST = 0.05  # probability of a cause, 0..1, from which its recovery may be chosen; chosen
ADVISER_THINGS = 12  # nearest objects in a question to the model; chosen


@dataclass(frozen=True)
class ValidationConfig:
    """Limits for validating traces. A belief fails only if it is clearly wrong, because boxes are noisy."""

    max_age: float = 30.0  # s between a trace's stamp and its validation (ours)
    detour: float = 1.5  # assumed length of an unknown path, in straight distances (ours)

    def __post_init__(self) -> None:
        if self.max_age <= 0.0:
            raise ValueError("max_age must be above 0")


@dataclass(frozen=True)
class AdviserConfig:
    """Settings of the language model that advises on failures without a clear cause."""

    asks_model: bool = field(default=False, metadata={"shared": "language_model"})
    chat: ChatConfig = field(default_factory=ChatConfig)  # of the model
    patience: float = 8.0  # s of the loop's time that the robot stands and waits for an answer; chosen
    tokens: int = 900  # of a question (VLM-DEWM C.1 bounds the subgraph; ours)

    def __post_init__(self) -> None:
        if min(self.patience, self.tokens) <= 0:
            raise ValueError("patience and tokens must be above 0")
