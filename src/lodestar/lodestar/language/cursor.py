"""A cursor over the tokens of a directive or a referring expression."""

from __future__ import annotations

from collections.abc import Collection

from lodestar.language.words import SEPARATOR, PhraseTable, is_number, load_words
from lodestar.models.lexicon import load_lexicon


class TokenCursor:
    """Looks ahead in tokens and consumes phrases of tables."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.position = 0
        self.words = load_words()
        self.lexicon = load_lexicon()

    @property
    def done(self) -> bool:
        return self.position >= len(self.tokens)

    def peek(self, ahead: int = 0) -> str | None:
        i = self.position + ahead
        return self.tokens[i] if i < len(self.tokens) else None

    def take(self, table: PhraseTable) -> str | None:
        """Consume the longest phrase of the table that begins here."""
        match = table.match(self.tokens, self.position)
        if match is None:
            return None
        self.position += match[0]
        return match[1]

    def take_word(self, words: Collection[str | None]) -> bool:
        """Consume one token where it is among `words`."""
        if self.peek() in words:
            self.position += 1
            return True
        return False

    def take_words(self, *words: str) -> bool:
        """Consume exactly these tokens."""
        if tuple(self.tokens[self.position : self.position + len(words)]) == words:
            self.position += len(words)
            return True
        return False

    def take_number(self) -> float | None:
        """Consume a number in digits or words; a known noun such as "first aid kit" is none."""
        token = self.peek() or ""
        try:
            value = float(token) if is_number(token) else None
        except ValueError:
            value = None
        if value is not None:
            self.position += 1
            return value
        word = self.take(self.words.numbers)
        return None if word is None else float(word)

    def at_step(self, i: int) -> bool:
        """Whether another step begins at token i."""
        words = self.words
        while i < len(self.tokens) and self.tokens[i] in (
            "please",
            "also",
            "finally",
            *words.constraint_links,
        ):
            i += 1
        tables = (words.verbs, words.then)
        if self._noun_length(i) > 1:
            return False
        if any(table.match(self.tokens, i) is not None for table in tables):
            return True
        return self.at_kept_distance(i)

    def at_kept_distance(self, i: int) -> bool:
        """Whether "keep 2 m" stands at token i."""
        match = self.words.avoid_distance.match(self.tokens, i)
        return match is not None and self.distance_at(i + match[0]) is not None

    def distance_at(self, i: int) -> tuple[int, float] | None:
        """Length in tokens and metres of "50 cm", "half a metre" or "at least two metres" at token i, or None."""
        start, tokens, words = i, [*self.tokens, "", ""], self.words
        while tokens[i] in words.bounds:
            i += 1
        half = tokens[i] == "half"
        i += half
        number = words.numbers.match(tokens, i)
        if is_number(tokens[i]):
            length, value = 1, tokens[i]
        elif number is not None:
            length, value = number
        else:
            length, value = int(tokens[i] in ("a", "an")), "1"
        unit = words.distance_units.get(tokens[i + length])
        if unit is None or not (length or half):
            return None
        try:
            metres = float(value) * unit * (0.5 if half else 1.0)
        except ValueError:  # "3rd"
            return None
        return i + length + 1 - start, metres

    def _noun_length(self, i: int) -> int:
        for length in range(min(self.lexicon.longest_noun, len(self.tokens) - i), 0, -1):
            window = self.tokens[i : i + length]
            if SEPARATOR not in window and self.lexicon.canonical(" ".join(window)) is not None:
                return length
        return 0
