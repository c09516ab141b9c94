"""Rule tables for answers: per kind of question a tuple (family) of rows, each may answer (ADR 0039).

A row has a selector, which returns the subject of the question, such as an object, rooms or visits, and a
function that answers about the subject. The first row whose selector finds a subject gives the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from lodestar.language.asked_items import plain_item, with_asked
from lodestar.language.items import Item
from lodestar.language.noun_words import is_place
from lodestar.language.question import QuestionKind
from lodestar.memory.answer import Answer
from lodestar.memory.answering import contents, happenings, places, presence, times
from lodestar.memory.answering.config import CONFIDENCE_PARTIAL
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.needs import is_need, names_no_object, things_for_need
from lodestar.memory.answering.readings import GENERIC, held_by_rooms, rooms_meant, without_new
from lodestar.memory.answering.replies import ANYTHING, CannotAnswer, unknown
from lodestar.memory.answering.selection import When, find, find_changed, when_asked
from lodestar.memory.answering.subjects import About, Meant, Rooms, Visited
from lodestar.memory.records import EventKind

CONFIDENCE_GUESSED = 0.6  # factor for an object found by the meaning of a need: "where can I sit"; chosen

Subject = TypeVar("Subject")
#: Returns the subject of a question, None if it has none. Raises CannotAnswer for an unseen object.
Selector = Callable[[About], "Subject | None"]
#: Returns the answer to a question with the row's kind of subject, None for another question.
Row = Callable[[About], "Answer | None"]

_NOTHING = Item()
_NEAR = ("visit", "reach", "stop", "stay", "drive", "cross", "turn", "enter", "leave")


def answer_of(family: Iterable[Row], inquiry: Inquiry, item: Item | None = None) -> Answer:
    """Return the answer of the first row that applies, or an answer that states why there is none.

    item: description of the object that the question names, None = none.
    """
    about = About(inquiry, _NOTHING if item is None else item)
    try:
        answer = _first(family, about)
    except CannotAnswer as reason:
        answer = reason.answer
    assert answer is not None  # the last row of a family accepts any question
    return answer


def _first(rows: Iterable[Row], about: About) -> Answer | None:
    return next((answer for row in rows if (answer := row(about)) is not None), None)


def row(select: Selector[Subject], tell: Callable[[Subject], Answer]) -> Row:
    """Return a row that answers with `tell` about the subject that `select` returns."""

    def answer(about: About) -> Answer | None:
        subject = select(about)
        return None if subject is None else tell(subject)

    return answer


def unsaid(what: str, advice: str = "name the thing or the room") -> Row:
    """Return a row for questions that name no object: its answer states what is missing, with advice."""
    return row(unnamed, lambda q: unknown(q, f"the question does not say {what}; {advice}"))


def reading(read: Callable[[Inquiry], Item | None], *rows: Row) -> Row:
    """Return a row that tries `rows` with the object description (item) that `read` returns."""

    def answer(about: About) -> Answer | None:
        item = read(about.inquiry)
        return _first(rows, About(about.inquiry, _NOTHING if item is None else item))

    return answer


# --- selectors -----------------------------------------------------------------------------------------------------


def only(holds: Callable[[Inquiry], object], select: Selector[Subject]) -> Selector[Subject]:
    """Return a selector that works as `select` if `holds` is true for the question, else finds nothing."""
    return lambda about: select(about) if holds(about.inquiry) else None


def always(about: About) -> Inquiry:
    """Return the question itself, for any question."""
    return about.inquiry


def as_named(about: About) -> About:
    """Return the question together with the object description (item) in it."""
    return about


def unnamed(about: About) -> Inquiry | None:
    """Return the question if it names no object, else None."""
    return None if about.item.alternatives else about.inquiry


def rooms(about: About) -> Rooms | None:
    """Return the rooms that the question names, None if it names none."""
    meant = rooms_meant(about.inquiry, about.item)
    return None if meant is None else Rooms(about.inquiry, meant)


def rooms_known(about: About) -> Rooms | None:
    """Return the rooms that the question names, None if the map does not have them."""
    named = rooms(about)
    return named if named is not None and named.meant.ids else None


def things(when: When | Callable[[Inquiry], When], loosely: bool = False) -> Selector[Meant]:
    """Return a selector of the objects that fit the question's description at the given time.

    loosely: see `selection.find`.
    """

    def select(about: About) -> Meant:
        inquiry, item = about.inquiry, about.item
        then = when if isinstance(when, When) else when(inquiry)
        return Meant.of(inquiry, item, find(inquiry, item, then, loosely=loosely))

    return select


def known_or_past(inquiry: Inquiry) -> When:
    """Return the time at which a description must hold: PAST for a question about the past, else KNOWN."""
    return When.PAST if inquiry.question.past else When.KNOWN


def signs(about: About) -> Meant | None:
    """Return the named objects on which text was read; None if there are none."""
    search = find(about.inquiry, about.item, known_or_past(about.inquiry), loosely=True)
    read = tuple(thing for thing in search.things if thing.written)
    return Meant(about.inquiry, replace(search, things=read)) if read else None


def thing_in_time(about: About) -> Meant:
    """Return the objects whose time is asked for; for a question about a change, changed objects first."""
    inquiry, kind = about.inquiry, about.inquiry.change
    if kind is None:
        return Meant.of(inquiry, about.item, find(inquiry, about.item, When.PAST, loosely=True))
    return Meant.of(inquiry, about.item, find_changed(inquiry, about.item, kind))


def visits_to_thing(about: About) -> Visited:
    """Return the robot's visits to the object's last place."""
    it = thing_in_time(about)
    return it.visits(it.stays[-1].box)


def thing_reached(about: About) -> Visited | None:
    """Return the robot's visits to the object that the question says it reached; None if there were none."""
    act = about.inquiry.question.act
    if act is None or act.verb not in _NEAR:
        return None
    found = visits_to_thing(about)
    return found if found.visits else None


