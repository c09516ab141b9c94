"""Questions in plain English; parsing the sentence gives the same record."""

from __future__ import annotations

from lodestar.language.item_words import (
    RELATIONS,
    graph_words,
    item_words,
    number_words,
    plural,
    pose_words,
    relation_words,
    scope_words,
)
from lodestar.language.items import Item
from lodestar.language.query_graph import Predicate, QueryGraph
from lodestar.language.question import AnswerType, Occurrence, Question, QuestionKind
from lodestar.language.question_words import attributes
from lodestar.language.time_windows import Act, Event, TimeBasis, TimePoint, TimeWindow
from lodestar.models.lexicon import load_lexicon

_TIMES = {Occurrence.FIRST: "first ", Occurrence.LAST: "last "}
_DONE = {
    "enter": "entered", "leave": "left", "reach": "reached", "visit": "visited", "pass": "passed", "cross": "crossed",
    "stop": "stopped", "turn": "turned", "stay": "stayed", "drive": "drove", "charge": "charged", "start": "started",
    "move": "moved", "vanish": "vanished", "appear": "appeared", "arrive": "arrived",
}  # fmt: skip
_PLACED = {"stay": " in", "stop": " at"}  # prepositions of acts at a place
_DAYS = {1: "tomorrow", 0: "today", -1: "yesterday", -2: "the day before yesterday"}


def question_sentence(question: Question) -> str:
    """Return the question in one line: "where did you last see the red mug in the kitchen, after you entered
    the kitchen?".
    """
    window = window_words(question.window)
    return f"{_core(question)}{_marked(question)}{', ' if window else ''}{window}?"


def _core(question: Question) -> str:
    where = scope_words(question.scope)
    kind, past = question.kind, question.past
    be = "was" if past else "is"
    match kind:
        case QuestionKind.WHERE:
            return _where(question) + where
        case QuestionKind.WHEN:
            opening = "at which times" if question.occurrence is Occurrence.EACH else "when"
            return f"{opening} {_done(question)}{where}"
        case QuestionKind.HOW_LONG:
            if question.act is not None and question.act.verb == "reach":
                return f"how long did it take you to reach {_thing(question)}{where}"
            if question.act is not None and question.act.verb == "vanish":
                return f"how long was {_thing(question)} gone{where}"
            return f"how long {_done(question)}{where}"
        case QuestionKind.HOW_OFTEN:
            return f"how often {_done(question)}{where}"
        case QuestionKind.HOW_MANY:
            many = "objects" if question.item is None else _plural(question.item)
            seen = " did you " + question.act.verb if question.act else f" {'were' if past else 'are'} there"
            return f"how many {many}{seen}{where}"
        case QuestionKind.IS_THERE:
            return _is_there(question) + where
        case QuestionKind.WHICH:
            if question.answer is AnswerType.PLACE and question.item is not None and not question.asked:
                return _which_place(question.item.best[0], be) + where
            done = f" did you {question.act.verb}" if question.act else f" {be} there"
            if question.attribute and question.item is None:
                return f"what did you see {question.attribute}{where}"
            if question.attribute:
                done = f" did you {question.act.verb if question.act else 'see'} {question.attribute}"
            asked = f" {be} {_asked(question, ' and ')}" if question.asked else done
            return f"which {_bare(question.item)}{asked}{where}"
        case QuestionKind.WHAT_THERE:
            return _what_there(question) + where
        case QuestionKind.ATTRIBUTE:
            return _attribute(question) + where
        case QuestionKind.WHAT_HAPPENED:
            about = (
                f" to {_thing(question)}" if question.item is not None and question.item.alternatives else ""
            )
            opening = "has anything changed" if question.answer is AnswerType.YES_NO else "what happened"
            return f"{opening}{about}{_here(question)}{where}"
        case QuestionKind.WHAT_DONE:
            return f"what did you do{where}"
        case QuestionKind.WHY:
            done = f"you {question.act.verb}" if question.act else "you do this"
            about = f" {_thing(question)}" if question.item is not None else ""
            return f"why did {done}{about}{_here(question)}{where}"
        case QuestionKind.WHERE_ARE_YOU:
            opening = "in which room" if question.answer is AnswerType.TEXT else "where"
            return f"{opening} {'were' if past else 'are'} you"
        case QuestionKind.BEEN_HERE:
            if not past:
                return f"are you in {_thing(question)}"
            if question.pose is not None:
                return f"have you been{_here(question)}"
            return f"have you been {'here' if question.here else 'to ' + _thing(question)}"
        case QuestionKind.HOW_FAR:
            return _how_far(question, be)
    return question.text.rstrip("? ")


