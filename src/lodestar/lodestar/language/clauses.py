"""Splits the words of a text into clauses, each of which asks, forbids or states one thing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lodestar.language.clause_starts import (
    SUBJECTS,
    bans,
    barred_at,
    barred_on,
    begins,
    goes_on,
    is_named,
    names_one,
    only_names,
    order_at,
    purpose_verb,
    remark_on,
    run_on,
    skip,
    statement_at,
)
from lodestar.language.clause_words import JOINS, main_verb, without_asides, without_fillers
from lodestar.language.lattice import VERBS
from lodestar.language.sentence_tokens import COMMA, QUESTION, STOP
from lodestar.language.vocabulary import load_vocabulary

_PAST = {
    "been": "go", "gone": "go", "went": "go", "found": "find", "seen": "find", "taken": "take", "took": "take",
    "got": "get",
    "brought": "bring", "left": "leave", "come": "come", "reached": "reach", "put": "put", "saw": "find",
    "passed": "visit",
    "were": "go", "passing": "visit", "pass": "visit",
}  # fmt: skip
_AUXILIARIES = frozenset({"have", "has", "had", "are", "were", "do", "can", "will", "get", "through", "by"})


@dataclass(frozen=True)
class Clause:
    """Words of one clause.

    link: its relation to the clause before it: "", "before", "after", "until", "while", "first", "unable" (an
    act that the robot cannot do) or "why" (a reason). question: a question mark ends the clause.
    """

    words: tuple[str, ...]
    link: str = ""
    question: bool = False
    spoken: str = ""  # first word as said, such as the subject

    @property
    def text(self) -> str:
        """Return the words joined by spaces."""
        return " ".join(self.words)


def clauses_of(tokens: Sequence[str]) -> list[Clause]:
    """Return the clauses in the order of speech."""
    tokens = list(tokens)
    found: list[Clause] = []
    start, link, i = 0, "", 0

    def close(end: int, question: bool = False) -> None:
        words = tokens[start:end]
        while words and words[-1] in JOINS:
            words = words[:-1]
        if words:
            found.append(Clause(tuple(words), link, question))

    while i < len(tokens):
        if i == start and i < (verb := _verb_end(tokens, i)):
            i = verb
            continue
        cut = _cut_at(tokens, i, start)
        if cut is None:
            i += 1
            continue
        length, following = cut
        close(i, tokens[i] == QUESTION)
        start = i = i + length
        link = following
        if i < len(tokens) and tokens[i] not in (STOP, QUESTION):
            i = max(i + 1, _verb_end(tokens, i))
    close(len(tokens))
    return [stripped for clause in found if (stripped := strip(clause)).words]


def _verb_end(tokens: list[str], i: int) -> int:
    """Return the position after the verb at word i and the politeness before it; i if no verb begins there."""
    verb = skip(tokens, i, "POLITE")
    matches = load_vocabulary().matches(tokens, verb)
    longest = max((matches[table][0] for table in (*VERBS, "AVOID") if table in matches), default=0)
    return verb + longest if longest > 1 or verb > i else i


def _cut_at(tokens: list[str], i: int, start: int) -> tuple[int, str] | None:
    """Return (number of words, link) of the separator of two clauses at word i, or None."""
    token, vocabulary = tokens[i], load_vocabulary()
    if token in (STOP, QUESTION):
        return 1, ""
    if i == start:
        order = order_at(tokens, i)
        return (order[0], order[1]) if order is not None and i == 0 else None
    j = i
    while j < len(tokens) and tokens[j] in JOINS:
        if vocabulary.match("NOTHING", tokens, j) is not None:
            return None
        j += 1
    if j > i:
        first = "first" if tokens[j : j + 1] == ["first"] and tokens[i] == "but" else ""
        order = order_at(tokens, j)
        if order is not None:
            return j - i + order[0], order[1]
        then = vocabulary.match("THEN", tokens, i)
        if then is not None and then[0] > 0 and i + then[0] > j - 1 and tokens[i + then[0] - 1] != "and":
            k = i + then[0]
            if k < len(tokens) and (begins(tokens, k) or is_named(tokens, k) or goes_on(tokens, k)):
                return then[0], ""
        if (
            begins(tokens, j)
            or (first and (is_named(tokens, j + 1) or begins(tokens, j + 1)))
            or statement_at(tokens, j)
            or (token == COMMA and j == i + 1 and names_one(tokens, j))
            or (barred_at(tokens, j, token == "and") and not only_names(tokens, start, i))
        ):
            return j - i, first
        if (
            {"then", "but"} & set(tokens[i:j])
            and (is_named(tokens, j) or goes_on(tokens, j))
            and tokens[j] != "not"
        ):
            return j - i, ""
        return None
    then = vocabulary.match("THEN", tokens, i)
    if then is not None and i + then[0] < len(tokens) and tokens[i] not in ("first", "second", "next"):
        k = i + then[0]
        if begins(tokens, k) or goes_on(tokens, k) or (is_named(tokens, k) and then[0] > 1):
            return then[0], ""
    order = order_at(tokens, i)
    if order is not None:
        return order[0], order[1]
    passes = vocabulary.match("REACHING", tokens, i) is not None
    if (
        token == "to"
        and not passes
        and vocabulary.match("ASK", tokens, start) is None  # "what can I use to open a bottle" is one clause
        and purpose_verb(tokens, i + 1)
        and vocabulary.match("TO_DO", tokens, i) is None
    ):
        return 1, ""
    cannot = vocabulary.match("CANNOT", tokens, i)
    if cannot is not None and i + cannot[0] < len(tokens):
        return cannot[0], "unable"
    purpose = vocabulary.match("PURPOSE", tokens, i)
    if purpose is not None and i + purpose[0] < len(tokens):
        return purpose[0], "why"
    if bans(tokens, i) or run_on(tokens, i) or remark_on(tokens, i) or barred_on(tokens, i):
        return 0, ""
    return None


def strip(clause: Clause) -> Clause:
    """Return the clause without leading politeness and trailing fillers, its verb in the imperative form."""
    if clause.link == "unable":
        return clause
    words = list(clause.words)
    while words and words[0] in JOINS:
        words.pop(0)
    clause = replace(clause, spoken=words[0] if words else "")
    words = words[skip(words, 0, "POLITE") :]
    while words and words[0] in JOINS:
        words = words[1:]
    if words[:1] == ["first"]:
        words = words[1:]
    words = without_asides(words)
    if words and _only(words, ("POLITE", "FILLER", "THEN")):
        return replace(clause, words=())
    link = clause.link
    if link:
        while words and words[0] in (SUBJECTS | _AUXILIARIES) and len(words) > 1:
            words = words[1:]
        if words and words[0] in _PAST:
            words[0] = _PAST[words[0]]
    words = main_verb(words, bool(link))
    words = without_fillers(words)
    return replace(clause, words=tuple(words))


def _only(words: Sequence[str], tables: Sequence[str]) -> bool:
    """Return whether the words together are one phrase of these word tables and not a verb."""
    matches = load_vocabulary().matches(words, 0)
    if any(matches.get(table, (0,))[0] == len(words) for table in VERBS):
        return False
    return any(matches.get(table, (0,))[0] == len(words) for table in tables)
