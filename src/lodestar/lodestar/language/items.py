"""Things and places that are talked about: the records that directives and questions share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from lodestar.language.directive_errors import OutOfBounds
from lodestar.language.query_graph import QueryGraph
from lodestar.models.lexicon import load_lexicon

ROBOT_FRAME = "base_link"  # of a Pose that is said from where the robot stands: x ahead, y to its left
_MAX_NUMBER = 2**32 - 1  # of a message
_WRITTEN_ON = frozenset({"plate", "doorplate", "nameplate", "sign", "door", "label"})  # that name a room
_OF_WRITING = frozenset(
    {"name", "number", "word", "words", "text", "the"}
)  # "with the name Miller on its door"
EVERY = 0  # of Item.count: all there are


@dataclass(frozen=True)
class Item:
    """Something that is talked about: a thing, a person, a room, a named place or a spot.

    alternatives: any of them will do ("the red or the yellow chair"); each has its readings, best first, whose
    weights add up to 1. excluded: what fits one of these is not meant ("any chair except the red one").
    images: encoded pictures of it, which may stand in for words. count: how many are wanted, EVERY = all there are.
    Raises OutOfBounds for a count below 0 or above that of a message.
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
        """Every reading of every alternative, weighted so that the weights add up to 1."""
        share = 1.0 / max(len(self.alternatives), 1)
        return tuple(
            replace(graph, weight=graph.weight * share)
            for readings in self.alternatives
            for graph in readings
        )

    @property
    def best(self) -> tuple[QueryGraph, ...]:
        """The best reading of each alternative."""
        return tuple(readings[0] for readings in self.alternatives)

    @property
    def room_names(self) -> tuple[str, ...]:
        """The names of the room that it is: "office", or "office miller" of one "with Miller on its plate"."""
        return tuple(dict.fromkeys(_room_name(readings) for readings in self.alternatives))

    @property
    def phrase(self) -> str:
        """The words for it: "red chair or yellow chair"; empty where a picture stands in for them."""
        return " or ".join(dict.fromkeys(graph.target.phrase for graph in self.best))

    @cached_property
    def neighbors(self) -> tuple[str, ...]:
        """Phrases of the things it is related to (RoboAtlas' Q_N, IV-C)."""
        return tuple(dict.fromkeys(v.phrase for graph in self.graphs for v in graph.variables[1:]))

    @cached_property
    def neighbor_graphs(self) -> tuple[QueryGraph, ...]:
        """One query for each of `neighbors`, by its own words alone."""
        named = {
            v.phrase: (graph, i)
            for graph in reversed(self.graphs)
            for i, v in enumerate(graph.variables)
            if i
        }
        return tuple(named[phrase][0].of_variable(named[phrase][1]) for phrase in self.neighbors)


def _room_name(readings: Sequence[QueryGraph]) -> str:
    """Return the category of a room, and what is said to be written on its plate."""
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
    """A place as numbers: x, y in metres, heading in radians (None = any), in the frame that `frame` names.

    In ROBOT_FRAME it is said from where the robot stands when its step begins.
    """

    x: float
    y: float
    heading: float | None = None
    frame: str = "map"

    def __post_init__(self) -> None:
        numbers = (self.x, self.y, self.heading or 0.0)
        if not all(math.isfinite(number) and abs(number) < 1e6 for number in numbers):
            raise OutOfBounds("a place needs finite coordinates in metres, each less than 1,000,000")


#: Levels that are said from where the robot is when the step begins, and all of them; no building has so many.
UPSTAIRS, DOWNSTAIRS, EVERY_LEVEL = 1000, -1000, 2000


@dataclass(frozen=True)
class Scope:
    """The rooms, the level and the surroundings in which a step takes place. Empty: wherever the robot can go.

    rooms: any of them, each a graph whose target is the room. level: of the building, 0 = ground, None = any; or
    UPSTAIRS, DOWNSTAIRS, EVERY_LEVEL.
    around, radius: within `radius` metres of a thing.
    """

    rooms: tuple[QueryGraph, ...] = ()
    level: int | None = None
    around: QueryGraph | None = None
    radius: float = math.inf  # m

    @property
    def labels(self) -> tuple[str, ...]:
        """Canonical words of the rooms, as `Region.label` has them."""
        return tuple(dict.fromkeys(room.target.category for room in self.rooms))

    def __bool__(self) -> bool:
        return bool(self.rooms) or self.level is not None or self.around is not None


ANYWHERE = Scope()


def is_open(item: Item) -> bool:
    """Whether its words do not say what is looked for: none, or just "the object"."""
    lexicon = load_lexicon()
    return all(
        lexicon.is_generic(graph.target.category) and all(p.name == "IsCategory" for p in graph.predicates)
        for graph in item.graphs
    )
