"""Comparison of a parser's reading of a sentence with the meaning that a person annotated.

A line of the data is {"id", "source", "text", "steps", "avoid", "unable", "note"}. Every sentence is one of:
exact (kinds, target head and attributes, relations with anchor heads, room noun and level, count and
constraints are right), partial (only kinds, target heads and constraints are right), refused, misread.
Readings that the data's rules call equal count as right: see `_variants`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lodestar.language.directive import (
    AmbiguousDirective,
    Directive,
    DirectiveError,
    Item,
    Step,
    StepKind,
    StopRequested,
)
from lodestar.language.phrase_items import level_of
from lodestar.language.query_graph import QueryGraph
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.lexicon import load_lexicon, words_of

EXACT, PARTIAL, REFUSED, MISREAD = OUTCOMES = ("exact", "partial", "refused", "misread")
_LINKS = frozenset(
    {"of", "in", "on", "at", "near", "with", "from", "that", "between", "to", "by", "under", "for", "closest", "next",
     "full", "behind", "above", "below", "inside", "over", "left", "nearest"}
)  # fmt: skip
_NO_WORDS = frozenset(
    {"the", "a", "an", "my", "your", "this", "that", "these", "those", "and", "any", "some", "of"}
)
_STARTS = frozenset(
    {"start", "beginning", "home", "base", "started", "me", "here", "began", "place", "position", "point"}
)
_WHOLE = frozenset(
    {"building", "house", "apartment", "home", "place", "area", "office building", "warehouse"}
)
_HAVING = ("On", "Inside", "NextTo", "Near", "Below")
_LEVELS = frozenset({"level", "floor", "story", "storey"})


@dataclass(frozen=True)
class SaidStep:
    """Step of a directive as words that can be compared: singular, each under its canonical name."""

    kind: str
    head: str = ""  # head noun of the target, or of the room to go to; "" = none
    words: frozenset[str] = frozenset()  # words of the target before its head
    options: frozenset[str] = frozenset()  # head and words of each alternative target
    relations: frozenset[tuple[str, tuple[str, ...], bool]] = frozenset()
    others: tuple[frozenset[str], ...] = ()  # content words of each annotated relation that fits no predicate
    room: str = ""
    level: int | None = None
    count: int = 1


@dataclass(frozen=True)
class Score:
    """Outcome of one sentence. lost: number of constraints missing from an accepted reading."""

    outcome: str
    lost: int = 0
    detail: str = ""
    is_asked_back: bool = False  # whether the refusal asks which of two readings is meant


def score_sentence(line: Mapping[str, Any], parse: Callable[[str], Directive]) -> Score:
    """Return the score of the parser's reading of one line of the data."""
    try:
        directive = parse(line["text"])
    except StopRequested:
        kinds = [step["kind"] for step in line["steps"]]
        return Score(EXACT if kinds in ([], ["STOP"]) else REFUSED, 0, "a halt")
    except DirectiveError as error:
        asked = isinstance(error, AmbiguousDirective)
        return Score(REFUSED if line["steps"] else EXACT, 0, str(error), asked)
    lost, wrong = _constraint_faults(line["avoid"], directive)
    if not line["steps"]:
        return Score(MISREAD, lost, "nothing is asked for")
    best, detail = MISREAD, None
    found = [said_step(step) for step in directive.steps]
    for wanted in _variants(line):
        for own in _merged(found):
            outcome, why = _compare(wanted, own)
            if outcome != MISREAD and wrong:
                outcome, why = MISREAD, "the constraints differ"
            if detail is None or OUTCOMES.index(outcome) < OUTCOMES.index(best):
                best, detail = outcome, why
    return Score(best, lost, detail or "")


def _compare(wanted: Sequence[Sequence[SaidStep]], own: Sequence[SaidStep]) -> tuple[str, str]:
    """Return (outcome, detail) of the parsed steps against the wanted ones; a wanted step has several equal forms."""
    if len(wanted) != len(own):
        return MISREAD, f"{len(own)} steps, not {len(wanted)}"
    worst, detail = EXACT, ""
    for forms, step in zip(wanted, own):
        results = [_compare_step(form, step) for form in forms]
        outcome, why = min(results, key=lambda result: OUTCOMES.index(result[0]))
        if OUTCOMES.index(outcome) > OUTCOMES.index(worst):
            worst, detail = outcome, why
    return worst, detail


