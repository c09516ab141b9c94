"""Activities for rooms and whole floors: GO to a room, PATROL of rooms, EXPLORE, LIST and COUNT."""

from __future__ import annotations

import math

import numpy as np

from lodestar.agent.activities.activity import Activity, Tools
from lodestar.agent.activities.count_recall import CountRecall
from lodestar.agent.activities.go_to import RoomSearch
from lodestar.agent.decisions.admission import FRONTIER
from lodestar.agent.errands.run import EXPLORE, DirectiveRun
from lodestar.agent.errands.words import counted, explored_in_words, inventory, name_of, unseen
from lodestar.agent.facts.config import LOOP_FRESH_LOOKS, LOOP_RETRY_INTERVAL
from lodestar.agent.facts.errors import ErrorCode
from lodestar.experts.rooms import rooms_mask
from lodestar.grid.paths import path_lengths
from lodestar.language.directive import Step, StepKind
from lodestar.language.items import EVERY_LEVEL
from lodestar.models.english import duration_in_words, listed
from lodestar.query.targets import TargetView
from lodestar.scene.records import Entity, Region
from lodestar.selection.admission import Admission

_TOLD = 0.05  # minimum share of the floor taken from memory that an answer mentions; chosen


class Exploration(Activity):
    """EXPLORE, LIST and COUNT: looks at everything reachable in the scope; LIST and COUNT then report an
    answer.

    If the scope names rooms, the robot first looks for one of them and then explores only that room.
    """

    def __init__(
        self,
        tools: Tools,
        rooms: RoomSearch,
        answer: StockTaking | None = None,
        recall: CountRecall | None = None,
    ) -> None:
        super().__init__(tools, rooms)
        self._answer, self._recall = answer, recall
        self._inside = False

    def asked(self, run: DirectiveRun) -> Step:
        """Return the step for the experts: explore everything until the named room is known, then the room
        alone.
        """
        return run.step if self._inside or not run.step.scope.rooms else EXPLORE

    def act(self, run: DirectiveRun) -> bool:
        """Go into the named room first, if it is known. Return False if experts must be asked.

        A COUNT may be answered from memory. An errand on behalf of a CHECK ends at the first match.
        """
        if self._recall is not None and self._recall.begins(run):
            return True
        scope = run.step.scope
        seen = self._sighted(run)
        if seen:
            self._tools.steps.succeed(run, f"I see {listed(name_of(entity) for entity in seen)}.")
            return True
        if self._inside or not scope.rooms:
            return False
        regions = self._rooms.called(scope.labels)
        if self._rooms.is_inside(regions):
            self._inside = True
            return False
        return self._rooms.enter(run, self._go_to, regions, f"Going into the {' or '.join(scope.labels)}.")

    def waited(self, run: DirectiveRun) -> None:
        """Report the memory's answer to a COUNT, or start to look."""
        if self._recall is not None:
            self._recall.hear(run)

    def news(self, run: DirectiveRun) -> str:
        """Return a sentence if the room has become known or the object of a CHECK was seen, else ""."""
        if self._sighted(run):
            return "I see what is asked for."
        regions = self._rooms.called(run.step.scope.labels)
        return "" if self._inside else self._rooms.become_known(run, self._go_to, regions)

    def explored(self, run: DirectiveRun, admission: Admission, view: TargetView) -> None:
        """End the step with its answer; fail if the named room was never found."""
        labels = run.step.scope.labels
        if labels and not self._inside:
            self._tools.steps.fail(run, *self._rooms.not_entered(labels))
            return
        told = self._account(run, admission)
        if run.step.scope.level == EVERY_LEVEL and self._tools.storeys.next_floor(run):
            return
        if self._answer is None:
            self._tools.steps.succeed(run, told)
            return
        blind = unseen(run, self._tools.context, math.inf)  # older looks count
        if blind is not None:
            self._tools.steps.fail(run, *blind)
            return
        listed = self._answer.of(run)
        if listed is not None:
            self._tools.steps.succeed(run, f"{told}\n{listed}")
            return
        context = self._tools.context
        self.retry(run)
        if run.errand.idle_for(context.now) > context.config.no_expert_timeout:
            why = "The text model did not say what the words mean."
            self._tools.transitions.finish(run, ErrorCode.NO_EXPERT, why)

    def _sighted(self, run: DirectiveRun) -> list[Entity]:
        """Return the entities that match a CHECK and were seen since it began."""
        return [] if run.check is None else self._tools.context.search.seen_since(run, run.check.begun)

    def _account(self, run: DirectiveRun, admission: Admission) -> str:
        facts = self._tools.context.facts
        if self._inside:
            area = sum(region.area for region in self._rooms.called(run.step.scope.labels))
            return f"Explored the {' and the '.join(run.step.scope.labels)}: {area:.0f} m2."
        reached = np.isfinite(path_lengths(facts.known_grid, facts.known_pose[:2]))
        left = next((arm.reason.partition(": ")[2] for arm in admission.arms if arm.expert == FRONTIER), "")
        return explored_in_words(facts.known_grid, reached, left)


