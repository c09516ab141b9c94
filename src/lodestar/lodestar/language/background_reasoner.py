"""Reasoner that queries a language model in a background thread and always returns its newest answer at once."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from lodestar.language.config import RankPromptConfig
from lodestar.language.model_reasoner import UNUSABLE, ModelReasoner, merged, told, with_reason
from lodestar.language.prompts import NothingFits, rank_question
from lodestar.language.reasoner import Judgement, OfflineReasoner, RankRequest
from lodestar.language.views import ViewAnswer, ViewQuestion
from lodestar.models.chat import ChatCancelled

QUESTION_INTERVAL = 1.0  # seconds between two questions; chosen
RANKING_AGE = 60.0  # seconds after which an earlier ranking is no longer used; chosen
QUESTION_RETRY = 10.0  # seconds until a question that failed is asked again unchanged; chosen

_log = logging.getLogger(__name__)


class BackgroundReasoner:
    """Reasoner that never blocks: it returns the model's last answer for this task while that is fresh, else
    the offline reasoner's answer with the reason.

    One thread asks the model one question at a time, always the newest; an unchanged question is not asked
    again (RoboAtlas IV-E: the worker is invoked only when the scene changes). A question about candidates is
    new when the task or the candidates' data in the scene change, not when view descriptions change; its
    answer stays valid until then. An answer about a camera view is valid for that image only; a question
    about a newer image replaces the running one. clock: seconds, monotonic.
    """

    name = "model"
    sees = True
    waits = True

    def __init__(
        self,
        model: ModelReasoner,
        offline: OfflineReasoner | None = None,
        prompt: RankPromptConfig | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model = model
        self._offline = offline or OfflineReasoner()
        self._prompt = prompt or RankPromptConfig()
        self._thinker = _Thinker(clock)

    def close(self) -> None:
        """Stop asking the model; cancel the running question without waiting for it."""
        self._thinker.close()
        self._model.begin_task()

    def begin_task(self) -> None:
        """Discard the answers for the last task."""
        self._thinker.forget()
        self._model.begin_task()

    def rank(self, request: RankRequest) -> list[Judgement]:
        """Rank candidates, see Reasoner; candidates that the model has not judged yet follow in the offline
        reasoner's order.
        """
        offline = self._offline.rank(request)
        if not offline or not request.entities:
            return offline
        try:
            question = rank_question(request, self._prompt)
        except NothingFits as error:
            return [with_reason(judgement, str(error)) for judgement in offline]
        topic = ("rank", request.task.target, request.task.step.graphs)
        context = tuple(request.context)
        self._thinker.submit(topic, question, lambda: self._model.ask_ranked(question, context))
        judged, reason = self._thinker.answer(topic, question, RANKING_AGE)
        if judged is None:
            return [with_reason(judgement, reason) for judgement in offline]
        return merged(judged, offline)

    def judge_view(self, question: ViewQuestion) -> ViewAnswer | None:
        """Judge a view, see Reasoner; use the offline reasoner if the model failed."""
        topic, image = ("view", question.target, question.neighbors, question.constraints), question.name
        self._thinker.submit(topic, image, lambda: self._model.ask_view(question), self._model.cancel)
        answer, reason = self._thinker.answer(topic, image)
        if answer is not None or self._thinker.thinks_of(topic, image):
            return answer
        return replace(self._offline.judge_view(question), rationale=f"offline: {reason}")


@dataclass
class _Answer:
    topic: Any
    version: Any
    value: Any
    at: float


class _Thinker:
    """Worker thread with one running and one waiting question; a newer question replaces the waiting one.

    A question is identified by its topic (the task, and whether it ranks candidates or judges a view) and its
    version (the candidates' data or the image).
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._wake = threading.Condition()
        self._waiting: tuple[Any, Any, Callable[[], Any]] | None = None
        self._asked: tuple[Any, Any] | None = None
        self._answer: _Answer | None = None
        self._problem = ""
        self._failed_at = 0.0
        self._since = clock()
        self._task = 0
        self._busy = self._closed = self._hurries = False
        self._thread: threading.Thread | None = None

    def submit(
        self, topic: Any, version: Any, ask: Callable[[], Any], interrupt: Callable[[], None] | None = None
    ) -> None:
        """Queue a question unless it equals the last one asked; after a failure it may be repeated once
        QUESTION_RETRY seconds passed.

        interrupt(): cancels the running question; if given, this question is asked at once.
        """
        with self._wake:
            if self._closed:
                return
            if self._asked == (topic, version):
                rested = not self._busy and self._clock() - self._failed_at >= QUESTION_RETRY
                if not self._problem or not rested:
                    if self._waiting is not None and self._waiting[0] == topic:
                        self._waiting = None  # the question changed and changed back
                    return
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="thinking", daemon=True)
                self._thread.start()
            if self._waiting is None and not self._busy:
                self._since = self._clock()
            self._waiting, self._hurries = (topic, version, ask), interrupt is not None
            if interrupt is not None and self._busy:
                interrupt()
            self._wake.notify_all()

    def thinks_of(self, topic: Any, version: Any) -> bool:
        """Return whether the question of this topic and version is running or waiting."""
        with self._wake:
            under_way = self._asked if self._busy else None
            return (topic, version) in (under_way, self._waiting and self._waiting[:2])

    def answer(self, topic: Any, version: Any, age: float = -1.0) -> tuple[Any, str]:
        """Return (answer, ""), or (None, reason) if there is no usable answer.

        An answer on the topic is usable if it is for this version, or at most `age` seconds old.
        """
        with self._wake:
            now = self._clock()
            answer = self._answer
            if (
                answer is not None
                and answer.topic == topic
                and (answer.version == version or now - answer.at <= age)
            ):
                return answer.value, ""
            if self._problem:
                return None, self._problem
            return None, f"the language model has been thinking for {now - self._since:.0f} s"

    def forget(self) -> None:
        """Discard the answers so far, and the answer of the running question."""
        with self._wake:
            self._task += 1
            self._waiting = self._asked = self._answer = None
            self._problem = ""

    def close(self) -> None:
        """End the thread after the running question."""
        with self._wake:
            self._closed, self._waiting = True, None
            self._wake.notify_all()

    def _run(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._closed or self._waiting is not None)
                if self._closed:
                    return
                assert self._waiting is not None
                (topic, version, ask), self._waiting = self._waiting, None
                self._asked, self._busy, task = (topic, version), True, self._task
                self._since = self._clock()
            value, problem = _asked(ask)
            with self._wake:
                self._busy = False
                if task == self._task:
                    if value is None and not problem:  # interrupted: it may be asked again
                        self._asked = None
                    self._problem, self._failed_at = problem, self._clock()
                    if value is not None:
                        self._answer = _Answer(topic, version, value, self._clock())
                self._wake.wait_for(
                    lambda: self._closed or (self._hurries and self._waiting is not None), QUESTION_INTERVAL
                )


def _asked(ask: Callable[[], Any]) -> tuple[Any, str]:
    """Ask the model; return (answer, ""), or (None, reason of the failure): "" if a newer question interrupted it."""
    try:
        return ask(), ""
    except ChatCancelled:
        return None, ""
    except UNUSABLE as error:
        return None, told(error)
    except Exception as error:  # the thread must survive any exception of a model client
        _log.exception("the question to the language model failed")
        return None, f"{error.__class__.__name__}"
