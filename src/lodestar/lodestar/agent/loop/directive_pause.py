"""The pause of a directive: the robot stands, and goes on when somebody says so."""

from __future__ import annotations

from lodestar.agent.actions.transitions import Transitions
from lodestar.agent.errands.commands import RequestProposals, RunSkill, SendGoal, State
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.run import DirectiveRun


def pause(context: LoopContext, transitions: Transitions, run: DirectiveRun) -> None:
    """Let the robot stand, stop loop time, and give up what is under way, a skill too; a wait stays one."""
    run.text = "Paused on request; the directive goes on when it is resumed."
    begun = SendGoal | RequestProposals | RunSkill
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