def _compare_step(wanted: SaidStep, own: SaidStep) -> tuple[str, str]:
    if wanted.kind != own.kind:
        return MISREAD, f"kind {own.kind}, not {wanted.kind}"
    if {o.split("/")[0] for o in wanted.options} != {o.split("/")[0] for o in own.options}:
        return MISREAD, f"alternatives {set(own.options)}, not {set(wanted.options)}"
    if wanted.head != own.head:
        return MISREAD, f"head {own.head!r}, not {wanted.head!r}"
    if wanted.words != own.words or wanted.options != own.options:
        return PARTIAL, f"words {set(own.words)}, not {set(wanted.words)}"
    if wanted.count != own.count:
        return PARTIAL, f"count {own.count}, not {wanted.count}"
    if (wanted.room != own.room and not (wanted.room in _WHOLE and not own.room)) or (
        wanted.level != own.level and not any(_LEVELS & phrase for phrase in wanted.others)
    ):
        return PARTIAL, f"room {own.room!r} {own.level}, not {wanted.room!r} {wanted.level}"
    return _compare_relations(wanted, own)


def _compare_relations(wanted: SaidStep, own: SaidStep) -> tuple[str, str]:
    missing = set(wanted.relations) - set(own.relations)
    more = set(own.relations) - set(wanted.relations)
    for phrase in wanted.others:
        match = next(
            (r for r in sorted(more) if not phrase.isdisjoint(w for a in r[1] for w in a.split())), None
        )
        if match is not None:
            more.discard(match)
        elif own.room not in phrase and (own.level is None or _LEVELS.isdisjoint(phrase)):
            missing.add(("Other", tuple(sorted(phrase)), False))
    if missing or more:
        return (
            PARTIAL,
            f"relations {sorted(own.relations)}, not {sorted(wanted.relations)} {wanted.others or ''}",
        )
    return EXACT, ""


# --- annotated meaning ---


def _variants(line: Mapping[str, Any]) -> Iterator[list[list[SaidStep]]]:
    """Yield the wanted steps of a line, then the variants that the data's rules call equal.

    A variant leaves out a GO step before a FIND step in the same room. A step is a list of its equal forms.
    """
    note = line.get("note") or ""
    steps = [_forms(step, note) for step in line["steps"]]
    yield steps
    raw = line["steps"]
    for i in range(len(raw) - 1):
        if raw[i]["kind"] != "GO" or raw[i + 1]["kind"] != "FIND" or not raw[i]["region"]:
            continue
        if head_of(raw[i + 1]["region"] or "") == head_of(raw[i]["region"]) and not raw[i]["relations"]:
            yield [*steps[:i], *steps[i + 1 :]]


def _forms(step: Mapping[str, Any], note: str) -> list[SaidStep]:
    base = _wanted(step)
    forms = [base]
    if step["kind"] == "FIND" and "GO to the thing is an equal reading" in note:
        forms.append(_with_kind(base, "GO"))
    if step["kind"] == "ASK" and "FIND is an equal reading" in note:
        forms.append(_with_kind(base, "FIND"))
    if step["kind"] == "LIST" and "ASK is an equal reading" in note:
        forms.append(_with_kind(base, "ASK"))
    if step["kind"] == "FIND" and "EXPLORE is also fair" in note:
        forms.append(SaidStep("EXPLORE", room=base.head, level=base.level))
        forms.append(SaidStep("EXPLORE", head=base.head, words=base.words, room=base.room, level=base.level))
    if step["kind"] == "RETURN" and base.head and base.head in _STARTS:
        forms.append(SaidStep("RETURN"))
    if step["kind"] == "ASK" and not base.head and base.room:
        forms.append(SaidStep("ASK", base.room, base.words, relations=base.relations, others=base.others))
    return [*forms, *(form for one in forms for form in _at_the_room(step, one))]


