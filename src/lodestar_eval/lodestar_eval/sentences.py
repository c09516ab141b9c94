"""Referring sentences generated from a world, each true of exactly one object by ground truth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lodestar.language.query_graph import Predicate, QueryGraph, QueryVariable
from lodestar_sim.reference_truth import Scene, confusable
from lodestar_sim.tasks import PLAIN
from lodestar_sim.worlds.world import World, WorldObject

_WORDS = {
    "NextTo": "next to", "Near": "near", "On": "on", "Below": "under",
    "Closest": "closest to", "Farthest": "farthest from",
}  # fmt: skip
_MIN_SIZE = 0.10  # m, least longest side of a target
_MARGIN = 0.8  # m by which the closest object is closer than the second closest
# m, gap between boxes below which "next to" surely holds, and above which it surely does not
_TOGETHER, APART = 0.4, 2.3


@dataclass(frozen=True)
class Made:
    """Generated sentence with the id of its target and its relation, "" if it names a colour only."""

    text: str
    target: int
    relation: str


def make_sentences(world: World, count: int, rng: np.random.Generator) -> list[Made]:
    """Return at most `count` different sentences, with the kinds of relation in turn."""
    maker = _Maker(world, rng)
    kinds = {name: maker.of_kind(name) for name in ("color", *_WORDS, "Between", "nested")}
    made: dict[str, Made] = {}
    while kinds and len(made) < count:
        for name in list(kinds):
            found = next(kinds[name], None)
            if found is None:
                del kinds[name]
            elif len(made) < count:
                made.setdefault(found.text, found)
    return list(made.values())


class _Maker:
    def __init__(self, world: World, rng: np.random.Generator) -> None:
        self.scene = Scene(world)
        things = [t for t in self.scene.things if t.category not in PLAIN]
        self.things = [things[int(i)] for i in rng.permutation(len(things))]
        self.targets = [t for t in self.things if self._may_be_target(t)]

    def _may_be_target(self, thing: WorldObject) -> bool:
        if thing.contained_in or max(thing.size) < _MIN_SIZE or thing.color not in thing.caption.split():
            return False
        return bool(self._rivals(thing))

    def _rivals(self, thing: WorldObject) -> list[WorldObject]:
        return [t for t in self.scene.things if t.id != thing.id and confusable(t.category, thing.category)]

    def of_kind(self, name: str) -> Iterator[Made]:
        """Yield sentences of one kind, for each target in turn."""
        for target in self.targets:
            found = self._color(target) if name == "color" else self._related(target, name)
            if found is not None:
                yield found

    def _color(self, target: WorldObject) -> Made | None:
        if any(rival.color == target.color for rival in self._rivals(target)):
            return None
        return Made(f"the {target.color} {target.category}", target.id, "color")

    def _related(self, target: WorldObject, name: str) -> Made | None:
        if name == "Between":
            return self._between(target)
        for anchor in self.things:
            if anchor.id == target.id or confusable(anchor.category, target.category):
                continue
            if name == "nested":
                found = self._nested(target, anchor)
            elif self._surely(name, target, anchor) and self._means(target, anchor, name):
                found = Made(f"the {target.category} {_WORDS[name]} the {anchor.category}", target.id, name)
            else:
                found = None
            if found is not None:
                return found
        return None

    def _surely(self, name: str, target: WorldObject, anchor: WorldObject) -> bool:
        """Return whether the relation holds by a margin, and for nothing similar to target or anchor."""
        scene, rivals = self.scene, self._rivals(target)
        anchors = [t for t in scene.things if confusable(t.category, anchor.category)]
        if name in ("Closest", "Farthest"):
            if len(anchors) != 1:
                return False
            sign = 1.0 if name == "Closest" else -1.0
            own = sign * scene.gap(target, anchor)
            return all(sign * scene.gap(rival, anchor) > own + _MARGIN for rival in rivals)
        if name in ("NextTo", "Near"):
            limit = _TOGETHER if name == "NextTo" else 1.0
            apart = all(scene.gap(r, a) > APART + (name == "Near") for r in rivals for a in anchors)
            standing = not target.supported_by and not target.mounted
            return standing and scene.gap(target, anchor) <= limit and apart
        return scene.holds(name, (target, anchor)) and not any(
            scene.holds(name, (rival, a)) for rival in rivals for a in anchors if a.id != rival.id
        )

    def _means(self, target: WorldObject, anchor: WorldObject, name: str) -> bool:
        graph = QueryGraph(_variables(target, anchor), (*_kinds(target, anchor), Predicate(name, (0, 1))))
        return self.scene.matching(graph) == [target.id]

    def _between(self, target: WorldObject) -> Made | None:
        near = [t for t in self.things if 0.0 < self.scene.distance(t, target) < 2.5 and max(t.size) > 0.4]
        for i, first in enumerate(near):
            for second in near[i + 1 :]:
                if first.category == second.category or any(
                    confusable(a.category, target.category) for a in (first, second)
                ):
                    continue
                if not self.scene.holds("Between", (target, first, second)):
                    continue
                graph = QueryGraph(
                    _variables(target, first, second),
                    (*_kinds(target, first, second), Predicate("Between", (0, 1, 2))),
                )
                if self.scene.matching(graph) == [target.id]:
                    text = f"the {target.category} between the {first.category} and the {second.category}"
                    return Made(text, target.id, "Between")
        return None

    def _nested(self, target: WorldObject, anchor: WorldObject) -> Made | None:
        """Return a sentence whose anchor needs a relation too: "the mug on the desk next to the bed"."""
        if not self.scene.holds("On", (target, anchor)):
            return None
        for further in self.things:
            kinds = {further.category, anchor.category, target.category}
            if len(kinds) < 3 or not self._surely("NextTo", anchor, further):
                continue
            graph = QueryGraph(
                _variables(target, anchor, further),
                (*_kinds(target, anchor, further), Predicate("On", (0, 1)), Predicate("NextTo", (1, 2))),
            )
            flat = any(self.scene.holds("NextTo", (rival, further)) for rival in self._rivals(target))
            if not flat and self.scene.matching(graph) == [target.id]:
                text = f"the {target.category} on the {anchor.category} next to the {further.category}"
                return Made(text, target.id, "nested")
        return None


def _variables(*things: WorldObject) -> tuple[QueryVariable, ...]:
    return tuple(QueryVariable(t.category, t.category) for t in things)


def _kinds(*things: WorldObject) -> tuple[Predicate, ...]:
    return tuple(Predicate("IsCategory", (i,), t.category) for i, t in enumerate(things))
