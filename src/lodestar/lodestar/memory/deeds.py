"""Names of the robot's actions (deeds) for captions, from the purpose of its decision and from its motion."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lodestar.memory.events import DecisionNews
from lodestar.memory.segment_captions import name_of
from lodestar.scene.records import Entity

SEGMENT_STAND = 0.15  # metres in a segment below which the robot was not driving; chosen: 5 cm/s
# radians in such a segment from which it was looking around; chosen
SEGMENT_LOOK_TURN = math.radians(30.0)

DRIVING = "driving"  # default for a directive without a known purpose
EXPLORING = "exploring"
LOOKING = "looking around"
STANDING = "standing"


def purpose_of(news: DecisionNews, target: Entity | None) -> str:
    """Return what the robot does because of a pending decision, in words: "driving to the red chair".

    target: the entity to drive to, None if the goal is a place.
    """
    if news.outcome:
        return DRIVING
    if news.turns:
        return LOOKING
    return EXPLORING if target is None else f"driving to the {name_of(target)}"


def deeds_done(purposes: Sequence[str], driven: float, turned: float) -> tuple[str, ...]:
    """Return the robot's actions in a segment, in words, from the purposes of its decisions and its motion.

    No purposes give no actions. A robot that has not moved was standing or looking around, for any purpose.
    driven: metres, turned: radians, both summed over the segment.
    """
    named = tuple(dict.fromkeys(purpose for purpose in purposes if purpose))
    if not named:
        return ()
    if driven < SEGMENT_STAND:
        return (LOOKING if turned >= SEGMENT_LOOK_TURN else STANDING,)
    told = tuple(purpose for purpose in named if purpose != DRIVING)
    return told or (DRIVING,)
