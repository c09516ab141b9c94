"""The pause of a directive: the robot stands, and goes on when somebody says so."""

from __future__ import annotations

from lodestar.agent.commands import CancelGoal, RequestProposals, SendGoal, State
from lodestar.agent.context import LoopContext
from lodestar.agent.run import Run
from lodestar.agent.transitions import Transitions


def pause(context: LoopContext, transitions: Transitions, run: Run) -> None:
    """Let the robot stand, and give up what is under way; a wait stays one."""
    run.paused_at = context.now
    run.text = "Paused on request; the directive goes on when it is resumed."
    begun = SendGoal | RequestProposals
    context.commands = [c for c in context.commands if not isinstance(c, begun)]
    if context.state is State.WAITING:
        return
    transitions.outcomes.cancel(run, "The directive was paused.")
    if run.navigation is not None:
        context.commands.append(CancelGoal("paused"))
    run.navigation = run.arrival = run.case = None
    run.events = []
    transitions.redecide(run)


def resume(context: LoopContext, run: Run) -> None:
    """Go on; the time of the pause does not count against the directive."""
    assert run.paused_at is not None
    rested, run.paused_at = context.now - run.paused_at, None
    run.started += rested
    if run.waits_until is not None:
        run.waits_until += rested
    context.facts.grid_heard = context.facts.pose_heard = context.now
    run.text = "Resumed; choosing anew."
