"""Readings of a text as directives: splits it into clauses, parses each with the chart, and puts the steps in
order.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NoReturn

from lodestar.language.chart import Reading, load_chart
from lodestar.language.clause_splits import cut_again
from lodestar.language.clause_steps import add_clause
from lodestar.language.clauses import Clause, clauses_of
from lodestar.language.directive import Directive, DirectiveError, Manner, NotUnderstood, StepKind
from lodestar.language.directive_assembly import assembled
from lodestar.language.directive_draft import Draft
from lodestar.language.halts import without_stop
from lodestar.language.lattice import VERBS, lattice_of
from lodestar.language.motion_limits import check_manners, without_limits
from lodestar.language.named_things import thing_in, without_subject
from lodestar.language.noun_words import NounWords
from lodestar.language.phrase_graphs import TOO_MANY, graphs_of
from lodestar.language.prohibitions import Prohibition, unaccounted
from lodestar.language.question_words import with_clock_words
from lodestar.language.readable_text import MAX_CHARACTERS, readable_words
from lodestar.language.refusal_reasons import why_unread
from lodestar.language.sentence_tokens import shown, tokens_of
from lodestar.language.spelling import is_known
from lodestar.language.spoken_frames import framed
from lodestar.language.step_questions import with_questions
from lodestar.language.vocabulary import load_vocabulary
from lodestar.language.word_account import odd_names, unread_words
from lodestar.models.wordnet import load_wordnet

EXAMPLE = 'try for example "find the red chair next to the desk", "explore the building" or "list all chairs"'
DENYING = frozenset(
    {"not", "never", "no", "without", "avoid", "avoiding", "except", "unless", "only", "nothing", "neither", "nor",
     "despite", "even", "if", "although"}
)  # fmt: skip
_FORBIDS = frozenset({"not", "never", "no", "without", "avoid", "avoiding", "except", "neither", "nor"})
#: Kinds of clauses in which a word of `_FORBIDS` forbids nothing or is already covered by the rules.
_TAKES_IN = frozenset(
    {
        "avoid",
        "never",
        "ask",
        "check",
        "where",
        "what",
        "statement",
        "again",
        "halt",
        "unable",
        "refuse",
        "override",
    }
)
_UNCLEAR = (
    'it is not clear what "{}" forbids; say that in a sentence of its own, such as "do not enter the kitchen"'
)
_STAYS = frozenset({"stay", "staying", "remain", "remaining", "keep"})
MAX_OTHERS = 3  # readings tried for one clause
MAX_CLAUSES_TWICE = 4  # clauses for which further readings are tried
MAX_CLAUSE = 45  # words; the chart of a longer clause takes too long
_MOST_OF_A_NAME = 4  # words of an unknown name without a verb
_LEFT_OUT_COST = 2.0  # extra cost of a reading that leaves out words of a clause
_EVEN_COST = 0.5  # extra cost allowed for a reading that accounts for all words; chosen


#: Returns the readings of a clause's words, best first.
_Read = Callable[[tuple[str, ...]], Sequence[Reading]]


@dataclass(frozen=True)
class RankedDirective:
    """One reading of a text, its cost (0 = usual) and the reasons for it. lost: prohibitions missing in the
    directive.

    unread: words that the directive does not account for. odd: object names that do not look like names.
    """

    directive: Directive
    cost: float = 0.0
    why: tuple[str, ...] = ()
    lost: tuple[Prohibition, ...] = ()
    unread: tuple[str, ...] = ()
    odd: tuple[str, ...] = ()

    @property
    def is_doubtful(self) -> bool:
        """Return whether some words are not accounted for or some names look odd."""
        return bool(self.unread or self.odd)


def read_directive(text: str, most: int = 1) -> tuple[RankedDirective, ...]:
    """Return at most `most` readings of a text, best first, never empty.

    Raises EmptyDirective for an empty text, StopRequested if it only asks for a halt, NotUnderstood (with an
    example) if it contains no task.
    """
    try:
        return _readings(text, most)
    except NotUnderstood as error:
        manners = without_limits(tokens_of(text))[1] if len(text) <= MAX_CHARACTERS else ()
        check_manners(Directive(text, (), manners=manners))  # raises the clearer error if there is a manner
        if EXAMPLE in str(error):
            raise
        raise error.__class__(str(error) + "; " + EXAMPLE) from None


def _readings(text: str, most: int) -> tuple[RankedDirective, ...]:
    text = without_stop(text)
    tokens, manners = without_limits(framed(words_of_text(text)))
    read = cache(_clause_readings)  # cache for this text only: the same words are parsed repeatedly
    clauses = cut_again(clauses_of(tokens), read)
    choices = [_choice(clause, read) for clause in clauses]
    best = _put_together(clauses, choices, manners, text, tokens)
    _check_begins_now(best.directive)
    others = []
    looks_on = most > 1 or bool(best.lost)
    doubtful = {word for text in (*best.unread, *best.odd) for word in text.split()}
    for i, clause in enumerate(clauses[:MAX_CLAUSES_TWICE]):
        if not looks_on and doubtful.isdisjoint(clause.words):
            continue
        for reading in read(clause.words)[1:MAX_OTHERS]:
            changed = [*choices[:i], reading, *choices[i + 1 :]]
            with contextlib.suppress(DirectiveError, ValueError):
                others.append(_put_together(clauses, changed, manners, text, tokens))
    others.sort(key=lambda reading: reading.cost)
    others = [other for other in others if not other.lost]
    if best.lost:
        best = next(iter(others), None) or _refuse_lost(best)
    if best.is_doubtful:
        even = (one for one in others if not one.is_doubtful and one.cost <= best.cost + _EVEN_COST)
        best = next(even, best)
    known, found = {best.directive}, [best]
    for other in others:
        if other.directive not in known and other.cost >= best.cost:
            known.add(other.directive)
            found.append(other)
    return tuple(replace(one, directive=with_questions(one.directive)) for one in found[:most])


def _check_begins_now(directive: Directive) -> None:
    """Raise NotUnderstood for a time of day, which is only allowed in questions."""
    asks = any(step.kind in (StepKind.ASK, StepKind.CHECK) for step in directive.steps)
    if not asks and with_clock_words(directive.text) != directive.text:
        raise NotUnderstood("a time of day cannot be obeyed, as the robot begins at once; leave the time out")


def _refuse_lost(reading: RankedDirective) -> NoReturn:
    """Raise NotUnderstood for a prohibition that no reading keeps."""
    raise NotUnderstood(_UNCLEAR.format(shown(reading.lost[0].said)))


def _put_together(
    clauses: Sequence[Clause],
    choices: Sequence[Reading],
    manners: tuple[Manner, ...],
    text: str,
    tokens: Sequence[str],
) -> RankedDirective:
    """Return the directive built from one reading of each clause."""
    draft = Draft()
    for i, (clause, reading) in enumerate(zip(clauses, choices)):
        meaning, before = reading.meaning, draft.denials
        add_clause(draft, clause, _kept_within(clause, meaning) if i + 1 < len(clauses) else meaning)
        forbids = meaning["kind"] not in _TAKES_IN and not _FORBIDS.isdisjoint(clause.words)
        if forbids and draft.denials == before:
            raise NotUnderstood(_UNCLEAR.format(shown(clause.text)))
    directive = replace(assembled(draft, text), manners=manners)
    why = tuple(reason for reading in choices for reason in reading.why)
    lost = unaccounted(tokens, directive, draft.obeyed)
    passed = [
        graph for things in draft.passed for phrase in things.phrases for graph in graphs_of(phrase, True)
    ]
    barred = [str(reading.meaning["verb"]) for reading in choices if reading.meaning.get("verb")]
    unread = unread_words(tokens, directive, passed, (*draft.obeyed, *draft.heard, *barred))
    cost = sum(reading.cost for reading in choices)
    return RankedDirective(directive, cost, why, lost, unread, odd_names(tokens, directive))


def _kept_within(clause: Clause, meaning: dict[str, Any]) -> dict[str, Any]:
    """Return the meaning; "stay in the kitchen and ..." becomes a ban on leaving that place."""
    places = (meaning.get("where") or {}).get("all", ())
    held = [place["to"] for place in places if place.get("name") in ("Inside", "On") and place.get("to")]
    if meaning["kind"] != "wait" or meaning.get("seconds") or clause.words[0] not in _STAYS or len(held) != 1:
        return meaning
    things = held[0].get("all", held) if isinstance(held[0], dict) else held
    return {"kind": "avoid", "verb": "leave", "thing": things[0]} if len(things) == 1 else meaning


def words_of_text(text: str) -> list[str]:
    """Return the words of a text. Raises EmptyDirective; NotUnderstood for a text that is too long."""
    return readable_words(text, "directive", EXAMPLE)


def _choice(clause: Clause, read: _Read) -> Reading:
    """Return the best reading of a clause. Raises NotUnderstood."""
    if clause.link == "unable":
        return Reading({"kind": "unable", "unable": clause.text})
    if clause.link == "why" or (clause.link == "until" and clause.spoken in ("i", "we")):
        return Reading({"kind": "again"})
    if len(clause.words) > MAX_CLAUSE:
        raise NotUnderstood(f'"{shown(clause.text)}": {TOO_MANY}')
    reading = _best(clause.words, read)
    if reading is not None and reading.meaning["kind"] == "thing":
        _check_named(clause, reading)
    if reading is not None and not _is_statement(clause, reading):
        return reading
    question = _question(clause)
    if question is not None:
        return question
    if _states(clause):
        thing = thing_in(without_subject(clause.words))
        return Reading({"kind": "statement", "thing": thing}, 0.0, ("it asks for nothing",))
    if reading is not None:
        return reading
    prefix = _prefix(clause, read)
    if prefix is not None:
        return prefix
    raise NotUnderstood(why_unread(clause))


def _check_named(clause: Clause, reading: Reading) -> None:
    """Raise NotUnderstood for words without a verb that are mostly unknown: they may be another language."""
    words = [word for word in clause.words if word.isalpha()]
    known = sum(is_known(word) for word in words)
    if not known or (len(words) > 2 and 2 * known <= len(words)) or clause.words[-1] == "the":
        raise NotUnderstood(
            f'"{shown(clause.text)}" is not understood: most of its words are unknown, and only English is read'
        )
    thing = reading.meaning["thing"]
    if (
        isinstance(thing, NounWords)
        and len(thing.words) > _MOST_OF_A_NAME
        and not load_wordnet().is_noun(thing.head)
    ):
        raise NotUnderstood(
            f'"{shown(clause.text)}" is not understood; if it is the name of a thing, say "find" before it'
        )
    if isinstance(thing, NounWords) and not thing.head and thing.determiner:
        raise NotUnderstood(f'"{shown(clause.text)}" does not name a thing')


def _clause_readings(words: tuple[str, ...]) -> tuple[Reading, ...]:
    return load_chart().readings(lattice_of(words)) if words else ()


def _best(words: tuple[str, ...], read: _Read) -> Reading | None:
    return next(iter(read(words)), None)


def _is_statement(clause: Clause, reading: Reading) -> bool:
    people = ("i", "we", "my", "you", "he", "she", "it")
    return reading.meaning["kind"] == "thing" and clause.words[0] in people


def _states(clause: Clause) -> bool:
    """Return whether the clause is a statement about somebody or something."""
    return clause.words[0] in ("i", "we", "my", "he", "she", "they", "it", "this", "that", "there", "you")


def _question(clause: Clause) -> Reading | None:
    """Return a CHECK or ASK reading of a question that no rule reads, with its object; None if the clause is
    no question.
    """
    matches = load_vocabulary().matches(clause.words, 0)
    asks = (
        matches.get("ASK") or matches.get("WHERE_LEFT") or matches.get("HOW_MUCH") or matches.get("WHAT_IS")
    )
    if asks is None and not clause.question:
        return None
    if (
        asks is None
        and not matches.keys().isdisjoint(VERBS)
        and "SEE_NOW" not in matches
        and "IS" not in matches
    ):
        return None
    length = 1 if asks is None else asks[0]
    thing = thing_in(without_subject(clause.words[length:]))
    kind = "check" if asks is None and "IS" in matches and thing is not None else "ask"
    return Reading({"kind": kind, **({} if thing is None else {"thing": thing})}, 1.0, ("a question",))


def _prefix(clause: Clause, read: _Read) -> Reading | None:
    """Return the reading of the clause's longest beginning that a rule reads, None if there is none.

    The words after it may only be an aside: returns None if they deny or forbid something, raises
    NotUnderstood if they say anything else.
    """
    words = clause.words
    for end in range(len(words) - 1, 1, -1):
        if not DENYING.isdisjoint(words[end:]):
            return None
        reading = _best(words[:end], read)
        if reading is not None and reading.meaning["kind"] not in ("thing", "place"):
            left = " ".join(words[end:])
            talks = load_vocabulary().match("TALK", words, 0) is not None
            if not talks and not _is_aside(words, end):
                understood, rest = shown(" ".join(words[:end])), shown(left)
                raise NotUnderstood(
                    f'"{understood}" was understood, but not "{rest}"; say it in other words, or leave it out'
                )
            return Reading(
                reading.meaning, reading.cost + _LEFT_OUT_COST, (*reading.why, f'"{left}" is left out')
            )
    return None


def _is_aside(words: Sequence[str], start: int) -> bool:
    """Return whether the words from `start` on add only a purpose, a means or a topic."""
    matches = load_vocabulary().matches(words, start)
    return (
        words[start] in ("about", "using", "so", "like", "during", "to")
        or "PURPOSE" in matches
        or "FILLER" in matches
    )
