"""Configuration of parsers and reasoners."""

from __future__ import annotations

from dataclasses import dataclass, field

from lodestar.models.config import ChatConfig, VisionChatConfig


@dataclass(frozen=True)
class PriorConfig:
    """Weights of the lexicon and of word vectors in the prior for the place of an object."""

    # cosine, temperature of the softmax over rooms; chosen: related rooms differ by about 0.1 in all-MiniLM-L6-v2
    temperature: float = 0.05
    unsure: float = 1.0  # weight of that distribution, in the units of the lexicon; chosen
    # share of an object's score that comes from the rooms that both belong to, the rest from the words; chosen
    room_share: float = 0.6
    likeness: tuple[float, float] = (
        0.30,
        0.60,
    )  # cosines of two words between which it goes from 0 to 1; chosen


@dataclass(frozen=True)
class RankPromptConfig:
    """Limits on the question that ranks candidates."""

    # characters of the question as it is sent, four per token (N_max of RoboAtlas eq. 17); a byte outside ASCII counts
    # as two; value chosen
    characters: int = 24_000
    radius: float = (
        2.0  # metres within which things are near a candidate (r_N of RoboAtlas eq. 19); value chosen
    )
    near: int = 6  # things near a candidate, at most; chosen
    views: int = 5  # descriptions of earlier views, at most; chosen
    candidates: int = 40  # told and judged at most, the surest first; chosen


@dataclass(frozen=True)
class BackgroundReasonerConfig:
    """Rates of the questions to a model, and how long their answers hold."""

    interval: float = 1.0  # seconds between two questions; chosen
    retry: float = 10.0  # seconds until a question that failed is asked again unchanged; chosen
    rank_age: float = 60.0  # seconds after which an earlier ranking is no longer used; chosen


@dataclass(frozen=True)
class LikelyConfig:
    """Nearness in meaning of questions that no rule reads to plain ones: cosines, and what is added to them.

    All chosen; docs/measurements/questions.md names the sentences that served for it.
    """

    least: float = 0.55  # score below which nothing is near enough
    margin: float = 0.01  # by which a question of another kind must be less near
    doubtful: float = 0.70  # score from which it replaces a doubtful reading of all words
    same_kind: float = 0.04  # for the kind that the first words say, or a word such as "location"
    cue: float = 0.05  # for a word that tells one meaning from another, and against it where none is said
    other: float = (
        0.06  # by which it must be nearer than what is left to the rules; the words above count for it
    )
    unused: float = 0.10  # against each noun that has no slot


@dataclass(frozen=True)
class ReasonerConfig:
    """Choice of the reasoner that weighs candidates and views. chat: its endpoint, and what it may cost."""

    # ask an OpenAI-compatible endpoint, and go on offline where it fails
    asks_model: bool = field(default=False, metadata={"shared": "language_model"})
    chat: ChatConfig = field(default_factory=ChatConfig)
    thinking: BackgroundReasonerConfig = field(default_factory=BackgroundReasonerConfig)
    prompt: RankPromptConfig = field(default_factory=RankPromptConfig)


@dataclass(frozen=True)
class ViewReasonerConfig(ReasonerConfig):
    """Choice of the reasoner that weighs what is in an image."""

    asks_model: bool = field(default=False, metadata={"shared": "vision_model"})
    chat: VisionChatConfig = field(default_factory=VisionChatConfig)


@dataclass(frozen=True)
class ParserConfig:
    """Choice of the parser of directives. chat: endpoint of the model."""

    # a language model reads, and the grammar where it fails; without it the grammar alone
    asks_model: bool = field(default=False, metadata={"shared": "language_model"})
    chat: ChatConfig = field(default_factory=ChatConfig)
