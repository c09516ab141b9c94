"""Ground truth of referring expressions in a world.

Relations that depend on a viewpoint (left of, behind ...) have no truth value without one; here they hold for
objects near the anchor.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product

import numpy as np

from lodestar.geometry.boxes import box_distance
from lodestar.language.query_graph import Predicate, QueryGraph
from lodestar.models.lexicon import load_lexicon, words_of
from lodestar_sim.worlds.catalogue import group_of
from lodestar_sim.worlds.elements import Decal
from lodestar_sim.worlds.world import World, WorldObject

NEXT_TO = 1.2  # metres, largest gap between boxes that are "next to" each other
NEAR = 2.0  # metres, largest gap between boxes that are "near" each other
_MAX_BINDINGS = 20_000


class Scene:
    """Objects of a world with their boxes and rooms, for evaluating referring expressions."""

    def __init__(self, world: World, time: float = 0.0) -> None:
        self.world = world.at(time)
        self.things: tuple[WorldObject, ...] = self.world.objects
        self.boxes = {thing.id: self.world.box(thing) for thing in self.things}
        self.rooms = {thing.id: self.room_at(thing.xy) for thing in self.things}
        self.labels = {room.id: room.label for room in self.world.rooms}

    def room_at(self, xy: tuple[float, float]) -> int:
        """Return the id of the smallest room that contains a place; 0 = none."""
        found = [room for room in self.world.rooms if _inside(xy, room.polygon)]
        return min(found, key=lambda room: _area(room.polygon)).id if found else 0

    def gap(self, a: WorldObject, b: WorldObject) -> float:
        """Return the least distance, metres, between two objects' boxes."""
        return float(box_distance(*self.boxes[a.id], *self.boxes[b.id]))

    def distance(self, a: WorldObject, b: WorldObject) -> float:
        """Return the horizontal distance, metres, between the centres of two objects' boxes."""
        return float(np.linalg.norm(self._middle(a)[:2] - self._middle(b)[:2]))

    def _middle(self, thing: WorldObject) -> np.ndarray:
        low, high = self.boxes[thing.id]
        return (low + high) / 2

    def matching(self, graph: QueryGraph) -> list[int]:
        """Return the ids of the objects that the target (variable 0) of a query may denote.

        If the target is ranked ("the closest"), only the best object is returned.
        """
        options = [self._candidates(graph, i) for i in range(len(graph.variables))]
        options = [self._narrowed(graph, options, i) for i in range(len(options))]
        ranked = [p for p in graph.predicates if p.name in ("Closest", "Farthest") and p.arguments[0] == 0]
        relations = [p for p in graph.predicates if len(p.arguments) > 1 and p not in ranked]
        positive = [p for p in relations if not p.negated]
        found = [t for t in options[0] if self._bound(t, positive, options)]
        for predicate in relations:
            if predicate.negated:
                found = [t for t in found if not self._bound(t, [predicate], options)]
        for predicate in ranked:
            found = self._extreme(found, options[predicate.arguments[1]], predicate)
        return [t.id for t in found]

    def _candidates(self, graph: QueryGraph, variable: int) -> list[WorldObject]:
        """Return the objects that meet the unary predicates of a variable."""
        unary = [p for p in graph.predicates if p.arguments == (variable,)]
        named = any(p.name == "IsCategory" for p in unary)
        category = graph.variables[variable].category
        found = []
        for thing in self.things:
            if not named and category and not is_class(thing, category):
                continue
            if all(self._holds_alone(thing, p) != p.negated for p in unary):
                found.append(thing)
        return found

    def _holds_alone(self, thing: WorldObject, predicate: Predicate) -> bool:
        if predicate.name == "IsCategory":
            return is_class(thing, predicate.value)
        if predicate.name == "HasAttribute":
            return has_attribute(thing, predicate.value)
        if predicate.name == "InRegion":
            return self._in_region(thing, predicate.value)
        return True

    def _in_region(self, thing: WorldObject, name: str) -> bool:
        lexicon = load_lexicon()
        label = self.labels.get(self.rooms[thing.id], "")
        return label == name or (lexicon.room(label) or label) == (lexicon.room(name) or name)

    def _narrowed(
        self, graph: QueryGraph, options: list[list[WorldObject]], variable: int
    ) -> list[WorldObject]:
        """Return the candidates of a variable of the query.

        An anchor that is itself ranked ("the desk closest to the door") has only its best candidate.
        """
        if variable == 0:
            return options[0]
        for predicate in graph.predicates:
            if predicate.name in ("Closest", "Farthest") and predicate.arguments[0] == variable:
                return self._extreme(options[variable], options[predicate.arguments[1]], predicate)
        return options[variable]

    def _extreme(
        self, found: list[WorldObject], anchors: Sequence[WorldObject], predicate: Predicate
    ) -> list[WorldObject]:
        """Return, as a list, the object nearest to (or farthest from) its nearest anchor."""
        others = {t.id: [a for a in anchors if a.id != t.id] for t in found}
        rated = [(min(self.distance(t, a) for a in others[t.id]), t) for t in found if others[t.id]]
        if not rated:
            return []
        sign = -1.0 if (predicate.name == "Farthest") != predicate.negated else 1.0
        return [min(rated, key=lambda entry: sign * entry[0])[1]]

    def _bound(
        self, target: WorldObject, relations: list[Predicate], options: list[list[WorldObject]]
    ) -> bool:
        """Return whether all relations of the target hold for some choice of anchors from `options`."""
        used = sorted({i for p in relations for i in p.arguments if i != 0})
        choices = [[a for a in options[i] if a.id != target.id] for i in used]
        for number, combination in enumerate(product(*choices)):
            if number >= _MAX_BINDINGS:
                break
            binding = {0: target, **dict(zip(used, combination))}
            if all(self.holds(p.name, [binding[i] for i in p.arguments]) for p in relations):
                return True
        return False

    def holds(self, name: str, things: Sequence[WorldObject]) -> bool:
        """Return whether a relation holds between the first object and the other ones, its anchors."""
        first, anchor = things[0], things[-1]
        if name == "On":
            return first.supported_by == anchor.id or self._rests_on(first, anchor)
        if name == "Inside":
            return first.contained_in == anchor.id or self._lies_in(first, anchor)
        if name in ("Above", "Below"):
            upper, lower = (first, anchor) if name == "Above" else (anchor, first)
            clear = self.boxes[upper.id][0][2] >= self.boxes[lower.id][1][2] - 0.05
            return self._over(upper, lower) and (clear or (name == "Below" and self._at_foot(lower, upper)))
        if name == "Between":
            return self._between(*things[:3]) if len(things) >= 3 else self.holds("Near", things)
        limit = NEXT_TO if name == "NextTo" else NEAR
        return self._same_room(first, anchor) and self.gap(first, anchor) <= limit

    def _same_room(self, a: WorldObject, b: WorldObject) -> bool:
        rooms = {self.rooms[a.id], self.rooms[b.id]}
        return len(rooms) == 1 or 0 in rooms

    def _over(self, upper: WorldObject, lower: WorldObject) -> bool:
        """Return whether, seen from above, the boxes overlap by at least half the area of the smaller one."""
        (a0, a1), (b0, b1) = self.boxes[upper.id], self.boxes[lower.id]
        shared = np.prod(np.maximum(np.minimum(a1, b1)[:2] - np.maximum(a0, b0)[:2], 0.0))
        smaller = min(np.prod((a1 - a0)[:2]), np.prod((b1 - b0)[:2]))
        return bool(shared >= 0.5 * smaller)

    def _at_foot(self, first: WorldObject, anchor: WorldObject) -> bool:
        """Return whether the first object stands between the anchor's legs, like a box under a table."""
        if any(t.supported_by or t.contained_in or t.mounted for t in (first, anchor)):
            return False
        return bool(self.boxes[first.id][1][2] <= self.boxes[anchor.id][1][2] - 0.05)

    def _rests_on(self, first: WorldObject, anchor: WorldObject) -> bool:
        gap = self.boxes[first.id][0][2] - self.boxes[anchor.id][1][2]
        return abs(gap) <= 0.05 and self._over(first, anchor)

    def _lies_in(self, first: WorldObject, anchor: WorldObject) -> bool:
        (a0, a1), (b0, b1) = self.boxes[first.id], self.boxes[anchor.id]
        middle = (a0 + a1) / 2
        return bool((middle >= b0).all() and (middle <= b1).all() and (a1 - a0).max() < (b1 - b0).max())

    def _between(self, first: WorldObject, a: WorldObject, b: WorldObject) -> bool:
        if a.id == b.id:
            return False
        p, q, x = self._middle(a)[:2], self._middle(b)[:2], self._middle(first)[:2]
        along = float(np.dot(x - p, q - p) / max(np.dot(q - p, q - p), 1e-9))
        aside = float(np.linalg.norm(x - (p + along * (q - p))))
        return 0.05 < along < 0.95 and aside <= max(0.5, 0.25 * float(np.linalg.norm(q - p)))


