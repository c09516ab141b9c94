"""Validation of a received text (not empty, short enough, English) and its split into words."""

from __future__ import annotations

from lodestar.language.directive_errors import EmptyDirective, NotUnderstood
from lodestar.language.languages import other_language
from lodestar.language.sentence_tokens import shown, tokens_of
from lodestar.language.spelling import corrected, is_known

MAX_CHARACTERS = 1000
LEAST_KNOWN = 0.4  # least share of known words; below it the text is of another language


def readable_words(text: str, what: str, example: str) -> list[str]:
    """Return the words with typing errors corrected. Raises EmptyDirective, NotUnderstood.

    what: name of the text in error messages. example: ends the error message for an empty text.
    """
    if not "".join(c for c in text if c.isprintable()).strip():
        raise EmptyDirective(f"the {what} is empty; {example}")
    if len(text) > MAX_CHARACTERS:
        raise NotUnderstood(
            f"the {what} has {len(text)} characters, and at most {MAX_CHARACTERS} are read; say it in parts"
        )
    tokens = tokens_of(text)
    if not tokens:
        raise NotUnderstood(f'there are no words in "{shown(text)}"')
    words = [token for token in tokens if token[:1].isalpha()]
    if sum(is_known(word) for word in words) < LEAST_KNOWN * len(words):
        raise NotUnderstood(
            f'"{shown(text)}" is not understood: most of its words are unknown, and only English is read'
        )
    language = other_language(words)
    if language:
        raise NotUnderstood(
            f'"{shown(text)}" is not understood: it reads more like {language} than English, and only English is read'
        )
    return corrected(tokens)