def _at_the_room(step: Mapping[str, Any], form: SaidStep) -> Iterator[SaidStep]:
    """Yield the other right reading of a question about a place ("what is in the kitchen").

    It has the place as room instead of as target. Yields nothing for other steps.
    """
    if step["kind"] == "ASK" and form.head and not form.room and not form.relations:
        yield SaidStep("ASK", room=form.head, level=form.level)


def _with_kind(step: SaidStep, kind: str) -> SaidStep:
    return SaidStep(**{**step.__dict__, "kind": kind})


def _wanted(step: Mapping[str, Any]) -> SaidStep:
    target, region = step["target"] or "", step["region"] or ""
    place = step["kind"] in ("GO", "RETURN") and not target and not step["any_of"]
    head, words = noun_of(region if place else target)
    relations: set[tuple[str, tuple[str, ...], bool]] = set()
    others = []
    for relation in step["relations"]:
        anchors = tuple(sorted(_anchor_head(a) for a in relation["anchors"]))
        if relation["name"] == "Other" or relation["name"] == "InRegion":
            others.append(_content(" ".join(relation["anchors"])))
        elif relation["name"] == "HasAttribute":
            relations |= {
                ("HasAttribute", (_anchor_head(a),), bool(relation["negated"])) for a in relation["anchors"]
            }
        elif relation["name"] == "Between":
            relations.add(("Between", anchors, bool(relation["negated"])))
        else:
            names = anchors or ("",)
            relations |= {(relation["name"], (a,) if a else (), bool(relation["negated"])) for a in names}
    options = frozenset(_option(*noun_of(one)) for one in step["any_of"])
    count = step["count"] if step["kind"] == "FIND" else 1
    return SaidStep(
        step["kind"], head, words, options, frozenset(relations), tuple(others),
        "" if place else head_of(region), _level(region), count,
    )  # fmt: skip


def _level(text: str) -> int | None:
    words = words_of(text)
    return level_of(text) if any(word in _LEVELS for word in words) else None


# --- parsed reading ---


def said_step(step: Step) -> SaidStep:
    """Return a step of a directive as comparable words."""
    kind, item = step.kind.name, step.item
    rooms = [head_of(room.target.phrase) for room in step.scope.rooms]
    room, level = (rooms[0] if rooms else ""), step.scope.level
    if item is None or not item.alternatives:
        return SaidStep(kind, room="" if room in _WHOLE else room, level=level)
    best = item.best
    graph = best[0]
    spot = graph.target.category == "spot"
    head, words = ("", frozenset[str]()) if spot else noun_of(graph.target.phrase)
    options = frozenset[str]()
    if len(best) > 1:
        options = frozenset(_option(*noun_of(one.target.phrase)) for one in best)
        head, words = "", frozenset()
    target = noun_of(graph.target.phrase)
    relations = _relations(graph, step, target[1] | {target[0]})
    count = item.count if step.kind is StepKind.FIND else 1
    return SaidStep(kind, head, words, options, relations, (), room, level, count)


def _relations(
    graph: QueryGraph, step: Step, own: frozenset[str]
) -> frozenset[tuple[str, tuple[str, ...], bool]]:
    found: set[tuple[str, tuple[str, ...], bool]] = set()
    for predicate in (*graph.predicates, *step.asked):
        heads = {i: _anchor_head(v.phrase) for i, v in enumerate(graph.variables)}
        first, *rest = predicate.arguments
        if predicate.name in ("IsCategory", "InRegion") and (
            predicate.name == "IsCategory" or first or not predicate.negated
        ):
            if predicate.name == "InRegion" and first == 0:
                found.add(("InRegion", (head_of(predicate.value),), predicate.negated))
        elif predicate.name == "HasAttribute" and first == 0:
            if not set(_canonical_words(predicate.value)) <= own:
                found.add(("HasAttribute", (_anchor_head(predicate.value),), predicate.negated))
        elif first == 0:
            if rest and f" of {graph.variables[rest[0]].phrase}" in graph.target.phrase:
                continue  # the relation is part of the target's own words: "far end of this table"
            if not rest and any(_tells(word, predicate.name) for word in own):
                # "the top drawer": the word is compared already, so its predicate adds no information
                continue
            anchors = tuple(sorted(heads[a] for a in rest))
            found.add((predicate.name, anchors, predicate.negated))
        elif rest == [0] and predicate.name in _HAVING:
            found.add(("HasAttribute", (heads[first],), predicate.negated))
    return frozenset(found)