def thing_placed(about: About) -> Meant:
    """Return the objects whose place is asked for.

    If the question says that an object came or moved, such objects come first. If no object fits, objects
    that serve the need in the question are returned.
    """
    inquiry, item, question = about.inquiry, about.item, about.inquiry.question
    plain, is_new = without_new(item)
    if is_new or inquiry.change is EventKind.APPEARED:
        search = find_changed(inquiry, plain, EventKind.APPEARED)
    elif places.asks_before(question):
        search = find_changed(inquiry, item, EventKind.MOVED)
    else:
        when = When.EVER if inquiry.asks_first else known_or_past(inquiry)
        search = find(inquiry, item, when, loosely=True)
    if search.best is None and (question.is_partial or names_no_object(item)):
        served = things_for_need(inquiry)
        if served.best is not None:
            return Meant(inquiry, served, _need_factor(inquiry))
    return Meant.of(inquiry, item, search)


def needed(about: About) -> Meant | None:
    """Return objects that serve the need that the question names, such as sitting; None if it names none."""
    inquiry = about.inquiry
    item = inquiry.shown.item if inquiry.shown is not None else inquiry.question.item
    if not is_need(inquiry, item):
        return None
    return Meant.of(inquiry, _NOTHING, things_for_need(inquiry), _need_factor(inquiry))


def _need_factor(inquiry: Inquiry) -> float:
    """Return the factor of the confidence in objects that serve a need.

    For a partly parsed question it cancels the penalty that `reply` applies to such questions.
    """
    return CONFIDENCE_GUESSED / CONFIDENCE_PARTIAL if inquiry.question.is_partial else CONFIDENCE_GUESSED


def thing_changed(about: About) -> Meant | None:
    """Return the objects that the question says have changed, None if it is not about a change.

    Raises CannotAnswer for kinds of change that are not recorded.
    """
    act = about.inquiry.question.act
    if act is None or act.own:
        return None
    if about.inquiry.change is None:
        raise CannotAnswer(unknown(about.inquiry, f"I keep no record of whether things {act.verb}"))
    return thing_in_time(about)


def thing_affected(about: About) -> Meant | None:
    """Return the objects that may have changed; None if the question names a room, or no object."""
    inquiry, item = about.inquiry, about.item
    if not item.alternatives or rooms(about) is not None:
        return None
    search = find(inquiry, item, When.PAST)
    if search.best is None:
        raise CannotAnswer(unknown(inquiry, f"I have not seen {item.phrase}"))
    return Meant(inquiry, search)


def chosen(about: About) -> Meant:
    """Return the objects that fulfil the condition of a choice."""
    inquiry, asked = about.inquiry, about.inquiry.question.asked
    item = with_asked(about.item, asked) if asked else about.item
    return Meant.of(inquiry, plain_item(about.item), find(inquiry, item, when_asked(inquiry)))


def room_of_thing(about: About) -> Inquiry | None:
    """Return the question rewritten to ask about the object in a room or place, None for other questions.

    "which room is the mug in" becomes a question about the mug.
    """
    graph = about.item.best[0]
    sides = [p.arguments for p in graph.predicates if len(p.arguments) == 2 and p.arguments[1] == 0]
    held = sides[0][0] if sides else 0
    if graph.target.category not in GENERIC or not held:
        return None
    order = [held, *(v for v in range(1, len(graph.variables)) if v != held)]
    question = replace(about.inquiry.question, item=Item(((graph.arranged(order),),)))
    return replace(about.inquiry, question=question)


# --- conditions on questions ---------------------------------------------------------------------------------------


def _said(inquiry: Inquiry) -> Item | None:
    return inquiry.question.item


def _said_or_anything(inquiry: Inquiry) -> Item:
    item = inquiry.question.item
    return item if item is not None and item.alternatives else ANYTHING


def _held(inquiry: Inquiry) -> Item | None:
    return None if inquiry.item is None else held_by_rooms(inquiry, inquiry.item)


def _asks_home(inquiry: Inquiry) -> bool:
    question = inquiry.question
    return question.attribute == "home" or (question.image and not question.past and question.item == Item())


def _names_a_deed(inquiry: Inquiry) -> bool:
    question = inquiry.question
    return question.item is None and question.act is not None and question.past and not question.is_partial