class StockTaking:
    """Answers LIST and COUNT from the entities of the map, once the scope was explored."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def of(self, run: DirectiveRun) -> str | None:
        """Return the matching entities with their number and places, as text, also if there are none. None
        while embeddings are pending.
        """
        context = self._tools.context
        whole = context.facts.whole if run.step.scope.level == EVERY_LEVEL else None
        matches = context.search.matches(run, whole)
        if matches is None:
            return None
        run.note_found(entity.id for entity in matches)
        listed = inventory(matches, run.step.target, self._tools.context.facts.mirror)
        listed += self._from_memory(run, matches)
        if run.step.kind is not StepKind.COUNT:
            return listed
        where = f" in the {' or '.join(run.step.scope.labels)}" if run.step.scope.rooms else ""
        where += self._by_floor(run, matches)
        there = "is" if len(matches) == 1 else "are"
        return f"There {there} {counted(len(matches), run.step.target)}{where}.\n{listed}"

    def _by_floor(self, run: DirectiveRun, matches: list[Entity]) -> str:
        """Return the number of matches per floor if all floors were asked for, else the floor's name."""
        building = self._tools.context.facts.building
        level = run.step.scope.level
        if level is None or building.here is None:
            return ""
        if level != EVERY_LEVEL:
            return f" on the {building.here.name}"
        counts = {floor.name: 0 for floor in building.floors}
        for entity in matches:
            floor = building.at(float(entity.mean[2]), entity.eye)
            if floor is not None:
                counts[floor.name] += 1
        return f": {listed(f'{number} on the {name}' for name, number in counts.items())}"

    def _from_memory(self, run: DirectiveRun, matches: list[Entity]) -> str:
        """Return a line on the share of the floor that was observed earlier and not again; "" if it is
        negligible.
        """
        context = self._tools.context
        facts, begun = context.facts, run.begun_stamp.after(-LOOP_FRESH_LOOKS)
        inside = None if facts.grid is None else rooms_mask(run.step.scope, facts.grid, facts.mirror)
        memory = context.searched.from_memory(begun.seconds, inside)
        if run.check is not None or memory is None or memory.share < _TOLD:
            return ""
        ago = duration_in_words(facts.stamp.seconds - memory.oldest)
        old = sum(facts.last_seen(entity) < begun for entity in matches)
        things = f", with {old} of the {len(matches)}," if old else ""
        floor = f"{100.0 * memory.share:.0f} % of the floor that counts"
        return f"\nI take {floor}{things} from memory: I looked at it up to {ago} ago, and not again."


