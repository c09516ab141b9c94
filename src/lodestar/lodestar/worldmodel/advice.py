"""Advice of a language model on a failure that the cause table cannot diagnose (VLM-DEWM 3.3.5, C.1, C.6).

The model gets the discrepancy, the causes with their probabilities and the nearest objects. It may choose one
of the recoveries of those causes. The chosen recovery is carried out like one that the table selects, and
each of its goals is validated.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from lodestar.language.prompts import DATA_RULE, data_block
from lodestar.models.chat import ChatModel, ChatUnavailable, OpenAiChat
from lodestar.models.chat_answers import object_of
from lodestar.models.chat_budget import tokens_in
from lodestar.scene.captions import clean_text
from lodestar.worldmodel.cause_table import CauseTable, Recovery, cause_table
from lodestar.worldmodel.config import AdviserConfig
from lodestar.worldmodel.outcome_sentences import discrepancy_in_words
from lodestar.worldmodel.outcomes import Diagnosis

_log = logging.getLogger(__name__)

SYSTEM = f"""\
An action of a walking robot failed, and its own diagnosis does not tell why. You get the task, why the action failed,
what differs from what was expected, possible causes with probabilities, and the things near the robot, nearest first.
Choose the one recovery of the list that most likely lets the task go on, and say why in one short sentence.
{DATA_RULE}"""

#: Meaning of each recovery, for the model's prompt.
MEANINGS = {
    Recovery.TAKE_NEW_PLACE: "the target stands elsewhere now: go to where it was seen last",
    Recovery.SEARCH_ELSEWHERE: "the target is gone: search for it elsewhere",
    Recovery.NEXT_CANDIDATE: "it was not the target: go to the next candidate",
    Recovery.OTHER_SIDE: "look at the target, or stand, somewhere else",
    Recovery.TELL: "claim what is in front of the robot, and tell of the other one",
    Recovery.GO_ROUND: "take the way for closed for a while, and go round it",
    Recovery.WAIT_THEN_GO_ROUND: "wait until the way is free, then go round it",
    Recovery.RELOCALISE: "stand until the pose fits the surroundings again, or end",
    Recovery.WAIT_FOR_SENSORS: "stand until the sensors speak again",
    Recovery.ASK_AGAIN: "leave this goal out and decide anew",
}


@dataclass(frozen=True)
class AdviceQuestion:
    """A failure in the form in which it is presented to the model.

    offered: recoveries that the model may choose. near: one line per nearby object, nearest first.
    """

    task: str
    why: str
    diagnosis: Diagnosis
    offered: tuple[Recovery, ...]
    near: tuple[str, ...] = ()

    def text(self, tokens: int) -> str:
        """Return the prompt, without the farthest objects if it would have more than `tokens` tokens."""
        records: list[dict[str, Any]] = [
            {"task": clean_text(self.task), "failed": clean_text(self.why)},
            {"differs": clean_text(discrepancy_in_words(self.diagnosis.discrepancy))},
            *(
                {"cause": one.cause.value, "probability": round(one.probability, 2)}
                for one in self.diagnosis.causes
                if one.probability >= 0.01
            ),
            *({"recovery": one.value, "does": MEANINGS[one]} for one in self.offered),
        ]
        for line in self.near:
            longer = [*records, {"near": clean_text(line)}]
            if tokens_in(data_block(longer)) > tokens:
                break
            records = longer
        return data_block(records)


@dataclass(frozen=True)
class Advice:
    """The recovery chosen by the model, with its reason as one clean line."""

    recovery: Recovery
    reason: str

    def __str__(self) -> str:
        return f"{self.recovery.value}: {self.reason}" if self.reason else self.recovery.value


def offered_by(diagnosis: Diagnosis, least: float, table: CauseTable | None = None) -> tuple[Recovery, ...]:
    """Return the recoveries offered to the model: of causes with probability >= `least`, and ASK_AGAIN."""
    rows = (table or cause_table()).rows
    likely = [rows[one.cause].recovery for one in diagnosis.causes if one.probability >= least]
    return tuple(dict.fromkeys(r for r in (*likely, Recovery.ASK_AGAIN) if r in MEANINGS))


def read_advice(answer: str, offered: Sequence[Recovery]) -> Advice:
    """Return the advice in the model's answer. Raises ValueError if it is invalid or not among `offered`."""
    try:
        data = json.loads(answer)
        chosen, reason = data["recovery"], data["reason"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ValueError("the language model's answer is no advice") from error
    for recovery in offered:
        if recovery.value == chosen:
            return Advice(recovery, clean_text(str(reason)))
    raise ValueError("the language model chose a recovery that was not offered")


class Adviser:
    """Asks the language model on a thread of its own, one question at a time.

    warn: called if a question brings no advice.
    """

    def __init__(
        self, model: ChatModel, config: AdviserConfig, warn: Callable[[str], None] = _log.warning
    ) -> None:
        self.config = config
        self._model, self._warn = model, warn
        self._pool = ThreadPoolExecutor(1, "adviser")
        self._asked: Future[Advice] | None = None
        self._task = ""

    def ask(self, question: AdviceQuestion) -> None:
        """Submit a question and drop an earlier one. All questions of one task share a budget of tokens."""
        self.drop()
        begin_task = getattr(self._model, "begin_task", None)  # optional in a ChatModel
        if begin_task is not None and question.task != self._task:
            begin_task()
        self._task = question.task
        self._asked = self._pool.submit(self._advice, question)

    def answer(self) -> tuple[bool, Advice | None]:
        """Return whether the wait is over, and the advice.

        The advice is None before that, or if the answer is unusable.
        """
        asked = self._asked
        if asked is None:
            return True, None
        if not asked.done():
            return False, None
        self._asked = None
        try:
            return True, asked.result()
        except (ChatUnavailable, ValueError) as error:
            self._warn(f"no advice on a failure: {error}")
            return True, None

    def drop(self) -> None:
        """Cancel the last question and stop waiting for it."""
        asked, self._asked = self._asked, None
        if asked is not None and not asked.done():
            asked.cancel()
            cancel = getattr(self._model, "cancel", None)  # optional in a ChatModel
            if cancel is not None:
                cancel()

    def close(self) -> None:
        """Cancel a pending question and end the thread."""
        self.drop()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _advice(self, question: AdviceQuestion) -> Advice:
        recovery = {"type": "string", "enum": [one.value for one in question.offered]}
        schema = object_of(recovery=recovery, reason={"type": "string"})
        answer = self._model.complete(SYSTEM, question.text(self.config.tokens), schema)
        return read_advice(answer, question.offered)


def make_adviser(config: AdviserConfig, warn: Callable[[str], None] = _log.warning) -> Adviser | None:
    """Return the configured adviser, which the caller closes; None if none is configured."""
    return None if not config.asks_model else Adviser(OpenAiChat(config.chat), config, warn)
