"""Tables of function words from `words.yaml`: named tables of phrases with values, as used by the rules."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from typing import Any

import yaml

_LEAF = ""  # trie key of the matches that end at a node; no word is empty
_NOTHING: dict[str, Any] = {}


def expand(pattern: str) -> Iterator[tuple[str, ...]]:
    """Yield the phrases of a pattern: "a|b" is either word, "a?" may be missing."""
    choices = []
    for part in pattern.split():
        words = part.removesuffix("?").split("|")
        choices.append([*words, ""] if part.endswith("?") and part != "?" else words)
    for chosen in itertools.product(*choices):
        phrase = tuple(word for word in chosen if word)
        if phrase:
            yield phrase


@dataclass
class Vocabulary:
    """Word tables: the phrases of all tables, with their values, in one trie for look-up at any word."""

    tables: frozenset[str]
    words: frozenset[str]  # all words of all tables
    _root: dict[str, Any] = field(default_factory=dict)
    _phrases: dict[str, list[str]] = field(default_factory=dict)

    def phrases(self, table: str) -> list[str]:
        """Return every phrase of a table."""
        return self._phrases.get(table, [])

    def matches(self, tokens: Sequence[str], start: int) -> dict[str, tuple[int, Any]]:
        """Return, for each table, its longest phrase that begins at `start`: number of tokens and value."""
        found: dict[str, tuple[int, Any]] = {}
        node: Any = self._root
        for i in range(start, len(tokens)):
            node = node.get(tokens[i])
            if node is None:
                break
            for table, value in node.get(_LEAF, _NOTHING).items():
                found[table] = (i + 1 - start, value)
        return found

    def match(self, table: str, tokens: Sequence[str], start: int) -> tuple[int, Any] | None:
        """Return the length and value of the table's longest phrase at `start`, or None."""
        found: tuple[int, Any] | None = None
        node: Any = self._root
        for i in range(start, len(tokens)):
            node = node.get(tokens[i])
            if node is None:
                break
            ends = node.get(_LEAF, _NOTHING)
            if table in ends:
                found = (i + 1 - start, ends[table])
        return found

    def is_in(self, table: str, *words: str) -> bool:
        """Return whether exactly these words are a phrase of the table."""
        match = self.match(table, words, 0)
        return match is not None and match[0] == len(words)

    def add(self, table: str, phrase: tuple[str, ...], value: Any) -> None:
        """Add a phrase; if it exists already, its first value is kept."""
        node = self._root
        for word in phrase:
            node = node.setdefault(word, {})
        node.setdefault(_LEAF, {}).setdefault(table, value)
        self._phrases.setdefault(table, []).append(" ".join(phrase))


def read_table(entries: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the phrases and values of one table of the file; a phrase without a value is its own value."""
    groups = entries if isinstance(entries, dict) else {None: entries}
    for value, patterns in groups.items():
        for pattern in patterns or ():
            for phrase in expand(str(pattern).casefold()):
                yield phrase, " ".join(phrase) if value is None else _number(value)


def _number(value: Any) -> Any:
    try:
        return float(value)
    except ValueError:
        return value


@lru_cache(maxsize=1)
def load_vocabulary() -> Vocabulary:
    """Return the packaged tables, read once per process."""
    text = resources.files("lodestar.language").joinpath("words.yaml").read_text(encoding="utf-8")
    # keep scalars as text: "on" must not become True
    data = yaml.load(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    entries = [(table, phrase, value) for table, said in data.items() for phrase, value in read_table(said)]
    vocabulary = Vocabulary(frozenset(data), frozenset(word for _, phrase, _ in entries for word in phrase))
    for table, phrase, value in entries:
        vocabulary.add(table, phrase, value)
    return vocabulary