def _where(question: Question) -> str:
    opening = "in which room" if question.answer is AnswerType.TEXT else "where"
    if question.attribute == "home":
        return f"where does {_thing(question)} belong"
    if question.attribute:
        return f"where {_done(question)} {question.attribute}"
    if question.image and question.item == Item() and not question.past:
        return f"{opening} does this go"
    if question.act is not None or (question.past and question.item is not None):
        return f"{opening} {_done(question)}"
    return f"{opening} is {_thing(question)}"


def _done(question: Question) -> str:
    """Return the event in words: "did you last see the mug", "did you enter the kitchen", "did the forklift
    move".
    """
    about = "" if question.item is None and not question.here else f" {_thing(question)}"
    if question.here:
        about = " here"
    if question.act is None:
        if question.asked:
            return f"was{about} {_asked(question, ' and ')}"
        return f"did you {_TIMES.get(question.occurrence, '')}see{about}"
    return _acted(question.act, about)


def _acted(act: Act, about: str) -> str:
    if not act.own:
        return f"did{about} {act.verb}"
    return f"did you {act.verb}{_PLACED.get(act.verb, '') if about and about != ' here' else ''}{about}"


def _marked(question: Question) -> str:
    """Return the occurrence in words if the verb does not state it: " for the first time"; else ""."""
    act, kind, first = question.act, question.kind, question.occurrence is Occurrence.FIRST
    says_it = (
        act is None
        and not question.asked
        and not question.attribute
        and (
            kind in (QuestionKind.WHERE, QuestionKind.WHEN, QuestionKind.HOW_LONG, QuestionKind.HOW_OFTEN)
            or kind is QuestionKind.IS_THERE
        )
    )
    if says_it or question.occurrence in (Occurrence.ANY, Occurrence.EACH):
        return ""
    if act is not None:
        return " for the first time" if first else " for the last time"
    return " at first" if first else " last time"


def _is_there(question: Question) -> str:
    be = "was" if question.past else "is"
    if question.asked and not question.past and any(_describes(p) for p in question.asked):
        return f"whether {_thing(question)} is {_asked(question, ' and ')}"
    if question.asked:
        return f"{be} {_thing(question)} {_asked(question, ' and ')}"
    if question.act is not None:
        return _done(question)
    if question.occurrence is Occurrence.FIRST and not question.past:
        return f"{be} {_thing(question)} still in its place"
    times = _TIMES.get(question.occurrence, "")
    if question.image or times or question.past:
        seen = _thing(question) if question.image else _any(question)
        return f"{'did' if question.past else 'do'} you {times}see {seen}{_here(question)}"
    return f"{be} there {_any(question)}{_here(question)}"


def _describes(predicate: Predicate) -> bool:
    """Return whether the predicate is a colour, size or material.

    The parser would read such a word as part of the noun: "is the mug red" as "the red mug".
    """
    group = load_lexicon().attribute_group.get(predicate.value, "others")
    return predicate.name == "HasAttribute" and group != "others"


def _what_there(question: Question) -> str:
    be = "was" if question.past else "is"
    graph = question.item.best[0] if question.item is not None and question.item.alternatives else None
    person = graph is not None and graph.target.category == "person"
    if question.act is not None:
        return f"{'what' if graph is None else f'which {_bare(question.item)}'} is gone"
    about = "" if graph is None else graph_words(graph, "").removeprefix(graph.target.phrase)
    if question.answer is AnswerType.YES_NO:
        return f"{be} anything{about}"
    return f"{'who' if person else 'what'} {be} there{about}{_here(question)}"


def _which_place(graph: QueryGraph, be: str) -> str:
    """Return a question for a support: "which shelf is the mug on"."""
    found = next(p for p in graph.predicates if len(p.arguments) == 2 and p.arguments[1] == 0)
    other = graph_words(graph.of_variable(found.arguments[0]), "the ")
    return f"which {graph.target.phrase} {be} {other} {RELATIONS[found.name]}"


def _attribute(question: Question) -> str:
    be = "was" if question.past else "is"
    if question.asked:
        return f"{be} {_thing(question)} {_asked(question, ' or ')}"
    done = f" you {_DONE.get(question.act.verb, question.act.verb)}" if question.act else ""
    if question.attribute == "kind":
        return f"what {be} {_thing(question)}{done}"
    if question.attribute.endswith("ing"):
        return f"what {be} {_thing(question)} {question.attribute}"
    if question.attribute not in attributes():
        return f"what {'did' if question.past else 'does'} {_thing(question)} {question.attribute}"
    return f"what {be} the {question.attribute} of {_thing(question)}{done}"


