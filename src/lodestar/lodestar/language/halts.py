"""Whether a text asks for a halt and for nothing else: read by rule alone, before any parser sees the text."""

from __future__ import annotations

from lodestar.language.sentence_tokens import COMMA, QUESTION, STOP, tokens_of
from lodestar.language.vocabulary import load_vocabulary

_PASSED = frozenset({COMMA, STOP, QUESTION, "and", "then", "now", "please"})
_HALTS = ("HALT", "STANDING", "HALT_ABROAD")
_ASIDE = ("POLITE", "FILLER", "POLITE_ABROAD")
_LONGEST = 200  # characters: a longer text asks for more


def is_halt(text: str) -> bool:
    """Whether every word of the text says to stop, to hold or to cancel, politeness aside."""
    if len(text) > _LONGEST:
        return False
    tokens, vocabulary = tokens_of(text), load_vocabulary()
    i, halts = 0, False
    while i < len(tokens):
        matches = vocabulary.matches(tokens, i)
        longest = max((matches[table][0] for table in _HALTS if table in matches), default=0)
        aside = max((matches[table][0] for table in _ASIDE if table in matches), default=0)
        if longest and longest >= aside:
            i, halts = i + longest, True
        elif tokens[i] in _PASSED or aside:
            i += max(aside, 1)
        else:
            return False
    return halts
