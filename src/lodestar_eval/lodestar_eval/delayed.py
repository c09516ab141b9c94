"""Reasoner with a delay in simulated time, which imitates a slow model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from lodestar.language.background_reasoner import RANKING_AGE
from lodestar.language.model_reasoner import merged
from lodestar.language.reasoner import Judgement, OfflineReasoner, RankRequest, Reasoner
from lodestar.language.views import ViewAnswer, ViewQuestion


@dataclass(frozen=True)
class _Thought:
    """Answer to a question. ready: simulated time, seconds, at which it is available."""

    topic: Any
    value: Any
    ready: float


class DelayedReasoner:
    """Imitates `language.background_reasoner.BackgroundReasoner` around a model that takes `seconds` for each answer.

    A ranking returns at once: the last answer about the same task while it is fresh, otherwise that of the offline
    reasoner. One question is processed at a time; of the waiting ones only the newest is kept. A view is answered
    `seconds` after the first request for it, unless a newer view replaced it.
    now: clock, seconds of simulated time. inner: reasoner that computes the answers, such as a `ModelReasoner`.
    """

    name = "delayed"
    waits = True

    def __init__(self, seconds: float, now: Callable[[], float], inner: Reasoner | None = None) -> None:
        self._inner = inner or OfflineReasoner()
        self._seconds, self._now = seconds, now
        self._busy: _Thought | None = None
        self._waiting: tuple[Any, Any] | None = None  # topic and value
        self._known: _Thought | None = None
        self._view: _Thought | None = None
        self.sees = self._inner.sees

    def begin_task(self) -> None:
        """Begin the next task; discard the delayed answers about the previous one."""
        self._busy = self._waiting = self._known = self._view = None
        self._inner.begin_task()

    def rank(self, request: RankRequest) -> list[Judgement]:
        """Rank the candidates; see `Reasoner.rank`."""
        offline = self._inner.rank(request)
        if not offline:
            return offline
        judged = self._think(("rank", request.task.target, request.task.step.graphs), offline, RANKING_AGE)
        return offline if judged is None else merged(judged, offline)

    def judge_view(self, question: ViewQuestion) -> ViewAnswer | None:
        """Return the available answer about a view; see `Reasoner.judge_view`."""
        topic = (question.target, question.neighbors, question.constraints, question.name)
        if self._view is None or self._view.topic != topic:
            answer = self._inner.judge_view(question)
            if answer is not None and not self._inner.sees:
                answer = replace(answer, by=self.name)  # the answer is presented as a model's
            self._view = _Thought(topic, answer, self._now() + self._seconds)
        found: ViewAnswer | None = self._view.value if self._view.ready <= self._now() else None
        return found

    def _think(self, topic: Any, value: Any, age: float) -> Any:
        """Submit `value` as the delayed answer about a topic; return the finished answer about the topic.

        Returns None if no answer is finished, or if it is older than `age` s.
        """
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