def _merged(steps: list[SaidStep]) -> Iterator[list[SaidStep]]:
    """Yield the steps, and each variant that merges going to a room with the search there."""
    yield steps
    for i in range(len(steps) - 1):
        go, find = steps[i], steps[i + 1]
        if go.kind == "GO" and find.kind == "FIND" and find.room == go.head and not go.relations:
            yield [*steps[:i], *steps[i + 1 :]]


# --- constraints ---


def _constraint_faults(avoid: Sequence[Mapping[str, Any]], directive: Directive) -> tuple[int, bool]:
    """Return how many annotated constraints a directive lacks, and whether any is missing or extra."""
    own = [(_item_noun(c.item), c.distance) for c in directive.constraints]
    lost = 0
    for wanted in avoid:
        noun = noun_of(wanted["target"])
        match = next((c for c in own if c[0][0] == noun[0] and c[0][1] >= noun[1]), None)
        if match is None or (wanted["metres"] is not None and match[1] != wanted["metres"]):
            lost += 1
        else:
            own.remove(match)
    return lost, bool(lost or own)


def _item_noun(item: Item) -> tuple[str, frozenset[str]]:
    return noun_of(item.best[0].target.phrase) if item.alternatives else ("", frozenset())


def _tells(word: str, predicate: str) -> bool:
    found = load_vocabulary().match("SINGLE", (word,), 0)
    return found is not None and found[1] == predicate


# --- words ---


def noun_of(text: str) -> tuple[str, frozenset[str]]:
    """Return head and other words of a noun phrase: "small red chair by the door" has the head chair."""
    words = [w for w in words_of(re.sub(r"'s\b", "", text)) if w not in _NO_WORDS or w == "of"]
    end = next((i for i, word in enumerate(words) if i and word in _LINKS), len(words))
    words = words[:end]
    if not words:
        return "", frozenset()
    lexicon = load_lexicon()
    length = lexicon.known_suffix(words) or 1
    length = next((n for n in (3, 2) if n > length and lexicon.room(" ".join(words[-n:]))), length)
    if len(words) > 1 and len(words[-1]) < 3 and words[-2] in ("room", *_LEVELS):
        length = 2
    if words[-1].endswith("s") and lexicon.canonical(words[-1][:-1]):
        words[-1] = words[-1][:-1]  # plural of an unknown noun, such as "drawers"
    tail = " ".join(words[-length:])
    head = lexicon.canonical(tail) or lexicon.room(tail) or lexicon.singular_phrase(tail)
    if lexicon.is_generic(head):
        head = "object"
    return head, frozenset(_canonical_words(" ".join(words[:-length])))


def head_of(text: str) -> str:
    """Return the head of a noun phrase."""
    return noun_of(text)[0]


def _option(head: str, words: frozenset[str]) -> str:
    return "/".join((head, *sorted(words)))


def _anchor_head(text: str) -> str:
    """Return the head noun of an anchor or attribute, or its leading participle ("parked")."""
    words = [w for w in words_of(text) if w not in _NO_WORDS]
    if words and words[0].endswith(("ed", "ing")):
        return load_lexicon().singular(words[0])
    while len(words) > 1 and words[-1].endswith("ing"):
        words.pop()  # drop the verb, as in "people chatting"
    return head_of(" ".join(words))


def _canonical_words(text: str) -> list[str]:
    lexicon = load_lexicon()
    return [lexicon.attribute(w) or lexicon.singular(w) for w in words_of(text) if w not in _NO_WORDS]


def _content(text: str) -> frozenset[str]:
    return frozenset(
        w for word in _canonical_words(text) if word not in _LINKS for w in (word, head_of(word))
    )
