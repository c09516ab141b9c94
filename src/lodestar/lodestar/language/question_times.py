"""Extraction of the times that a question names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from lodestar.language.chart import Reading, load_chart
from lodestar.language.directive_draft import Draft
from lodestar.language.directive_errors import DirectiveError
from lodestar.language.items import Item
from lodestar.language.phrase_items import item_of
from lodestar.language.phrase_meanings import relation_of, things_of
from lodestar.language.phrases import Phrase, Things
from lodestar.language.question_words import load_question_words, question_lattice
from lodestar.language.sentence_tokens import COMMA
from lodestar.language.time_windows import (
    ANY_TIME,
    DAY,
    Act,
    Event,
    TimeBasis,
    TimePoint,
    TimeWindow,
    ago,
    on_day,
)

PARTS_OF_DAY = {  # seconds after midnight; a night lasts until the next morning
    "morning": (5 * 3600.0, 12 * 3600.0),
    "afternoon": (12 * 3600.0, 18 * 3600.0),
    "evening": (17 * 3600.0, 23 * 3600.0),
    "night": (20 * 3600.0, 30 * 3600.0),
}
NEAR_CLOCK = 300.0  # s, tolerance before and after a named time of day
NEAR_SPAN = 0.1  # tolerance as a share of the time since: "an hour ago" is inexact
LEAST_NEAR = 15.0  # s, least tolerance of NEAR_SPAN
_STARTS = (
    "IN_LAST", "JUST_NOW", "WITHIN_Q", "SPAN", "DAYS", "THIS_PART", "TONIGHT", "LAST_NIGHT", "SINCE", "UNTIL_T",
    "AFTER", "WHILE", "BETWEEN_T", "FROM_T", "AT_T", "TIME_Q",
)  # fmt: skip
_OF_EVENTS = (
    "before",
    "after",
    "since",
    "during",
    "until",
    "till",
    "prior",
)  # words only used with times, not with places
_PLACE_WORDS = ("from", "by")  # words used with times and with places
_COUNTED = ("many", "much", "few")  # before "minutes ago" they ask for a time


@dataclass(frozen=True)
class NamedTime:
    """A time window named in a question. times: the occurrence stated with it ("last"), "" = none."""

    window: TimeWindow = ANY_TIME
    times: str = ""


def split_window(words: Sequence[str]) -> tuple[list[str], NamedTime]:
    """Return the words without the time that they name, and that time.

    Raises ValueError for an impossible clock time. A pronoun in the time ("before you saw it") refers to
    nothing yet; `with_subject` replaces it.
    """
    words = list(words)
    vocabulary = load_question_words()
    for start in range(len(words)):
        lattice = question_lattice(words[start:])
        if lattice.options[0].keys().isdisjoint(_STARTS) and not (
            words[start] == "on" and vocabulary.match("DAYS", words, start + 1)
        ):
            continue
        if start and words[start - 1] in _COUNTED:
            continue
        for end in range(len(words), start, -1):
            if end - start == len(words) or _is_question(words, start):
                continue
            meaning = _meaning(words[start:end])
            is_told = (
                words[start] in _OF_EVENTS
                or vocabulary.match("TIME_Q", words, start) is not None
                or vocabulary.match("ROBOT", words, start + 1) is not None
            )
            if meaning is None or (_is_vague(meaning, words[start]) and not is_told):
                continue
            rest = [*words[:start], *words[end:]]
            while rest and rest[0] == COMMA:
                rest = rest[1:]
            while rest and rest[-1] == COMMA:
                rest = rest[:-1]
            try:
                return rest, NamedTime(window_of(meaning), str(meaning.get("times") or ""))
            except DirectiveError:  # "while it rained" is no known event
                continue
    return words, NamedTime()


def _is_question(words: Sequence[str], start: int) -> bool:
    """Return whether the words from `start` are the question itself: "when did ...", "when was the last time
    that ...", "how long is it since ...".
    """
    vocabulary = load_question_words()
    since = vocabulary.match("SINCE_Q", words, 0)
    if since is not None and start < since[0]:
        return True
    if start == 0:
        return words[0] == "when" and len(words) > 1 and vocabulary.is_in("AUXBE", words[1])
    for i in range(max(1, start - 2), start + 1):
        named = vocabulary.match("TIME_Q", words, i)
        if named is not None and i + named[0] > start and vocabulary.is_in("BE", words[i - 1]):
            return vocabulary.match("WHEN", words, 0) is not None
    return False


def with_subject(window: TimeWindow, item: Item | None) -> TimeWindow:
    """Return the window with the question's object in place of "it": "where was the mug before it was moved"."""

    def named(point: TimePoint | None) -> TimePoint | None:
        event = None if point is None else point.event
        if point is None or event is None or event.item is not None:
            return point
        if event.act is not None and event.act.own:
            return point
        return replace(point, event=replace(event, item=item))

    return TimeWindow(named(window.begin), named(window.end))


