"""Reasoners weigh candidates for a step: the port, and the reasoner that needs no model (RoboAtlas IV-E)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lodestar.language.directive import Task
from lodestar.language.views import GO, ViewAnswer, ViewQuestion
from lodestar.scene.captions import clean_text
from lodestar.scene.records import Entity, EntityState

DEFAULT_BUDGET = 24_000  # characters of a scene description


class Scored(Protocol):
    """Result of a query for one entity: query.scoring.Candidate is one."""

    @property
    def entity_id(self) -> int: ...

    @property
    def score(self) -> float: ...

    @property
    def semantic_score(self) -> float: ...

    @property
    def explanation(self) -> str: ...


@dataclass(frozen=True)
class Judgement:
    """A reasoner's confidence, in [0, 1], that an entity is worth going to (Phi of RoboAtlas eq. 19), and why.

    by: name of the reasoner that came to it.
    """

    entity_id: int
    confidence: float
    rationale: str
    by: str = "offline"


class Reasoner(Protocol):
    """Port of whatever ranks candidates, judges views and words the scene. sees: whether it looks at images. waits:
    whether a view may take it a while.
    """

    name: str
    sees: bool
    waits: bool

    def begin_task(self) -> None:
        """Begin another directive: budgets begin anew, answers to the last one are void."""
        ...

    def rank(
        self,
        candidates: Sequence[Scored],
        task: Task,
        entities: Mapping[int, Entity] | None = None,
        context: Sequence[str] = (),
    ) -> list[Judgement]:
        """Judgements of candidates, best first. `entities` is the scene around them, `context` what was described of
        earlier views, newest last: untrusted text.
        """
        ...

    def judge_view(self, question: ViewQuestion) -> ViewAnswer | None:
        """Choose one of the marked places in view, or a turn (RoboAtlas eq. 21, 22). None, where it waits: there is no
        answer yet about this very image; ask again.
        """
        ...

    def describe(self, entities: Iterable[Entity], budget: int = DEFAULT_BUDGET) -> str:
        """The scene as text of at most `budget` characters."""
        ...


class OfflineReasoner:
    """Ranks by what the query scorer found, without a model: the same input gives the same order.

    A candidate whose kind and attributes fit but whose relations are not met keeps `hope` of its semantic score:
    the anchor may not have been seen yet.
    """

    name = "offline"
    sees = False
    waits = False

    def __init__(self, hope: float = 0.5) -> None:
        if not 0.0 <= hope <= 1.0:
            raise ValueError(f"hope must lie in [0, 1], not {hope}")
        self._hope = hope

    def begin_task(self) -> None:
        """Nothing is kept between questions."""

    def rank(
        self,
        candidates: Sequence[Scored],
        task: Task,
        entities: Mapping[int, Entity] | None = None,
        context: Sequence[str] = (),
    ) -> list[Judgement]:
        """Judgements, best first; equal ones by id. Entities that are known to be gone are left out."""
        found = []
        for candidate in candidates:
            entity = None if entities is None else entities.get(candidate.entity_id)
            if entities is not None and (entity is None or entity.state == EntityState.ARCHIVED):
                continue
            confidence = max(candidate.score, self._hope * candidate.semantic_score)
            rationale = candidate.explanation or f"entity {candidate.entity_id}"
            if task.target:
                rationale = f'"{task.target}": {rationale}'
            found.append(Judgement(candidate.entity_id, float(np.clip(confidence, 0.0, 1.0)), rationale))
        return sorted(found, key=lambda judgement: (-judgement.confidence, judgement.entity_id))

    def judge_view(self, question: ViewQuestion) -> ViewAnswer:
        """The marks' own scores; to go to the best, or, where none is worth it, the most open turn that is new."""
        scores = {point.number: float(np.clip(point.score, 0.0, 1.0)) for point in question.points}
        if any(score > 0.0 for score in scores.values()):
            return ViewAnswer(question, scores, GO)
        turn = max(question.turns, key=lambda name: question.openness.get(name, 0.0), default="")
        return ViewAnswer(question, scores, turn)

    def describe(self, entities: Iterable[Entity], budget: int = DEFAULT_BUDGET) -> str:
        """See `describe_scene`."""
        return describe_scene(entities, budget)


def describe_scene(entities: Iterable[Entity], budget: int = DEFAULT_BUDGET) -> str:
    """The scene as text: a header, then one line per entity in falling order of occupancy probability (eq. 17).

    What does not fit into `budget` characters is left out, and the header says so. Captions are on one line each.
    """
    present = [e for e in entities if e.state != EntityState.ARCHIVED]
    ranked = sorted(present, key=lambda e: (-e.occupancy_probability, e.id))
    lines: list[str] = []
    header = f"{len(ranked)} things, x y z in metres"
    used = len(header) + len(", the 999999 surest are listed")
    for entity in ranked:
        line = describe_entity(entity)
        if used + len(line) + 1 > budget:
            break
        lines.append(line)
        used += len(line) + 1
    if len(lines) < len(ranked):
        header += f", the {len(lines)} surest are listed"
    return "\n".join([header, *lines])[: max(budget, 0)]


def describe_entity(entity: Entity) -> str:
    """Id, caption, centre and size of one entity on a line."""
    x, y, z = (float(v) for v in entity.mean)
    sx, sy, sz = (float(v) for v in np.subtract(entity.box_max, entity.box_min))
    doubt = " (uncertain)" if entity.state == EntityState.UNCERTAIN else ""
    caption = clean_text(entity.caption or entity.label)
    return f"#{entity.id} {caption}{doubt} at {x:.1f} {y:.1f} {z:.1f}, size {sx:.1f} {sy:.1f} {sz:.1f}"
