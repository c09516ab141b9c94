"""The loop at rest: IDLE, HELD and WAITING; pause and resume; refusals; and checks before motion."""

from __future__ import annotations

import math

import numpy as np

from lodestar.agent.activities.activity import Tools
from lodestar.agent.activities.table import Activities
from lodestar.agent.activities.transitions import Transitions
from lodestar.agent.errands.commands import Begin, State
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.facts.config import RECOVERY_LOCALISATION_PATIENCE, LoopConfig
from lodestar.agent.facts.errors import ErrorCode, OtherFloor, SkillRefused
from lodestar.floors.records import Building, level_name
from lodestar.language.directive import Directive, StepKind
from lodestar.language.items import DOWNSTAIRS, EVERY_LEVEL, UPSTAIRS
from lodestar.language.step_kinds import step_spec
from lodestar.worldmodel.skill_steps import fault_of
from lodestar.worldmodel.skills import SkillTable
from lodestar.worldmodel.way_change import new_obstacles

# A robot counts as carried if, before the first motion of a directive, more than this share (0..1) of the
# obstacles around it stand on cells that were free when it rested, in directions that fill more than this
# angle. In apartment 711, a robot carried by 1 to 3 m saw shares of 0.05 to 0.41 over 50 to 180 degrees; one
# that stayed or was brought back saw up to 0.04 over 70 degrees.
RECOVERY_CARRIED_SHARE = 0.12
RECOVERY_CARRIED_ANGLE = math.radians(85.0)  # rad of directions that the new obstacles fill
RECOVERY_CARRIED_SLACK = 0.3  # m that obstacles may have moved (ours: corrections of the map)


class RestingState:
    """State without a directive: IDLE, which `start` and `hold` end, or HELD, which only `release` ends."""

    def step(self, run: DirectiveRun) -> None:
        """Raise RuntimeError, because no directive may run in this state."""
        raise RuntimeError(f"a directive is open though the loop rests: {run.directive.text!r}")


class WaitingState:
    """State in which the robot stands until the activity continues. Left by `redecide` if work is left or the
    battery requires it, or by `finish`.
    """

    def __init__(self, tools: Tools, activities: Activities) -> None:
        self._trip, self._activities = tools.trip, activities

    def step(self, run: DirectiveRun) -> None:
        """Let the activity check whether its wait is over."""
        if not self._trip.turned_back(run):
            self._activities.of(run).waited(run)


def pause(context: LoopContext, transitions: Transitions, run: DirectiveRun) -> None:
    """Stop the robot and loop time, and cancel the current action, including a skill. A wait in progress is
    kept.
    """
    run.text = "Paused on request; the directive goes on when it is resumed."
    if run.under_way.skill is not None:
        name = run.under_way.skill.trace.action.skill.value
        run.text = f"Paused on request; {name} was stopped, and begins anew when the directive is resumed."
    context.commands = [c for c in context.commands if not isinstance(c, Begin)]
    if context.state is not State.WAITING or run.under_way.skill is not None:
        transitions.end_action(run, "The directive was paused.")
        transitions.redecide(run)
    if run.place_checked:  # otherwise the robot may not be where the last grid shows it
        context.facts.rest()
    run.place_checked, run.misplaced_since = False, None
    context.constraint.pause()
    context.clock.stop()


def resume(context: LoopContext, run: DirectiveRun) -> None:
    """Resume loop time and the directive; the pause counts in no deadline. `PlaceCheck` runs again before any
    motion.
    """
    context.clock.go()
    context.constraint.resume()
    context.facts.grid_heard = context.facts.pose_heard = context.now
    run.text = "Resumed; choosing anew."


def refuse(directive: Directive, config: LoopConfig, skills: SkillTable, building: Building) -> None:
    """Raise OtherFloor for a step on another floor if stairs and lifts are forbidden; SkillRefused for an unknown
    skill or one that lacks an object.
    """
    for step in directive.steps:
        if step.kind is StepKind.DO and (fault := fault_of(step, skills)):
            raise SkillRefused(fault)
        level = step.scope.level
        here = config.floors.level if building.here is None else building.here.level
        if level not in (None, here, EVERY_LEVEL) and not (config.floors.stairs or config.floors.lifts):
            raise OtherFloor(
                f"it asks for {_level_words(level)}, and the robot is on the {level_name(here)} and may take no "
                "stairs or lifts (shared.floors.stairs, .lifts); leave the floor out, or bring the robot there"
            )


def _level_words(level: int | None) -> str:
    relative = {UPSTAIRS: "the floor above", DOWNSTAIRS: "the floor below"}
    return "a floor" if level is None else relative.get(level) or f"the {level_name(level)}"


def silent_input(context: LoopContext) -> tuple[ErrorCode, str] | None:
    """Return the code and message that end a directive because no pose or no grid arrives; None while both do."""
    facts, now = context.facts, context.now
    if context.pose_is_old:
        lost = f"The robot's pose in the map has not been known for {now - facts.pose_heard:.0f} s; is odometry up?"
        return ErrorCode.TF_ERROR, lost
    if context.grid_is_old:
        old = f"No newer grid has come for {now - facts.grid_heard:.0f} s; does mapping still run?"
        return ErrorCode.NO_MAP, old
    return None


_AROUND = 3.0  # m within which the surroundings are compared
_SIDE = math.radians(10.0)  # bin width for counting directions
_DOUBT = "What I see around me does not fit the map. Was I carried?"
_ADVICE = (
    "Tell me where I am (2D Pose Estimate in RViz), or bring me back. "
    "If the room was rearranged, give the directive again."
)


class PlaceCheck:
    """Compares the obstacles around the robot with the grid stored at the end of the last directive."""

    def __init__(self, tools: Tools) -> None:
        self._context, self._transitions = tools.context, tools.transitions

    def is_known(self, run: DirectiveRun) -> bool:
        """Return whether the surroundings match the map, so that the robot may move. Otherwise it stands, and
        the directive ends if it stands so for too long.
        """
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
        if now - run.misplaced_since >= RECOVERY_LOCALISATION_PATIENCE:
            self._transitions.finish(run, ErrorCode.TF_ERROR, f"{_DOUBT} {_ADVICE}")
        return False

    def _contradicts(self) -> bool:
        """Return whether most obstacles around the robot, in several directions, stand on cells that were free."""
        facts = self._context.facts
        jumped = facts.odometer.jumped_at > facts.rested_at
        before = facts.grid_before_jump if jumped else facts.rested
        if before is None or facts.grid is None or facts.pose is None or before is facts.grid:
            return False
        jumps = [None, facts.odometer.jump] if jumped else [None]  # the map may have followed the pose
        for jump in jumps:
            points, new = new_obstacles(before, facts.grid, facts.pose, _AROUND, jump, RECOVERY_CARRIED_SLACK)
            if not len(points) or new.mean() <= RECOVERY_CARRIED_SHARE:
                return False
            sides = np.arctan2(*(points[new] - facts.pose[:2]).T[::-1]) // _SIDE
            if len(np.unique(sides)) * _SIDE <= RECOVERY_CARRIED_ANGLE:
                return False
        return True
