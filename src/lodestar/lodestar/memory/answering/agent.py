"""STaR's loop: a language model queries the memory in at most three rounds; its claims are verified (IV, Fig. 1)."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from lodestar.language.model_reasoner import told
from lodestar.language.question import AnswerType, Question, QuestionKind
from lodestar.memory.answer import Answer, AnswerPlace
from lodestar.memory.answering.agent_claims import BadClaim, Checked, checked_claim
from lodestar.memory.answering.agent_schema import SCHEMA, SEES, SYSTEM
from lodestar.memory.answering.agent_tools import AgentTools, Pictures
from lodestar.memory.answering.answerer import Answerer
from lodestar.memory.answering.config import AgentConfig
from lodestar.memory.answering.coverage import Coverage
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.picture_claims import check_pictures, floor_of_pictures
from lodestar.memory.answering.replies import coverage_in_words, place_of, reply
from lodestar.memory.answering.tools import Shown, Tools
from lodestar.memory.answering.wording import ago_in_words
from lodestar.models.chat import ChatModel, ChatUnavailable, OpenAiChat
from lodestar.models.chat_answers import parse_answer
from lodestar.models.config import EndpointConfig
from lodestar.models.kinship import same_kind
from lodestar.scene.captions import clean_text

_log = logging.getLogger(__name__)

_EXACT = (AnswerType.NUMBER, AnswerType.DURATION, AnswerType.TIME)


def make_answer_chat(config: AgentConfig) -> OpenAiChat | None:
    """Return a client of the configured language model, None if there is none.

    It waits at most `config.seconds` for an answer. If the model gets pictures and a vision endpoint `eyes`
    is configured, the client uses that endpoint.
    """
    if not config.asks_model:
        return None
    chat, eyes = replace(config.chat, patience=min(config.chat.patience, config.seconds)), config.eyes
    if config.sees and eyes != EndpointConfig():
        chat = replace(chat, model=eyes.model, base_url=eyes.base_url, key_variable=eyes.key_variable)
    return OpenAiChat(chat)


class ModelAnswerer:
    """Answers questions with a language model where the answer of the offline rules is uncertain.

    The offline answer is kept if it is an exact number or time from the store, or if a claim of the model
    fails verification. warn: called with the reason when the model fails. begin: called before every question
    to the model (`OpenAiChat.begin_task`). cancel: ends the pending request; called on timeout.
    `Tools.cancelled` stops the loop between rounds.
    """

    def __init__(
        self,
        model: ChatModel,
        offline: Answerer,
        config: AgentConfig | None = None,
        *,
        pictures: Pictures | None = None,
        warn: Callable[[str], None] = _log.warning,
        begin: Callable[[], None] = lambda: None,
        cancel: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model, self._offline = model, offline
        self._config = config or AgentConfig()
        self._pictures, self._warn, self._begin, self._clock = pictures, warn, begin, clock
        self._cancel = cancel

    @property
    def tools(self) -> Tools:
        """Return the data sources of the answers."""
        return self._offline.tools

    def answer(
        self, question: Question, now: float, pose: np.ndarray | None = None, shown: Shown | None = None
    ) -> Answer:
        """Return the answer; raises the same errors as `Answerer.answer`."""
        offline = self._offline.answer(question, now, pose, shown)
        exact = offline.is_known and question.answer in _EXACT
        lists = question.kind is QuestionKind.WHAT_THERE
        if exact or (offline.confidence >= self._config.sure and not self._may_be_missed(offline, lists)):
            return offline
        inquiry = self._offline.inquiry(question, now, pose, shown)
        ends = threading.Timer(self._config.seconds, self._cancel)
        ends.daemon = True
        ends.start()
        try:
            self._begin()
            return self._ask(inquiry, offline)
        except (ChatUnavailable, ValueError) as problem:
            self.tools.check()  # if the question was cancelled, raise instead of returning the offline answer
            self._warn(f"the offline answer stands: {told(problem)}")
            return offline
        finally:
            ends.cancel()

    def _may_be_missed(self, offline: Answer, lists: bool) -> bool:
        """Return whether a model with pictures may see something that the detector missed.

        That is the case for a "no" without a place, and for a list of objects (`lists`).
        """
        denied = offline.value.yes is False and not offline.value.places
        return self._config.sees and (denied or lists)

    def _ask(self, inquiry: Inquiry, offline: Answer) -> Answer:
        config = self._config
        deadline = self._clock() + config.seconds
        tools = AgentTools(inquiry, self._pictures, config.least_share)
        asked = clean_text(inquiry.question.text)
        notes, images, system = f"Notes:\n{tools.first_notes()}", list[bytes](), SYSTEM
        if config.sees and config.pictures:
            listed, images = tools.first_pictures(config.pictures)
            notes, system = f"{notes}\nPictures:\n{listed or 'none'}", f"{SYSTEM}\n{SEES}"
        for left in reversed(range(config.rounds)):
            self.tools.check()
            # preparing notes and pictures may use up the time while no request is pending to be cancelled
            if self._clock() > deadline:
                raise ValueError("looking into the memory took too long to ask the language model")
            rounds = "This is the last round: give claims." if not left else f"{left} more rounds are left."
            user = f'Question: "{asked}"\n{notes}\n{rounds}'
            found = parse_answer(self._model.complete(system, user, SCHEMA, images), SCHEMA)
            if self._clock() > deadline:
                raise ValueError("the language model took too long")
            if found["claims"]:
                return self._checked(inquiry, tools, found, offline)
            if not found["calls"]:
                return offline
            more, images = tools.run(found["calls"])
            notes = f"{notes}\n{more}"
        raise ValueError("the language model came to no answer in its rounds")

    def _checked(self, inquiry: Inquiry, tools: AgentTools, found: dict[str, Any], offline: Answer) -> Answer:
        """Return an answer from the claims. Raises BadClaim for a false claim or a missing value."""
        config, question, yes = self._config, inquiry.question, found["yes"]
        claims = [checked_claim(inquiry, tools.shown, claim, config.least_share) for claim in found["claims"]]
        check_pictures(inquiry, claims, yes)
        if question.kind is QuestionKind.WHAT_THERE and offline.is_known and offline.value.names:
            return self._added(inquiry, claims, offline)
        boxes = [claim.box for claim in claims if claim.box is not None]
        times = [claim.time for claim in claims if claim.time is not None]
        number = next((claim.number for claim in claims if claim.number is not None), None)
        missing = {
            AnswerType.PLACE: not boxes,
            AnswerType.TIME: not times,
            AnswerType.NUMBER: number is None,
            AnswerType.DURATION: True,
            AnswerType.YES_NO: yes is None,
        }
        if missing.get(question.answer, False):
            raise BadClaim("no claim gives what the question asks for")
        coverage, confidence = None, self._confidence(claims)
        if question.answer is AnswerType.YES_NO and yes is False:
            if offline.is_known and offline.value.yes:
                raise BadClaim("what some pictures do not show is no reason against what the memory knows")
            if offline.is_known:  # it rests on all looks of the robot, the claims on some pictures only
                return offline
            if not question.asked:
                coverage = floor_of_pictures(inquiry, claims)
                confidence *= coverage.share
        places: list[AnswerPlace] = [place_of(inquiry, box) for box in boxes]
        return reply(
            inquiry, _told(inquiry, claims, coverage), confidence,
            places=places, times=times, number=number, yes=yes, names=_names(claims),
            proof=[proof for claim in claims for proof in claim.proofs(inquiry)],
            verified=max((_last(claim) for claim in claims), default=None), coverage=coverage,
        )  # fmt: skip

    def _confidence(self, claims: list[Checked]) -> float:
        """Return the confidence in verified claims.

        It is lower if only the model saw the object, and lower still if no cited object is outlined in the
        pictures.
        """
        seen = [claim for claim in claims if claim.pictures]
        if not seen:
            return self._config.confidence
        marked = all(claim.outlined for claim in seen)
        return self._config.seen_confidence * (1.0 if marked else self._config.unmarked)

    def _added(self, inquiry: Inquiry, claims: list[Checked], offline: Answer) -> Answer:
        """Return the offline answer's list, extended by objects that only the model sees."""
        known = offline.value.names
        more = [c for c in claims if c.pictures and not any(same_kind(c.said, name) for name in known)]
        if not more:
            return offline
        proof = [*(proof for claim in more for proof in claim.proofs(inquiry)), *offline.proof]
        return reply(
            inquiry, f"{offline.sentence} {_told(inquiry, more, None)}",
            min(self._confidence(more), offline.confidence), places=offline.value.places,
            number=offline.value.number, names=[*known, *_names(more)], proof=proof,
            verified=offline.last_verified, coverage=None, directive=offline.directive,
        )  # fmt: skip


def _names(claims: list[Checked]) -> list[str]:
    return list(dict.fromkeys(name for claim in claims for name in claim.names))


def _told(inquiry: Inquiry, claims: list[Checked], coverage: Coverage | None) -> str:
    """Return the claims as one paragraph; claims that rest on pictures alone are marked as such."""
    said = " ".join(_sentence(claim.text) for claim in claims)
    shots = {shot.image: shot for claim in claims for shot in claim.pictures}
    if shots:
        newest = ago_in_words(max(shot.stamp for shot in shots.values()), inquiry.now)
        of = "a picture" if len(shots) == 1 else f"{len(shots)} pictures, the newest"
        said = f"{said} (A model sees this in {of} of {newest}; nothing else confirms it.)"
    return said if coverage is None else f"{said} {coverage_in_words(inquiry, coverage)}"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _last(claim: Checked) -> float:
    seen = [shot.stamp for shot in claim.pictures]
    return max([*(m.end for m in claim.memories), *(t.last for t in claim.things), *seen])
