"""Detection of texts in other languages than English, by their function words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from lodestar.language.chart import read_data
from lodestar.language.spelling import is_known
from lodestar.language.vocabulary import load_vocabulary

#: Tables of English function words.
_FUNCTION = (
    "DET", "REL", "BETWEEN", "CLOSE", "TO", "THROUGH", "PAST", "OF", "FROM", "FOR", "WITH", "WITHOUT", "THAT", "IS",
    "NOT", "AND", "OR", "EXCEPT", "IT", "THERE", "HERE", "ME", "YOU", "SUBJECT", "HAS", "NUMBER", "POLITE", "THEN",
    "NO", "ASK", "WHAT_IS", "AVOID", "UNTIL", "JOINING",
)  # fmt: skip
_OPEN = 0.5  # weight of an unknown word, a foreign word that English has too, or a single letter
_LEAST = 1.0  # smallest weight at which a text may be of another language
_TIMES = 2.0  # least ratio of the other language's weight to that of English


def other_language(words: Sequence[str]) -> str:
    """Return the name of the language whose function words outweigh the English ones, "" if none.

    A function word that the language shares with English counts for neither.
    """
    said = {word for word in words if word[:1].isalpha()}
    best, name = 0.0, ""
    for language, known in _languages().items():
        if known.isdisjoint(word for word in said if word not in _english()):
            continue
        foreign = sum(_weight(word, known) for word in said)
        english = sum(word in _english() and word not in known for word in said)
        if foreign >= _LEAST and foreign > _TIMES * english and foreign > best:
            best, name = foreign, language
    return name


def _weight(word: str, known: frozenset[str]) -> float:
    if word in _english():
        return 0.0
    if word in known:
        return _OPEN if len(word) == 1 or (len(word) > 2 and is_known(word)) else 1.0
    return 0.0 if is_known(word) else _OPEN


@lru_cache(maxsize=1)
def _languages() -> dict[str, frozenset[str]]:
    return {name: frozenset(words) for name, words in read_data("languages.yaml", "BaseLoader").items()}


@lru_cache(maxsize=1)
def _english() -> frozenset[str]:
    vocabulary = load_vocabulary()
    phrases = (phrase for table in _FUNCTION for phrase in vocabulary.phrases(table))
    return frozenset(phrase for phrase in phrases if " " not in phrase)
