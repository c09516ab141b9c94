"""Client of `run_skill`: a user's node carries skills out, is never waited for, and is told to stop."""

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
    """Return the client that has skills carried out; `on_end` hears how each ended."""
    return TicketClient(
        node, RunSkill, "run_skill", _SERVER, _end_of, lambda why: SkillEnd(False, why), on_end
    )


def goal_of(trace: Trace) -> RunSkill.Goal:
    """Return the goal of a skill with its trace."""
    return RunSkill.Goal(trace=trace_to_msg(trace))


def _end_of(result: RunSkill.Result) -> SkillEnd:
    """Return how a skill ended; with a code or a reason it has failed."""
    code = result.error_code
    why = result.error_msg or (f"error code {code}" if code else "")
    return SkillEnd(code == RunSkill.Result.NONE and not why, why)
