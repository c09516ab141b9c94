"""Removal of words that carry no content: courtesies, occurrences such as "last", and relative clauses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lodestar.language.lattice import lattice_of
from lodestar.language.question_words import load_question_words
from lodestar.language.sentence_tokens import COMMA, QUESTION, STOP
from lodestar.language.vocabulary import load_vocabulary

_MARKS = (COMMA, QUESTION, STOP)


def without_edges(words: Sequence[str]) -> tuple[list[str], str]:
    """Return the words without courtesies at both ends, and the occurrence stated there.

    The occurrence is "first" or "last", "" = none.
    """
    vocabulary = load_question_words()
    kept, times, moved = list(words), "", True
    while moved and kept:
        moved = False
        match = vocabulary.match("ASKING", kept, 0)
        longer = vocabulary.match("GO_ON", kept, 0)
        if match is not None and len(kept) > match[0] and (longer is None or longer[0] <= match[0]):
            kept, moved = kept[match[0] :], True
            continue
        if kept[0] in _MARKS:
            kept, moved = kept[1:], True
            continue
        for start in range(max(2, len(kept) - 6), len(kept)):
            last = vocabulary.match("LAST_WORDS", kept, start)
            which = vocabulary.match("TIMES_MEANT", kept, start)
            if which is not None and start + which[0] == len(kept):
                kept, times, moved = kept[:start], times or str(which[1]), True
                break
            if (last is not None and start + last[0] == len(kept)) or kept[-1] in _MARKS:
                kept, moved = kept[: start if kept[-1] not in _MARKS else -1], True
                break
    return _without_middle(kept), times


def _without_middle(words: Sequence[str]) -> list[str]:
    """Return the words without adverbs after an auxiliary or its subject: "ever" of "have you ever seen"."""
    vocabulary, i = load_question_words(), 0
    kept: list[str] = []
    while i < len(words):
        match = vocabulary.match("MIDDLE_WORDS", words, i) if i and i + 1 < len(words) else None
        before = kept[-1] if kept else ""
        auxiliary = before == "there" or any(
            vocabulary.is_in(table, before) for table in ("AUXBE", "MODAL", "ROBOT", "BE")
        )
        after = words[i + match[0]] if match is not None and i + match[0] < len(words) else ""
        auxiliary = auxiliary or any(vocabulary.is_in(table, after) for table in ("BEEN_V", "HAVE_V"))
        if match is not None and auxiliary:
            i += match[0]
            continue
        kept.append(words[i])
        i += 1
    return kept


def without_occurrence(words: Sequence[str]) -> tuple[list[str], str]:
    """Return the words without "last" or "first" before the verb, and that occurrence: "when did the box
    first appear".
    """
    vocabulary = load_question_words()
    for i in range(2, len(words) - 1):
        meant = vocabulary.match("TIMES_MEANT", words, i)
        if meant is None:
            continue
        after = vocabulary.matches(words, i + meant[0])
        asked_of_robot = vocabulary.is_in("ROBOT", words[i - 1]) and not after.keys().isdisjoint(
            ("ACT", "SEE")
        )
        where_robot = vocabulary.is_in("ROBOT", words[i - 1]) and vocabulary.is_in("BE", words[i - 2])
        if asked_of_robot or where_robot or not after.keys().isdisjoint(("HAPPEN", "CHANGED_BY")):
            return [*words[:i], *words[i + meant[0] :]], str(meant[1])
    return list(words), ""


def without_clause(words: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
    """Return the words without a closing clause about the robot's act, and the meaning of that clause.

    An example is "(that) you crossed" in "which is the street that you crossed".
    """
    vocabulary, function = load_question_words(), load_vocabulary()
    for i in range(3, len(words)):
        new = vocabulary.match("IS_NEW", words, i)
        if new is not None and i + new[0] == len(words):
            return list(words[:i]), {"tense": "past", "act": "appear", "own": False}
        robot = vocabulary.match("ROBOT", words, i)
        if robot is None or any(vocabulary.is_in(t, words[i - 1]) for t in ("AUXBE", "MODAL", "BE", "HAVE")):
            continue
        for table in ("SEE", "ACT", "LEFT"):
            done = vocabulary.match(table, words, i + robot[0])
            if done is None or i + robot[0] + done[0] != len(words):
                continue
            start = i - (function.is_in("THAT", words[i - 1]))
            if "NP" not in {name for options in lattice_of(words[:start]).options[1:] for name in options}:
                continue
            if vocabulary.match("HOW_MANY", words, 0) or vocabulary.match("HOW_OFTEN", words, 0):
                continue
            said = (
                {"times": done[1]}
                if table == "SEE"
                else {"act": done[1]}
                if table == "ACT"
                else {"times": "last"}
            )
            return list(words[:start]), {"tense": "past", **said}
    return list(words), {}
