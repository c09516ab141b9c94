"""Questions about a labelled room, with the answers by its labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lodestar.language.item_words import plural
from lodestar.models.kinship import same_kind
from lodestar_eval.real_images.labels import LabelledRoom, LabelledThing
from lodestar_eval.real_images.robot import RecordedRobot
from lodestar_eval.real_images.scoring import REACH, RoomScore


@dataclass(frozen=True)
class QuestionRow:
    """A question. expected: the right answer, in words. right: whether the robot's answer was right."""

    text: str
    expected: str
    answer: str
    right: bool


def ask_all(robot: RecordedRobot, room: LabelledRoom, score: RoomScore) -> list[QuestionRow]:
    """Ask all questions about a room, and return them with the robot's answers.

    They ask for the number of objects of each kind, and, of a kind with several objects, for the one nearest
    to an object of each other kind.
    """
    things = [row.thing for row in score.counted]
    kinds = sorted({thing.label for thing in things})
    rows = [_count(robot, kind, things, room) for kind in kinds]
    for kind in kinds:
        if sum(thing.label == kind for thing in things) < 2:
            continue
        for anchor in kinds:
            if anchor != kind:
                rows += _nearest(robot, kind, anchor, things, score)
    return rows


def _count(
    robot: RecordedRobot, kind: str, things: Sequence[LabelledThing], room: LabelledRoom
) -> QuestionRow:
    """Ask for the number of objects of a kind; unsure objects may be counted or not."""
    least = sum(thing.label == kind for thing in things)
    most = least + sum(same_kind(thing.label, kind) for thing in room.unsure)
    text = f"How many {plural(kind)} are there?"
    reply = robot.ask(text)
    right = reply.number is not None and least <= reply.number <= most
    return QuestionRow(text, str(least) if most == least else f"{least} to {most}", reply.sentence, right)


def _nearest(
    robot: RecordedRobot, kind: str, anchor: str, things: Sequence[LabelledThing], score: RoomScore
) -> list[QuestionRow]:
    """Ask for the object of a kind that is nearest to an object of kind `anchor`.

    The answer may refer to any object of kind `anchor`; objects less than `REACH` farther away are right too.
    """
    chosen = [thing for thing in things if thing.label == kind]
    meant: list[LabelledThing] = []
    for other in (thing for thing in things if thing.label == anchor):
        distance = [float(np.linalg.norm(thing.centre - other.centre)) for thing in chosen]
        meant += [t for t, d in zip(chosen, distance) if d <= min(distance) + REACH and t not in meant]
    expression = f"the {kind} nearest to the {anchor}"
    expected = " or ".join(thing.note or thing.label for thing in meant)
    rows = []
    for text, reply in (
        (expression, robot.look_up(expression)),
        (f"Where is {expression}?", robot.ask(f"Where is {expression}?")),
    ):
        shown = next((row.thing for row in score.rows if _is(row, reply.entity)), None)
        rows.append(QuestionRow(text, expected, reply.sentence, shown is not None and shown in meant))
    return rows


def _is(row: object, entity: object) -> bool:
    known = (row.entity, *row.doubled)  # type: ignore[attr-defined]
    return entity is not None and any(one is not None and one.id == entity.id for one in known)  # type: ignore[attr-defined]
