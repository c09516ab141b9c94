"""FIND: every expert is asked, and the search ends where the thing is claimed or everything was explored."""

from __future__ import annotations

from collections.abc import Iterable

from lodestar.agent.activity import Activity
from lodestar.agent.admission import Admission
from lodestar.agent.endings import give_up, gone
from lodestar.agent.errors import ErrorCode
from lodestar.agent.run import Run
from lodestar.agent.stamps import NEVER, last_seen
from lodestar.agent.targets import TargetView
from lodestar.agent.words import counted
from lodestar.language.directive import EVERY
from lodestar.scene.records import Entity


class Search(Activity):
    """Ends by a claim of the verifying state, by one more try, or by failure."""

    def act(self, run: Run) -> bool:
        """End a search for a thing that is gone, once it was looked for elsewhere for long enough."""
        if not self._has_searched(run):
            return False
        context = self._tools.context
        self._tools.steps.fail(run, *gone(run, context.searched, context.facts.stamp))
        return True

    def news(self, run: Run) -> str:
        """A thing that is gone was searched for elsewhere for long enough."""
        return "I have looked for it elsewhere for long enough." if self._has_searched(run) else ""

    def _has_searched(self, run: Run) -> bool:
        context = self._tools.context
        if not run.gone or run.step.count != 1:
            return False
        since = min(thing.since for thing in run.gone.values())
        patience = context.config.recovery.search_time
        return context.now - since >= patience and not self._tools.search.look(run).accepted

    def explored(self, run: Run, admission: Admission, view: TargetView) -> None:
        """Wait for late experts, try what was given up once more, or end."""
        tools = self._tools
        if self._waits_for_experts(run):
            self.retry(run)
        elif run.second_chance():
            tools.transitions.redecide(run)
        elif run.step.count == EVERY and run.found_here:
            found = counted(run.found_here, run.step.target)
            tools.steps.succeed(run, f"Found {found}; everything reachable is explored.", view)
        else:
            entities = tools.context.facts.entities
            blind = self._blind_for(run, entities.values())
            if run.gone and not blind and not view.accepted:
                code, message = gone(run, tools.context.searched, tools.context.facts.stamp)
            else:
                code, message = give_up(run, admission, view, entities, blind, tools.context.searched)
            if run.found_here:
                message = f"Found {run.found_here} of {run.step.count} that were asked for. {message}"
            tools.steps.fail(run, code, message)

    def unreachable(self, run: Run, why: str) -> None:
        """The directive is over."""
        message = f"Navigation failed {run.failures} times in a row; the last: {why}."
        self._tools.transitions.finish(run, *(run.verdict or (ErrorCode.NAVIGATION_FAILED, message)))

    def _waits_for_experts(self, run: Run) -> bool:
        """Whether an expert has yet to answer something that it was asked after everything was explored."""
        context = self._tools.context
        assert run.explored_at is not None
        if context.now - run.explored_at > context.config.thinking_patience:
            return False
        behind = [name for name in context.experts if run.questions.is_behind(name, run.explored_at)]
        if behind:
            run.text = f"Everything reachable is explored; waiting for {' and '.join(behind)} to answer."
            run.idle_since = None
        return bool(behind)

    def _blind_for(self, run: Run, entities: Iterable[Entity]) -> float:
        """Seconds since anything at all was seen, where that is longer than it can be; else 0."""
        context = self._tools.context
        newest = max((last_seen(entity) for entity in entities), default=NEVER)
        silence = context.facts.stamp - max(newest, run.begun_stamp)
        return silence if silence > context.config.scene_patience else 0.0
