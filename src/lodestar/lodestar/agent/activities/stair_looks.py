"""Goals from which the robot looks from nearby at possible stairs: steps seen from afar, or an object
labelled as stairs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lodestar.agent.activities.go_to import GoTo
from lodestar.agent.activities.transitions import Transitions
from lodestar.agent.decisions.admission import PASSAGE
from lodestar.agent.decisions.approach import Arrival
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.facts.config import LOOP_PLACE_TRIES
from lodestar.experts.facing_places import place_to_face
from lodestar.experts.reach import Reach
from lodestar.floors.config import FLOORS_CONFIRMATIONS, FLOORS_FIND_PERIOD, FLOORS_TYPICAL_STOREY
from lodestar.floors.records import Passage
from lodestar.floors.stair_finder import STAIR_STEEPEST, is_in_doubt
from lodestar.floors.stair_walk import STAIR_WALK_APPROACH, STAIR_WALK_CLEAR, STAIR_WALK_SPEED
from lodestar.grid.viewpoints import NoViewpoint

_CALLED = frozenset({"stairs", "stair", "staircase", "stairway", "stairwell"})  # labels of objects and rooms
_SAME = 1.0  # m within which two places are the same; chosen: less than the width of a flight
_BESIDE = 1.5  # m beside a known passage within which a place belongs to it; chosen
_SIZE = np.array([0.3, 0.3, 0.5])  # m, half extent of the box to face at a hint; chosen: three steps
_LOOKED_FOR = 3  # viewpoints searched in one decision, nearest places first; chosen
_CHANCE = 0.5  # probability that a place turns out to be stairs, for its expected cost; chosen


@dataclass(frozen=True)
class StairLook:
    """A pose (3,) in map from which to look at a place (2,), and the seconds to reach the pose."""

    place: np.ndarray
    pose: np.ndarray
    seconds: float


class StairLooks:
    """Sends the robot to poses in front of possible stairs, so that the floor layer can recognise them. Each
    place is visited at most LOOP_PLACE_TRIES times.
    """

    def __init__(self, context: LoopContext, transitions: Transitions) -> None:
        self._context, self._go_to = context, GoTo(context, transitions)
        self._transitions = transitions
        self._place: np.ndarray | None = None  # (2,) in map, being looked at

    def best(self, run: DirectiveRun) -> StairLook | None:
        """Return the pose for looking at possible stairs that is reached soonest; None if there is none or no
        stairs may be taken.
        """
        facts, config = self._context.facts, self._context.config
        boxes = self._boxes(run)
        if not boxes:
            return None
        reach = Reach(facts.known_grid, facts.known_pose, config.reach)
        found: list[StairLook] = []
        for box in sorted(boxes, key=lambda one: math.dist(_middle(one), facts.known_pose[:2])):
            try:
                place = place_to_face(
                    reach, facts.known_pose, box, [], run.errand.goals.active(), config.viewpoints,
                )  # fmt: skip
            except NoViewpoint:
                continue
            seconds = reach.seconds(place.pose, place.path_length)
            if seconds is not None:
                found.append(StairLook(_middle(box), place.pose, seconds))
            if len(found) == _LOOKED_FOR:
                break
        return min(found, key=lambda one: one.seconds, default=None)

    def expected_seconds(self, look: StairLook) -> float:
        """Return the expected seconds to another floor over the possible stairs of `look`, allowing for the
        chance that they are no stairs.
        """
        rise, slope = FLOORS_TYPICAL_STOREY, STAIR_STEEPEST
        over = (rise / slope + STAIR_WALK_APPROACH + STAIR_WALK_CLEAR) / STAIR_WALK_SPEED
        return (look.seconds + self._patience) / _CHANCE + over

    def goes(self, run: DirectiveRun, look: StairLook | None = None) -> bool:
        """Send the robot to the pose of `look`, by default the best one. Return whether a goal was sent."""
        look = look or self.best(run)
        while look is not None:
            self._note(run, look.place)
            if self._go_to.send(
                run, PASSAGE, look.pose, "I may have seen stairs; looking at them from nearer."
            ):
                self._place = look.place
                run.errand.idle_since = None
                return True
            look = self.best(run)
        return False

    def arrived(self, run: DirectiveRun, arrival: Arrival) -> bool:
        """Return whether the robot arrived at a pose for looking at possible stairs. It then stands there
        until the place is recognised or the patience is over.
        """
        place, context = self._place, self._context
        if place is None:
            return False
        is_open = any(math.dist(_middle(box), place) <= _SAME for box in self._boxes(run, anew=True))
        if is_open and context.now - arrival.since < self._patience:
            return True
        for _ in range(LOOP_PLACE_TRIES):
            self._note(run, place)
        self._place = None
        self._transitions.redecide(run)
        return True

    @property
    def _patience(self) -> float:
        return FLOORS_FIND_PERIOD * (FLOORS_CONFIRMATIONS + 0.5)

    def _note(self, run: DirectiveRun, place: np.ndarray) -> None:
        run.floors.looks.append((self._context.facts.building.active, float(place[0]), float(place[1])))

    def _boxes(self, run: DirectiveRun, anew: bool = False) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the boxes (least and greatest corner, (3,) each) of possible stairs on this floor that were
        not looked at yet and lie on no known passage.

        anew: include those that were looked at already.
        """
        facts, config = self._context.facts, self._context.config
        building, here = facts.building, facts.building.here
        if here is None or not config.floors.stairs or facts.grid is None or facts.pose is None:
            return []
        hints = [
            np.array([*one.place, here.height + _SIZE[2]]) for one in building.hints if one.floor == here.id
        ]
        boxes = [(hint - _SIZE, hint + _SIZE) for hint in hints]
        boxes += [
            (np.asarray(thing.box_min), np.asarray(thing.box_max))
            for thing in facts.entities.values()
            if not _CALLED.isdisjoint(thing.label.casefold().split())
        ]
        known = [one for one in building.passages if one.ends_on(here.id) and not is_in_doubt(one)]
        return [
            box
            for box in boxes
            if not any(_lies_on(_middle(box), passage) for passage in known)
            and (anew or not self._is_done(run, here.id, _middle(box)))
        ]

    def _is_done(self, run: DirectiveRun, floor: int, place: np.ndarray) -> bool:
        tries = sum(f == floor and math.dist((x, y), place) <= _SAME for f, x, y in run.floors.looks)
        return tries >= LOOP_PLACE_TRIES


def _middle(box: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    return (np.asarray(box[0])[:2] + np.asarray(box[1])[:2]) / 2.0


def _lies_on(place: np.ndarray, passage: Passage) -> bool:
    """Return whether a place (2,) lies on a passage or beside it."""
    low, high = np.array(passage.low), np.array(passage.high)
    along = high - low
    share = float(np.clip((place - low) @ along / max(float(along @ along), 1e-9), 0.0, 1.0))
    return math.dist(place, low + share * along) <= _BESIDE
