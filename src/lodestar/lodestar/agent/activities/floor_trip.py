"""Trips to other floors: choice of a passage (stairs or a lift), the path to it, and the outcome of taking
it.
"""

from __future__ import annotations

import math

from lodestar.agent.activities.charger_trip import home_level
from lodestar.agent.activities.go_to import GoTo
from lodestar.agent.activities.stair_looks import StairLooks
from lodestar.agent.activities.transitions import Transitions
from lodestar.agent.decisions.admission import CHARGER, PASSAGE
from lodestar.agent.decisions.approach import Arrival
from lodestar.agent.errands.commands import PassageFailed, State
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.facts.config import LOOP_RETRY_INTERVAL
from lodestar.agent.facts.errors import ErrorCode
from lodestar.experts.reach import Reach
from lodestar.floors.records import Building, Floor, Passage, PassageKind, level_name
from lodestar.floors.stair_walk import approach_of
from lodestar.geometry.poses import apart
from lodestar.language.items import DOWNSTAIRS, EVERY_LEVEL, UPSTAIRS
from lodestar.language.levels import barred_levels
from lodestar.selection.decisions import Outcome
from lodestar.worldmodel.outcomes import Result
from lodestar.worldmodel.records import Action, Expectation, Skill, Trace

FLOORS_PATIENCE = 20.0  # s without a known floor, after which a directive is over; chosen

_THERE = 0.3  # m from the pose before a passage that count as arrived: twice the navigator's tolerance
_FACING = math.radians(20.0)  # rad, likewise; the stair walk turns the rest before the first step
_SLACK = 0.2  # m, sideways tolerance if the exact pose is blocked; within STAIR_WALK_OFF_LINE


