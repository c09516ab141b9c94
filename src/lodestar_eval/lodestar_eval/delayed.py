"""The offline reasoner with a delay in simulated time, as a slow model would have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lodestar.language.config import BackgroundReasonerConfig
from lodestar.language.directive import Task
from lodestar.language.model_reasoner import merged
from lodestar.language.reasoner import DEFAULT_BUDGET, Judgement, OfflineReasoner, Reasoner, Scored
from lodestar.language.views import ViewAnswer, ViewQuestion
from lodestar.scene.records import Entity


@dataclass(frozen=True)
class _Thought:
    """An answer to a question. ready: seconds of simulated time at which it is available."""

    topic: Any
    value: Any
    ready: float


class DelayedReasoner:
    """Imitates `language.background_reasoner.BackgroundReasoner` around a model that takes `seconds` for each answer.

    A ranking returns at once: with the last answer about the same task while that is fresh, otherwise with the offline
    reasoner's. One question is processed at a time; the newest of the waiting ones is next. A view is answered
    `seconds` after it was first asked about, unless a newer one took its place.
    now: seconds of simulated time. inner: what answers, such as a `ModelReasoner` of a server.
    """

    name = "delayed"
    waits = True

    def __init__(
        self,
        seconds: float,
        now: Callable[[], float],
        inner: Reasoner | None = None,
        config: BackgroundReasonerConfig | None = None,
    ) -> None:
        self._inner = inner or OfflineReasoner()
        self._seconds, self._now, self._config = seconds, now, config or BackgroundReasonerConfig()
        self._busy: _Thought | None = None
        self._waiting: tuple[Any, Any] | None = None  # topic and value
        self._known: _Thought | None = None
        self._view: _Thought | None = None
        self.sees = self._inner.sees

    def begin_task(self) -> None:
        """Drop the answers for the last task."""
        self._busy = self._waiting = self._known = self._view = None
        self._inner.begin_task()

    def rank(
        self,
        candidates: Sequence[Scored],
        task: Task,
        entities: Mapping[int, Entity] | None = None,
        context: Sequence[str] = (),
    ) -> list[Judgement]:
        """See Reasoner."""
        offline = self._inner.rank(candidates, task, entities, context)
        if not offline:
            return offline
        judged = self._think(("rank", task.target, task.step.graphs), offline, self._config.rank_age)
        return offline if judged is None else merged(judged, offline)

    def judge_view(self, question: ViewQuestion) -> ViewAnswer | None:
        """See Reasoner."""
        topic = (question.target, question.neighbors, question.constraints, question.name)
        if self._view is None or self._view.topic != topic:
            answer = self._inner.judge_view(question)
            if answer is not None and not self._inner.sees:
                answer = replace(answer, by=self.name)  # it stands in for a model
            self._view = _Thought(topic, answer, self._now() + self._seconds)
        found: ViewAnswer | None = self._view.value if self._view.ready <= self._now() else None
        return found

    def describe(self, entities: Iterable[Entity], budget: int = DEFAULT_BUDGET) -> str:
        """See Reasoner."""
        return self._inner.describe(entities, budget)

    def _think(self, topic: Any, value: Any, age: float) -> Any:
        """Queue the value as the topic's question; return the topic's available answer, None if it is not fresh."""
        now = self._now()
        if self._busy is not None and self._busy.ready <= now:
            self._known, self._busy = self._busy, None
            if self._waiting is not None:
                self._busy, self._waiting = _Thought(*self._waiting, self._known.ready + self._seconds), None
        if self._busy is None:
            self._busy = _Thought(topic, value, now + self._seconds)
        else:
            self._waiting = (topic, value)
        known = self._known
        return (
            known.value if known is not None and known.topic == topic and now - known.ready <= age else None
        )
