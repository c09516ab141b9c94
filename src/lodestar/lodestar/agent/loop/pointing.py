"""Meaning of a point on the map that a person indicates as the target.

During a search the point names the target: the robot goes to the entity there and claims it once it was seen again on
arrival. After a directive that ended with a question about objects, the point chooses one of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from lodestar.agent.errands.commands import OpenQuestion
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.errand import FOUND
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.errands.words import name_of, step_in_words
from lodestar.geometry.boxes import box_volume, point_box_distance
from lodestar.language.directive import Step, StepKind
from lodestar.models.english import with_article
from lodestar.models.kinship import same_kind
from lodestar.scene.captions import clean_text
from lodestar.scene.records import Entity, EntityState

# m, horizontal, from the point to a choice or to an object of the searched kind (ours)
POINTING_REACH = 1.0
# m, horizontal, from the point to any other object, whose label is then corrected (ours: size of a click)
POINTING_TOUCH = 0.3
POINTING_APART = 0.15  # m by which one choice must be nearer than the next (ours)


class PointingError(IntEnum):
    """Error codes of the service PointOut."""

    NOTHING_ASKED = 11030
    NOTHING_NEAR = 11031
    UNCLEAR = 11032
    BAD_POINT = 11033


class PointingRefused(LookupError):
    """The point has no meaning now; the message says why and how to proceed."""

    def __init__(self, code: PointingError, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Pointed:
    """Meaning of a point on the map that a person indicated. question_id, choice: the question that the point
    answers and the number of the choice; "" and 0 = none.

    correction: a correction of the entity's label for the world model, as a sentence; "" = the label is
    right.
    """

    entity_id: int
    report: str
    question_id: str = ""
    choice: int = 0
    correction: str = ""


@dataclass(frozen=True)
class _Near:
    """An entity near the point. plan: horizontal metres to its box; away: metres to its box in 3D."""

    entity: Entity
    plan: float
    away: float

    @property
    def order(self) -> tuple[float, float, int]:
        """Return the sort key: nearest first, to a centimetre; of two boxes that contain the point, the smaller
        first, because it stands in or on the other.
        """
        size = float(box_volume(self.entity.box_min, self.entity.box_max))
        return round(self.away, 2), size, self.entity.id


class Pointing:
    """Finds what a point that a person indicated on the map means, and directs a running search to it."""

    def __init__(self, context: LoopContext) -> None:
        self._context = context

    def at(self, point: np.ndarray) -> Pointed:
        """Return the meaning of the point (3,) in map, and direct a running search to it. Raises PointingRefused."""
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
        if first.plan > POINTING_REACH:
            raise PointingRefused(
                PointingError.NOTHING_NEAR,
                f"no choice lies within {POINTING_REACH:g} m of ({place[0]:.1f}, {place[1]:.1f}); the nearest, "
                f"{name_of(first.entity)}, is {first.plan:.1f} m away; click on one of them",
            )
        if len(near) > 1 and near[1].away - first.away < POINTING_APART:
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
        touched = [one for one in near if one.plan <= POINTING_TOUCH]
        alike = [one for one in near if one.plan <= POINTING_REACH and _is_one_of(one.entity, kinds)]
        if not touched and not alike:
            nearest = (
                f"the nearest is {name_of(near[0].entity)}, {near[0].plan:.1f} m away"
                if near
                else "I know nothing"
            )
            raise PointingRefused(
                PointingError.NOTHING_NEAR,
                f"nothing that I know lies within {POINTING_TOUCH:g} m of ({place[0]:.1f}, {place[1]:.1f}), and "
                f"nothing of that kind within {POINTING_REACH:g} m: {nearest}; click on its box, or again when I "
                "have seen it",
            )
        exact = [one for one in alike if one.plan <= POINTING_TOUCH]
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
    """Return the entities with their distances, nearest first. The horizontal distance is for points on the
    floor that mean an object above it.
    """
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
    """Return a correction such as "that is a chair", which gives an entity the step's category; "" if the
    target is given by a picture.
    """
    graph = step.graphs[0] if step.graphs else None
    return "" if graph is None else f"that is {with_article(clean_text(graph.target.category))}"
