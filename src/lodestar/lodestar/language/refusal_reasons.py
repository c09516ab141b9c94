"""Messages that explain why a directive is refused and what to write instead."""

from __future__ import annotations

from lodestar.language.clauses import Clause
from lodestar.language.directive_draft import Draft
from lodestar.language.lattice import VERBS
from lodestar.language.sentence_tokens import shown
from lodestar.language.vocabulary import load_vocabulary

HALT_ALONE = "a halt and nothing else was asked for"
_CONDITIONS = frozenset({"if", "unless"})


def with_followed(message: str, said: str) -> str:
    """Return a refusal with the directive that the robot goes on with, and how to stop it."""
    end = "" if message.endswith((".", "?", "!")) else "."
    return f'{message}{end} The robot goes on with "{shown(said)}". Shall it stop? Then say "stop".'


def why_no_steps(draft: Draft, text: str) -> str:
    """Return the reason for a text that was read but leaves no step to do."""
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
    if draft.route:  # clauses that only give turns
        return (
            f'"{shown(draft.route[0])}" does not say where to go, and turns alone cannot be followed; name a place '
            "or a thing"
        )
    return f'"{shown(text)}" does not ask for anything to be done'


def why_unread(clause: Clause) -> str:
    """Return the reason for a clause that no rule reads."""
    said = f'"{shown(clause.text)}"'
    matches = load_vocabulary().matches(clause.words, 0)
    if any(matches[table][0] == len(clause.words) for table in VERBS if table in matches):
        return f"{said} does not say what or where; name the thing or the place"
    if not _CONDITIONS.isdisjoint(clause.words):
        return f"{said} holds a condition, and conditions are not read; leave it out"
    return f"{said} is not understood"
