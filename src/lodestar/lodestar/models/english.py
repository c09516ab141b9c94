"""English words for articles, lists, numbers and durations."""

from __future__ import annotations

from collections.abc import Iterable

from lodestar.models.lexicon import load_lexicon

ARTICLES = frozenset({"a", "an", "the", "some"})
NUMBERS = (
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
_DAY = 86400.0  # seconds


def with_article(name: str) -> str:
    """Return a name with its article: "a mug", "an apple".

    Plurals and names with an article are returned unchanged.
    """
    if name.split(" ", 1)[0].casefold() in ARTICLES or load_lexicon().is_plural(name):
        return name
    return f"{'an' if name[:1].casefold() in 'aeiou' else 'a'} {name}"


def the(name: str) -> str:
    """Return a name with "the": "the mug", also for "a mug"."""
    first, _, rest = name.partition(" ")
    return f"the {rest}" if first.casefold() in ARTICLES and rest else f"the {name}"


def listed(parts: Iterable[str], link: str = "and") -> str:
    """Return the parts as "a, b and c"; "" if empty. link: word before the last part."""
    said = list(parts)
    return f"{', '.join(said[:-1])} {link} {said[-1]}" if len(said) > 1 else "".join(said)


def number_in_words(count: int, most: int = 10) -> str:
    """Return a number in words, such as "three"; above `most` or twelve in digits, such as "14"."""
    return NUMBERS[count] if 0 <= count <= min(most, len(NUMBERS) - 1) else str(count)


def duration_in_words(seconds: float) -> str:
    """Return a duration in words: "40 seconds", "8 minutes", "2 hours" or "3 days".

    A duration below two minutes is given in seconds.
    """
    seconds = max(0.0, seconds)
    for limit, unit, name in ((120.0, 1.0, "second"), (7200.0, 60.0, "minute"), (2 * _DAY, 3600.0, "hour")):
        if seconds < limit:
            return _counted(round(seconds / unit), name)
    return _counted(round(seconds / _DAY), "day")


def _counted(count: int, name: str) -> str:
    return f"{count} {name}{'' if count == 1 else 's'}"
