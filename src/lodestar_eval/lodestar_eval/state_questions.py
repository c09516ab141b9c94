"""Spatial questions about a building in which objects change, each with its true answer at one time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from lodestar.language.grammar import parse_query
from lodestar.language.query_graph import QueryGraph
from lodestar.models.phrases import PhraseBook
from lodestar.query.verdict import QueryConfig, decide, score_query
from lodestar.scene.records import Entity
from lodestar_eval.ask_to_act import absent_kinds
from lodestar_eval.sentences import APART, make_sentences
from lodestar_sim.reference_truth import Scene, confusable
from lodestar_sim.tasks import PLAIN
from lodestar_sim.worlds.world import World

#: Number of questions by difficulty of VLM-DEWM table 3; its fourth, daily scenarios, needs more than a map.
COUNTS = {"recognition": 15, "relation": 20, "several": 5}
_ABSENT = 5  # number of the recognition questions about categories that the building never had
_SEVERAL = ("nested", "Between", "Closest", "Farthest")
_MADE = 120  # sentences generated per world, from which the questions are drawn


@dataclass(frozen=True)
class SpatialQuestion:
    """Question "Is there ...?" targets: objects that fit `text` when it is asked; () = the answer is no.

    changed: the answer, or the place of a target, differs from that at the beginning.
    """

    text: str
    difficulty: str
    targets: tuple[int, ...]
    changed: bool


def questions_of(before: World, now: World, seed: int) -> list[SpatialQuestion]:
    """Return questions on a building that was `before` and is `now`, those with a changed answer first.

    Each sentence is clearly true of one object before or now. A sentence that fits no object now is left out
    if an object nearly fits it.
    """
    rng = np.random.default_rng((seed, 0x7AB))
    then, scene = Scene(before), Scene(now)
    found: dict[str, list[SpatialQuestion]] = {name: [] for name in COUNTS}
    for text, difficulty in _texts(before, now, rng):
        graphs = parse_query(text)
        targets = _meant(graphs, scene)
        if targets or not _is_close(graphs, scene):
            changed = _places(_meant(graphs, then), then) != _places(targets, scene)
            found[difficulty].append(SpatialQuestion(text, difficulty, targets, changed))
    asked = []
    for name, count in COUNTS.items():
        absent = [q for q in found[name] if not q.targets and not q.changed][:_ABSENT]
        others = sorted((q for q in found[name] if q not in absent), key=lambda q: not q.changed)
        asked += others[: count - len(absent)] + absent
    return asked


def _texts(before: World, now: World, rng: np.random.Generator) -> Iterator[tuple[str, str]]:
    """Yield different sentences with their difficulty, in random order."""
    made = [*make_sentences(before, _MADE, rng), *make_sentences(now, _MADE, rng)]
    texts = {m.text: _difficulty(m.relation) for m in made}
    kinds = {thing.category for world in (before, now) for thing in world.objects}
    texts |= {f"the {kind}": "recognition" for kind in sorted(kinds) if kind not in PLAIN}
    texts |= {f"the {kind}": "recognition" for kind in islice(absent_kinds(kinds, rng), _ABSENT)}
    order = list(texts.items())
    yield from (order[int(i)] for i in rng.permutation(len(order)))


def _difficulty(relation: str) -> str:
    if relation == "color":
        return "recognition"
    return "several" if relation in _SEVERAL else "relation"


def _meant(graphs: Sequence[QueryGraph], scene: Scene) -> tuple[int, ...]:
    return tuple(sorted({identity for graph in graphs for identity in scene.matching(graph)}))


def _places(things: Sequence[int], scene: Scene) -> set[tuple[int, object]]:
    return {(identity, scene.world.object(identity).pose) for identity in things}


def _is_close(graphs: Sequence[QueryGraph], scene: Scene) -> bool:
    """Return whether objects of the sentence's categories are so close that "next to" may apply to them."""
    for graph in graphs:
        kinds = [variable.category for variable in graph.variables]
        for predicate in graph.predicates:
            if len(predicate.arguments) != 2 or not all(kinds[i] for i in predicate.arguments):
                continue
            one, other = (
                [thing for thing in scene.things if confusable(thing.category, kinds[i])]
                for i in predicate.arguments
            )
            if any(a.id != b.id and scene.gap(a, b) < APART for a in one for b in other):
                return True
    return False


def answer(question: SpatialQuestion, held: Sequence[Entity], phrases: PhraseBook) -> Entity | None:
    """Return the entity by which a robot that believes in `held` answers yes; None if it answers no."""
    entities = {entity.id: entity for entity in held}
    best = decide(score_query(parse_query(question.text), entities, phrases), QueryConfig()).best
    return None if best is None else entities[best.entity_id]
