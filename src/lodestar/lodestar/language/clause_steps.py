"""Conversion of each clause into steps and constraints of a draft."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lodestar.language.bans import forbid
from lodestar.language.clause_starts import begins
from lodestar.language.clauses import Clause
from lodestar.language.directive import NotUnderstood, Step, StepKind
from lodestar.language.directive_draft import Draft
from lodestar.language.levels import level_of
from lodestar.language.phrase_meanings import things_of
from lodestar.language.remarks import GUESSED, PRONOUNS, is_remark, take_remark
from lodestar.language.report_steps import asked, checked, explored, told, what_step, where_step
from lodestar.language.search_steps import found_steps, fragment, looked_at
from lodestar.language.sentence_tokens import shown
from lodestar.language.travel_steps import places, spots, unable_of_last, went
from lodestar.language.vocabulary import load_vocabulary

_ASKS = ("ask", "check", "where", "what")  # kinds of clauses that are answered without travel where possible
_TELLERS = ("i", "we")
_FLOORS = ("upstairs", "downstairs", "floor")


def add_clause(draft: Draft, clause: Clause, meaning: dict[str, Any]) -> None:
    """Add the steps or constraints of one clause to the draft. Raises NotUnderstood if the robot cannot act
    on it.
    """
    kind = meaning["kind"]
    draft.ends = draft.ends or bool(meaning.get("ends")) or kind == "wait"
    if kind == "avoid":
        forbid(draft, clause, meaning)
        if meaning.get("then") is not None:
            draft.insert(places(draft, draft.things(meaning["then"])), clause)
    elif kind == "unable":
        unable_of_last(draft, (meaning["unable"],))
    elif kind == "halt":
        draft.halts = True
    elif kind == "repeat":
        draft.times = int(meaning.get("times", 2))
    elif kind == "never":
        draft.obeyed.append(clause.text)
    elif kind == "again" or clause.link == "why":
        # a clause without a verb only gives a reason
        draft.heard += [] if begins(clause.words, 0) else [clause.text]
    elif kind == "override":
        raise NotUnderstood(
            f'"{shown(clause.text)}" changes nothing: each directive stands alone, and no words lift what is forbidden'
        )
    elif kind == "thing" and is_remark(clause, meaning) and take_remark(draft, meaning, clause):
        return
    elif kind == "leave":
        draft.passed += [things_of(meaning["from"])] if meaning.get("from") else []
        draft.statements.append(clause.text)
    elif kind == "statement":
        if clause.words[0] in _TELLERS or not GUESSED.isdisjoint((*clause.words, clause.spoken)):
            draft.heard.append(clause.text)
        if not (clause.words[0] in PRONOUNS and take_remark(draft, meaning, clause)):
            draft.remember(meaning)
        draft.statements.append(clause.text)
    elif kind == "route":
        draft.route.append(clause.text)
        draft.turns = True
        draft.insert(went(draft, meaning, clause) if meaning.get("legs") else [], clause)
    elif kind in ("refuse", "follow"):
        draft.unable.append(meaning["unable"])
    else:
        draft.unable += [way for way in _other_floors(kind, clause) if way not in draft.unable]
        steps = _steps_of(draft, kind, clause, meaning)
        times = int(meaning.get("times", 1))
        if len(steps) > 1 and all(step.kind is StepKind.PATROL for step in steps):
            draft.times, times = times, 1  # repeat the patrols of all floors together
        draft.insert([replace(step, times=times) if times != 1 else step for step in steps], clause)


def _other_floors(kind: str, clause: Clause) -> list[str]:
    """Return the requests to change floors, which the robot cannot obey: "go upstairs" of "find the mug
    upstairs".
    """
    if kind in _ASKS:
        return []
    matches = (load_vocabulary().match("LEVEL", clause.words, i) for i in range(len(clause.words)))
    said = [str(match[1]) for match in matches if match is not None]
    return [f"go {text}" for text in said if text.split()[-1] in _FLOORS and level_of(text) is None]


def _steps_of(draft: Draft, kind: str, clause: Clause, meaning: dict[str, Any]) -> list[Step]:
    match kind:
        case "go" | "return":
            return went(draft, meaning, clause)
        case "where":
            return where_step(draft, meaning, clause)
        case "what":
            return what_step(draft, meaning, clause)
        case "find" | "handle" | "carry":
            return found_steps(draft, kind, meaning, clause)
        case "inspect":
            over = all(phrase.is_room for phrase in things_of(meaning["thing"]).phrases)
            return explored(draft, kind, meaning) if over else found_steps(draft, "find", meaning, clause)
        case "look":
            return looked_at(draft, meaning)
        case "thing" | "place":
            return fragment(draft, kind, meaning, clause)
        case "explore" | "patrol":
            return explored(draft, kind, meaning)
        case "count" | "list" | "describe":
            return told(draft, kind, meaning, clause)
        case "check":
            return [checked(draft, meaning, clause)]
        case "ask":
            return [asked(draft, meaning, clause)]
        case "wait":
            at = spots(draft, meaning["where"]["all"]) if meaning.get("where") else []
            return [*at, Step(StepKind.WAIT, seconds=meaning.get("seconds"))]
        case "step":  # a step without an item, such as STOP
            return [Step(StepKind[meaning["step"]])]
    raise ValueError(f"rules.yaml has a kind that nothing does: {kind!r}")