def is_class(thing: WorldObject | Decal, phrase: str) -> bool:
    """Return whether a phrase names an object's class: same noun, synonym, hypernym, or end of its caption."""
    lexicon = load_lexicon()
    wanted, own = lexicon.singular_phrase(phrase), lexicon.singular_phrase(thing.category)
    if lexicon.is_generic(phrase):
        return True
    if wanted == own or f" {thing.caption}".endswith(f" {wanted}"):
        return True
    known, mine = lexicon.canonical(wanted), lexicon.canonical(own)
    if known is None or mine is None:
        return False
    caption = " ".join(words_of(thing.caption)[1:])
    return known in (mine, lexicon.canonical(caption)) or known in lexicon.wider(mine)


def has_attribute(thing: WorldObject | Decal, value: str) -> bool:
    """Return whether an object's caption, colour and material together contain every word of an attribute."""
    lexicon = load_lexicon()
    own = {*words_of(thing.caption), thing.color, thing.material}
    own |= {lexicon.attribute(word) or word for word in own}
    return all(word in own or lexicon.attribute(word) in own for word in words_of(value))


@cache
def confusable(a: str, b: str) -> bool:
    """Return whether a listener might confuse the two classes."""
    if group_of(a) == group_of(b):
        return True
    lexicon = load_lexicon()
    first, second = lexicon.canonical(a) or a, lexicon.canonical(b) or b
    if first == second or first in lexicon.wider(second) or second in lexicon.wider(first):
        return True
    near = [lexicon.nouns[n].near for n in (first, second) if n in lexicon.nouns]
    return any(n in (first, second, a, b) for names in near for n in names)


def _inside(xy: tuple[float, float], polygon: Sequence[tuple[float, float]]) -> bool:
    """Return whether a point lies in a polygon (even-odd rule)."""
    x, y = xy
    inside = False
    for (x0, y0), (x1, y1) in zip(polygon, [*polygon[1:], polygon[0]]):
        if (y0 > y) != (y1 > y) and x < (x1 - x0) * (y - y0) / (y1 - y0) + x0:
            inside = not inside
    return inside


def _area(polygon: Sequence[tuple[float, float]]) -> float:
    points = np.asarray(polygon)
    following = np.roll(points, -1, axis=0)
    return abs(float((points[:, 0] * following[:, 1] - points[:, 1] * following[:, 0]).sum())) / 2
