"""Splits a clause that holds a ban and an order without a comma, or that no grammar rule reads as a whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from lodestar.language.chart import Reading
from lodestar.language.clauses import Clause, strip
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.lexicon import load_lexicon

#: Tables of verbs for orders that may follow a ban.
_ORDERS = (
    "MOVE", "ENTER", "TAKE_ME", "FIND", "SEARCH", "INSPECT", "EXPLORE", "PATROL", "FETCH",
    "PUT", "HANDLE", "COUNT", "LIST",
    "WHAT_IS", "CHECK", "CHECK_THING", "WHERE_IS", "RETURN", "WAIT", "LOOK", "LOOK_AROUND_IN",
)  # fmt: skip
_NOT_BEFORE = frozenset(
    {"DET", "REL", "TO", "FROM", "OF", "WITH", "BETWEEN", "THAT", "AND", "OR", "AVOID", "NUMBER"}
)
_OBJECTS = frozenset({"DET", "IT", "ME", "NUMBER"})
_FRONTED = frozenset({"without", "avoiding", "by", "while", "not", "never", "skipping", "bypassing", "no"})
MAX_CUTS = 4  # positions in one clause at which a split is tried
MAX_WORDS = 30  # words; longer clauses are not split, as each split is parsed twice


def cut_again(
    clauses: Sequence[Clause], read: Callable[[tuple[str, ...]], Sequence[Reading]]
) -> list[Clause]:
    """Return the clauses, split in two where a ban is followed by an order or where no rule reads the whole
    clause.

    read: returns the readings of a clause's words, best first.
    """

    def best(words: tuple[str, ...]) -> Reading | None:
        return next(iter(read(words)), None)

    found: list[Clause] = []
    for clause in clauses:
        found += _parts(clause, len(clauses) == 1, best) or [clause]
    return found


def _parts(clause: Clause, alone: bool, read: Callable[[tuple[str, ...]], Reading | None]) -> list[Clause]:
    """Return the two parts into which a clause is split, empty if it stays whole. alone: the text's only
    clause.
    """
    words = clause.words
    if clause.link in ("unable", "why") or not 3 < len(words) <= MAX_WORDS:
        return []
    fronted = words[0] in _FRONTED and load_vocabulary().match("AVOID", words, 0) is not None
    cuts = _cuts(words)
    if not cuts:
        return []
    whole = None if fronted and alone else read(words)
    if whole is not None:
        return []
    best: tuple[float, list[Clause]] | None = None
    for i in cuts:
        rest = strip(replace(clause, words=tuple(words[i:]), link=""))
        first = read(words[:i])
        second = None if first is None else read(rest.words)
        if first is None or second is None or not _may_stand(first, second, fronted):
            continue
        cost = first.cost + second.cost
        if best is None or cost < best[0]:
            best = cost, [replace(clause, words=tuple(words[:i]), question=False), rest]
    return [] if best is None else best[1]


def _may_stand(first: Reading, second: Reading, fronted: bool) -> bool:
    """Return whether two readings may be separate clauses: two orders, or, if `fronted`, a ban and an order.

    fronted: the clause begins with "without" or the like.
    """
    orders = second.meaning["kind"] not in ("thing", "place", "statement", "route", "refuse", "again")
    if fronted:
        return orders and first.meaning["kind"] in ("avoid", "never")
    return orders and first.meaning["kind"] not in ("thing", "place", "route")


def _cuts(words: Sequence[str]) -> list[int]:
    """Return the positions of words at which an order may begin."""
    vocabulary, lexicon = load_vocabulary(), load_lexicon()
    found = []
    for i in range(2, len(words) - 1):
        matches = vocabulary.matches(words, i)
        if matches.keys().isdisjoint(_ORDERS):
            continue
        if lexicon.canonical(words[i]) and vocabulary.matches(words, i + 1).keys().isdisjoint(_OBJECTS):
            continue  # "light" is a noun in "the first light in the ceiling"
        before = vocabulary.matches(words, i - 1)
        if before.keys().isdisjoint(_NOT_BEFORE) or "IT" in before:
            found.append(i)
    return found[:MAX_CUTS]
