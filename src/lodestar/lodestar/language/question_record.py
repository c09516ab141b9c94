"""Conversion of the meanings of question rules into `Question` records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lodestar.language.asked_predicates import asked_predicates, of_the_subject
from lodestar.language.directive_draft import Draft
from lodestar.language.items import ANYWHERE, Item, Pose, Scope
from lodestar.language.noun_words import GENERIC, NounWords, noun_words
from lodestar.language.phrase_graphs import graphs_of
from lodestar.language.phrase_items import item_of, scope_of
from lodestar.language.phrase_meanings import relation_of, things_of
from lodestar.language.phrases import HERE, Phrase, Things
from lodestar.language.question import PARTIAL, WHOLE, AnswerType, Occurrence, Question, QuestionKind
from lodestar.language.question_times import act_of, anchors_of
from lodestar.language.time_windows import TimeWindow

ANSWERS = {
    QuestionKind.WHERE: AnswerType.PLACE,
    QuestionKind.WHEN: AnswerType.TIME,
    QuestionKind.HOW_LONG: AnswerType.DURATION,
    QuestionKind.HOW_OFTEN: AnswerType.NUMBER,
    QuestionKind.HOW_MANY: AnswerType.NUMBER,
    QuestionKind.IS_THERE: AnswerType.YES_NO,
    QuestionKind.WHERE_ARE_YOU: AnswerType.PLACE,
    QuestionKind.BEEN_HERE: AnswerType.YES_NO,
    QuestionKind.HOW_FAR: AnswerType.NUMBER,
}  # other kinds are answered by a text
_SHOWN = ("this", "these")
_ANY = ("any", "some", "one")
_NEAREST = ("Closest", "Farthest")  # relations that select an object by its place
_EITHER = ("state_or", "words_or")


def question_of(
    draft: Draft,
    meaning: dict[str, Any],
    words: Sequence[str],
    window: TimeWindow,
    times: str,
    named: Item | None,
    partial: bool = False,
) -> Question:
    """Return the `Question` of a rule's meaning. times: the occurrence ("first", "last") stated beside it.
    Raises DirectiveError.
    """
    kind = QuestionKind[str(meaning["kind"]).upper()]
    item, scope, asked, shown = _about(draft, kind, meaning, named)
    if kind is QuestionKind.IS_THERE and item is not None and asked:
        item, asked = of_the_subject(item, asked, words)
    answer = ANSWERS.get(kind, AnswerType.TEXT)
    if meaning.get("answer"):
        answer = AnswerType[str(meaning["answer"]).upper()]
    if kind is QuestionKind.IS_THERE and _is_choice(meaning, words, partial):
        kind, answer = QuestionKind.ATTRIBUTE, AnswerType.TEXT
    other = None if meaning.get("other") is None else item_of(draft.things(meaning["other"]), with_rooms=True)
    occurrence = "each" if meaning.get("each") else times or str(meaning.get("times") or "any")
    act = act_of(meaning)
    if kind is QuestionKind.WHICH and asked and all(p.name in _NEAREST for p in asked):
        answer = AnswerType.PLACE
    attribute = str(meaning.get("attribute") or "")
    if kind is QuestionKind.ATTRIBUTE and not attribute:
        attribute, act = ("state" if act is None else act.verb), None
    return Question(
        kind,
        answer,
        item,
        asked,
        other,
        scope,
        window,
        Occurrence[occurrence.upper()],
        act,
        attribute,
        _pose(meaning),
        past=meaning.get("tense") == "past",
        here=bool(meaning.get("here")) or _is_of_here(meaning),
        image=shown or bool(meaning.get("image")),
        confidence=PARTIAL if partial else WHOLE,
    )


def _pose(meaning: dict[str, Any]) -> Pose | None:
    """Return the pose given in numbers (heading in degrees in the text), or None."""
    if meaning.get("pose") is None:
        return None
    x, y, *heading = meaning["pose"]
    return Pose(float(x), float(y), math.radians(heading[0]) if heading else None)


def _about(
    draft: Draft, kind: QuestionKind, meaning: dict[str, Any], named: Item | None
) -> tuple[Item | None, Scope, tuple, bool]:
    """Return the item, the scope, the asked predicates, and whether the item is shown.

    An item is shown by a picture or by the current view.
    """
    where = meaning.get("where")
    if meaning.get("thing") is None:
        return _of_place(draft, kind, meaning)
    raw = things_of(meaning["thing"])
    holder = None if meaning.get("holder") is None else things_of(meaning["holder"])
    if holder is not None:
        meaning, where = _held(meaning, holder)
    shown = any(p.noun.determiner in _SHOWN and not p.is_place and not p.is_whole for p in raw.phrases)
    if named is not None and draft.named is None and any(p.pronoun for p in raw.phrases):
        return named, ANYWHERE, (), named == Item()
    things = draft.things(meaning["thing"], where)
    phrase = things.phrases[0]
    if meaning.get("asked") and meaning["asked"].get("state", True) is not None:
        item, asked = asked_predicates(phrase, meaning["asked"])
        return item, scope_of(phrase), asked, shown
    return item_of(things), scope_of(phrase), (), shown


def _held(meaning: dict[str, Any], holder: Things) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return (meaning, place) of a question about the contents of a holder.

    For a room ("does the kitchen have a fridge") the place is that room, None = anywhere. For an object
    ("does the desk have a lamp") the meaning asks about that object with its contents.
    """
    phrase = holder.phrases[0]
    if phrase.is_place or phrase.is_whole:
        anywhere = phrase.is_whole or phrase.noun.determiner in (*_ANY, *_SHOWN)
        said = None if anywhere else {"all": [{"name": "Inside", "to": meaning["holder"]}]}
        return meaning, said
    other = {"name": "With", "to": meaning["thing"]}
    return {**meaning, "thing": {"value": meaning["holder"], "said": [other]}}, None


