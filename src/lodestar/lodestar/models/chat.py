"""Port to a language model that answers in JSON, and its adapter for OpenAI-compatible endpoints."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Protocol

KEY_VARIABLE = "OPENAI_API_KEY"


class ChatUnavailable(RuntimeError):
    """The model cannot be asked or did not answer; the message says why, without any key."""


class ChatModel(Protocol):
    """Port of a language model."""

    def complete(self, system: str, user: str, schema: dict[str, Any]) -> str:
        """Text that should be JSON of the schema. Raises ChatUnavailable."""
        ...


@dataclass(frozen=True)
class ChatConfig:
    """base_url: of the endpoint, "" = OpenAI's. timeout: seconds for an answer. max_tokens: of an answer."""

    model: str = "gpt-4o-mini"
    base_url: str = ""
    timeout: float = 10.0
    max_tokens: int = 800


class OpenAiChat:
    """Any OpenAI-compatible endpoint. The key is read from the environment variable OPENAI_API_KEY alone."""

    def __init__(self, config: ChatConfig = ChatConfig()) -> None:
        self._config = config
        self._client: Any = None

    def complete(self, system: str, user: str, schema: dict[str, Any]) -> str:
        """See ChatModel; asks once, without retries."""
        client = self._open()
        from openai import OpenAIError

        try:
            answer = client.chat.completions.create(
                model=self._config.model,
                messages=[{"role": "system", "content": system}, {"role": "user", "content": user}],
                response_format={
                    "type": "json_schema",
                    "json_schema": {"name": "answer", "schema": schema, "strict": True},
                },
                max_tokens=self._config.max_tokens,
                temperature=0.0,
            )
        except OpenAIError as error:
            raise ChatUnavailable(f"the language model did not answer: {error.__class__.__name__}") from error
        if not answer.choices:
            raise ChatUnavailable("the language model answered with nothing")
        return answer.choices[0].message.content or ""

    def _open(self) -> Any:
        if self._client is None:
            try:
                from openai import OpenAI
            except ImportError as error:
                raise ChatUnavailable("openai is not installed; pip install 'lodestar[llm]'") from error
            key = os.environ.get(KEY_VARIABLE, "")
            if not key and not self._config.base_url:
                raise ChatUnavailable(f"{KEY_VARIABLE} is not set")
            self._client = OpenAI(
                api_key=key or "none",
                base_url=self._config.base_url or None,
                timeout=self._config.timeout,
                max_retries=0,
            )
        return self._client
