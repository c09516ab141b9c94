"""Defaults of answering."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from lodestar.grid.config import LookConfig
from lodestar.language.config import LikelyConfig
from lodestar.memory.config import BottleneckConfig
from lodestar.models.config import ChatConfig, EndpointConfig, SpendingConfig
from lodestar.query.config import QueryConfig

#: Ways to select evidence: the keys of `evidence.SELECTIONS`, which loads more than a configuration needs.
RULES = ("ours", "without_ib")


@dataclass(frozen=True)
class ConfidenceConfig:
    """Factors of the confidence of an answer; `confidence` multiplies those that apply."""

    known_from: float = 0.25  # below it the answer is "I do not know"; chosen, see the risk-coverage curve
    archived: float = 0.8  # factor of a thing that the scene has given up; chosen
    remembered: float = 0.9  # of a thing that is known by memories alone; chosen
    once: float = 0.8  # of a thing that was in one segment only; chosen
    twice: float = 0.92  # of one that was in two; chosen
    ambiguous: float = 0.7  # of the first of several things that fit as well and stand elsewhere; chosen
    partial: float = 0.7  # of a question of which not every word was read; chosen
    likely: float = 0.9  # of a question that was taken as another one near to it in meaning; chosen
    inferred: float = 0.75  # of what no event says and two sightings suggest; chosen
    # of a thing of which a part of the description could not be checked: its neighbour or room is not known; chosen
    relaxed: float = 0.6
    guessed: float = 0.6  # of a thing that was found by the meaning of a need: "where can I sit"; chosen
    # seconds in which the confidence in "it is there" halves, while nobody looks; chosen: things stay for a day
    half_life: float = 86400.0
    least_fresh: float = 0.4  # of the factor above; chosen


@dataclass(frozen=True)
class CoverageConfig:
    """Rules for the floor that counts as looked at."""

    look_limits: LookConfig = field(default_factory=LookConfig, metadata={"shared": "looks"})
    step: float = 0.2  # metres between two looks that are both kept; chosen
    turn: float = math.radians(15.0)  # radians, likewise; chosen
    max_looks: int = 40_000  # the oldest are dropped first; chosen: 24 h of a robot that walks half the time
    max_window: int = 2_000  # looks of a window that are counted, evenly thinned; chosen: about a second


@dataclass(frozen=True)
class AnsweringConfig:
    """Defaults of answering. Distances in metres, times in seconds."""

    pool: int = 400  # captions from which evidence is selected; chosen
    sightings: int = 2_000  # memories of one thing that are read; chosen
    events: int = 500  # memories of events that are read; chosen
    # segments that are read for where the robot was; chosen: the newest eight hours without a break
    segments: int = 10_000
    # cosine of a need ("where can I sit") and a thing's name from which the thing may serve; chosen
    need: float = 0.3
    # cosine of a room's name and what is in a room, from which the room may be meant; chosen: "print room", printer
    room: float = 0.6
    gap: float = 15.0  # between two sightings or stays that are still one; chosen: five segments
    moved: float = 0.5  # that a box must move to stand elsewhere; EventConfig.moved
    here: float = 3.0  # around a place that is "here"; chosen: half a room
    just_now: float = 60.0  # before now that does not count as "before": "have you been here"; chosen
    passing: float = 3.0  # from a thing that was passed; chosen
    beside: float = 2.5  # from a thing whose name tells a place; half distance of Near
    alike: float = 4.0  # between things of a kind that stand together; chosen
    listed: int = 8  # things, events or deeds in one sentence; chosen
    quoted: int = 160  # characters of a quotation; chosen
    places: int = 5  # in one answer; chosen
    proofs: int = 20  # in one answer, as ~/answer's default
    # how evidence is selected, one of RULES; "ours" merges by the Information Bottleneck, "without_ib" does not
    selection: str = "ours"
    evidence: BottleneckConfig = field(default_factory=BottleneckConfig)
    query: QueryConfig = field(default_factory=QueryConfig, metadata={"shared": "query"})
    confidence: ConfidenceConfig = field(default_factory=ConfidenceConfig)
    coverage: CoverageConfig = field(default_factory=CoverageConfig)
    likely: LikelyConfig = field(default_factory=LikelyConfig)

    def __post_init__(self) -> None:
        if self.selection not in RULES:
            raise ValueError(f"selection is {self.selection!r}; it is one of {', '.join(RULES)}")


def _chat() -> ChatConfig:
    return ChatConfig(spending=SpendingConfig(tokens=40_000))  # chosen: three rounds with pictures take half


@dataclass(frozen=True)
class AgentConfig:
    """The language model that may answer, and limits of the conversation about one question."""

    asks_model: bool = field(default=False, metadata={"shared": "language_model"})  # the one behind `chat`
    rounds: int = 3  # STaR VI: at most three
    seconds: float = 30.0  # of real time for all rounds; STaR VI: 30 s on average
    sure: float = 0.85  # confidence of the offline answer from which the model is not asked; chosen
    confidence: float = 0.7  # of an answer of the model whose claims hold; chosen
    # whether the model is shown pictures with the question, and what it says of them is an answer
    sees: bool = field(default=False, metadata={"shared": "vision_model"})
    # asked in the place of that of `chat` where it is shown pictures, which go nowhere else
    eyes: EndpointConfig = field(default_factory=EndpointConfig, metadata={"shared": "vision_endpoint"})
    pictures: int = 6  # with the question, at most; chosen: SnapMem 4.1 keeps 3.3 of 11
    seen_confidence: float = (
        0.5  # of an answer that a model alone has seen; chosen: below every text that is checked
    )
    unmarked: float = (
        0.8  # factor of what is said of no outlined thing: nothing tells that it is the one; chosen
    )
    # share of a picture that a thing's outline must take for a claim about it; chosen: 9 x 9 pixels of 320 x 240
    least_share: float = 0.001
    chat: ChatConfig = field(default_factory=_chat)  # its spending is that of one question

    def __post_init__(self) -> None:
        if self.rounds < 1 or self.seconds <= 0.0:
            raise ValueError("an answer needs at least one round and some seconds")
        if not 0 <= self.pictures <= 12:
            raise ValueError(
                "pictures must be from 0 to 12, as many as a claim may cite; each costs about 1000 tokens"
            )
        if not (0.0 <= self.least_share < 1.0 and 0.0 < self.unmarked <= 1.0):
            raise ValueError("least_share must lie in [0, 1), unmarked in (0, 1]")
