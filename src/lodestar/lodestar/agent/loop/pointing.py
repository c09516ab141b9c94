"""Meaning of a point that a person shows on the map: "that is it".

While something is searched for, the point names the target: the entity there is gone to, and is claimed when it was
seen again on arrival. Where a directive ended with a question about things, the point chooses one of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.errand import FOUND
from lodestar.agent.errands.open_questions import OpenQuestion
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.errands.words import name_of, step_in_words
from lodestar.geometry.boxes import box_volume, point_box_distance
from lodestar.language.directive import Step, StepKind
from lodestar.models.english import with_article
from lodestar.models.kinship import same_kind
from lodestar.scene.captions import clean_text
from lodestar.scene.records import Entity, EntityState


class PointingError(IntEnum):
    """PointOut's error codes."""

    NOTHING_ASKED = 11030
    NOTHING_NEAR = 11031
    UNCLEAR = 11032
    BAD_POINT = 11033


class PointingRefused(LookupError):
    """The point means nothing now; the message says why and what to do."""

    def __init__(self, code: PointingError, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Pointed:
    """Meaning of a point. question_id, choice: of the question that it answers, "" and 0 = none.

    correction: words for the world model about the entity, "" = what is believed of it fits already.
    """

    entity_id: int
    report: str
    question_id: str = ""
    choice: int = 0
    correction: str = ""


@dataclass(frozen=True)
class _Near:
    """An entity near the point. plan: metres to its box in plan; away: in space."""

    entity: Entity
    plan: float
    away: float

    @property
    def order(self) -> tuple[float, float, int]:
        """Nearest first, to a centimetre; of two that hold the point, the smaller, which stands in or on the other."""
        size = float(box_volume(self.entity.box_min, self.entity.box_max))
        return round(self.away, 2), size, self.entity.id


class Pointing:
    """Finds what is meant by a point; a search that runs goes to it."""

    def __init__(self, context: LoopContext) -> None:
        self._context, self._config = context, context.config.pointing

    def at(self, point: np.ndarray) -> Pointed:
        """Return what (3,) in map means, and have a search that runs go to it. Raises PointingRefused."""
        place = np.asarray(point, np.float64)
        if place.shape != (3,) or not np.isfinite(place).all():
            raise PointingRefused(
                PointingError.BAD_POINT, "the point is not finite; click on the map or on a thing"
            )
        run = self._context.run
        if run is not None:
            return self._target(run, place)
        question = self._context.questions.newest(self._context.now)
        if question is not None:
            return self._answer(question, place)
        raise PointingRefused(
            PointingError.NOTHING_ASKED,
            "no directive runs and no question is open, so that the point means nothing; say first what to find",
        )

    def _answer(self, question: OpenQuestion, place: np.ndarray) -> Pointed:
        facts = self._context.facts
        numbers: dict[int, int] = {}
        for number, choice in enumerate(question.choices, 1):
            entity = facts.record(choice.entity_id)
            if entity is not None:
                numbers[entity.id] = number
        text = clean_text(question.text)
        if not numbers:
            raise PointingRefused(
                PointingError.NOTHING_ASKED,
                f'the open question is about words, not about things: "{text}"; answer it by the number of a choice',
            )
        near = _by_distance((e for i in numbers if (e := facts.record(i)) is not None), place)
        first = near[0]
        if first.plan > self._config.reach:
            raise PointingRefused(
                PointingError.NOTHING_NEAR,
                f"no choice lies within {self._config.reach:g} m of ({place[0]:.1f}, {place[1]:.1f}); the nearest, "
                f"{name_of(first.entity)}, is {first.plan:.1f} m away; click on one of them",
            )
        if len(near) > 1 and near[1].away - first.away < self._config.apart:
            raise PointingRefused(
                PointingError.UNCLEAR,
                f"the point is as near to {name_of(first.entity)} as to {name_of(near[1].entity)}; click on one",
            )
        number = numbers[first.entity.id]
        words = clean_text(question.choices[number - 1].words)
        return Pointed(first.entity.id, f"You mean choice {number}: {words}.", question.id, number)

    def _target(self, run: DirectiveRun, place: np.ndarray) -> Pointed:
        facts, step = self._context.facts, run.step
        if step.kind is not StepKind.FIND:
            raise PointingRefused(
                PointingError.NOTHING_ASKED,
                f"I am not searching for a thing now, I am to {step_in_words(step)}; so the point means nothing",
            )
        there = (e for e in facts.entities.values() if e.state is not EntityState.ARCHIVED)
        near = _by_distance(there, place)
        kinds = tuple(graph.target.category for graph in step.graphs)
        touched = [one for one in near if one.plan <= self._config.touch]
        alike = [one for one in near if one.plan <= self._config.reach and _is_one_of(one.entity, kinds)]
        if not touched and not alike:
            nearest = (
                f"the nearest is {name_of(near[0].entity)}, {near[0].plan:.1f} m away"
                if near
                else "I know nothing"
            )
            raise PointingRefused(
                PointingError.NOTHING_NEAR,
                f"nothing that I know lies within {self._config.touch:g} m of ({place[0]:.1f}, {place[1]:.1f}), and "
                f"nothing of that kind within {self._config.reach:g} m: {nearest}; click on its box, or again when I "
                "have seen it",
            )
        exact = [one for one in alike if one.plan <= self._config.touch]
        entity = (exact or touched or alike)[0].entity
        if run.errand.excluded.get(entity.id) == FOUND:
            raise PointingRefused(
                PointingError.NOTHING_NEAR, f"I have found {name_of(entity)} already; click on another one"
            )
        run.errand.pointed = entity.id
        run.errand.excluded.pop(entity.id, None)
        run.errand.viewpoints.pop(entity.id, None)
        target = clean_text(step.target) or "what the picture shows"
        run.tell(f"{name_of(entity)} was pointed out as the {target}.")
        correction = "" if _is_one_of(entity, kinds) else _label_words(step)
        return Pointed(entity.id, f"I take {name_of(entity)} for the {target}.", correction=correction)


def _by_distance(entities: Iterable[Entity], place: np.ndarray) -> list[_Near]:
    """The entities, nearest first. A point on the floor counts for what stands over it."""
    found = [
        _Near(
            entity,
            float(point_box_distance(place[:2], entity.box_min[:2], entity.box_max[:2])),
            float(point_box_distance(place, entity.box_min, entity.box_max)),
        )
        for entity in entities
    ]
    return sorted(found, key=lambda one: one.order)


def _is_one_of(entity: Entity, kinds: tuple[str, ...]) -> bool:
    return any(same_kind(entity.label, kind) for kind in kinds)


def _label_words(step: Step) -> str:
    """Words that give an entity the label of what a step looks for: "that is a chair"; "" for a picture."""
    graph = step.graphs[0] if step.graphs else None
    return "" if graph is None else f"that is {with_article(clean_text(graph.target.category))}"