def _is_of_here(meaning: dict[str, Any]) -> bool:
    """Return whether the question asks about the robot's own place: "does this room have a window"."""
    if meaning.get("holder") is None:
        return False
    phrase = things_of(meaning["holder"]).phrases[0]
    return phrase.noun.determiner in _SHOWN and (phrase.is_place or phrase.is_whole)


def _of_place(
    draft: Draft, kind: QuestionKind, meaning: dict[str, Any]
) -> tuple[Item | None, Scope, tuple, bool]:
    """Return item, scope, asked predicates and image flag of a question that names only a place."""
    if meaning.get("at") is not None:
        things = anchors_of(draft, meaning["at"])
        if things is not None and kind is not QuestionKind.WHAT_THERE:
            return item_of(things), ANYWHERE, (), False
    where = meaning.get("where") or ({"all": [meaning["at"].get("said", {})]} if meaning.get("at") else None)
    if not where or not where.get("all") or not where["all"][0].get("name"):
        image = bool(meaning.get("image"))
        return (Item() if image else _person() if meaning.get("person") else None), ANYWHERE, (), image
    noun = noun_words(("person",)) if meaning.get("person") else NounWords((), GENERIC, ())
    relations = [relation_of(one) for one in where["all"]]
    phrase = draft.resolved(Phrase(noun)).with_relations(relations)
    phrase = replace(
        phrase,
        relations=tuple(
            replace(
                r, anchors=tuple(draft.resolved(a) if a.pronoun not in ("", HERE) else a for a in r.anchors)
            )
            for r in phrase.relations
        ),
    )
    scope = scope_of(phrase)
    bare = not phrase.relations and not meaning.get("person")
    return (None if bare and scope else item_of(Things((phrase,)))), scope, (), False


def _person() -> Item:
    return Item((graphs_of(Phrase(noun_words(("person",)))),))


def _is_choice(meaning: dict[str, Any], words: Sequence[str], partial: bool) -> bool:
    """Return whether the answer is one of several options: "open or closed", "in the kitchen or in the hall"."""
    if "or" not in words or meaning.get("exists") or words[-2:] == ("or", "not"):
        return False
    if partial:
        return 0 < len(words) - 1 - list(words).index("or") <= 3
    asked = meaning.get("asked") or {}
    state = asked.get("state") or {}
    if isinstance(state, dict) and any(key in state for key in _EITHER):
        return True
    to = (asked.get("said") or {}).get("to") if isinstance(asked.get("said"), dict) else None
    return isinstance(to, dict) and "any" in to
