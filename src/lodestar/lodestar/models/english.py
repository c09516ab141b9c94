"""Small English: articles and lists of words."""

from __future__ import annotations

from collections.abc import Iterable

ARTICLES = frozenset({"a", "an", "the", "some"})


def with_article(name: str) -> str:
    """Return "a mug", "an apple"; a name that begins with an article stays as it is."""
    if name.split(" ", 1)[0].casefold() in ARTICLES:
        return name
    return f"{'an' if name[:1].casefold() in 'aeiou' else 'a'} {name}"


def the(name: str) -> str:
    """Return "the mug", also of "a mug"."""
    first, _, rest = name.partition(" ")
    return f"the {rest}" if first.casefold() in ARTICLES and rest else f"the {name}"


def listed(parts: Iterable[str], link: str = "and") -> str:
    """Return "a, b and c", "" of nothing. link: the word before the last."""
    said = list(parts)
    return f"{', '.join(said[:-1])} {link} {said[-1]}" if len(said) > 1 else "".join(said)
