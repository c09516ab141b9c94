"""Preparation of a text before it is split into clauses: removes a form of address, and rewrites "but" as
"except".
"""

from __future__ import annotations

from collections.abc import Sequence

from lodestar.language.clause_starts import begins
from lodestar.language.lattice import VERBS, is_open
from lodestar.language.sentence_tokens import COMMA, QUESTION, STOP
from lodestar.language.spelling import is_known
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.lexicon import load_lexicon

_MARKS = frozenset({COMMA, STOP, QUESTION})
_CALLS = frozenset({"hey", "hi", "hello", "ok", "okay", "dear", "yo"})
_ALL = frozenset(
    {"any", "every", "all", "each", "anything", "everything", "anyone", "everyone", "anywhere", "everywhere"}
)
_BANS = frozenset({"without", "never", "not"})
_MOST_OF_A_CALL = 2  # words of a name: "mister robot"
_MOST_BETWEEN = 3  # words of a noun between "any" and "but"


def framed(tokens: Sequence[str]) -> list[str]:
    """Return the words without a form of address and without adverbs in a ban, with "except" for an excluding
    "but" and "via" for "by way of".
    """
    return _with_plain_bans(_with_except(_with_via(without_name(tokens))))


def without_name(tokens: Sequence[str]) -> list[str]:
    """Return the words without a form of address around an order: "Rex, find ...", "hey Bob find ..."."""
    tokens = list(tokens)
    start = next((i for i, token in enumerate(tokens) if token not in _CALLS), len(tokens))
    start += tokens[start : start + 1] == [COMMA]
    for length in range(1, _MOST_OF_A_CALL + 1):
        end = start + length
        name = tokens[start:end]
        if end + 1 >= len(tokens) or not all(_may_be_name(word) for word in name):
            break
        called = start > 0 or tokens[end] == COMMA
        strange = not any(is_known(word) for word in name)
        after = end + (tokens[end] == COMMA)
        if (called or strange) and _orders(tokens, after):
            tokens = tokens[after:]
            break
    if len(tokens) > 2 and tokens[-2] == COMMA and _may_be_name(tokens[-1]) and not is_known(tokens[-1]):
        tokens = tokens[:-2]
    return tokens


def _may_be_name(word: str) -> bool:
    """Return whether a word may be a person's name: no object, place, attribute or function word."""
    lexicon, vocabulary = load_lexicon(), load_vocabulary()
    if not word.isalpha() or lexicon.canonical(word) or lexicon.room(word) or lexicon.attribute(word):
        return False
    return not vocabulary.matches((word,), 0) and word not in vocabulary.words


def _orders(tokens: Sequence[str], i: int) -> bool:
    """Return whether an order, a question or a ban begins at word i."""
    if i >= len(tokens) or not begins(tokens, i):
        return False
    matches = load_vocabulary().matches(tokens, i)
    return not matches.keys().isdisjoint((*VERBS, "AVOID", "POLITE", "IS", "SEE_NOW"))


def _with_via(tokens: Sequence[str]) -> list[str]:
    """Return the words with "via" for "by way of", as "by" alone states where an object is."""
    found: list[str] = []
    for token in tokens:
        found.append(token)
        if found[-3:] == ["by", "way", "of"]:
            found[-3:] = ["via"]
    return found


def _with_plain_bans(tokens: Sequence[str]) -> list[str]:
    """Return the words without adverbs in bans: "without ever crossing" becomes "without crossing"."""
    tokens, vocabulary = list(tokens), load_vocabulary()
    for i in range(len(tokens) - 1, -1, -1):
        if tokens[i] not in _BANS:
            continue
        matches = vocabulary.matches(tokens, i + 1)
        length = max((matches[table][0] for table in ("ADVERB", "ASIDE") if table in matches), default=0)
        if length and vocabulary.match("GO_NEAR", tokens, i + 1 + length) is not None:
            del tokens[i + 1 : i + 1 + length]
    return tokens


def _with_except(tokens: Sequence[str]) -> list[str]:
    """Return "any room but the lab" as "any room except the lab"."""
    tokens = list(tokens)
    for i, token in enumerate(tokens):
        if token != "but" or not i or i + 1 >= len(tokens):
            continue
        start = max(0, i - 1 - _MOST_BETWEEN)
        before = tokens[start:i]
        named = next((k for k in range(len(before) - 1, -1, -1) if before[k] in _ALL), None)
        if named is None or any(word in _MARKS for word in before[named:]):
            continue
        follows = tokens[i + 1]
        if follows in ("not", "for", "in") or begins(tokens, i + 1):
            continue
        if load_vocabulary().match("DET", tokens, i + 1) is not None or is_open(tokens, i + 1):
            tokens[i] = "except"
    return tokens
