"""Looks from near at what may be stairs: a few steps that were seen from afar, or a thing that was called stairs."""

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
from lodestar.experts.facing_places import place_to_face
from lodestar.experts.reach import Reach
from lodestar.floors.records import Passage
from lodestar.floors.stair_finder import is_in_doubt
from lodestar.grid.viewpoints import NoViewpoint

_CALLED = frozenset({"stairs", "stair", "staircase", "stairway", "stairwell"})  # `lexicon.yaml`, and the room
_SAME = 1.0  # m between two places that are one; chosen: less than a flight's width
_BESIDE = 1.5  # m beside a known passage, within which a place is part of it; chosen
_SIZE = np.array([0.3, 0.3, 0.5])  # m, half the box that is faced at a hint; chosen: three steps
_LOOKED_FOR = 3  # viewpoints of places that are looked for in one decision, the nearest first; chosen
_CHANCE = 0.5  # that a place turns out to be stairs, for its price; chosen


@dataclass(frozen=True)
class StairLook:
    """A pose (3,) in map from which a place (2,) is looked at, and the seconds of the way there."""

    place: np.ndarray
    pose: np.ndarray
    seconds: float


class StairLooks:
    """Goes before places where stairs may begin, so that the floor layer can tell. Each is looked at once."""

    def __init__(self, context: LoopContext, transitions: Transitions) -> None:
        self._context, self._go_to = context, GoTo(context, transitions)
        self._transitions = transitions
        self._place: np.ndarray | None = None  # that is looked at

    def best(self, run: DirectiveRun) -> StairLook | None:
        """Return the look that takes the least time; None where there is none, or no stairs may be taken."""
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
                    config.approach,
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
        """Return the expected seconds to another floor over stairs that a look may show."""
        floors = self._context.config.floors
        rise, slope = floors.typical_storey, floors.flights.steepest
        over = (rise / slope + floors.walk.approach + floors.walk.clear) / floors.walk.speed
        return (look.seconds + self._patience) / _CHANCE + over

    def goes(self, run: DirectiveRun, look: StairLook | None = None) -> bool:
        """Return whether the robot goes to look at `look`, by default the best one."""
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
        """Return whether the arrival was for a look: the robot stands until the place is told from stairs."""
        place, context = self._place, self._context
        if place is None:
            return False
        is_open = any(math.dist(_middle(box), place) <= _SAME for box in self._boxes(run, anew=True))
        if is_open and context.now - arrival.since < self._patience:
            return True
        for _ in range(context.config.place_tries):
            self._note(run, place)
        self._place = None
        self._transitions.redecide(run)
        return True

    @property
    def _patience(self) -> float:
        floors = self._context.config.floors
        return floors.find_period * (floors.confirmations + 0.5)

    def _note(self, run: DirectiveRun, place: np.ndarray) -> None:
        run.floors.looks.append((self._context.facts.building.active, float(place[0]), float(place[1])))

    def _boxes(self, run: DirectiveRun, anew: bool = False) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the boxes (least and greatest corner, (3,) each) of places that are left to be looked at here.

        anew: those that were looked at too.
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
        flights = config.floors.flights
        known = [one for one in building.passages if one.ends_on(here.id) and not is_in_doubt(one, flights)]
        return [
            box
            for box in boxes
            if not any(_lies_on(_middle(box), passage) for passage in known)
            and (anew or not self._is_done(run, here.id, _middle(box)))
        ]

    def _is_done(self, run: DirectiveRun, floor: int, place: np.ndarray) -> bool:
        tries = sum(f == floor and math.dist((x, y), place) <= _SAME for f, x, y in run.floors.looks)
        return tries >= self._context.config.place_tries


def _middle(box: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    return (np.asarray(box[0])[:2] + np.asarray(box[1])[:2]) / 2.0


def _lies_on(place: np.ndarray, passage: Passage) -> bool:
    """Return whether a place (2,) lies on a passage or beside it."""
    low, high = np.array(passage.low), np.array(passage.high)
    along = high - low
    share = float(np.clip((place - low) @ along / max(float(along @ along), 1e-9), 0.0, 1.0))
    return math.dist(place, low + share * along) <= _BESIDE
