"""Retry policy of requests to a model endpoint."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

from lodestar.models.config import RetryConfig


def pause_before(attempt: int, wished: float | None, config: RetryConfig, rng: random.Random) -> float:
    """Return the seconds to wait before retry number `attempt` (1 = the first), at least `wished`.

    wished: seconds that the server asked for, None = not stated.
    """
    pause = min(config.base * 2.0 ** (attempt - 1), config.longest)
    pause *= rng.uniform(0.5, 1.0)
    return pause if wished is None else max(pause, wished)


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds that a response asks to wait; None = not stated.

    The header is that of RFC 9110 10.2.3, or OpenAI's in milliseconds.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000.0
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None or text is None:
        return seconds
    try:
        when = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=timezone.utc)
    return max((when - (now or datetime.now(timezone.utc))).total_seconds(), 0.0)


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0.0 else None
