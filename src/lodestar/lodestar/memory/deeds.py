"""Deeds of the robot in the words of a caption: the purpose of its decision, and whether it moved."""

from __future__ import annotations

from collections.abc import Sequence

from lodestar.memory.config import SegmentConfig
from lodestar.memory.events import DecisionNews
from lodestar.memory.segment_captions import name_of
from lodestar.scene.records import Entity

DRIVING = "driving"  # for a directive, with no purpose that is known
EXPLORING = "exploring"
LOOKING = "looking around"
STANDING = "standing"


def purpose_of(news: DecisionNews, target: Entity | None) -> str:
    """Return what the robot does by a decision whose outcome is not known yet: "driving to the red chair".

    target: the entity that it goes to, None where its goal is a place.
    """
    if news.outcome:
        return DRIVING
    if news.turns:
        return LOOKING
    return EXPLORING if target is None else f"driving to the {name_of(target)}"


def deeds_done(
    purposes: Sequence[str], driven: float, turned: float, config: SegmentConfig
) -> tuple[str, ...]:
    """Return what the robot really did in a segment: nothing is said without a purpose, and a robot that has not moved
    was standing or looking around, whatever its purpose was.

    driven: metres, turned: radians, both as the sum of all parts of the way.
    """
    named = tuple(dict.fromkeys(purpose for purpose in purposes if purpose))
    if not named:
        return ()
    if driven < config.stand:
        return (LOOKING if turned >= config.look_turn else STANDING,)
    told = tuple(purpose for purpose in named if purpose != DRIVING)
    return told or (DRIVING,)
