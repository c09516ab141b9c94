"""Requests to OpenAI-compatible endpoints, which differ in the formats that they accept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from lodestar.models.config import ChatConfig
from lodestar.models.images import data_url


@dataclass(frozen=True)
class RequestFormat:
    """Request format of an endpoint: response format, token limit field, temperature field."""

    answer: str = "json_schema"  # fallbacks: json_object, then text
    limit: str = "max_tokens"  # newer models: max_completion_tokens
    temperature: bool = True

    def simpler(self, complaint: str) -> RequestFormat | None:
        """Return the format to try after the endpoint refused this one, or None if it refused for another reason."""
        complaint = complaint.casefold()
        if "max_tokens" in complaint and self.limit == "max_tokens":
            return replace(self, limit="max_completion_tokens")
        if "temperature" in complaint and self.temperature:
            return replace(self, temperature=False)
        about_schema = any(
            word in complaint for word in ("response_format", "json_schema", "schema", "json_object")
        )
        if about_schema and self.answer != "text":
            return replace(self, answer="json_object" if self.answer == "json_schema" else "text")
        return None


def messages_of(system: str, user: str, images: Sequence[bytes]) -> list[dict[str, Any]]:
    """Return the messages of a question. images: JPEG or PNG files; raises ValueError for other files."""
    return [{"role": "system", "content": system}, {"role": "user", "content": user_content(user, images)}]


def arguments_of(
    config: ChatConfig,
    form: RequestFormat,
    messages: list[dict[str, Any]],
    schema: dict[str, Any],
    limit: int,
) -> dict[str, Any]:
    """Return the arguments of a request in the endpoint's format. limit: most tokens of the answer."""
    arguments: dict[str, Any] = {"model": config.model, "messages": messages, form.limit: limit}
    if form.temperature:
        arguments["temperature"] = 0.0
    if form.answer == "json_schema" and schema:
        named = {"name": "answer", "schema": schema, "strict": True}
        arguments["response_format"] = {"type": "json_schema", "json_schema": named}
    elif schema:
        rule = (
            f"{messages[0]['content']}\nAnswer with one JSON object of this JSON schema: {json.dumps(schema)}"
        )
        arguments["messages"] = [{"role": "system", "content": rule}, *messages[1:]]
        if form.answer == "json_object":
            arguments["response_format"] = {"type": "json_object"}
    return arguments


def user_content(text: str, images: Sequence[bytes]) -> str | list[dict[str, Any]]:
    """Return the content of a user message: the text, or a list of the text and the images as data URLs.

    Raises ValueError for images that are neither JPEG nor PNG.
    """
    if not images:
        return text
    pictures = [{"type": "image_url", "image_url": {"url": data_url(image)}} for image in images]
    return [{"type": "text", "text": text}, *pictures]