def _how_far(question: Question, be: str) -> str:
    if question.item is None:
        return "how far did you " + (question.act.verb if question.act else "drive")
    start = "" if question.other is None else f" from {item_words(question.other)}"
    return f"how far {be} {_thing(question)}{start}"


def _thing(question: Question) -> str:
    """Return the item with its article, or with "this" if a picture or the current view shows it."""
    item = question.item
    if item is None or not item.alternatives:
        return "this"
    said = item_words(item)
    return "this " + said.removeprefix("the ") if question.image and said.startswith("the ") else said


def _any(question: Question) -> str:
    """Return the item with "any" in place of "the", as it may not exist."""
    said = _thing(question)
    return "any " + said.removeprefix("the ") if said.startswith("the ") else said


def _bare(item: Item | None) -> str:
    return "object" if item is None or not item.alternatives else item_words(item).removeprefix("the ")


def _plural(item: Item) -> str:
    """Return the item in the plural: "red chairs on the rug"."""
    said = []
    for graph in item.best:
        words = graph_words(graph, "")
        said.append(plural(graph.target.phrase) + words.removeprefix(graph.target.phrase))
    return " or ".join(said)


def _here(question: Question) -> str:
    if question.pose is not None:
        return f" at {pose_words(question.pose)}"
    return " here" if question.here else ""


def _asked(question: Question, link: str) -> str:
    """Return the asked predicates in words: "open or closed", "not on the table"."""
    assert question.item is not None
    graph = question.item.best[0]
    if all(p.name == "InRegion" and not p.negated for p in question.asked):
        return "in the " + f"{link}the ".join(predicate.value for predicate in question.asked)
    return link.join(_predicate(graph, predicate) for predicate in question.asked)


def _predicate(graph: QueryGraph, predicate: Predicate) -> str:
    denied = "not " if predicate.negated else ""
    if predicate.name == "InRegion":
        return f"{denied}in the {predicate.value}"
    if predicate.is_literal:
        return denied + predicate.value
    return denied + relation_words(graph, predicate, {0}).removeprefix("that is not ")


# --- times --------------------------------------------------------------------------------------------------------


def window_words(window: TimeWindow) -> str:
    """Return the window in words, "" for any time."""
    begin, end = window.begin, window.end
    if begin is not None and begin == end and begin.event is not None:
        return f"while {_event(begin.event)}"
    if begin is not None and end is not None:
        if _is_day(begin, end):
            return _DAYS[begin.day]
        return f"between {point_words(begin)} and {point_words(end)}"
    if begin is not None:
        if begin.basis is TimeBasis.NOW:
            return f"in the last {number_words(begin.seconds)} seconds"
        return f"{'after' if begin.event is not None else 'since'} {point_words(begin)}"
    return "" if end is None else f"before {point_words(end)}"


def _is_day(begin: TimePoint, end: TimePoint) -> bool:
    both = begin.basis is TimeBasis.DAY and end.basis is TimeBasis.DAY and begin.day + 1 == end.day
    return both and begin.seconds == end.seconds == 0.0 and begin.day in _DAYS


def point_words(point: TimePoint) -> str:
    """Return a time in words."""
    if point.event is not None:
        return _event(point.event)
    seconds = number_words(point.seconds)
    match point.basis:
        case TimeBasis.NOW:
            return f"{seconds} seconds ago"
        case TimeBasis.START:
            return "you started" if point.seconds == 0.0 else f"{seconds} seconds after you started"
        case TimeBasis.STAMP:
            return f"stamp {seconds}"
    minutes, rest = divmod(round(point.seconds), 60)
    return f"{_DAYS.get(point.day, f'day {point.day}')} at {minutes // 60:02d}:{minutes % 60:02d}:{rest:02d}"


def _event(event: Event) -> str:
    about = "" if event.item is None else f" {item_words(event.item)}"
    if event.act is None:
        return f"you saw{about}"
    verb = _DONE.get(event.act.verb, event.act.verb)
    if not event.act.own:
        return f"{about.strip() or 'it'} {verb}"
    if event.item is None and event.act.verb == "visit":
        return "you were here"
    return f"you {verb}{_PLACED.get(event.act.verb, '') if about else ''}{about}"
