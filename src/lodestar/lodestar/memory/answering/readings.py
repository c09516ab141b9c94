"""Rewriting of object descriptions (items) with knowledge of the map, such as which names are rooms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from lodestar.language.items import Item
from lodestar.language.query_graph import QueryGraph
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.records import RoomsMeant
from lodestar.memory.answering.tools import unit_rows
from lodestar.models.lexicon import load_lexicon
from lodestar.models.wordnet import load_wordnet
from lodestar.scene.captions import clean_text
from lodestar.scene.records import EntityState

# cosine of a room's name and what is in a room, from which the room may be meant; chosen: "print room", printer
ANSWERING_ROOM = 0.6

GENERIC = frozenset({"room", "area", "place", "floor", "zone", "aisle", "part", "location", "section"})
_HOLDS = ("Inside", "InRegion", "On")  # predicates that put an object into a room or place
_HAS = "NextTo"  # predicate of "the desk with the lamp", "does the desk have a lamp"
_ROBOT = frozenset({"you", "robot", "here", "me", "us"})
_NEW = ("new", "newly arrived")  # words for an object that appeared; they are not visible attributes


# --- rooms ---------------------------------------------------------------------------------------------------------


def rooms_meant(inquiry: Inquiry, item: Item | None) -> RoomsMeant | None:
    """Return the rooms that an item names, None if it names no room."""
    if item is None or not item.alternatives:
        return None
    names, lexicon = [], load_lexicon()
    for graph in item.best:
        target = graph.target
        called = [name for name in (target.phrase, target.category) if inquiry.rooms_called((name,))]
        room = lexicon.room_in(target.category) or lexicon.room(target.phrase)
        if room is None and _is_room(target.category):
            room = target.category
        if not called and (room is None or lexicon.canonical(target.phrase) is not None):
            return None
        names += called or [target.phrase, *([room] if room else [])]
    return rooms_named(inquiry, names, item.best[0].target.phrase)


def rooms_named(inquiry: Inquiry, names: Sequence[str], said: str = "") -> RoomsMeant:
    """Return the regions with one of these names, or else those whose label or contents are close in meaning.

    Examples: "toilets" for a bathroom, "print room" for the room with the printer.
    """
    named = RoomsMeant(said or (names[0] if names else ""), inquiry.rooms_called(names))
    inside = _said_of_rooms(inquiry) if names and not named.ids else {}
    if not inside:
        return named
    words = list(inside)
    asked = unit_rows(inquiry.tools, [_kind_of_room(name) for name in names])
    cosines = (unit_rows(inquiry.tools, [_kind_of_room(word) for word in words]) @ asked.T).max(axis=1)
    best = int(cosines.argmax())
    if cosines[best] < ANSWERING_ROOM:
        return named
    return RoomsMeant(named.name, frozenset(inside[words[best]]), guessed=True)


def _said_of_rooms(inquiry: Inquiry) -> dict[str, set[int]]:
    """Return label -> ids of the regions that have it, or (if the scene may be used) an object with it."""
    scene = inquiry.tools.scene
    told = [(region.label, region.id) for region in scene.regions.values() if region.label]
    if inquiry.tools.use_scene:
        told += [
            (entity.label, entity.region_id) for entity in scene.entities.values()
            if entity.region_id in scene.regions and entity.state is EntityState.ACTIVE
        ]  # fmt: skip
    inside: dict[str, set[int]] = {}
    for label, region in told:
        if clean_text(label):
            inside.setdefault(clean_text(label), set()).add(region)
    return inside


def _is_room(category: str) -> bool:
    """Return whether a noun that is not in the lexicon is a room: "kitchenette", "print room"."""
    if load_lexicon().canonical(category) is not None:
        return False
    return category.endswith(" room") or load_wordnet().is_a(category, "room")


def _kind_of_room(name: str) -> str:
    """Return the name without " room", which would make all rooms similar: "print" for "print room"."""
    return clean_text(name).removesuffix(" room")


def rooms_apart(inquiry: Inquiry, item: Item) -> tuple[Item, tuple[str, ...]]:
    """Return the description without the room that an object is in, and the names of such rooms.

    Only the map knows that "the open plan" is a room in "the mug in the open plan". The description is
    unchanged unless every alternative names a room.
    """
    rooms = [_room_of(inquiry, graph) for readings in item.alternatives for graph in readings]
    if None in rooms:
        return item, ()
    graphs = [graph for readings in item.alternatives for graph in readings]
    names = [graph.variables[room].phrase for graph, room in zip(graphs, rooms) if room is not None]

    def plain(graph: QueryGraph) -> QueryGraph:
        room = _room_of(inquiry, graph)
        return graph.arranged([k for k in range(len(graph.variables)) if k != room])

    return _each(item, plain), tuple(dict.fromkeys(names))


def _room_of(inquiry: Inquiry, graph: QueryGraph) -> int | None:
    """Return the index of the variable that is a known room and only contains the target; None = none."""
    for predicate in graph.predicates:
        if predicate.name not in _HOLDS or predicate.negated or len(predicate.arguments) != 2:
            continue
        own, index = predicate.arguments
        used = [p for p in graph.predicates if index in p.mentioned and p.mentioned != (index,)]
        if own == 0 and len(used) == 1 and inquiry.rooms_called((graph.variables[index].phrase,)):
            return index
    return None


def held_by_rooms(inquiry: Inquiry, item: Item) -> Item:
    """Return the item with "the open plan with a mug" rewritten as "the mug inside the open plan"."""

    def held(graph: QueryGraph) -> QueryGraph:
        if len(graph.variables) < 2 or not inquiry.rooms_called((graph.target.phrase,)):
            return graph
        for k, said in enumerate(graph.predicates):
            if said.name == _HAS and not said.negated and said.arguments[1:] == (0,):
                inside = (*graph.predicates[:k], replace(said, name=_HOLDS[0]), *graph.predicates[k + 1 :])
                own = said.arguments[0]
                order = [own, *(v for v in range(len(graph.variables)) if v != own)]
                return replace(graph, predicates=inside).arranged(order)
        return graph

    return _each(item, held)


# --- objects -------------------------------------------------------------------------------------------------------


def seen_from_here(item: Item) -> Item:
    """Return the item with "nearest to you" rewritten as nearest to the robot."""

    def without_robot(graph: QueryGraph) -> QueryGraph:
        last = len(graph.variables) - 1
        if last < 1 or graph.variables[last].phrase not in _ROBOT:
            return graph
        ranked = tuple(
            replace(p, arguments=p.arguments[:1])
            if p.name in ("Closest", "Farthest") and last in p.arguments
            else p
            for p in graph.predicates
        )
        return replace(graph, predicates=ranked).arranged(range(last))

    return _each(item, without_robot)


def readings_apart(item: Item) -> Iterator[Item]:
    """Yield copies of the item with one parse per alternative, the likeliest first.

    Yields nothing if no parse is ambiguous.
    """
    most = max((len(readings) for readings in item.alternatives), default=1)
    for k in range(most if most > 1 else 0):
        chosen = (readings[min(k, len(readings) - 1)] for readings in item.alternatives)
        yield replace(item, alternatives=tuple((replace(graph, weight=1.0),) for graph in chosen))


def without_relations(item: Item) -> Item:
    """Return the item's likeliest reading, reduced to its kind and known attributes."""
    lexicon = load_lexicon()

    def bare(graph: QueryGraph) -> QueryGraph:
        own = graph.of_variable(0)
        kept = tuple(
            p for p in own.predicates
            if p.name == "IsCategory" or (p.name == "HasAttribute" and lexicon.attribute(p.value) is not None)
        )  # fmt: skip
        return QueryGraph(own.variables, kept)

    return Item(tuple((bare(readings[0]),) for readings in item.alternatives))


def without_new(item: Item) -> tuple[Item, bool]:
    """Return the item without words such as "new", and whether it had one."""

    def plain(graph: QueryGraph) -> QueryGraph:
        said = tuple(
            p for p in graph.predicates
            if not (p.name == "HasAttribute" and p.arguments == (0,) and p.value in _NEW)
        )  # fmt: skip
        if said == graph.predicates:
            return graph
        words = " ".join(word for word in graph.target.phrase.split() if word not in _NEW)
        target = replace(graph.target, phrase=words or graph.target.phrase)
        return replace(graph, variables=(target, *graph.variables[1:]), predicates=said)

    found = _each(item, plain)
    return found, found != item


def _each(item: Item, change: Callable[[QueryGraph], QueryGraph]) -> Item:
    readings = (tuple(change(graph) for graph in readings) for readings in item.alternatives)
    return replace(item, alternatives=tuple(readings))
