"""Rules of errands: conditions that hold after every tick, their error texts, and the time limits they use."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lodestar.agent.facts.config import LOOP_PLACE_TRIES, LoopConfig, RecoveryConfig
from lodestar.agent.loop.navigating import LOOP_MAX_NAVIGATION_FAILURES
from lodestar.agent.recovery.outcomes import RECOVERY_MAX_RECOVERIES

STEP = 0.25  # s between two ticks
# s that an end may come after the limit, and that a standing robot may keep its goal beyond its timeout
LATE = 4.0
LOOKED_AT = 0.6  # least share of the floor looked at before a search may report an absent target

#: Rules, with the text that reports a break.
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

TIME_LIMIT = 90.0  # s of a directive that brings none
#: Short timeouts, so that an example of a minute covers the events of an hour.
CONFIG = LoopConfig(
    expert_deadline=1.0,
    navigator_timeout=4.0,
    accept_timeout=2.0,
    memory_patience=4.0,
    no_expert_timeout=20.0,
    stuck_time=4.0,
    goal_time_base=12.0,
    recovery=RecoveryConfig(shut_patience=3.0, search_time=20.0),
)
#: Short timeouts by the module that reads them and their name.
TIMEOUTS = {
    "loop.machine.LOOP_TIME_LIMIT": TIME_LIMIT,
    "decisions.requests.LOOP_THINKING_PATIENCE": 8.0,
    "activities.searches.LOOP_THINKING_PATIENCE": 8.0,
    "decisions.requests.LOOP_LATE_ANSWER_AGE": 30.0,
    "loop.diagnosing.RECOVERY_WAIT": 1.0,
    "loop.diagnosing.RECOVERY_PERSON_PATIENCE": 3.0,
    "loop.diagnosing.RECOVERY_LOCALISATION_PATIENCE": 4.0,
    "loop.resting.RECOVERY_LOCALISATION_PATIENCE": 4.0,
    "loop.diagnosing.RECOVERY_SENSOR_PATIENCE": 5.0,
}


@pytest.fixture(scope="module", autouse=True)
def short_timeouts() -> Iterator[None]:
    """Set the short timeouts for all tests of a module that imports this fixture."""
    with pytest.MonkeyPatch.context() as patch:
        for name, seconds in TIMEOUTS.items():
            patch.setattr(f"lodestar.agent.{name}", seconds)
        yield


# Most accepted goals in a row to a place that the robot did not reach: short arrivals, failed drives of which the
# last ends the errand, and recoveries that send the goal again once the path is free.
EQUAL_GOALS = LOOP_PLACE_TRIES + LOOP_MAX_NAVIGATION_FAILURES - 1 + RECOVERY_MAX_RECOVERIES


class Broken(AssertionError):
    """Raised if a rule is broken."""
