"""Errands that end at a place: RETURN, GO to a pose, a room or a spot, and PATROL of every room."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from lodestar.agent.activities.activity import Activity, Tools
from lodestar.agent.activities.charger_trip import home_of
from lodestar.agent.activities.room_search import RoomSearch
from lodestar.agent.activities.spot_search import SpotSearch
from lodestar.agent.decisions.admission import Admission
from lodestar.agent.decisions.proposers import HOME, PLACE
from lodestar.agent.decisions.targets import TargetView
from lodestar.agent.decisions.verification import Arrival
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.errands.words import counted
from lodestar.agent.facts.errors import ErrorCode
from lodestar.geometry.poses import wrap_angle
from lodestar.language.directive import ROBOT_FRAME, Step
from lodestar.scene.records import Region


class Place(Protocol):
    """A pose to go to. proposer: in whose name the goal is sent."""

    proposer: str

    def goal(self, run: DirectiveRun) -> np.ndarray:
        """Return the goal (3,) in the map frame."""
        ...

    def turns(self, run: DirectiveRun) -> bool:
        """Return whether any heading will do."""
        ...

    def words(self, run: DirectiveRun) -> tuple[str, str, str]:
        """Return sentences for the way and for the arrival, and the words for the place."""
        ...


class Destination(Activity):
    """RETURN, and GO to numbers: go to one pose, and check on arrival that the robot stands there."""

    def __init__(self, tools: Tools, place: Place) -> None:
        super().__init__(tools)
        self._place = place

    def act(self, run: DirectiveRun) -> bool:
        """Send the robot there."""
        goal, words = self._place.goal(run), self._place.words(run)[0]
        turns, slack = self._place.turns(run), self._tools.context.config.return_tolerance
        self.send_or_wait(run, self._place.proposer, goal, words, turns=turns, slack=slack)
        return True

    def arrived(self, run: DirectiveRun, arrival: Arrival) -> None:
        """The step has succeeded where the robot is there; else it is sent again."""
        run.under_way.arrival = None
        goal, (_, there, place) = self._place.goal(run), self._place.words(run)
        if self._go_to.is_there(goal):
            self._tools.steps.succeed(run, there)
        elif self._go_to.fell_short(place):
            self.unreachable(run, f"the navigator stopped {self._go_to.away(goal):.1f} m from {place}")
        else:
            self.retry(run)

    def unreachable(self, run: DirectiveRun, why: str) -> None:
        """The step has failed; after a return that failed, the directive is over."""
        if self._place.proposer == HOME:
            code, message = run.verdict or (ErrorCode.NAVIGATION_FAILED, "")
            self._tools.transitions.finish(run, code, f"{message} Could not come back: {why}.".strip())
        else:
            message = f"Could not go to {self._place.words(run)[2]}: {why}."
            self._tools.steps.fail(run, ErrorCode.NAVIGATION_FAILED, message)


class Start:
    """The start: of the directive if coming back is a part of it, else of the robot."""

    proposer = HOME

    def __init__(self, context: LoopContext) -> None:
        self._context = context

    def goal(self, run: DirectiveRun) -> np.ndarray:
        """(3,) the start."""
        return home_of(run, self._context).copy()

    def turns(self, run: DirectiveRun) -> bool:
        """Any heading will do."""
        return True

    def words(self, run: DirectiveRun) -> tuple[str, str, str]:
        """Of the start."""
        return "Going back to where I started.", "Back where I started.", "the start"


class Numbers:
    """The pose that the step names. One that is said from where the robot stands is so from where the step begins."""

    proposer = PLACE

    def __init__(self, context: LoopContext) -> None:
        self._context = context
        self._start: np.ndarray | None = None  # (3,) of the robot in map, as the step began

    def goal(self, run: DirectiveRun) -> np.ndarray:
        """(3,) the pose, with the direction of the way where any heading will do."""
        pose, here = run.step.pose, self._context.facts.pose
        assert pose is not None and here is not None
        if self._start is None:
            self._start = np.array(here, float)
        x, y, turned = pose.x, pose.y, 0.0
        if pose.frame == ROBOT_FRAME:
            turned = float(self._start[2])
            x = float(self._start[0]) + pose.x * math.cos(turned) - pose.y * math.sin(turned)
            y = float(self._start[1]) + pose.x * math.sin(turned) + pose.y * math.cos(turned)
        heading = math.atan2(y - here[1], x - here[0]) if pose.heading is None else turned + pose.heading
        return np.array([x, y, float(wrap_angle(heading))])

    def turns(self, run: DirectiveRun) -> bool:
        """Any heading will do where none is named."""
        return run.step.pose is None or run.step.pose.heading is None

    def words(self, run: DirectiveRun) -> tuple[str, str, str]:
        """Of the numbers."""
        x, y, _ = self.goal(run)
        place = f"({x:.1f}, {y:.1f})"
        return f"Going to {place}.", f"I stand at {place}.", place


class RoomVisit(Activity):
    """GO to a room: explore until a region goes by its name, then stand inside it."""

    def __init__(self, tools: Tools, rooms: RoomSearch) -> None:
        super().__init__(tools)
        self._rooms = rooms

    def asked(self, run: DirectiveRun) -> Step:
        """To explore, until the room is known."""
        return run.unscoped

    def act(self, run: DirectiveRun) -> bool:
        """End where the robot stands inside; go in where a way leads there."""
        names = _names(run)
        regions = self._rooms.called(names)
        if self._rooms.is_inside(regions):
            self._tools.steps.succeed(run, f"I am in the {_name(regions, names)}.")
            return True
        return self.enter(run, self._rooms, regions, f"Going into the {_name(regions, names)}.")

    def news(self, run: DirectiveRun) -> str:
        """The room has become known."""
        regions = self._rooms.called(_names(run))
        is_known = self.can_enter(run, self._rooms, regions)
        return f"That is the {regions[0].label}; going there." if is_known else ""

    def arrived(self, run: DirectiveRun, arrival: Arrival) -> None:
        """Decide anew: inside it is over; outside, another place in the room is tried."""
        run.under_way.arrival = None
        self.missed(run, self._rooms, arrival)
        self._tools.transitions.redecide(run)

    def explored(self, run: DirectiveRun, admission: Admission, view: TargetView) -> None:
        """There is no such room, or no way into it."""
        names = " or ".join(_names(run))
        if self._rooms.called(_names(run)):
            message = f"I know the {names}, but no way leads into it."
            self._tools.steps.fail(run, ErrorCode.TARGET_UNREACHABLE, message)
            return
        known = ", ".join(sorted({region.label for region in self._rooms.all() if region.label}))
        message = f"Everything reachable is explored, and no {names} was found; rooms: {known or 'none'}."
        self._tools.steps.fail(run, ErrorCode.TARGET_NOT_FOUND, message)


class SpotVisit(Activity):
    """GO to a spot that relations tell, as "in front of the sofa": explore until its anchors are known, stand there."""

    def __init__(self, tools: Tools, spots: SpotSearch) -> None:
        super().__init__(tools)
        self._spots = spots

    def asked(self, run: DirectiveRun) -> Step:
        """To explore, until the anchors are known."""
        return run.unscoped

    def act(self, run: DirectiveRun) -> bool:
        """Go there where the spot is known."""
        goal = None if self._go_to.is_given_up(_spot(run)) else self._spots.best(run)
        if goal is None or self._go_to.send(run, PLACE, goal, f"Going to {_spot(run)}."):
            return goal is not None
        why = self._go_to.verdict.reason
        run.errand.goals.exclude(goal, why, self._tools.context.facts.grid, lasting=True)
        self.retry(run)
        return True

    def news(self, run: DirectiveRun) -> str:
        """The anchors have become known."""
        if self._go_to.is_given_up(_spot(run)) or self._spots.best(run) is None:
            return ""
        return f"I know where {_spot(run)} is."

    def arrived(self, run: DirectiveRun, arrival: Arrival) -> None:
        """The step has succeeded where the robot came to the spot."""
        run.under_way.arrival = None
        if self._go_to.is_there(arrival.goal):
            self._tools.steps.succeed(run, f"I stand at {_spot(run)}.")
            return
        facts = self._tools.context.facts
        run.errand.goals.exclude(arrival.goal, "the navigator stopped short of it", facts.grid)
        self._go_to.fell_short(_spot(run))
        self._tools.transitions.redecide(run)

    def explored(self, run: DirectiveRun, admission: Admission, view: TargetView) -> None:
        """The spot is not known, so the step fails."""
        message = f"Everything reachable is explored, and no way to {_spot(run)} is known."
        self._tools.steps.fail(run, ErrorCode.TARGET_NOT_FOUND, message)


class RoomPatrol(Activity):
    """PATROL without stops: go once into every room, the nearest first, and explore where no room is left to go to.

    Of a step whose scope names rooms, only those that go by these names are visited.

    Rooms are split and merged while the map grows, so what is kept is where the robot was, not which regions.
    """

    def __init__(self, tools: Tools, rooms: RoomSearch) -> None:
        super().__init__(tools)
        self._rooms = rooms
        self._been: list[np.ndarray] = []  # (2,) places inside rooms

    def asked(self, run: DirectiveRun) -> Step:
        """To explore, once the robot has been in every room that is known."""
        return run.unscoped

    def act(self, run: DirectiveRun) -> bool:
        """Go into the nearest room that is left; where none is, the explorer is asked."""
        pose = self._tools.context.facts.pose
        assert pose is not None
        if self._rooms.is_inside(self._rooms.all()):
            self._been.append(np.array(pose[:2]))
        left = self._left(run)
        words = f"On patrol: {counted(len(left), 'room')} to go, of those I know."
        return self.enter(run, self._rooms, left, words)

    def arrived(self, run: DirectiveRun, arrival: Arrival) -> None:
        """On to the next room; where the robot came into none, that goal is not tried again."""
        run.under_way.arrival = None
        self.missed(run, self._rooms, arrival)
        self._tools.transitions.redecide(run)

    def unreachable(self, run: DirectiveRun, why: str) -> None:
        """A room that the navigator fails to come into is left out and told; the patrol goes on to the others."""
        region = next((one for one in self._left(run) if one.id == self._entering), None)
        if region is None:
            super().unreachable(run, why)
            return
        self._go_to.give_up(region.id)
        run.tell(f"I left out {_called(region)}: {why}.")
        run.errand.failures = 0
        self._tools.transitions.redecide(run, self._tools.context.config.retry_interval)

    def explored(self, run: DirectiveRun, admission: Admission, view: TargetView) -> None:
        """Every room is known; the step has succeeded if the robot was in all of them."""
        left, labels = self._left(run), run.step.scope.labels
        seen = [_called(region) for region in self._wanted(run) if region not in left]
        told = f"I was in {', '.join(seen)}." if seen else "I was in no room."
        if not self._wanted(run):
            none = f"found no {' or '.join(labels)}" if labels else "made out no rooms in it"
            message = f"Everything reachable is explored, and I {none}."
            self._tools.steps.fail(run, ErrorCode.TARGET_NOT_FOUND, message)
        elif left:
            missed = ", ".join(_called(region) for region in left)
            tried = any(self._go_to.is_given_up(region.id) for region in left)
            why = "I could not come into" if tried else "No way leads into"
            self._tools.steps.fail(run, ErrorCode.TARGET_UNREACHABLE, f"{told} {why} {missed}.")
        else:
            self._tools.steps.succeed(run, told)

    def _wanted(self, run: DirectiveRun) -> list[Region]:
        labels = run.step.scope.labels
        return self._rooms.called(labels) if labels else self._rooms.all()

    def _left(self, run: DirectiveRun) -> list[Region]:
        mirror = self._tools.context.facts.mirror
        been = set() if mirror is None else {mirror.region_at(place) for place in self._been}
        return [region for region in self._wanted(run) if region.id not in been]


def _names(run: DirectiveRun) -> tuple[str, ...]:
    assert run.step.item is not None
    return tuple(dict.fromkeys(graph.target.category for graph in run.step.item.best))


def _name(regions: list[Region], names: tuple[str, ...]) -> str:
    return regions[0].label if len(regions) == 1 else " or ".join(names)


def _called(region: Region) -> str:
    return f"the {region.label}" if region.label else f"room {region.id}"


def _spot(run: DirectiveRun) -> str:
    assert run.step.item is not None
    graph = run.step.item.best[0]
    return f'"{graph.target.phrase}" by the {" and the ".join(v.phrase for v in graph.variables[1:])}'
