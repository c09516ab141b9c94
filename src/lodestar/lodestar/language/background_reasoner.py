"""A language model that thinks beside the robot: whoever asks gets the newest answer there is, at once."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lodestar.language.config import BackgroundReasonerConfig, RankPromptConfig
from lodestar.language.directive import Task
from lodestar.language.model_reasoner import UNUSABLE, ModelReasoner, merged, told, with_reason
from lodestar.language.prompts import NothingFits, rank_question
from lodestar.language.reasoner import DEFAULT_BUDGET, Judgement, OfflineReasoner, Scored
from lodestar.language.views import ViewAnswer, ViewQuestion
from lodestar.scene.records import Entity

_log = logging.getLogger(__name__)


class BackgroundReasoner:
    """Answers at once: with what the model last said of this task while that is fresh, else offline and says why.

    One thread asks the model one question at a time, the newest; an unchanged question is not asked again (RoboAtlas
    IV-E: the worker is invoked only when the scene changes). A question about candidates changes with the task and what
    the dictionary says of them, not with what is said of views; its answer stands as long. An answer about a view is
    one about that very image; a question about a newer image takes the place of the one under way. clock: seconds,
    monotonic.
    """

    name = "model"
    sees = True
    waits = True

    def __init__(
        self,
        model: ModelReasoner,
        offline: OfflineReasoner | None = None,
        config: BackgroundReasonerConfig = BackgroundReasonerConfig(),
        prompt: RankPromptConfig | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model = model
        self._offline = offline or OfflineReasoner()
        self._config = config
        self._prompt = prompt or RankPromptConfig()
        self._thinker = _Thinker(config, clock)

    def close(self) -> None:
        """No further question is asked; one under way is cancelled and left behind."""
        self._thinker.close()
        self._model.begin_task()

    def begin_task(self) -> None:
        """Answers for the last task are forgotten."""
        self._thinker.forget()
        self._model.begin_task()

    def rank(
        self,
        candidates: Sequence[Scored],
        task: Task,
        entities: Mapping[int, Entity] | None = None,
        context: Sequence[str] = (),
    ) -> list[Judgement]:
        """See Reasoner; what the model has not judged yet follows as the offline reasoner has it."""
        offline = self._offline.rank(candidates, task, entities, context)
        if not offline or not entities:
            return offline
        try:
            question = rank_question(candidates, task, entities, self._prompt, bool(context))
        except NothingFits as error:
            return [with_reason(judgement, str(error)) for judgement in offline]
        topic = ("rank", task.target, task.step.graphs)
        context = tuple(context)
        self._thinker.submit(topic, question, lambda: self._model.ask_ranked(question, context))
        judged, reason = self._thinker.answer(topic, question, self._config.rank_age)
        if judged is None:
            return [with_reason(judgement, reason) for judgement in offline]
        return merged(judged, offline)

    def judge_view(self, question: ViewQuestion) -> ViewAnswer | None:
        """See Reasoner; offline where the model failed."""
        topic, image = ("view", question.target, question.neighbors, question.constraints), question.name
        self._thinker.submit(topic, image, lambda: self._model.ask_view(question), self._model.cancel)
        answer, reason = self._thinker.answer(topic, image)
        if answer is not None or self._thinker.thinks_of(topic, image):
            return answer
        return replace(self._offline.judge_view(question), rationale=f"offline: {reason}")

    def describe(self, entities: Iterable[Entity], budget: int = DEFAULT_BUDGET) -> str:
        """See Reasoner."""
        return self._offline.describe(entities, budget)


@dataclass
class _Answer:
    topic: Any
    version: Any
    value: Any
    at: float


class _Thinker:
    """One thread, one question under way, one that waits: a newer one takes its place."""

    def __init__(self, config: BackgroundReasonerConfig, clock: Callable[[], float]) -> None:
        self._config, self._clock = config, clock
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
        """Have this asked soon, unless it is the last one that was and did not fail a while ago.

        interrupt(): gives up the question under way; with it, this one is asked at once.
        """
        with self._wake:
            if self._closed:
                return
            if self._asked == (topic, version):
                rested = not self._busy and self._clock() - self._failed_at >= self._config.retry
                if not self._problem or not rested:
                    if self._waiting is not None and self._waiting[0] == topic:
                        self._waiting = None  # it was as it is now, changed, and is so again
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
        """Whether this is under way or next."""
        with self._wake:
            under_way = self._asked if self._busy else None
            return (topic, version) in (under_way, self._waiting and self._waiting[:2])

    def answer(self, topic: Any, version: Any, age: float = -1.0) -> tuple[Any, str]:
        """The newest answer on the topic if it is to this version, or to another one and at most `age` seconds old, or
        None and why there is none.
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
        """Answers so far, and the one under way, are void."""
        with self._wake:
            self._task += 1
            self._waiting = self._asked = self._answer = None
            self._problem = ""

    def close(self) -> None:
        """The thread ends after what it is doing."""
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
                    self._problem, self._failed_at = problem, self._clock()
                    if value is not None:
                        self._answer = _Answer(topic, version, value, self._clock())
                self._wake.wait_for(
                    lambda: self._closed or (self._hurries and self._waiting is not None),
                    self._config.interval,
                )


def _asked(ask: Callable[[], Any]) -> tuple[Any, str]:
    """Return the model's answer, or None and the reason."""
    try:
        return ask(), ""
    except UNUSABLE as error:
        return None, told(error)
    except Exception as error:  # the thread must go on whatever a model's client raises
        _log.exception("the question to the language model failed")
        return None, f"{error.__class__.__name__}"
