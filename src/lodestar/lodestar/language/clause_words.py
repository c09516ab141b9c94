"""Clean-up of a clause's words: removes politeness, asides and fillers, and gives the verb its imperative
form.
"""

from __future__ import annotations

from collections.abc import Sequence

from lodestar.language.sentence_tokens import COMMA
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.wordnet import load_wordnet

JOINS = frozenset({"and", "or", "but", "then", COMMA})


def main_verb(words: list[str], order: bool) -> list[str]:
    """Return the words from the main verb on: "get a mug" of "go get a mug". order: give the first word its
    imperative form.
    """
    if (
        len(words) > 2
        and words[0] in ("start", "begin", "keep", "continue", "finish", "try")
        and words[1].endswith("ing")
    ):
        return [plain_verb(words[1]), *words[2:]]
    if len(words) > 2 and words[0] in ("go", "come", "help") and words[1] not in ("to", "home", "back"):
        matches = load_vocabulary().matches(words, 1)
        if not matches.keys().isdisjoint(
            ("FIND", "FETCH", "HANDLE", "COUNT", "CHECK", "SEARCH", "INSPECT", "PUT", "LOOK", "ENTER", "TALK")
        ):
            return words[1:]
    return [plain_verb(words[0]), *words[1:]] if order and words else words


def without_asides(words: Sequence[str]) -> list[str]:
    """Return the words without adverbs and asides such as "please", "quickly", "at all costs"."""
    vocabulary, kept, i = load_vocabulary(), [], 0
    while i < len(words):
        matches = vocabulary.matches(words, i)
        aside = max((matches[table][0] for table in ("ADVERB", "ASIDE") if table in matches), default=0)
        if not aside or len(words) == aside or (not i and aside == 1 and words[0] in ("then",)):
            kept.append(words[i])
            i += 1
        else:
            i += aside
    return kept


def without_fillers(words: Sequence[str]) -> list[str]:
    """Return the words without fillers at their end."""
    words, vocabulary = list(words), load_vocabulary()
    moved = not _ends_ahead(words)
    while moved and words:
        moved = False
        for start in range(max(1, len(words) - 6), len(words)):
            match = vocabulary.match("FILLER", words, start)
            if match is not None and start + match[0] == len(words):
                words, moved = words[:start], True
                break
        while words and words[-1] in JOINS:
            words, moved = words[:-1], True
    return words


def _ends_ahead(words: Sequence[str]) -> bool:
    """Return whether the words end with a distance and a direction: "2 m ahead", "1 m to the right"."""
    vocabulary = load_vocabulary()
    for i in range(len(words) - 1):
        side = vocabulary.match("AHEAD", words, i + 1)
        if side is not None and i + 1 + side[0] == len(words) and vocabulary.is_in("METRES", words[i]):
            return True
    return False


def plain_verb(word: str) -> str:
    """Return the base form of a verb ("go" of "going", "visit" of "visited"); other words are returned
    unchanged.
    """
    wordnet = load_wordnet()
    for ending in ("ing", "ed"):
        if not word.endswith(ending) or len(word) < len(ending) + 2:
            continue
        stem = word.removesuffix(ending)
        for base in (stem, stem + "e", stem[:-1] if stem[-1:] == stem[-2:-1] else stem):
            if wordnet.is_verb(base):
                return base
    return word
