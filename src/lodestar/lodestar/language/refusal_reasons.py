"""Reasons for which a directive is refused, with what to say instead."""

from __future__ import annotations

from lodestar.language.clauses import Clause
from lodestar.language.directive_draft import Draft
from lodestar.language.lattice import VERBS
from lodestar.language.sentence_tokens import shown
from lodestar.language.vocabulary import load_vocabulary

HALT_ALONE = "a halt and nothing else was asked for"
_CONDITIONS = frozenset({"if", "unless"})


def why_no_steps(draft: Draft, text: str) -> str:
    """The reason of a text that was read, but in which nothing is left to do."""
    if draft.constraints:
        return (
            f'"{shown(text)}" says what to keep away from, but not what to do; say both, such as "find the mug and '
            'avoid the dog"'
        )
    if draft.unable:
        return (
            f'this robot cannot do "{shown(draft.unable[0])}"; it can go to places, find, list and count things, '
            "patrol and wait"
        )
    if draft.route:  # the clause that says turns
        return (
            f'"{shown(draft.route[0])}" does not say where to go, and turns alone cannot be followed; name a place '
            "or a thing"
        )
    return f'"{shown(text)}" does not ask for anything to be done'


def why_unread(clause: Clause) -> str:
    """The reason of a clause that no rule reads."""
    said = f'"{shown(clause.text)}"'
    matches = load_vocabulary().matches(clause.words, 0)
    if any(matches[table][0] == len(clause.words) for table in VERBS if table in matches):
        return f"{said} does not say what or where; name the thing or the place"
    if not _CONDITIONS.isdisjoint(clause.words):
        return f"{said} holds a condition, and conditions are not read; leave it out"
    return f"{said} is not understood"
