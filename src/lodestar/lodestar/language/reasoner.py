"""The interface of reasoners, which rank candidates for a step, and the reasoner without a model (RoboAtlas
IV-E).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lodestar.language.directive import Task
from lodestar.language.views import GO, ViewAnswer, ViewQuestion
from lodestar.scene.records import Entity, EntityState


class Scored(Protocol):
    """Interface of the result of a query for one entity; query.verdict.Candidate implements it."""

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
    """A reasoner's confidence in [0, 1] that an entity is worth visiting (Phi of RoboAtlas eq. 19), and the
    reason.

    by: name of the reasoner.
    """

    entity_id: int
    confidence: float
    rationale: str
    by: str = "offline"


@dataclass(frozen=True)
class RankRequest:
    """Candidates to rank for a task.

    entities: the scene around them, None = unknown. context: descriptions of earlier views, newest last: untrusted
    text.
    """

    candidates: Sequence[Scored]
    task: Task
    entities: Mapping[int, Entity] | None = None
    context: Sequence[str] = ()


class Reasoner(Protocol):
    """Interface of reasoners that rank candidates and judge views. sees: the reasoner uses images. waits: judging a
    view may take time.
    """

    name: str
    sees: bool
    waits: bool

    def begin_task(self) -> None:
        """Begin another directive: reset the budgets and discard answers to the last one."""

    def rank(self, request: RankRequest) -> list[Judgement]:
        """Return judgements of the candidates, best first."""

    def judge_view(self, question: ViewQuestion) -> ViewAnswer | None:
        """Return scores of the marked places in view and the chosen action (RoboAtlas eq. 21, 22).

        The action is a place or a turn. None, possible only if `waits`, means that there is no answer about
        this image yet; ask again.
        """


class OfflineReasoner:
    """Deterministic reasoner that ranks by the query's scores, without a model.

    A candidate whose kind and attributes fit but whose relations are not met keeps the share `hope` (0 to 1)
    of its semantic score: the object that it relates to may not have been seen yet.
    """

    name = "offline"
    sees = False
    waits = False

    def __init__(self, hope: float = 0.5) -> None:
        if not 0.0 <= hope <= 1.0:
            raise ValueError(f"hope must lie in [0, 1], not {hope}")
        self._hope = hope

    def begin_task(self) -> None:
        """Do nothing: this reasoner keeps no state between questions."""

    def rank(self, request: RankRequest) -> list[Judgement]:
        """Return judgements, best first, ties by id. Archived entities, which are known to be gone, are left
        out.
        """
        entities, found = request.entities, []
        for candidate in request.candidates:
            entity = None if entities is None else entities.get(candidate.entity_id)
            if entities is not None and (entity is None or entity.state == EntityState.ARCHIVED):
                continue
            confidence = max(candidate.score, self._hope * candidate.semantic_score)
            rationale = candidate.explanation or f"entity {candidate.entity_id}"
            if request.task.target:
                rationale = f'"{request.task.target}": {rationale}'
            found.append(Judgement(candidate.entity_id, float(np.clip(confidence, 0.0, 1.0)), rationale))
        return sorted(found, key=lambda judgement: (-judgement.confidence, judgement.entity_id))

    def judge_view(self, question: ViewQuestion) -> ViewAnswer:
        """Return the query's scores of the marks; the action is GO if any is above 0.

        Otherwise the action is the most open turn.
        """
        scores = {point.number: float(np.clip(point.score, 0.0, 1.0)) for point in question.points}
        if any(score > 0.0 for score in scores.values()):
            return ViewAnswer(question, scores, GO)
        turn = max(question.turns, key=lambda name: question.openness.get(name, 0.0), default="")
        return ViewAnswer(question, scores, turn)
