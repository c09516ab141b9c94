"""Records of objects, places and areas, shared by directives and questions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from lodestar.language.directive_errors import OutOfBounds
from lodestar.language.query_graph import QueryGraph
from lodestar.models.lexicon import load_lexicon

ROBOT_FRAME = "base_link"  # frame of a Pose relative to the robot: x ahead, y to its left
_MAX_NUMBER = 2**32 - 1  # largest value of the message's uint32 field
# signs with a room's name
_WRITTEN_ON = frozenset({"plate", "doorplate", "nameplate", "sign", "door", "label"})
# filler words of "with the name Miller on its door"
_OF_WRITING = frozenset({"name", "number", "word", "words", "text", "the"})
EVERY = 0  # value of Item.count: all there are


@dataclass(frozen=True)
class Item:
    """An object, a person, a room, a named place or a spot that a text refers to.

    alternatives: any of them satisfies the request ("the red or the yellow chair"); each is a tuple of
    readings, best first, whose weights add up to 1. excluded: graphs that must not match ("any chair except
    the red one"). images: encoded pictures of the item, which may replace words. count: how many are wanted,
    EVERY = all. Raises OutOfBounds for a count below 0 or too large for a message.
    """

    alternatives: tuple[tuple[QueryGraph, ...], ...] = ()
    excluded: tuple[QueryGraph, ...] = ()
    images: tuple[bytes, ...] = ()
    count: int = 1

    def __post_init__(self) -> None:
        if self.count < 0:
            raise OutOfBounds("it asks for fewer than none of a thing; ask for one at least")
        if self.count > _MAX_NUMBER:
            raise OutOfBounds("it asks for more of one thing than can be counted")
        if any(not readings for readings in self.alternatives):
            raise ValueError("an alternative needs at least one reading")

    @cached_property
    def graphs(self) -> tuple[QueryGraph, ...]:
        """Return every reading of every alternative, with weights that add up to 1."""
        share = 1.0 / max(len(self.alternatives), 1)
        return tuple(
            replace(graph, weight=graph.weight * share)
            for readings in self.alternatives
            for graph in readings
        )

    @property
    def best(self) -> tuple[QueryGraph, ...]:
        """Return the best reading of each alternative."""
        return tuple(readings[0] for readings in self.alternatives)

    @property
    def room_names(self) -> tuple[str, ...]:
        """Return the names of a room item: "office", or "office miller" for "the office with Miller on its
        plate".
        """
        return tuple(dict.fromkeys(_room_name(readings) for readings in self.alternatives))

    @property
    def phrase(self) -> str:
        """Return the item's words, "red chair or yellow chair"; empty if only pictures describe it."""
        return " or ".join(dict.fromkeys(graph.target.phrase for graph in self.best))

    @cached_property
    def neighbors(self) -> tuple[str, ...]:
        """Return the phrases of the objects that the item is related to (Q_N of RoboAtlas IV-C)."""
        return tuple(dict.fromkeys(v.phrase for graph in self.graphs for v in graph.variables[1:]))

    @cached_property
    def neighbor_graphs(self) -> tuple[QueryGraph, ...]:
        """Return one query for each of `neighbors`, without its relations."""
        named = {
            v.phrase: (graph, i)
            for graph in reversed(self.graphs)
            for i, v in enumerate(graph.variables)
            if i
        }
        return tuple(named[phrase][0].of_variable(named[phrase][1]) for phrase in self.neighbors)


def _room_name(readings: Sequence[QueryGraph]) -> str:
    """Return the category of a room, followed by the text said to be written on its plate."""
    best = readings[0]
    others = {variable.category.split()[-1] for graph in readings for variable in graph.variables[1:]}
    if others.isdisjoint(_WRITTEN_ON):
        return best.target.category
    lexicon = load_lexicon()
    said = [p.value for p in best.predicates if p.name == "HasAttribute" and set(p.arguments) == {0}]
    marks = [word for value in said if lexicon.attribute(value) is None for word in value.split()]
    return " ".join([best.target.category, *(word for word in marks if word not in _OF_WRITING)])


@dataclass(frozen=True)
class Pose:
    """A position: x, y in metres and heading in radians (None = any), in the frame that `frame` names.

    In ROBOT_FRAME it is relative to the robot's pose at the start of the step.
    """

    x: float
    y: float
    heading: float | None = None
    frame: str = "map"

    def __post_init__(self) -> None:
        numbers = (self.x, self.y, self.heading or 0.0)
        if not all(math.isfinite(number) and abs(number) < 1e6 for number in numbers):
            raise OutOfBounds("a place needs finite coordinates in metres, each less than 1,000,000")


#: Special values of Scope.level: relative to the robot's level at the start of the step, and all levels.
UPSTAIRS, DOWNSTAIRS, EVERY_LEVEL = 1000, -1000, 2000


@dataclass(frozen=True)
class Scope:
    """The area in which a step takes place: rooms, level and surroundings. An empty scope is unrestricted.

    rooms: alternatives, each a graph whose target is the room. level: of the building, 0 = ground, None =
    any; or UPSTAIRS, DOWNSTAIRS, EVERY_LEVEL. around, radius: within `radius` metres of this object.
    """

    rooms: tuple[QueryGraph, ...] = ()
    level: int | None = None
    around: QueryGraph | None = None
    radius: float = math.inf  # m, around `around`

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the canonical names of the rooms, as used in `Region.label`."""
        return tuple(dict.fromkeys(room.target.category for room in self.rooms))

    def __bool__(self) -> bool:
        return bool(self.rooms) or self.level is not None or self.around is not None


ANYWHERE = Scope()


def is_open(item: Item) -> bool:
    """Return whether the item's words name no kind of object: there are none, or just "the object"."""
    lexicon = load_lexicon()
    return all(
        lexicon.is_generic(graph.target.category) and all(p.name == "IsCategory" for p in graph.predicates)
        for graph in item.graphs
    )
