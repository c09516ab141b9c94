"""Errands that look over everything, or over a room: EXPLORE, LIST and COUNT."""

from __future__ import annotations

import numpy as np

from lodestar.agent.activity import Activity, Tools
from lodestar.agent.admission import Admission
from lodestar.agent.asking import asked_in_words, question_of, told
from lodestar.agent.endings import explored_in_words, has_open_edge
from lodestar.agent.errors import ErrorCode
from lodestar.agent.memory_line import Freshness
from lodestar.agent.proposers import EXPLORER, PLACE
from lodestar.agent.room_search import RoomSearch
from lodestar.agent.run import Run
from lodestar.agent.targets import TargetView
from lodestar.agent.words import counted, inventory, name_of
from lodestar.experts.rooms import rooms_mask
from lodestar.grid.paths import path_lengths
from lodestar.language.directive import Step, StepKind
from lodestar.models.english import listed
from lodestar.scene.records import Entity


class Exploration(Activity):
    """Ends where nothing reachable is left to look at in the scope, with an answer where one is asked for.

    A scope that names rooms is looked for first: what is explored is the room that the robot comes to.
    """

    def __init__(self, tools: Tools, rooms: RoomSearch, answer: StockTaking | None = None) -> None:
        super().__init__(tools)
        self._rooms, self._answer = rooms, answer
        self._inside = False

    def asked(self, run: Run) -> Step:
        """The whole place while the room is not known; then the room alone."""
        if self._inside or not run.step.scope.rooms:
            return run.step
        return run.unscoped

    def act(self, run: Run) -> bool:
        """Go into the room first, where one is named and known. A CHECK's survey ends with the first sight."""
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
        goal = self._rooms.way_in(run, regions)
        if goal is None:
            return False
        self.send(run, PLACE, goal, f"Going into the {' or '.join(scope.labels)}.")
        return True

    def news(self, run: Run) -> str:
        """The room has become known, or what a CHECK asks for was seen."""
        if self._sighted(run):
            return "I see what is asked for."
        labels = run.step.scope.labels
        return self._rooms.found(run, labels) if labels and not self._inside else ""

    def explored(self, run: Run, admission: Admission, view: TargetView) -> None:
        """The step has succeeded, unless its room was never found."""
        labels = run.step.scope.labels
        if labels and not self._inside:
            message = f"Everything reachable is explored, and no {' or '.join(labels)} was found."
            self._tools.steps.fail(run, ErrorCode.TARGET_NOT_FOUND, message)
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
        if run.idle_for(context.now) > context.config.no_expert_timeout:
            why = "The text model did not say what the words mean."
            self._tools.transitions.finish(run, ErrorCode.NO_EXPERT, why)

    def _sighted(self, run: Run) -> list[Entity]:
        """Return what a CHECK asks for, where it was seen since the check began."""
        return [] if run.check is None else self._tools.search.seen_since(run, run.check.begun)

    def _account(self, run: Run, admission: Admission) -> str:
        facts = self._tools.context.facts
        assert facts.grid is not None and facts.pose is not None
        if self._inside:
            area = sum(region.area for region in self._rooms.called(run.step.scope.labels))
            return f"Explored the {' and the '.join(run.step.scope.labels)}: {area:.0f} m2."
        reached = np.isfinite(path_lengths(facts.grid, facts.pose[:2]))
        left = next((arm.reason.partition(": ")[2] for arm in admission.arms if arm.expert == EXPLORER), "")
        return explored_in_words(facts.grid, reached, left)


class Count(Exploration):
    """Counted from memory where nothing of the scope is unknown and its floor was looked at of late; else explored."""

    def __init__(self, tools: Tools, rooms: RoomSearch, answer: StockTaking) -> None:
        super().__init__(tools, rooms, answer)
        self._has_asked = False

    def act(self, run: Run) -> bool:
        """Ask the memory first; then as every survey."""
        if self._has_asked or run.step.item is None or run.step.scope.around is not None:
            return super().act(run)
        self._has_asked = True
        if not self._is_known(run):
            return super().act(run)
        self._tools.memory.ask(run, question_of(run.step), self._tools.context.config.count_age)
        run.text = f"Asking my memory: {asked_in_words(run.step)}"
        self._tools.transitions.wait(run)
        return True

    def waited(self, run: Run) -> None:
        """Tell the number, or go and count."""
        outcome, config = self._tools.memory.outcome(run), self._tools.context.config
        if outcome is None:
            return
        answer = outcome.answer if outcome.is_known else None
        bounds = Freshness(config.count_age, config.covered)
        if answer is None or answer.coverage is None or not self._tools.memory.is_fresh(answer, bounds):
            run.text = "I have not looked at enough of the floor of late: counting anew."
            self._tools.transitions.redecide(run)
            return
        self._tools.steps.answer(run, told(answer, self._tools.context), answer)

    def _is_known(self, run: Run) -> bool:
        """Whether no floor within reach borders on unknown space, in the rooms of the scope or anywhere."""
        facts = self._tools.context.facts
        assert facts.grid is not None and facts.pose is not None
        inside = rooms_mask(run.step.scope, facts.grid, facts.mirror)
        if inside is not None and not inside.any():
            return False
        return not has_open_edge(facts.grid, facts.pose, inside)


class StockTaking:
    """LIST and COUNT: what of the item there is, once everything was looked at."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def of(self, run: Run) -> str | None:
        """Return how many there are, and where; none is an answer too. None while vectors are under way."""
        matches = self._tools.search.matches(run)
        if matches is None:
            return None
        run.found.extend(entity.id for entity in matches if entity.id not in run.found)
        listed = inventory(matches, run.step.target, self._tools.context.facts.mirror)
        if run.step.kind is not StepKind.COUNT:
            return listed
        where = f" in the {' or '.join(run.step.scope.labels)}" if run.step.scope.rooms else ""
        there = "is" if len(matches) == 1 else "are"
        return f"There {there} {counted(len(matches), run.step.target)}{where}.\n{listed}"