class RoomVisit(Activity):
    """GO to a room: explores until a region has its name, then enters it."""

    explores = True

    def act(self, run: DirectiveRun) -> bool:
        """End if the robot is in the room; enter it if it is reachable."""
        names = _names(run)
        regions = self._rooms.called(names)
        if self._rooms.is_inside(regions):
            self._tools.steps.succeed(run, f"I am in the {_name(regions, names)}.")
            return True
        return self._rooms.enter(run, self._go_to, regions, f"Going into the {_name(regions, names)}.")

    def news(self, run: DirectiveRun) -> str:
        """Return a sentence if the room has become known, else ""."""
        return self._rooms.become_known(run, self._go_to, self._rooms.called(_names(run)))

    def explored(self, run: DirectiveRun, admission: Admission, view: TargetView) -> None:
        """Fail the step: there is no such room, or it is unreachable."""
        self._tools.steps.fail(run, *self._rooms.not_entered(_names(run)))


class RoomPatrol(Activity):
    """PATROL without stops: visits every room once, nearest first, and explores when no known room is left.

    If the scope names rooms, only rooms with these names are visited. Visited positions are stored instead of
    regions, because regions are split and merged while the map grows.
    """

    explores = True

    def __init__(self, tools: Tools, rooms: RoomSearch) -> None:
        super().__init__(tools, rooms)
        self._been: list[np.ndarray] = []  # (2,) places inside rooms

    def act(self, run: DirectiveRun) -> bool:
        """Go into the nearest unvisited room. Return False if there is none, so that the explorer is asked."""
        pose = self._tools.context.facts.pose
        assert pose is not None
        if self._rooms.is_inside(self._rooms.all()):
            self._been.append(np.array(pose[:2]))
        left = self._left(run)
        words = f"On patrol: {counted(len(left), 'room')} to go, of those I know."
        return self._rooms.enter(run, self._go_to, left, words)

    def unreachable(self, run: DirectiveRun, why: str) -> None:
        """Report the room that cannot be reached, leave it out, and continue with the others."""
        region = next((one for one in self._left(run) if one.id == self._go_to.entering), None)
        if region is None:
            super().unreachable(run, why)
            return
        self._go_to.give_up(region.id)
        run.tell(f"I left out {_called(region)}: {why}.")
        run.errand.failures = 0
        self._tools.transitions.redecide(run, LOOP_RETRY_INTERVAL)

    def explored(self, run: DirectiveRun, admission: Admission, view: TargetView) -> None:
        """End the patrol: succeed if the robot was in every room, else fail."""
        left, labels = self._left(run), run.step.scope.labels
        seen = [_called(region) for region in self._wanted(run) if region not in left]
        told = f"I was in {', '.join(seen)}." if seen else "I was in no room."
        if run.step.scope.level == EVERY_LEVEL and self._tools.storeys.next_floor(run):
            run.tell(told)
            return
        if not self._wanted(run):
            none = f"found no {' or '.join(labels)}" if labels else "made out no rooms in it"
            message = f"Everything reachable is explored, and I {none}."
            self._tools.steps.fail(run, ErrorCode.TARGET_NOT_FOUND, message)
        elif left:
            missed = ", ".join(_called(region) for region in left)
            tried = any(self._go_to.is_given_up(region.id) for region in left)
            why = "I could not come into" if tried else "No way leads into"
            self._tools.steps.fail(run, ErrorCode.TARGET_UNREACHABLE, f"{told} {why} {missed}.")
        else:
            self._tools.steps.succeed(run, told)

    def _wanted(self, run: DirectiveRun) -> list[Region]:
        labels = run.step.scope.labels
        return self._rooms.called(labels) if labels else self._rooms.all()

    def _left(self, run: DirectiveRun) -> list[Region]:
        mirror = self._tools.context.facts.mirror
        been = set() if mirror is None else {mirror.region_at(place) for place in self._been}
        return [region for region in self._wanted(run) if region.id not in been]


def _names(run: DirectiveRun) -> tuple[str, ...]:
    assert run.step.item is not None
    return run.step.item.room_names


def _name(regions: list[Region], names: tuple[str, ...]) -> str:
    return regions[0].label if len(regions) == 1 and regions[0].label else " or ".join(names)


def _called(region: Region) -> str:
    return f"the {region.label}" if region.label else f"room {region.id}"