class FloorTrip:
    """Sends the robot to the floor that its errand names, or to the floor that the search has chosen."""

    def __init__(self, context: LoopContext, transitions: Transitions) -> None:
        self._context, self._transitions = context, transitions
        self._go_to = GoTo(context, transitions)  # for the path to the chosen passage
        self.looks = StairLooks(context, transitions)
        self._chosen: Passage | None = None

    @property
    def _building(self) -> Building:
        return self._context.facts.building

    def stands(self, run: DirectiveRun) -> bool:
        """Return whether the robot must stand because its floor is unknown or has just changed. A change of
        floor restarts the errand.
        """
        building, tour = self._building, run.floors
        here = building.here
        if here is None:
            if building.floors:
                self._stand(run)
            return bool(building.floors)
        tour.unknown_since = None
        tour.began = tour.began or here.id
        tour.at, before = here.id, tour.at or here.id
        if before == here.id:
            return False
        run.tell(f"I am on the {here.name} now.")
        self._transitions.change_floor(run, "The robot was brought to another floor.")
        return True

    def act(self, run: DirectiveRun) -> bool:
        """Approach or take a passage if the errand is on another floor. Return whether the robot does. A
        search stays on this floor if a match is known here.
        """
        here = self._building.here
        if run.floors.goal is not None and self._context.search.fitting(run):
            run.floors.goal = None
        level = self.level_wanted(run)
        if here is None or level is None or level == here.level:
            if level is not None:
                run.floors.goal = None
            return False
        passage = self.passage_to(level, self.barred(run))
        if passage is None:
            run.floors.goal = None
            return False
        self._approach(run, passage, here, level)
        return True

    def level_wanted(self, run: DirectiveRun) -> int | None:
        """Return the level of the errand, or the one that the search has chosen; None if any level will do."""
        home = home_level(run, self._context)
        if home is not None:
            return home
        said, here = run.step.scope.level, self._building.here
        if said is None or said == EVERY_LEVEL:
            return run.floors.goal
        if said not in (UPSTAIRS, DOWNSTAIRS):
            return said
        if here is not None:
            run.floors.base.setdefault(run.step_index, here.level)
        base = run.floors.base.get(run.step_index)
        return None if base is None else base + (1 if said == UPSTAIRS else -1)

    def seeks(self, run: DirectiveRun) -> bool:
        """Return whether the errand requires another floor to which no passage is known yet."""
        here, wanted = self._building.here, self.level_wanted(run)
        bound = run.step.scope.level not in (None, EVERY_LEVEL) or home_level(run, self._context) is not None
        if here is None or wanted is None or not bound:
            return False
        return wanted != here.level and self.passage_to(wanted, self.barred(run)) is None

    def no_way(self, level: int) -> str:
        """Return why a level cannot be reached, as a sentence."""
        refused = [one.refused for one in self._building.passages if one.refused]
        floors = self._context.config.floors
        name = level_name(level)
        if not floors.has(level):
            return f"The building has no {name}."
        if refused:
            return f"I know a way to another floor, but cannot take it: {refused[0]}; so I cannot come to the {name}."
        if not (floors.stairs or floors.lifts):
            return f"I may not take stairs or lifts, so I cannot come to the {name}."
        barred = [one for one in self._building.passages if not floors.permits(one)]
        if barred:
            what = "stairs" if barred[0].kind is PassageKind.STAIRS else "lifts"
            return f"I may not take {what}, and have found no other way to the {name}."
        return f"I have found no way to the {name}."

    @staticmethod
    def barred(run: DirectiveRun) -> frozenset[int]:
        """Return the levels that the directive's constraints forbid."""
        return barred_levels(run.constraints)

    def passage_to(self, level: int, barred: frozenset[int] = frozenset()) -> Passage | None:
        """Return the nearest passage from here toward a level, avoiding the barred levels; None if there is none."""
        here, facts = self._building.here, self._context.facts
        known = here is not None and facts.grid is not None and facts.pose is not None
        if here is None or not known or not self._context.config.floors.has(level):
            return None
        ways = [
            one
            for one in self.allowed()
            if self._leads(one, here, level) and self._building.level_beyond(one, here.id) not in barred
        ]
        return min(ways, key=lambda one: self._metres(one, here), default=None)

    def allowed(self) -> list[Passage]:
        """Return the passages that the robot may take from its floor."""
        floors, here = self._context.config.floors, self._building.here
        if here is None:
            return []
        return [one for one in self._building.ways_from(here.id) if floors.permits(one)]

    def _leads(self, passage: Passage, here: Floor, level: int) -> bool:
        if passage.kind is PassageKind.LIFT:
            return True
        beyond = self._building.level_beyond(passage, here.id)
        return abs(level - beyond) < abs(level - here.level)  # each floor passed brings the robot nearer

    def _metres(self, passage: Passage, here: Floor) -> float:
        place = approach_of(passage.entry(here.id))
        return float(math.dist(place[:2], self._context.facts.known_pose[:2]))

    def seconds_to(self, passage: Passage) -> float:
        """Return the seconds of the path to a passage and of taking it; inf if it is unreachable."""
        facts, config, here = self._context.facts, self._context.config, self._building.here
        assert here is not None
        goal = approach_of(passage.entry(here.id))
        way = Reach(facts.known_grid, facts.known_pose, config.reach).seconds(goal)
        return (math.inf if way is None else way) + config.floors.seconds_over(passage)

    # --- the path to the passage ------------------------------------------------------------------------

    def _approach(self, run: DirectiveRun, passage: Passage, here: Floor, level: int) -> None:
        context, config = self._context, self._context.config
        if context.now < run.errand.ask_after:
            return
        if self._chosen is None or self._chosen.id != passage.id:
            self._go_to = GoTo(context, self._transitions)
        self._chosen = passage
        goal = approach_of(passage.entry(here.id))
        away, turned = apart(context.facts.known_pose, goal)
        if away <= _THERE and turned <= _FACING:
            self._cross(run, passage, here, level)
            return
        what = "stairs" if passage.kind is PassageKind.STAIRS else "lift"
        text = f"Going to the {what} to the {level_name(level)}."
        proposer = CHARGER if run.charging else PASSAGE  # kept on the whole trip
        if self._go_to.send(run, proposer, goal, text, slack=_SLACK, turns=False):
            run.errand.idle_since = None
        elif run.errand.idle_for(context.now) > config.no_expert_timeout:
            self.failed(run, self._go_to.verdict.reason or "no way leads to it", passage)
        else:
            self._transitions.redecide(run, LOOP_RETRY_INTERVAL)

    def arrived(self, run: DirectiveRun, arrival: Arrival) -> None:
        """Handle arrival at the entry of a passage (stairs or lift), or at a pose for looking at possible
        stairs. If the robot stopped too far from the entry too often, report the passage as failed; else
        decide again.
        """
        if self.looks.arrived(run, arrival):
            return
        away, turned = apart(self._context.facts.known_pose, arrival.goal)
        short = away > _THERE or turned > _FACING
        if short and self._chosen is not None and self._go_to.fell_short(PASSAGE):
            self.failed(run, f"the navigator stopped {away:.1f} m from it", self._chosen)
            return
        self._transitions.redecide(run)

    # --- taking the passage -----------------------------------------------------------------------------

    def _cross(self, run: DirectiveRun, passage: Passage, here: Floor, level: int) -> None:
        context = self._context
        skill = Skill.TAKE_STAIRS if passage.kind is PassageKind.STAIRS else Skill.TAKE_LIFT
        rule, epoch, stamp = context.skills.rule(skill), context.next_epoch(), context.facts.stamp.seconds
        trace = Trace(
            context.trace_id(epoch),
            epoch,
            stamp,
            PASSAGE,
            Action(skill, goal=passage.entry(here.id)),
            Expectation(rule.phase, by=stamp + rule.patience),
            1.0,
            reason=f"the errand leads from the {here.name} to the {level_name(level)}",
            fallback="stand, and say why",
        )
        verdict = context.validator.check(trace)
        if not verdict.accepted:
            self.failed(run, verdict.reason, passage)
            return
        verb = "Walking up" if passage.leads_up(here.id) else "Walking down"
        run.text = f"{verb} the stairs." if skill == Skill.TAKE_STAIRS else "Taking the lift."
        run.floors.left = here.id
        self._transitions.cross(run, trace, passage, level, rule.patience)

    def came(self, run: DirectiveRun) -> None:
        """Handle arrival on another floor: close the action, and restart the errand there."""
        here = self._building.here
        assert here is not None
        run.floors.goal = None if run.floors.goal == here.level else run.floors.goal
        run.floors.at, run.floors.since = here.id, self._context.now
        run.floors.progress.clear()
        text = f"I am on the {here.name} now."
        if self._building.note:
            text = f"{text} {self._building.note}."
        run.tell(text)
        self._transitions.outcomes.close(run, Result.COMMITTED, text)
        self._transitions.change_floor(run, text)

    def failed(self, run: DirectiveRun, why: str, passage: Passage | None = None) -> None:
        """Handle a passage that could not be taken: report the failure with a `PassageFailed` command, and
        decide again.
        """
        text = f"I could not take the {_name(passage or self._chosen)}: {why.rstrip('.')}."
        chosen = passage or self._chosen
        self._transitions.outcomes.close(run, Result.ROLLED_BACK, text)
        if chosen is not None:
            self._context.commands.append(PassageFailed(chosen.id, why))
        run.tell(text)
        run.text = text
        run.floors.goal = None
        self._chosen = None
        self._transitions.redecide(run, LOOP_RETRY_INTERVAL)

    def _stand(self, run: DirectiveRun) -> None:
        """Stand while the floor is unknown; end the directive after FLOORS_PATIENCE."""
        context = self._context
        if context.state is not State.DECIDING or run.under_way.navigation is not None:
            context.account.close(Outcome.PREEMPTED)
            self._transitions.end_action(run, "the robot does not know its floor")
        tour, note = run.floors, self._building.note or "I do not know on which floor I am"
        tour.unknown_since = context.now if tour.unknown_since is None else tour.unknown_since
        run.text = f"{note}; I stand."
        if context.now - tour.unknown_since >= FLOORS_PATIENCE:
            advice = "Bring me to a floor that I know."
            self._transitions.finish(run, ErrorCode.OTHER_FLOOR, f"{note}. {advice}")
        else:
            self._transitions.redecide(run, LOOP_RETRY_INTERVAL)


def _name(passage: Passage | None) -> str:
    return "lift" if passage is not None and passage.kind is PassageKind.LIFT else "stairs"
