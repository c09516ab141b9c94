"""Rules of errands: what must hold after every tick, in which words a break is told, and the times they go by."""

from __future__ import annotations

from lodestar.agent.facts.config import LoopConfig, RecoveryConfig

STEP = 0.25  # s between two ticks
LATE = 4.0  # s that an ending may come after the limit, and a standing robot may keep its goal too long
LOOKED_AT = 0.6  # share of the floor that a search must have looked at before it says that nothing is there

#: What must hold, and in which words a break is told.
RULES = (
    "it never fails",
    "nothing moves that must stand",
    "every directive ends within its limit",
    "no goal is sent for ever",
    "no goal lies in a wall or a zone",
    "no goal is for the target of another errand",
    "what is claimed was seen",
    "no answer without a look",
    "every stop of a patrol is tried",
    "the battery lasts for the way back",
    "a goal under way is watched",
)

#: Short times, so that an example of a minute tells what a directive of an hour would.
CONFIG = LoopConfig(
    time_limit=90.0,
    expert_deadline=1.0,
    thinking_patience=8.0,
    late_answer_age=30.0,
    no_expert_timeout=20.0,
    navigator_timeout=4.0,
    accept_timeout=2.0,
    stuck_time=4.0,
    goal_time_base=12.0,
    memory_patience=4.0,
    recovery=RecoveryConfig(
        wait=1.0,
        person_patience=3.0,
        shut_patience=3.0,
        localisation_patience=4.0,
        sensor_patience=5.0,
        search_time=20.0,
    ),
)

# Accepted goals in a row to a place that the robot did not come to: arrivals that fall short, failed drives of which
# the last ends the errand, and recoveries that send the goal again once the way is free.
EQUAL_GOALS = CONFIG.place_tries + CONFIG.max_navigation_failures - 1 + CONFIG.recovery.max_recoveries


class Broken(AssertionError):
    """A rule does not hold."""
