"""Configuration of the client of language models."""

from __future__ import annotations

from dataclasses import dataclass, field

from lodestar.models.chat_key import KEY_VARIABLE, check_variable


@dataclass(frozen=True)
class RetryConfig:
    """Retries with exponential back-off and jitter, so that many robots do not retry at the same time."""

    tries: int = 3  # retries after the first attempt; chosen: within `ChatConfig.patience`
    # seconds before the first retry, doubled for each further one; chosen
    base: float = 0.5
    longest: float = 8.0  # seconds of the longest pause; chosen: below `ChatConfig.timeout`


@dataclass(frozen=True)
class SpendingConfig:
    """Limits of tokens and cost for one task, and prices per token; limit 0 = none."""

    tokens: int = 200_000  # tokens sent plus received; chosen
    cost: float = 0.0  # in the currency of the prices
    price_sent: float = 0.0  # currency per million tokens
    price_received: float = 0.0  # currency per million tokens


@dataclass(frozen=True)
class DayConfig:
    """Limits that a person sets per day (UTC), for all nodes and tools of this user together; 0 = no limit."""

    requests: int = 0  # to any model
    tokens: int = 0  # sent plus received

    def __post_init__(self) -> None:
        if self.requests < 0 or self.tokens < 0:
            raise ValueError("day.requests and day.tokens must not be negative; 0 = no limit")


@dataclass(frozen=True)
class EndpointConfig:
    """An OpenAI-compatible server, and the name of the model to use there."""

    model: str = "gpt-4o-mini"  # chosen
    base_url: str = ""  # "" = OpenAI's; http://HOST:11434/v1 for Ollama, http://HOST:8000/v1 for vLLM
    key_variable: str = KEY_VARIABLE  # name of the environment variable that holds the key
    day: DayConfig = field(default_factory=DayConfig)


@dataclass(frozen=True)
class ChatConfig:
    """Connection and limits of a chat model."""

    model: str = field(default="gpt-4o-mini", metadata={"shared": "endpoint.model"})
    base_url: str = field(default="", metadata={"shared": "endpoint.base_url"})  # "" = OpenAI's
    timeout: float = 20.0  # seconds for one attempt; chosen
    patience: float = 40.0  # seconds for one question with all attempts; chosen: two attempts
    # most tokens of an answer, fewer if its schema needs fewer (`answer_size`); doubled to repeat the request
    # for an answer that was cut off; chosen
    max_tokens: int = 6_000
    # seconds without questions after the endpoint failed; chosen
    rest: float = 30.0
    # name of the environment variable that holds the key
    key_variable: str = field(default=KEY_VARIABLE, metadata={"shared": "endpoint.key_variable"})
    day: DayConfig = field(default_factory=DayConfig, metadata={"shared": "endpoint.day"})
    retries: RetryConfig = field(default_factory=RetryConfig)  # of one question
    spending: SpendingConfig = field(default_factory=SpendingConfig)  # of one task

    def __post_init__(self) -> None:
        check_variable(self.key_variable)


@dataclass(frozen=True)
class VisionChatConfig(ChatConfig):
    """Connection and limits of a chat with a model that sees images."""

    model: str = field(default="gpt-4o-mini", metadata={"shared": "vision_endpoint.model"})
    base_url: str = field(default="", metadata={"shared": "vision_endpoint.base_url"})
    key_variable: str = field(default=KEY_VARIABLE, metadata={"shared": "vision_endpoint.key_variable"})