def _meaning(words: Sequence[str]) -> dict[str, Any] | None:
    """Return the meaning of words that state a time, None if they state none."""
    found = [reading for reading in _time_readings(words) if "of" not in reading.meaning]
    return min(found, key=lambda reading: reading.cost).meaning if found else None


def time_of_sighting(words: Sequence[str]) -> dict[str, Any] | None:
    """Return the meaning of "the last time that you saw the mug" (`times`, and the object as `of`); None for
    other words.
    """
    found = [r.meaning for r in _time_readings(words) if "of" in r.meaning] if words else []
    return found[0] if found else None


def _time_readings(words: Sequence[str]) -> list[Reading]:
    if words[-1] == COMMA:
        return []
    chart = load_chart("window_of_time")
    return [r for cut in (False, True) for r in chart.readings(question_lattice(words, cut))]


def _is_vague(meaning: dict[str, Any], word: str) -> bool:
    """Return whether the time is given by an object alone, which may be a place: "at the desk".

    word: the first word. After "from" or "by", an event of an object is vague too: "from the print room".
    """
    ends = [meaning[name] for name in ("begin", "end") if meaning.get(name) is not None]
    events = [end["event"] for end in ends if "event" in end]
    if word in _PLACE_WORDS and any(event.get("own") is False for event in events):
        return True
    return any(not event.keys() - {"thing"} for event in events)


def window_of(meaning: dict[str, Any]) -> TimeWindow:
    """Return the time window of a meaning that the rules of `window_of_time` build."""
    if "times" in meaning:
        return ANY_TIME
    if "ago" in meaning:
        return TimeWindow(ago(float(meaning["ago"])))
    if "around" in meaning:
        seconds = float(meaning["around"])
        margin = max(LEAST_NEAR, NEAR_SPAN * seconds)
        return TimeWindow(ago(seconds + margin), ago(max(0.0, seconds - margin)))
    if "near" in meaning:
        point = _point(meaning["near"])
        return TimeWindow(_moved(point, -NEAR_CLOCK), _moved(point, NEAR_CLOCK))
    if "begin" not in meaning and "end" not in meaning:
        day = int(float(meaning["day"]))
        first, last = PARTS_OF_DAY.get(str(meaning.get("part")), (0.0, DAY))
        return TimeWindow(on_day(day, first), on_day(day, last))
    begin, end = (None if meaning.get(name) is None else _point(meaning[name]) for name in ("begin", "end"))
    return TimeWindow(begin, end)


def _moved(point: TimePoint, seconds: float) -> TimePoint:
    if point.basis is TimeBasis.DAY:
        return on_day(point.day, point.seconds + seconds)
    return TimePoint(point.basis, point.seconds + seconds)


def _point(meaning: dict[str, Any]) -> TimePoint:
    if "event" in meaning:
        return TimePoint(TimeBasis.EVENT, event=_event(meaning["event"]))
    if "ago" in meaning:
        return ago(float(meaning["ago"]))
    if "start" in meaning:
        return TimePoint(TimeBasis.START, float(meaning["start"]))
    if "stamp" in meaning:
        return TimePoint(TimeBasis.STAMP, float(meaning["stamp"]))
    day = int(float(meaning.get("day", 0)))
    if "part" in meaning:
        return on_day(day, PARTS_OF_DAY[str(meaning["part"])][0])
    return on_day(day, float(meaning["clock"]))


def _event(meaning: dict[str, Any]) -> Event:
    verb = act_of(meaning)
    draft = Draft()
    if meaning.get("thing") is not None:
        said = things_of(meaning["thing"]).phrases
        if len(said) == 1 and said[0].pronoun and not said[0].relations and not said[0].rooms:
            return Event(verb)  # "it": the item is added later
        things: Things | None = draft.things(meaning["thing"])
    else:
        things = anchors_of(draft, meaning.get("at"))
    return Event(verb, None if things is None else item_of(things, with_rooms=True))


def act_of(meaning: dict[str, Any]) -> Act | None:
    """Return the act of a meaning, None if it has none."""
    verb = meaning.get("act") or meaning.get("happen") or meaning.get("verb")
    return None if not verb else Act(str(verb), bool(meaning.get("own", True)))


def anchors_of(draft: Draft, said: Any) -> Things | None:
    """Return the objects of "near the desk" or "in the kitchen"; None if there are none."""
    if said is None:
        return None
    said = said.get("said", said)
    if not isinstance(said, dict) or "name" not in said:
        return None
    try:
        anchors: tuple[Phrase, ...] = relation_of(said).anchors
        return Things(tuple(draft.resolved(anchor) for anchor in anchors)) if anchors else None
    except DirectiveError:
        return None
