"""Items of a question as the map reads them: rooms as places or scopes, one reading at a time, without "new"."""

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

GENERIC = frozenset({"room", "area", "place", "floor", "zone", "aisle", "part", "location", "section"})
_HOLDS = ("Inside", "InRegion", "On")  # what the open plan has is in it
_HAS = "NextTo"  # "the desk with the lamp", "does the desk have a lamp"
_ROBOT = frozenset({"you", "robot", "here", "me", "us"})
_NEW = ("new", "newly arrived")  # said of a thing that came; no thing looks new


# --- rooms ---------------------------------------------------------------------------------------------------------


def rooms_meant(inquiry: Inquiry, item: Item | None) -> RoomsMeant | None:
    """Return the rooms that an item names, None where it is no room."""
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
    """Return the regions that go by one of these names; where none does, those whose label or contents mean nearly
    the same: "toilets" for a bathroom, "print room" for the room of the printer.
    """
    named = RoomsMeant(said or (names[0] if names else ""), inquiry.rooms_called(names))
    inside = _said_of_rooms(inquiry) if names and not named.ids else {}
    if not inside:
        return named
    words = list(inside)
    asked = unit_rows(inquiry.tools, [_kind_of_room(name) for name in names])
    cosines = (unit_rows(inquiry.tools, [_kind_of_room(word) for word in words]) @ asked.T).max(axis=1)
    best = int(cosines.argmax())
    if cosines[best] < inquiry.config.room:
        return named
    return RoomsMeant(named.name, frozenset(inside[words[best]]), guessed=True)


def _said_of_rooms(inquiry: Inquiry) -> dict[str, set[int]]:
    """Return the regions by what they are called, and by what stands in them where the scene may answer."""
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
    """Whether a noun that the lexicon does not have is a room: "kitchenette", "print room"."""
    if load_lexicon().canonical(category) is not None:
        return False
    return category.endswith(" room") or load_wordnet().is_a(category, "room")


def _kind_of_room(name: str) -> str:
    """Return "print" of "print room": that both are rooms makes them no more alike."""
    return clean_text(name).removesuffix(" room")


def rooms_apart(inquiry: Inquiry, item: Item) -> tuple[Item, tuple[str, ...]]:
    """Return the item without what only says in which room it is, and the names of these rooms.

    Only the map tells that "the open plan" is a room. One that is said of each alternative counts.
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
    """Return the variable that names a region of the map and holds the target, and nothing else is said of it."""
    for predicate in graph.predicates:
        if predicate.name not in _HOLDS or predicate.negated or len(predicate.arguments) != 2:
            continue
        own, index = predicate.arguments
        used = [p for p in graph.predicates if index in p.mentioned and p.mentioned != (index,)]
        if own == 0 and len(used) == 1 and inquiry.rooms_called((graph.variables[index].phrase,)):
            return index
    return None


def held_by_rooms(inquiry: Inquiry, item: Item) -> Item:
    """Return "the open plan with a mug", which asks whether it has one, as the mug inside the open plan."""

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


# --- things --------------------------------------------------------------------------------------------------------


def seen_from_here(item: Item) -> Item:
    """Return the item with "nearest to you" as the nearest to the robot."""

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
    """Yield the item with one reading of each alternative, the likeliest first; none where there is only one."""
    most = max((len(readings) for readings in item.alternatives), default=1)
    for k in range(most if most > 1 else 0):
        chosen = (readings[min(k, len(readings) - 1)] for readings in item.alternatives)
        yield replace(item, alternatives=tuple((replace(graph, weight=1.0),) for graph in chosen))


def without_relations(item: Item) -> Item:
    """Return the item's likeliest reading by its kind and the looks that are known as such."""
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
    """Return the item without the word for a thing that came, and whether it had one."""

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
