"""The `~/answer` action: answers a question in plain English from memory, with the evidence."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from lodestar.assembly.config import MemoryConfig
from lodestar.assembly.parts import picture_reader
from lodestar.language.directive_errors import DirectiveError, EmptyDirective
from lodestar.language.likely_questions import LikelyQuestions
from lodestar.language.picture_goals import Described, item_of
from lodestar.language.question import Question
from lodestar.language.question_reader import load_questions, read_question
from lodestar.language.time_windows import TimeBasis, TimePoint, TimeWindow
from lodestar.memory.answering.agent import ModelAnswerer, make_answer_chat
from lodestar.memory.answering.answerer import Answerer, memory_state
from lodestar.memory.answering.outcomes import Answers, outcome_of
from lodestar.memory.answering.replies import ANSWERING_PROOFS
from lodestar.memory.answering.tools import Shown, Tools
from lodestar.memory.errors import StoreError
from lodestar.models.phrases import PhraseBook
from lodestar.perception.pictures import BadPicture
from lodestar_interfaces.action import AnswerQuestion
from lodestar_ros.conversions import stamp_from_msg
from lodestar_ros.conversions_memory import outcome_to_result
from lodestar_ros.keyframe_client import KeyframeClient
from lodestar_ros.memory_feed import MemoryFeed, Surroundings
from lodestar_ros.memory_keeper import MemoryKeeper
from lodestar_ros.node import LodestarNode
from lodestar_ros.workers import ActionWorker, Job, Refused

Result = AnswerQuestion.Result


class AnswerServer:
    """Serve ``~/answer`` on a worker thread. Answering changes nothing in the memory.

    Where `shared.language_model` is on, the model is asked when the offline answer is uncertain.
    """

    def __init__(
        self,
        node: LodestarNode,
        feed: MemoryFeed,
        keeper: MemoryKeeper,
        config: MemoryConfig,
        book: PhraseBook,
        images: KeyframeClient,
    ) -> None:
        self._node, self._feed, self._keeper, self._images = node, feed, keeper, images
        self._config, self._book = config, book
        self._chat = make_answer_chat(config.agent)
        self._asked = self._unaided = 0  # questions to the model, and those that it did not help with
        if self._chat is not None:
            chat = self._chat
            node.diagnostics.value("agent.asked", lambda: self._asked)
            node.diagnostics.value("agent.unaided", lambda: self._unaided)
            node.diagnostics.value("agent.tokens", lambda: chat.spending.tokens)
        self._read_picture = picture_reader(node.shared.pictures)
        self._likely = LikelyQuestions(book.vectors, config.answering.likely)
        self._loaded = False
        ActionWorker(
            node,
            AnswerQuestion,
            "~/answer",
            self._answer,
            {DirectiveError: Result.NOT_UNDERSTOOD, BadPicture: Result.NOT_UNDERSTOOD},
            complete=_say_why,
        )

    def _answer(self, job: Job) -> Any:
        """Return the result of a question. Runs on the worker; raises Refused."""
        if not self._loaded:
            job.feedback(AnswerQuestion.Feedback(text="reading the grammar, once"))
            load_questions()
            self._loaded = True
        try:
            question = question_of(job.request, self._likely)
        except EmptyDirective as error:
            raise Refused(Result.EMPTY_QUESTION, str(error)) from error
        except ValueError as error:
            raise Refused(Result.NOT_UNDERSTOOD, str(error)) from error
        if job.cancel_requested:
            raise Refused(Result.CANCELLED, "cancelled")
        around = self._feed.surroundings()
        shown = self._shown(question, job.request, around)
        result = self._from_memory(job, question, around, shown)
        result.evidence = result.evidence[: job.request.max_evidence or ANSWERING_PROOFS]
        return result

    def _shown(self, question: Question, request: Any, around: Surroundings) -> Shown | None:
        """Return the item in the request's picture, or the largest object in view.

        The object answers a question about the camera's view; None for other questions. Raises BadPicture.
        """
        if request.picture:
            return Shown(self._read_picture(bytes(request.picture[0].data)))
        if not question.image:
            return None
        for identity in sorted(around.in_view, key=lambda one: -around.in_view[one]):
            entity = around.scene.get(identity)
            if entity is not None:
                return Shown(item_of(Described(entity.label, entity.caption)), entity.id)
        return None

    def _from_memory(self, job: Job, question: Question, around: Surroundings, shown: Shown | None) -> Any:
        store = self._keeper.store
        if store is None:
            raise Refused(Result.STORE_UNAVAILABLE, self._keeper.problem)
        tools = Tools(
            store, self._book, around.scene, grid=around.grid, looks=around.looks, shots=around.shots,
            cancelled=lambda: job.cancel_requested,
        )  # fmt: skip
        answerer = Answerer(tools, self._config.answering)
        try:
            state = memory_state(store.statistics())
        except StoreError as error:
            raise Refused(Result.STORE_UNAVAILABLE, str(error)) from error
        used = self._with_model(answerer, job)
        outcome = outcome_of(used, state, question, self._node.now, around.pose, shown)
        return outcome_to_result(outcome)

    def _with_model(self, offline: Answerer, job: Job) -> Answers:
        """Return an answerer that falls back on the language model, or `offline` where no model is configured."""
        chat = self._chat
        if chat is None:
            return offline
        job.when_cancelled(chat.cancel)

        def begin() -> None:
            chat.begin_task()
            self._asked += 1
            job.feedback(AnswerQuestion.Feedback(text="asking the language model"))

        return ModelAnswerer(
            chat, offline, self._config.agent, pictures=self._images.picture, warn=self._on_unaided, begin=begin,
            cancel=chat.cancel,
        )  # fmt: skip

    def _on_unaided(self, why: str) -> None:
        self._unaided += 1
        self._node.get_logger().warning(why)


def _say_why(result: Any) -> None:
    """Set the answer of a failed result to its error message, and its numbers to NaN."""
    result.answer, result.number, result.coverage = result.error_msg, math.nan, math.nan


def question_of(request: Any, likely: LikelyQuestions | None = None) -> Question:
    """Return the `Question` of an action goal, with its time range. Raises DirectiveError, ValueError."""
    question = read_question(request.question, likely=likely)
    begin, end = stamp_from_msg(request.from_stamp), stamp_from_msg(request.to_stamp)
    if not begin and not end:
        return question
    if end and begin > end:
        raise ValueError("the time ends before it begins; give from_stamp and to_stamp in order")
    point = lambda seconds: TimePoint(TimeBasis.STAMP, seconds) if seconds else None  # noqa: E731
    return replace(question, window=TimeWindow(point(begin), point(end)))
