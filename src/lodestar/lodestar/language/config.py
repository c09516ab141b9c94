"""Configuration of parsers and reasoners."""

from __future__ import annotations

from dataclasses import dataclass, field

from lodestar.models.config import ChatConfig, VisionChatConfig


@dataclass(frozen=True)
class RankPromptConfig:
    """Size limits of the prompt that asks a language model to rank candidates."""

    # characters of the question as it is sent, four per token (N_max of RoboAtlas eq. 17); a byte outside ASCII counts
    # as two; value chosen
    characters: int = 24_000
    candidates: int = 40  # most candidates in one prompt, by falling occupancy probability; chosen


@dataclass(frozen=True)
class LikelyConfig:
    """Thresholds for replacing a question that no rule reads by the template question nearest in meaning.

    A score is the cosine similarity of embeddings plus bonuses for certain words. The values were chosen with
    the sentences named in docs/measurements/questions.md.
    """

    least: float = 0.55  # least score of a template that replaces the question
    other: float = 0.06  # least lead of its score over the counterexamples


@dataclass(frozen=True)
class ReasonerConfig:
    """Choice of the reasoner that ranks candidates. chat: endpoint and budgets of the language model."""

    # ask an OpenAI-compatible endpoint; if it fails, the offline reasoner answers
    asks_model: bool = field(default=False, metadata={"shared": "language_model"})
    chat: ChatConfig = field(default_factory=ChatConfig)
    prompt: RankPromptConfig = field(default_factory=RankPromptConfig)


@dataclass(frozen=True)
class ViewReasonerConfig(ReasonerConfig):
    """Choice of the reasoner that judges camera views. chat: endpoint and budgets of the vision model."""

    asks_model: bool = field(default=False, metadata={"shared": "vision_model"})
    chat: VisionChatConfig = field(default_factory=VisionChatConfig)


@dataclass(frozen=True)
class ParserConfig:
    """Choice of the parser of directives. chat: endpoint and budgets of the language model."""

    # parse with a language model, and with the grammar if it fails; False = with the grammar alone
    asks_model: bool = field(default=False, metadata={"shared": "language_model"})
    chat: ChatConfig = field(default_factory=ChatConfig)