def _asks_for_rooms(inquiry: Inquiry) -> bool:
    item = inquiry.question.item
    categories = [] if item is None else [graph.target.category for graph in item.best]
    return any(is_place(category) for category in categories) or (inquiry.is_of_robot and not categories)


# --- table of families -----------------------------------------------------------------------------------------------

_WHERE: tuple[Row, ...] = (
    row(only(_asks_home, always), places.where_it_belongs),
    row(only(_names_a_deed, always), happenings.happened_where),
    row(needed, places.where),
    unsaid("of what", "name the thing or send a picture of it"),
    row(rooms, places.where_rooms),
    row(thing_placed, places.where),
)
_HOW_MANY: tuple[Row, ...] = (
    unsaid("how many of what", "name the thing"),
    row(rooms_known, contents.how_many_rooms),
    row(as_named, contents.how_many),
)

FAMILIES: dict[QuestionKind, tuple[Row, ...]] = {
    QuestionKind.WHERE: _WHERE,
    QuestionKind.HOW_FAR: (
        reading(_said, row(unnamed, places.how_far_driven), row(as_named, places.how_far)),
    ),
    QuestionKind.WHERE_ARE_YOU: (row(always, places.where_are_you),),
    QuestionKind.WHEN: (
        unsaid("when what"),
        row(rooms, times.when_in),
        row(only(lambda q: q.is_of_change, thing_in_time), times.when_changed),
        row(thing_reached, times.when_visited),
        row(thing_in_time, times.when_seen),
    ),
    QuestionKind.HOW_LONG: (
        unsaid("how long what"),
        row(rooms, lambda found: times.how_long_visited(found.visits)),
        row(only(lambda q: q.change is not None, thing_in_time), times.how_long_since),
        row(only(lambda q: q.is_of_robot, visits_to_thing), times.how_long_visited),
        row(thing_in_time, times.how_long_it_stayed),
    ),
    QuestionKind.HOW_OFTEN: (
        unsaid("how often what"),
        row(rooms, times.how_often_visited),
        row(only(lambda q: q.is_of_change, things(When.PAST, True)), times.how_often_changed),
        row(things(When.PAST, True), times.how_often_seen),
    ),
    QuestionKind.HOW_MANY: _HOW_MANY,
    QuestionKind.IS_THERE: (
        unsaid("what"),
        reading(
            _held,
            row(only(lambda q: q.question.act is not None or q.question.past, rooms), presence.was_in),
            row(rooms, presence.room_exists),
            row(thing_changed, presence.has_changed),
            row(only(lambda q: q.asks_first, things(When.EVER, True)), presence.is_still_there),
            row(only(lambda q: q.question.asked, as_named), presence.is_so),
            row(things(when_asked), presence.is_there),
        ),
    ),
    QuestionKind.BEEN_HERE: (
        row(only(lambda q: q.question.here, always), presence.was_here),
        reading(
            _said,
            row(unnamed, presence.was_here),
            row(rooms, presence.was_in),
            row(things(When.PAST), presence.was_at),
        ),
    ),
    QuestionKind.WHAT_THERE: (
        row(only(lambda q: q.is_of_change, always), contents.what_is_gone),
        row(
            only(lambda q: q.question.item is None and not q.question.scope, always), contents.what_is_in_view
        ),
        reading(_said_or_anything, row(rooms, contents.what_is_in), row(as_named, contents.what_is_there)),
    ),
    QuestionKind.WHICH: (
        unsaid("which what", "name the kind of thing"),
        row(room_of_thing, lambda q: answer_of(_WHERE, q, q.item)),
        row(chosen, contents.which),
    ),
    QuestionKind.ATTRIBUTE: (
        row(
            only(lambda q: q.question.attribute == "number", always),
            lambda q: answer_of(_HOW_MANY, q, q.item),
        ),
        unsaid("of what", "name the thing"),
        row(only(lambda q: q.question.asked, as_named), contents.either),
        row(only(lambda q: q.question.attribute == "support", things(known_or_past, True)), contents.support),
        row(only(lambda q: q.question.attribute == "text", signs), contents.text),
        row(things(known_or_past, True), contents.attribute),
    ),
    QuestionKind.WHAT_HAPPENED: (
        reading(_said, row(thing_affected, happenings.what_happened_to)),
        row(always, happenings.what_happened),
    ),
    QuestionKind.WHAT_DONE: (row(always, happenings.what_done),),
    QuestionKind.WHY: (row(always, happenings.why),),
}

#: Rows for the object or room that was seen or visited most or least often, for any kind of question.
SO_OFTEN: tuple[Row, ...] = (
    row(only(_asks_for_rooms, always), times.room_so_often),
    reading(_said_or_anything, row(as_named, times.thing_so_often)),
)


def family_of(inquiry: Inquiry) -> tuple[Row, ...] | None:
    """Return the table rows (family) for the question's kind, None if the memory cannot answer its kind."""
    if inquiry.question.attribute in ("most often", "least often"):
        return SO_OFTEN
    return FAMILIES.get(inquiry.question.kind)
