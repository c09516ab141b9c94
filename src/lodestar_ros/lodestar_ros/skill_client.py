"""Client of `run_skill`: a user's node executes skills; the goal selector never waits for it and can stop it."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node

from lodestar.agent.errands.commands import SkillEnd
from lodestar.worldmodel.records import Trace
from lodestar_interfaces.action import RunSkill
from lodestar_ros.conversions_world import trace_to_msg
from lodestar_ros.ticket_client import TicketClient

_SERVER = "the node that serves run_skill"


def skill_client(node: Node, on_end: Callable[[int, SkillEnd], None]) -> TicketClient[SkillEnd]:
    """Return the client that executes skills; `on_end` is called with the ticket and end of each."""
    return TicketClient(
        node, RunSkill, "run_skill", _SERVER, _end_of, lambda why: SkillEnd(False, why), on_end
    )


def goal_of(trace: Trace) -> RunSkill.Goal:
    """Return the RunSkill goal of a trace."""
    return RunSkill.Goal(trace=trace_to_msg(trace))


def _end_of(result: RunSkill.Result) -> SkillEnd:
    """Return the end of a skill; an error code or an error message means failure."""
    code = result.error_code
    why = result.error_msg or (f"error code {code}" if code else "")
    return SkillEnd(code == RunSkill.Result.NONE and not why, why)
