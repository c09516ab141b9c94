"""Configuration of question answering."""

from __future__ import annotations

from dataclasses import dataclass, field

from lodestar.grid.config import LookConfig
from lodestar.language.config import LikelyConfig
from lodestar.memory.config import BottleneckConfig
from lodestar.models.config import ChatConfig, EndpointConfig, SpendingConfig
from lodestar.query.config import QueryConfig

CONFIDENCE_AMBIGUOUS = 0.7  # factor of the confidence in one of several objects that fit equally well; chosen
CONFIDENCE_PARTIAL = 0.7  # factor of the confidence if not every word of the question was read; chosen
CONFIDENCE_INFERRED = 0.75  # confidence in a change that two sightings suggest and no event reports; chosen
# segments read for the robot's path, the newest; chosen: eight hours without a break
ANSWERING_SEGMENTS = 10_000
ANSWERING_GAP = 15.0  # seconds between two sightings or stays that count as one; chosen: five segments
ANSWERING_MOVED = 0.5  # metres that a box must move to stand elsewhere; as EVENT_MOVED
ANSWERING_PASSING = 3.0  # metres from an object within which the robot passed it; chosen
ANSWERING_LISTED = 8  # objects, events or deeds listed in one sentence; chosen
ANSWERING_PLACES = 5  # places in one answer; chosen


@dataclass(frozen=True)
class CoverageConfig:
    """Range and field of view within which the camera counts floor as looked at."""

    look_limits: LookConfig = field(default_factory=LookConfig, metadata={"shared": "looks"})


@dataclass(frozen=True)
class AnsweringConfig:
    """Configuration of answers by rules: evidence, scores of objects, floor coverage, unparsed questions."""

    evidence: BottleneckConfig = field(default_factory=BottleneckConfig)
    query: QueryConfig = field(default_factory=QueryConfig, metadata={"shared": "query"})
    coverage: CoverageConfig = field(default_factory=CoverageConfig)
    likely: LikelyConfig = field(default_factory=LikelyConfig)


def _chat() -> ChatConfig:
    # chosen: three rounds with pictures use half of these tokens
    return ChatConfig(spending=SpendingConfig(tokens=40_000))


@dataclass(frozen=True)
class AgentConfig:
    """Models for answers (language, vision), limits of the conversation per question, and confidences."""

    asks_model: bool = field(default=False, metadata={"shared": "language_model"})  # whether `chat` is used
    rounds: int = 3  # STaR VI: at most three
    seconds: float = 30.0  # of real time for all rounds; STaR VI: 30 s on average
    sure: float = 0.85  # confidence of the offline answer from which the model is not asked; chosen
    confidence: float = 0.7  # in an answer of the model whose claims were verified; chosen
    # whether the model gets pictures with the question and may answer from them
    sees: bool = field(default=False, metadata={"shared": "vision_model"})
    # endpoint used instead of that of `chat` if the model gets pictures; no other endpoint gets pictures
    eyes: EndpointConfig = field(default_factory=EndpointConfig, metadata={"shared": "vision_endpoint"})
    pictures: int = 6  # most pictures sent with a question; chosen: SnapMem 4.1 keeps 3.3 of 11
    # confidence in an answer that rests on pictures alone; chosen: below every verified text
    seen_confidence: float = 0.5
    # factor of the confidence if no cited object is outlined in the pictures; chosen: it may be another one
    unmarked: float = 0.8
    # least share of a picture inside an object's outline for claims on it; chosen: 9 x 9 of 320 x 240 pixels
    least_share: float = 0.001
    chat: ChatConfig = field(default_factory=_chat)  # its spending limits hold for one question

    def __post_init__(self) -> None:
        if self.rounds < 1 or self.seconds <= 0.0:
            raise ValueError("an answer needs at least one round and some seconds")
        if not 0 <= self.pictures <= 12:
            raise ValueError(
                "pictures must be from 0 to 12, as many as a claim may cite; each costs about 1000 tokens"
            )
        if not (0.0 <= self.least_share < 1.0 and 0.0 < self.unmarked <= 1.0):
            raise ValueError("least_share must lie in [0, 1), unmarked in (0, 1]")
