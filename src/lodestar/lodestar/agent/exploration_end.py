"""The end of exploration: nothing reachable is left to explore."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from lodestar.agent.admission import Admission
from lodestar.agent.context import LoopContext
from lodestar.agent.endings import explored_in_words, give_up
from lodestar.agent.errors import ErrorCode
from lodestar.agent.proposers import EXPLORER
from lodestar.agent.run import Run
from lodestar.agent.stamps import NEVER, last_seen
from lodestar.agent.steps import Steps
from lodestar.agent.target_search import TargetSearch
from lodestar.agent.targets import TargetView
from lodestar.agent.transitions import Transitions
from lodestar.agent.words import inventory
from lodestar.grid.paths import path_lengths
from lodestar.language.directive import StepKind
from lodestar.scene.records import Entity


class ExplorationEnd:
    """Ends a step of exploration with success, a search with one more try or with failure."""

    def __init__(
        self, context: LoopContext, search: TargetSearch, transitions: Transitions, steps: Steps
    ) -> None:
        self._context, self._search = context, search
        self._transitions, self._steps = transitions, steps

    def conclude(self, run: Run, admission: Admission, view: TargetView) -> None:
        """The explorer says that everything reachable is explored."""
        context = self._context
        run.explored_at = context.now if run.explored_at is None else run.explored_at
        entities = context.facts.entities
        if run.step.kind is StepKind.EXPLORE:
            self._steps.succeed(run, self._exploration(admission))
        elif run.step.kind is StepKind.LIST:
            self._take_stock(run, admission)
        elif self._waits_for_experts(run):
            self._transitions.redecide(run, context.config.retry_interval)
        elif run.second_chance():
            self._transitions.redecide(run)
        else:
            blind = self._blind_for(run, entities.values())
            self._steps.fail(run, *give_up(run, admission, view, entities, blind))

    def _waits_for_experts(self, run: Run) -> bool:
        """Whether an expert has yet to answer something that it was asked after everything was explored."""
        context = self._context
        assert run.explored_at is not None
        if context.now - run.explored_at > context.config.thinking_patience:
            return False
        behind = [name for name in context.experts if run.questions.is_behind(name, run.explored_at)]
        if behind:
            run.text = f"Everything reachable is explored; waiting for {' and '.join(behind)} to answer."
            run.idle_since = None
        return bool(behind)

    def _exploration(self, admission: Admission) -> str:
        facts = self._context.facts
        assert facts.grid is not None and facts.pose is not None
        reached = np.isfinite(path_lengths(facts.grid, facts.pose[:2]))
        left = next((arm.reason.partition(": ")[2] for arm in admission.arms if arm.expert == EXPLORER), "")
        return explored_in_words(facts.grid, reached, left)

    def _take_stock(self, run: Run, admission: Admission) -> None:
        """List everything that meets the query; an empty list is an answer too."""
        context = self._context
        matches = self._search.matches(run)
        if matches is None:  # the vectors of the words are under way
            self._transitions.redecide(run, context.config.retry_interval)
            if run.idle_for(context.now) > context.config.no_expert_timeout:
                self._transitions.finish(
                    run, ErrorCode.NO_EXPERT, "The text model did not say what the words mean."
                )
            return
        run.found.extend(entity.id for entity in matches if entity.id not in run.found)
        listed = inventory(matches, run.step.target, context.facts.mirror)
        self._steps.succeed(run, f"{self._exploration(admission)}\n{listed}")

    def _blind_for(self, run: Run, entities: Iterable[Entity]) -> float:
        """Seconds since anything at all was seen, where that is longer than it can be; else 0."""
        newest = max((last_seen(entity) for entity in entities), default=NEVER)
        silence = self._context.facts.stamp - max(newest, run.begun_stamp)
        return silence if silence > self._context.config.scene_patience else 0.0
