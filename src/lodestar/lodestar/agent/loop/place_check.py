"""Pose against map before the first motion of a directive: a robot that was carried says so before it acts."""

from __future__ import annotations

import math

import numpy as np

from lodestar.agent.actions.transitions import Transitions
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.facts.errors import ErrorCode
from lodestar.language.step_kinds import step_spec
from lodestar.worldmodel.way_change import new_obstacles

_AROUND = 3.0  # m in which the surroundings are compared
_SIDE = math.radians(10.0)  # in which directions are counted
_DOUBT = "What I see around me does not fit the map. Was I carried?"
_ADVICE = (
    "Tell me where I am (2D Pose Estimate in RViz), or bring me back. "
    "If the room was rearranged, give the directive again."
)


class PlaceCheck:
    """Compares what stands around the robot with what was free there when it last rested."""

    def __init__(self, context: LoopContext, transitions: Transitions) -> None:
        self._context, self._transitions = context, transitions

    def is_known(self, run: DirectiveRun) -> bool:
        """Return whether the robot may move. Where not, it stands and says why; in the end the directive is over."""
        context = self._context
        config, now = context.config.recovery, context.now
        if run.place_checked or step_spec(run.step.kind).stands or not config.enabled:
            return True
        if not self._contradicts():
            run.place_checked = True
            if run.misplaced_since is not None:
                run.text = "The surroundings fit the map again; going on."
            return True
        run.misplaced_since = now if run.misplaced_since is None else run.misplaced_since
        run.text = f"{_DOUBT} I wait for a better pose. {_ADVICE}"
        if now - run.misplaced_since >= config.localisation_patience:
            self._transitions.finish(run, ErrorCode.TF_ERROR, f"{_DOUBT} {_ADVICE}")
        return False

    def _contradicts(self) -> bool:
        """Return whether most of what stands around, on more than one side, stands where it was free."""
        facts, config = self._context.facts, self._context.config.recovery
        jumped = facts.odometer.jumped_at > facts.rested_at
        before = facts.grid_before_jump if jumped else facts.rested
        if before is None or facts.grid is None or facts.pose is None or before is facts.grid:
            return False
        jumps = [None, facts.odometer.jump] if jumped else [None]  # the map may have followed the pose
        for jump in jumps:
            points, new = new_obstacles(before, facts.grid, facts.pose, _AROUND, jump, config.carried_slack)
            if not len(points) or new.mean() <= config.carried_share:
                return False
            sides = np.arctan2(*(points[new] - facts.pose[:2]).T[::-1]) // _SIDE
            if len(np.unique(sides)) * _SIDE <= config.carried_angle:
                return False
        return True
