"""When a request to a model endpoint is tried again."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime


@dataclass(frozen=True)
class RetryConfig:
    """tries: after the first. base, longest: seconds, of the pause before the first retry and of any; it doubles
    each time and is drawn from its upper half, so that many robots do not come back at once.
    """

    tries: int = 3
    base: float = 0.5
    longest: float = 8.0
    statuses: tuple[int, ...] = (408, 409, 429, 500, 502, 503, 504, 529)


def pause_before(attempt: int, wished: float | None, config: RetryConfig, rng: random.Random) -> float:
    """Seconds before retry `attempt` (1 = the first); never less than the server wished for."""
    pause = min(config.base * 2.0 ** (attempt - 1), config.longest)
    pause *= rng.uniform(0.5, 1.0)
    return pause if wished is None else max(pause, wished)


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds that a response asks to wait (RFC 9110 10.2.3, or milliseconds as OpenAI sends them); None = not said."""
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
