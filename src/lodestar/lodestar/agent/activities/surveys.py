"""Errands that look over everything, or over a room: EXPLORE, LIST and COUNT."""

from __future__ import annotations

import numpy as np

from lodestar.agent.actions.endings import explored_in_words
from lodestar.agent.activities.activity import Activity, Tools
from lodestar.agent.activities.count_recall import CountRecall
from lodestar.agent.activities.room_search import RoomSearch
from lodestar.agent.decisions.admission import Admission
from lodestar.agent.decisions.proposers import EXPLORER
from lodestar.agent.decisions.targets import TargetView
from lodestar.agent.decisions.verification import Arrival
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.errands.words import counted, inventory, name_of
from lodestar.agent.facts.errors import ErrorCode
from lodestar.experts.rooms import rooms_mask
from lodestar.grid.paths import path_lengths
from lodestar.language.directive import Step, StepKind
from lodestar.models.english import duration_in_words, listed
from lodestar.scene.records import Entity

_TOLD = 0.05  # share of the floor that was not looked at again, from which an answer says so; chosen


class Exploration(Activity):
    """Ends where nothing reachable is left to look at in the scope, with an answer where one is asked for.

    A scope that names rooms is looked for first: what is explored is the room that the robot comes to.
    """

    def __init__(
        self,
        tools: Tools,
        rooms: RoomSearch,
        answer: StockTaking | None = None,
        recall: CountRecall | None = None,
    ) -> None:
        super().__init__(tools)
        self._rooms, self._answer, self._recall = rooms, answer, recall
        self._inside = False

    def asked(self, run: DirectiveRun) -> Step:
        """The whole place while the room is not known; then the room alone."""
        if self._inside or not run.step.scope.rooms:
            return run.step
        return run.unscoped

    def act(self, run: DirectiveRun) -> bool:
        """Go into the room first, where one is named and known.

        A CHECK's survey ends with the first sight; a count may be the memory's.
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
        return self.enter(run, self._rooms, regions, f"Going into the {' or '.join(scope.labels)}.")

    def arrived(self, run: DirectiveRun, arrival: Arrival) -> None:
        """Inside, the room is explored; outside, another place in it is tried."""
        run.under_way.arrival = None
        self.missed(run, self._rooms, arrival)
        self._tools.transitions.redecide(run)

    def waited(self, run: DirectiveRun) -> None:
        """Count from memory, or go and look."""
        if self._recall is not None:
            self._recall.hear(run)

    def news(self, run: DirectiveRun) -> str:
        """The room has become known, or what a CHECK asks for was seen."""
        if self._sighted(run):
            return "I see what is asked for."
        regions = self._rooms.called(run.step.scope.labels)
        is_known = not self._inside and self.can_enter(run, self._rooms, regions)
        return f"That is the {regions[0].label}; going there." if is_known else ""

    def explored(self, run: DirectiveRun, admission: Admission, view: TargetView) -> None:
        """The step has succeeded, unless its room was never found."""
        labels = run.step.scope.labels
        if labels and not self._inside:
            message = f"Everything reachable is explored, and no {' or '.join(labels)} was found."
            code = ErrorCode.TARGET_NOT_FOUND
            if self._rooms.called(labels):
                message = f"I know the {' or '.join(labels)}, but no way leads into it."
                code = ErrorCode.TARGET_UNREACHABLE
            self._tools.steps.fail(run, code, message)
            return
        told = self._account(run, admission)
        if self._answer is None:
            self._tools.steps.succeed(run, told)
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
        """Return what a CHECK asks for, where it was seen since the check began."""
        return [] if run.check is None else self._tools.search.seen_since(run, run.check.begun)

    def _account(self, run: DirectiveRun, admission: Admission) -> str:
        facts = self._tools.context.facts
        assert facts.grid is not None and facts.pose is not None
        if self._inside:
            area = sum(region.area for region in self._rooms.called(run.step.scope.labels))
            return f"Explored the {' and the '.join(run.step.scope.labels)}: {area:.0f} m2."
        reached = np.isfinite(path_lengths(facts.grid, facts.pose[:2]))
        left = next((arm.reason.partition(": ")[2] for arm in admission.arms if arm.expert == EXPLORER), "")
        return explored_in_words(facts.grid, reached, left)


class StockTaking:
    """LIST and COUNT: what of the item there is, once everything was looked at."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def of(self, run: DirectiveRun) -> str | None:
        """Return how many there are, and where; none is an answer too. None while vectors are under way."""
        matches = self._tools.search.matches(run)
        if matches is None:
            return None
        run.found.extend(entity.id for entity in matches if entity.id not in run.found)
        listed = inventory(matches, run.step.target, self._tools.context.facts.mirror)
        listed += self._from_memory(run, matches)
        if run.step.kind is not StepKind.COUNT:
            return listed
        where = f" in the {' or '.join(run.step.scope.labels)}" if run.step.scope.rooms else ""
        there = "is" if len(matches) == 1 else "are"
        return f"There {there} {counted(len(matches), run.step.target)}{where}.\n{listed}"

    def _from_memory(self, run: DirectiveRun, matches: list[Entity]) -> str:
        """Return a line that tells what was not looked at again, "" where nothing that matters was left out."""
        context = self._tools.context
        facts, begun = context.facts, run.begun_stamp.after(-context.config.fresh_looks)
        inside = None if facts.grid is None else rooms_mask(run.step.scope, facts.grid, facts.mirror)
        memory = context.searched.from_memory(begun, inside)
        if run.check is not None or memory is None or memory.share < _TOLD:
            return ""
        ago = duration_in_words(facts.stamp - memory.oldest)
        old = sum(facts.last_seen(entity) < begun for entity in matches)
        things = f", with {old} of the {len(matches)}," if old else ""
        floor = f"{100.0 * memory.share:.0f} % of the floor that counts"
        return f"\nI take {floor}{things} from memory: I looked at it up to {ago} ago, and not again."
