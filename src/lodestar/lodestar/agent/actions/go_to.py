"""The way to a place that the loop itself decides on: a pose that fits, checked before it is sent, and tried again."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable

import numpy as np

from lodestar.agent.actions.reasoning import trace_of
from lodestar.agent.actions.transitions import Transitions
from lodestar.agent.decisions.targets import TargetView
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.run import DirectiveRun
from lodestar.experts.protocol import Proposal
from lodestar.geometry.poses import wrap_angle
from lodestar.grid.footprint import footprint_free, footprints_free
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.worldmodel.records import TraceError, Verdict

_HEADINGS = 8  # that are tried where any will do
_RING = 0.15  # m between the rings of poses that are tried around a place that does not fit


class GoTo:
    """Sends the robot to places and counts how often it did not come there. It lives as long as its errand.

    verdict: of the last goal that was asked for. A goal is sent only where the validator accepts it.
    """

    def __init__(self, context: LoopContext, transitions: Transitions) -> None:
        self._context, self._transitions = context, transitions
        self._short: Counter[Hashable] = Counter()
        self.verdict = Verdict()

    def send(
        self,
        run: DirectiveRun,
        proposer: str,
        goal: np.ndarray,
        text: str,
        turns: bool = True,
        slack: float = 0.0,
    ) -> bool:
        """Return whether the robot goes to `goal` (3,) in map now; `verdict` says why not.

        turns: any heading will do there. slack: metres from it that will do, where it does not fit itself.
        """
        context = self._context
        grid, epoch = context.facts.grid, context.next_epoch()
        pose = np.asarray(goal, np.float64) if grid is None else _fitting(grid, goal, turns, slack)
        proposal = Proposal(proposer, epoch, pose, 1.0, text)
        if context.config.validates and grid is not None and not footprint_free(grid, pose):
            # the validator lets a way back pass
            self.verdict = context.validator.check(trace_of(context, run.step, proposal, epoch, TargetView()))
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
        """Return whether the refusal does not pass by itself: the goal lies in a zone, or the battery does not last."""
        return self.verdict.code in (TraceError.CONSTRAINT_VIOLATED, TraceError.ENERGY)

    def is_there(self, goal: np.ndarray) -> bool:
        """Return whether the robot stands at the goal (2 or 3,)."""
        pose = self._context.facts.pose
        return pose is not None and self.away(goal) <= self._context.config.return_tolerance

    def away(self, goal: np.ndarray) -> float:
        """Return the metres from the robot to the goal (2 or 3,)."""
        pose = self._context.facts.pose
        return math.inf if pose is None else math.dist(pose[:2], goal[:2])

    def fell_short(self, place: Hashable) -> bool:
        """Count an arrival that was none; return whether the place is given up by that."""
        self._short[place] += 1
        return self.is_given_up(place)

    def give_up(self, place: Hashable) -> None:
        """The place is given up at once."""
        self._short[place] = self._context.config.place_tries

    def is_given_up(self, place: Hashable) -> bool:
        """Return whether the robot did not come to the place `place_tries` times."""
        return self._short[place] >= self._context.config.place_tries


def _fitting(grid: OccupancyGrid2D, goal: np.ndarray, turns: bool, slack: float) -> np.ndarray:
    """Return the pose (3,) nearest to the goal in which the robot fits; the goal itself where none does."""
    goal = np.asarray(goal, np.float64)
    steps = np.arange(_HEADINGS) * (2.0 * math.pi / _HEADINGS) if turns else np.zeros(1)
    headings = np.array(sorted((float(wrap_angle(step)) for step in steps), key=abs)) + goal[2]
    offsets = [np.zeros(2)]
    for radius in np.arange(_RING, slack, _RING):
        offsets += [radius * np.array([math.cos(a), math.sin(a)]) for a in np.arange(8) * math.pi / 4.0]
    poses = np.array([[*(goal[:2] + offset), wrap_angle(yaw)] for offset in offsets for yaw in headings])
    free = np.flatnonzero(footprints_free(grid, poses))
    return poses[free[0]] if len(free) else goal
