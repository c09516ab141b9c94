"""Goals that the loop chooses itself: a checked pose at which the robot fits, or a place inside a room."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable

import numpy as np
from scipy import ndimage

from lodestar.agent.activities.transitions import Transitions
from lodestar.agent.decisions.admission import PLACE
from lodestar.agent.decisions.approach import Arrival
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.facts.config import LOOP_PLACE_TRIES, LOOP_RETURN_TOLERANCE
from lodestar.agent.facts.errors import ErrorCode
from lodestar.experts.protocol import Proposal
from lodestar.experts.reach import Reach
from lodestar.grid.footprint import nearest_fitting
from lodestar.query.targets import TargetView
from lodestar.scene.records import Region
from lodestar.scene.regions import is_called
from lodestar.worldmodel.records import TraceError, Verdict


class GoTo:
    """Sends the robot to places and counts the failed attempts at each. It is created anew for each errand or
    trip.

    verdict: the validator's verdict on the last goal; only accepted goals are sent. entering: id of the
    region into which the robot was last sent, 0 = none.
    """

    def __init__(self, context: LoopContext, transitions: Transitions) -> None:
        self._context, self._transitions = context, transitions
        self._short: Counter[Hashable] = Counter()
        self.verdict = Verdict()
        self.entering = 0

    def send(
        self,
        run: DirectiveRun,
        proposer: str,
        goal: np.ndarray,
        text: str,
        turns: bool = True,
        slack: float = 0.0,
    ) -> bool:
        """Send the robot to `goal` (3,), map. Return whether the goal was sent; `verdict` holds the reason if not.

        turns: any heading is acceptable. slack: metres from the goal that are acceptable if the robot does not fit on
        it.
        """
        context = self._context
        grid, epoch = context.facts.grid, context.next_epoch()
        pose = np.asarray(goal, np.float64) if grid is None else nearest_fitting(grid, goal, turns, slack)
        proposal = Proposal(proposer, epoch, pose, 1.0, text)
        if not context.validator.fits(pose):
            self.verdict = context.verdict(run.step, proposal, TargetView())
            if self.verdict.accepted:
                why = f"the robot does not fit at ({goal[0]:.1f}, {goal[1]:.1f})"
                self.verdict = Verdict(TraceError.UNREACHABLE, why)
            return False
        self.verdict = self._transitions.send(run, proposal, epoch)
        if self.verdict.accepted:
            run.text = text
        return self.verdict.accepted

    @property
    def is_final(self) -> bool:
        """Return whether the refusal is permanent: the goal violates a constraint such as a keep-out zone, or
        the battery does not suffice.
        """
        return self.verdict.code in (TraceError.CONSTRAINT_VIOLATED, TraceError.ENERGY)

    def is_there(self, goal: np.ndarray) -> bool:
        """Return whether the robot is within LOOP_RETURN_TOLERANCE of the goal (2 or 3,)."""
        pose = self._context.facts.pose
        return pose is not None and self.away(goal) <= LOOP_RETURN_TOLERANCE

    def away(self, goal: np.ndarray) -> float:
        """Return the metres from the robot to the goal (2 or 3,); inf without a pose."""
        pose = self._context.facts.pose
        return math.inf if pose is None else math.dist(pose[:2], goal[:2])

    def fell_short(self, place: Hashable) -> bool:
        """Count an arrival that stopped short of the place. Return whether the place is now given up."""
        self._short[place] += 1
        return self.is_given_up(place)

    def give_up(self, place: Hashable) -> None:
        """Give up the place at once, without further attempts."""
        self._short[place] = LOOP_PLACE_TRIES

    def is_given_up(self, place: Hashable) -> bool:
        """Return whether the robot failed to reach the place LOOP_PLACE_TRIES times."""
        return self._short[place] >= LOOP_PLACE_TRIES


_APART = 0.6  # m from a failed goal, within which no other goal is tried
_CANDIDATES = 5  # goals in a room that are tried if the validator refuses them


class RoomSearch:
    """Finds rooms by name, tests whether the robot is inside, and finds a goal in the nearest one."""

    def __init__(self, context: LoopContext) -> None:
        self._context = context

    def all(self) -> list[Region]:
        """Return all known regions."""
        mirror = self._context.facts.mirror
        return [] if mirror is None else list(mirror.regions.values())

    def called(self, names: Collection[str]) -> list[Region]:
        """Return the regions that have one of these names."""
        return [region for region in self.all() if is_called(region, names)]

    def is_inside(self, regions: Iterable[Region]) -> bool:
        """Return whether the robot stands in one of the regions (rooms)."""
        facts = self._context.facts
        if facts.mirror is None or facts.mirror.rooms is None or facts.pose is None:
            return False
        return facts.mirror.region_at(facts.pose[:2]) in {region.id for region in regions}

    def way_in(self, run: DirectiveRun, regions: Collection[Region]) -> np.ndarray | None:
        """Return a pose (3,) well inside the region that is nearest by path; None if none is reachable."""
        facts = self._context.facts
        if not regions or facts.mirror is None or facts.mirror.rooms is None:
            return None
        lengths = Reach(facts.known_grid, facts.known_pose, self._context.config.reach).possible
        rows, columns = np.nonzero(np.isfinite(lengths))
        points = facts.known_grid.points_of(np.column_stack([rows, columns]))
        if not len(points):
            return None
        inside = np.isin(facts.mirror.rooms.at(points), [region.id for region in regions])
        for goal in run.errand.goals.active():
            inside &= np.hypot(*(points - np.asarray(goal)[:2]).T) > _APART
        if not inside.any():
            return None
        room = np.zeros(facts.known_grid.cells.shape, bool)
        room[rows[inside], columns[inside]] = True
        depth = ndimage.distance_transform_edt(np.pad(room, 1))[1:-1, 1:-1][rows, columns]
        deep = inside & (depth >= min(float(depth[inside].max()), 0.5 / facts.known_grid.resolution))
        best = np.flatnonzero(deep)[lengths[rows, columns][deep].argmin()]
        x, y = (float(v) for v in points[best])
        return np.array([x, y, math.atan2(y - facts.known_pose[1], x - facts.known_pose[0])])

    def enter(self, run: DirectiveRun, go_to: GoTo, regions: Collection[Region], text: str) -> bool:
        """Send the robot into the nearest reachable region. Return whether a goal was sent."""
        left = [region for region in regions if not go_to.is_given_up(region.id)]
        facts = self._context.facts
        for _ in range(_CANDIDATES):
            goal = self.way_in(run, left)
            mirror = facts.mirror
            go_to.entering = 0 if goal is None or mirror is None else mirror.region_at(goal[:2])
            if goal is None or go_to.send(run, PLACE, goal, text):
                return goal is not None
            run.errand.goals.exclude(goal, go_to.verdict.reason, facts.grid, lasting=True)
        return False

    def become_known(self, run: DirectiveRun, go_to: GoTo, regions: Collection[Region]) -> str:
        """Return a sentence that the room is known now, if one of the regions is reachable and not given up;
        else "".
        """
        left = [region for region in regions if not go_to.is_given_up(region.id)]
        return (
            "" if self.way_in(run, left) is None else f"That is the {next(iter(regions)).label}; going there."
        )

    def not_entered(self, names: Collection[str]) -> tuple[ErrorCode, str]:
        """Return error code and message for rooms that the robot did not enter: unreachable, or no region has
        the name.
        """
        name = " or ".join(names)
        if self.called(names):
            return ErrorCode.TARGET_UNREACHABLE, f"I know the {name}, but no way leads into it."
        known = ", ".join(sorted({region.label for region in self.all() if region.label}))
        message = f"Everything reachable is explored, and no {name} was found; rooms: {known or 'none'}."
        return ErrorCode.TARGET_NOT_FOUND, message

    def arrived(self, run: DirectiveRun, go_to: GoTo, arrival: Arrival) -> None:
        """Handle arrival at a goal in a room. If the robot is not in that room, exclude the goal and count the
        failure.
        """
        facts = self._context.facts
        region = 0 if facts.mirror is None else facts.mirror.region_at(arrival.goal[:2])
        if not self.is_inside([one for one in self.all() if one.id == region]):
            why = "the navigator stopped short of it"
            run.errand.goals.exclude(arrival.goal, why, facts.grid, lasting=True)
            go_to.fell_short(region)
