"""Parser of spoken corrections of beliefs: "that is a stool", "it is gone", "this door stays closed".

It uses patterns instead of the directives' grammar, because a correction is one statement about one object.
The text comes from an operator and is only used as data.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from lodestar.floors.records import NO_FLOORS, Building
from lodestar.geometry.boxes import box_distance
from lodestar.geometry.poses import wrap_angle
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.passages import passage_ahead
from lodestar.models.kinship import same_kind
from lodestar.scene.captions import clean_text, words_only
from lodestar.scene.records import Entity, EntityState
from lodestar.worldmodel.amendments import Amendment, Change, ClosedWay
from lodestar.worldmodel.hypotheses import REACH, RELATION, WORDS
from lodestar.worldmodel.records import Belief, entity_name

OPERATOR = "operator"
BEARING = math.radians(30.0)  # as for success: bearing within which an object counts as faced
EXAMPLES = (
    '"that is a stool", "it is gone", "it is on the desk", "this door stays closed", "that door is open"'
)

_IS = r"(?:is|'s|has been|was|are)"
_WAY = r"(?:door|doorway|gate|way|passage|corridor|entrance|exit)"
_ANCHOR = r"(?:the|that|this|an?) (?P<anchor>[\w' -]+)"
_SUBJECT = r"(?P<subject>that|this|it|(?:the|that|this) [\w' -]+?)"
#: The first pattern that matches the whole text decides.
_PATTERNS: tuple[tuple[Change, re.Pattern[str]], ...] = tuple(
    (change, re.compile(f"^{pattern}$"))
    for change, pattern in (
        (
            Change.CLOSE_WAY,
            rf"(?:the|this|that) {_WAY} (?:{_IS}|stays|remains|will stay|keeps) (?:closed|shut|locked|blocked)"
            r"(?: for (?P<count>\d{1,4}) (?P<unit>seconds?|minutes?|hours?))?",
        ),
        (Change.OPEN_WAY, rf"(?:the|this|that) {_WAY} (?:{_IS} )?(?:open|free|unlocked|passable)(?: again)?"),
        (
            Change.ARCHIVE,
            rf"{_SUBJECT} ?{_IS} (?:gone|away|removed|taken away|no longer (?:there|here)|not (?:there|here)"
            r"(?: any ?more)?)",
        ),
        (
            Change.RESTORE,
            rf"{_SUBJECT} ?{_IS} (?:back|still (?:there|here)|(?:there|here)(?: after all| again)?)",
        ),
        (Change.DOUBT, rf"{_SUBJECT} ?(?:may|might) (?:be (?:gone|wrong|elsewhere)|have moved)"),
        (Change.RELATE, rf"{_SUBJECT} ?{_IS} (?P<no>not )?(?P<relation>{RELATION}) {_ANCHOR}"),
        (
            Change.RELABEL,
            rf"{_SUBJECT} ?{_IS} (?:not an? [\w' -]+?,? (?:but|it is|it's) )?(?:called )?(?:an? |the )?"
            r"(?P<label>[\w' -]+)",
        ),
    )
)
_UNITS = {"second": 1.0, "minute": 60.0, "hour": 3600.0}
_THERE = frozenset({EntityState.ACTIVE, EntityState.UNCERTAIN})
_LOST = frozenset({EntityState.ARCHIVED, EntityState.UNCERTAIN})  # states that can be restored
_NO_LABEL = re.compile(
    r"^(?:not|no|very|too|so|in|on|at|under|near|behind|wrong|right|there|here|closed|open)\b"
)


class NotUnderstood(ValueError):
    """Raised if the text is no correction; the message gives examples."""


class NothingMeant(LookupError):
    """Raised if the object or passage of the correction is unknown, or the robot does not face it.

    The message says what to do.
    """


@dataclass(frozen=True)
class Surroundings:
    """Objects, doors and closed ways around the robot. pose: (3,) of the robot in map.

    nearest_way(point, reach): returns the closed way nearest to a point (2,), None if none is within reach.
    """

    entities: Iterable[Entity]
    pose: np.ndarray | None
    grid: OccupancyGrid2D | None
    nearest_way: Callable[[np.ndarray, float], ClosedWay | None]
    now: float = 0.0  # s
    reach: float = 4.0  # m within which an object can be faced
    building: Building = NO_FLOORS  # objects on other floors are not faced


def correction_of(text: str, entity_id: int, around: Surroundings) -> Amendment:
    """Return the amendment that a spoken correction asks for. Raises NotUnderstood, NothingMeant.

    entity_id: the entity that "that" and "it" stand for; 0 = the object that the robot faces.
    """
    said = " ".join(clean_text(text).casefold().replace("\u2019", "'").replace("n't", " not").split()).strip(
        " .!"
    )
    said = re.sub(r"^(?:no|wrong|sorry|please|actually)[, ]+", "", said)
    for change, pattern in _PATTERNS:
        found = pattern.match(said)
        if found is None:
            continue
        reason = f'the operator said "{clean_text(text)}"'
        if change in (Change.CLOSE_WAY, Change.OPEN_WAY):
            closes = change is Change.CLOSE_WAY
            way = _closed(found, entity_id, around) if closes else _opened(entity_id, around)
            return Amendment(change, reason, OPERATOR, way=way)
        label = ""
        if change is Change.RELABEL:
            label = words_only(found["label"])
            if not label or _NO_LABEL.match(label):
                break
        if change is Change.RELATE:
            belief = _related(found, entity_id, around)
            return Amendment(change, reason, OPERATOR, belief=belief)
        states = _LOST if change is Change.RESTORE else _THERE
        thing = _meant(found["subject"], entity_id, around, states)
        return Amendment(change, reason, OPERATOR, thing.id, label)
    raise NotUnderstood(f"{clean_text(text)[:80]!r} is no correction; say {EXAMPLES}")


def faced(around: Surroundings, name: str = "", states: frozenset[EntityState] = _THERE) -> Entity | None:
    """Return the nearest entity in one of these states that is in front of the robot; None if there is none.

    name: kind of the entity, or words of its caption; "" = any.
    """
    pose = around.pose
    if pose is None:
        return None
    place = np.asarray(pose[:2], float)
    best: tuple[float, Entity | None] = around.reach, None
    for entity in around.entities:
        if entity.state not in states or not _is_called(entity, name):
            continue
        if not around.building.is_here(float(entity.mean[2]), entity.eye):
            continue
        nearest = np.clip(place, entity.box_min[:2], entity.box_max[:2])
        away = float(box_distance(place, place, entity.box_min[:2], entity.box_max[:2]))
        towards = np.asarray(entity.mean)[:2] if away == 0.0 else nearest
        turn = math.atan2(towards[1] - place[1], towards[0] - place[0]) - float(pose[2])
        if away < best[0] and abs(float(wrap_angle(turn))) <= BEARING:
            best = away, entity
    return best[1]


def _is_called(entity: Entity, name: str) -> bool:
    return not name or same_kind(entity.label, name) or name in (entity.caption or "").casefold()


def _meant(
    subject: str, entity_id: int, around: Surroundings, states: frozenset[EntityState] = _THERE
) -> Entity:
    name = re.sub(r"^(?:the|that|this|it)\b ?", "", subject)
    if entity_id:
        thing = next((entity for entity in around.entities if entity.id == entity_id), None)
        if thing is None and not around.entities:
            raise NothingMeant(
                f"the scene holds nothing yet, so there is no entity {entity_id}; see that scene_dictionary has its map"
            )
        if thing is None:
            raise NothingMeant(f"there is no entity {entity_id}; its marker in RViz shows the id of a thing")
        return thing
    thing = faced(around, name, states)
    if thing is None:
        what = f"no {name}" if name else "nothing"
        raise NothingMeant(
            f"the robot faces {what} within {around.reach:.0f} m; turn it there, or give entity_id"
        )
    return thing


def _related(found: re.Match[str], entity_id: int, around: Surroundings) -> Belief:
    """Return the relation that the text states, as a belief about two entities.

    The second entity (anchor) is the nearest one with the stated name.
    """
    thing = _meant(found["subject"], entity_id, around)
    near = [
        (float(box_distance(thing.box_min, thing.box_max, other.box_min, other.box_max)), other.id)
        for other in around.entities
        if other.id != thing.id and other.state in _THERE and _is_called(other, found["anchor"])
    ]
    if not near or min(near)[0] > REACH:
        raise NothingMeant(f"there is no {found['anchor']} within {REACH:.0f} m of it")
    names = entity_name(thing.id), entity_name(min(near)[1])
    return Belief(WORDS[found["relation"]], names, bool(found["no"]))


def _closed(found: re.Match[str], entity_id: int, around: Surroundings) -> ClosedWay:
    """Return the door as a closed way: the long side of a faced door entity, or else the passage ahead."""
    expires = math.inf
    if found["count"]:
        expires = around.now + float(found["count"]) * _UNITS[found["unit"].rstrip("s")]
    ends = None
    door = _meant("door", entity_id, around) if entity_id else faced(around, "door")
    if door is not None:
        ends = _long_side(door)
    elif around.grid is not None and around.pose is not None:
        ends = passage_ahead(around.grid, around.pose, around.reach)
    if ends is None:
        raise NothingMeant(
            f"the robot faces no door and no passage within {around.reach:.0f} m; turn it there, or give entity_id"
        )
    return ClosedWay(*ends, expires, "DOOR_CLOSED")


def _opened(entity_id: int, around: Surroundings) -> ClosedWay:
    place = None if around.pose is None else np.asarray(around.pose[:2], float)
    if entity_id:
        place = np.asarray(_meant("door", entity_id, around).mean)[:2]
    way = None if place is None else around.nearest_way(place, 2.0 * around.reach)
    if way is None:
        raise NothingMeant(f"no way within {2.0 * around.reach:.0f} m is believed to be closed")
    return way


def _long_side(door: Entity) -> tuple[tuple[float, float], tuple[float, float]]:
    low, high = np.asarray(door.box_min, float)[:2], np.asarray(door.box_max, float)[:2]
    middle = (low + high) / 2.0
    along = np.argmax(high - low)
    start, end = middle.copy(), middle.copy()
    start[along], end[along] = low[along], high[along]
    return (float(start[0]), float(start[1])), (float(end[0]), float(end[1]))
