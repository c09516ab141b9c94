"""The loop at rest: IDLE, HELD and WAITING, a pause, and what keeps the robot from going on at all."""

from __future__ import annotations

import math

import numpy as np

from lodestar.agent.activities.activity import Tools
from lodestar.agent.activities.table import Activities
from lodestar.agent.activities.transitions import Transitions
from lodestar.agent.errands.commands import RequestProposals, RunSkill, SendGoal, State, TakePassage
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.errors import ErrorCode, OtherFloor, SkillRefused
from lodestar.floors.records import Building, level_name
from lodestar.language.directive import Directive, StepKind
from lodestar.language.items import DOWNSTAIRS, EVERY_LEVEL, UPSTAIRS
from lodestar.language.step_kinds import step_spec
from lodestar.worldmodel.skill_steps import fault_of
from lodestar.worldmodel.skills import SkillTable
from lodestar.worldmodel.way_change import new_obstacles


class RestingState:
    """Do nothing on a tick. IDLE is left by `start` and `hold`, HELD by `release` alone."""

    def step(self, run: DirectiveRun) -> None:
        """Raise: a directive cannot run here."""
        raise RuntimeError(f"a directive is open though the loop rests: {run.directive.text!r}")


class WaitingState:
    """Leaves by `redecide` where something is left to do or the battery demands it, or by `finish`."""

    def __init__(self, tools: Tools, activities: Activities) -> None:
        self._trip, self._activities = tools.trip, activities

    def step(self, run: DirectiveRun) -> None:
        """Let the activity see whether its wait is over."""
        if not self._trip.turned_back(run):
            self._activities.of(run).waited(run)


def pause(context: LoopContext, transitions: Transitions, run: DirectiveRun) -> None:
    """Let the robot stand, stop loop time, and give up what is under way, a skill too; a wait stays one."""
    run.text = "Paused on request; the directive goes on when it is resumed."
    if run.under_way.skill is not None:
        name = run.under_way.skill.trace.action.skill.value
        run.text = f"Paused on request; {name} was stopped, and begins anew when the directive is resumed."
    begun = SendGoal | RequestProposals | RunSkill | TakePassage
    context.commands = [c for c in context.commands if not isinstance(c, begun)]
    if context.state is not State.WAITING or run.under_way.skill is not None:
        transitions.end_action(run, "The directive was paused.")
        transitions.redecide(run)
    if run.place_checked:  # else the robot may stand elsewhere than the last grid says
        context.facts.rest()
    run.place_checked, run.misplaced_since = False, None
    context.constraint.pause()
    context.clock.stop()


def resume(context: LoopContext, run: DirectiveRun) -> None:
    """Go on; the time of the pause counts nowhere. A robot that was carried meanwhile notices before it moves."""
    context.clock.go()
    context.constraint.resume()
    context.facts.grid_heard = context.facts.pose_heard = context.now
    run.text = "Resumed; choosing anew."


def refuse(directive: Directive, config: LoopConfig, skills: SkillTable, building: Building) -> None:
    """Raises OtherFloor for a step on another floor where stairs and lifts are not allowed, SkillRefused for an unknown
    skill or one that lacks a thing.
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
    """Return the code and the message with which a directive ends: no pose or no grid comes; None while both do."""
    facts, now = context.facts, context.now
    if context.pose_is_old:
        lost = f"The robot's pose in the map has not been known for {now - facts.pose_heard:.0f} s; is odometry up?"
        return ErrorCode.TF_ERROR, lost
    if context.grid_is_old:
        old = f"No newer grid has come for {now - facts.grid_heard:.0f} s; does mapping still run?"
        return ErrorCode.NO_MAP, old
    return None


_AROUND = 3.0  # m in which the surroundings are compared
_SIDE = math.radians(10.0)  # in which directions are counted
_DOUBT = "What I see around me does not fit the map. Was I carried?"
_ADVICE = (
    "Tell me where I am (2D Pose Estimate in RViz), or bring me back. "
    "If the room was rearranged, give the directive again."
)


class PlaceCheck:
    """Compares what stands around the robot with what was free there when it last rested."""

    def __init__(self, tools: Tools) -> None:
        self._context, self._transitions = tools.context, tools.transitions

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
