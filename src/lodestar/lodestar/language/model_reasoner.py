"""Reasoner that asks a language model and uses only those parts of its answer that can be checked."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from lodestar.language.config import RankPromptConfig
from lodestar.language.directive import Item
from lodestar.language.picture_goals import Described, item_of
from lodestar.language.prompts import (
    OFFERED,
    PICTURE_SCHEMA,
    PICTURE_SYSTEM,
    RANK_SYSTEM,
    VIEW_SYSTEM,
    RankQuestion,
    rank_question,
    view_prompt,
    view_schema,
)
from lodestar.language.reasoner import Judgement, OfflineReasoner, RankRequest
from lodestar.language.views import GO, PICTURE, ViewAnswer, ViewQuestion
from lodestar.models.chat import BadAnswer, ChatModel, ChatUnavailable, Shorter
from lodestar.perception.pictures import BadPicture, PictureConfig, decode_picture, encode_picture
from lodestar.scene.captions import clean_text

_log = logging.getLogger(__name__)

#: Errors raised if an answer is not available or not usable.
UNUSABLE = (ChatUnavailable, ValueError, TypeError, KeyError)


class AnotherImage(ValueError):
    """Error: the model answered about another image than the one in the question."""

    code = BadAnswer.code


def told(error: Exception) -> str:
    """Return the reason why an answer is not usable: an error code and a sentence."""
    return f"{getattr(error, 'code', BadAnswer.code)}: {error}"


class ModelReasoner:
    """Reasoner that uses a language model's judgement, or the offline reasoner's with the reason in the
    rationale.

    warn: called with that reason. Scores are accepted only if they are numbers in [0, 1], ids only from the
    list, views only of the image in the question; `discarded` counts answers about other images.
    """

    name = "model"
    sees = True
    waits = False

    def __init__(
        self,
        model: ChatModel,
        offline: OfflineReasoner | None = None,
        prompt: RankPromptConfig | None = None,
        warn: Callable[[str], None] = _log.warning,
    ) -> None:
        self._model = model
        self._offline = offline or OfflineReasoner()
        self._prompt = prompt or RankPromptConfig()
        self._warn = warn
        self.discarded = 0  # number of answers about another image

    def begin_task(self) -> None:
        """Reset the budget and cancel a question of the last task."""
        self.cancel()
        self._act("begin_task")

    def cancel(self) -> None:
        """Cancel the running question."""
        self._act("cancel")

    def _act(self, name: str) -> None:
        act = getattr(self._model, name, None)  # a ChatModel need not have begin_task or cancel
        if act is not None:
            act()

    def rank(self, request: RankRequest) -> list[Judgement]:
        """Rank candidates, see Reasoner; candidates that the model did not judge come last."""
        offline = self._offline.rank(request)
        if not offline or not request.entities:
            return offline
        try:
            question = rank_question(request, self._prompt)
            return merged(self.ask_ranked(question, request.context), offline)
        except UNUSABLE as error:
            self._warn(f"candidates are ranked offline: {error}")
            return [with_reason(judgement, told(error)) for judgement in offline]

    def judge_view(self, question: ViewQuestion) -> ViewAnswer:
        """Judge a view, see Reasoner."""
        try:
            return self.ask_view(question)
        except UNUSABLE as error:
            self._warn(f"the view is judged offline: {error}")
            return replace(self._offline.judge_view(question), rationale=f"offline: {told(error)}")

    def ask_ranked(self, question: RankQuestion, context: Sequence[str] = ()) -> list[Judgement]:
        """Return the model's judgements of a question's candidates, best first.

        Raises the errors in UNUSABLE. If the answer is too long, the model is asked again about the first
        half of the candidates.
        """
        half, ids = question.surest(), frozenset(question.ids)
        shorter = Shorter(half.text(context), half.schema)
        data = _answer(
            self._model.complete(RANK_SYSTEM, question.text(context), question.schema, shorter=shorter)
        )
        found: dict[int, Judgement] = {}
        for entry in data["judgements"]:
            identity, confidence = entry["id"], _score(entry["confidence"])
            if type(identity) is int and identity in ids and identity not in found:
                reason = clean_text(str(entry.get("reason", "")))
                found[identity] = Judgement(identity, confidence, reason, self.name)
        if data["judgements"] and not found:
            raise ValueError("the language model named nothing that is on the list")
        return sorted(found.values(), key=lambda j: (-j.confidence, j.entity_id))

    def ask_view(self, question: ViewQuestion) -> ViewAnswer:
        """Return the model's answer about a view. Raises the errors in UNUSABLE."""
        offered = question.pictures if question.image else ()
        images = (question.image, *(one.image for one in offered)) if question.image else ()
        schema = view_schema(question.turns, max(len(question.points), 1), len(offered))
        system = f"{VIEW_SYSTEM}{OFFERED}" if offered else VIEW_SYSTEM
        data = _answer(self._model.complete(system, view_prompt(question), schema, images))
        if data["image"].strip() != question.name:
            self.discarded += 1
            raise AnotherImage(
                "the language model answered about another image than the one that it was asked about; "
                "its answer is discarded"
            )
        scores = {point.number: 0.0 for point in question.points}
        for entry in data["scores"]:
            if type(entry["number"]) is int and entry["number"] in scores:
                scores[entry["number"]] = _score(entry["score"])
        action, picture = data["action"], 0
        if action == PICTURE:
            picture = data["picture"]
            if type(picture) is not int or not 1 <= picture <= len(offered):
                raise ValueError("the language model chose a picture that was not offered")
        elif action != GO and action not in question.turns:
            raise ValueError("the language model chose an action that is not on the list")
        if action == GO and not any(scores.values()):
            raise ValueError("the language model goes on but names no mark to go to")
        description = clean_text(str(data.get("description", "")))
        rationale = clean_text(str(data.get("reason", "")))
        return ViewAnswer(question, scores, action, description, rationale, self.name, picture)


class ModelPictures:
    """Reader that names the object in a picture with a vision model."""

    def __init__(self, model: ChatModel, config: PictureConfig | None = None) -> None:
        self._model = model
        self._config = config or PictureConfig()

    def __call__(self, image: bytes) -> Item:
        """Return the item in the picture. Raises BadPicture; ChatUnavailable if the model cannot be asked."""
        rgb = decode_picture(image, self._config)
        answer = self._model.complete(PICTURE_SYSTEM, "What is this?", PICTURE_SCHEMA, (encode_picture(rgb),))
        try:
            data = _answer(answer)
            shown = Described(
                str(data["label"]), str(data["caption"]), tuple(str(n) for n in data["neighbors"])
            )
        except (ValueError, TypeError, KeyError) as error:
            raise BadPicture("the language model did not say what the picture shows; use words") from error
        return item_of(shown)


def merged(judged: Sequence[Judgement], offline: Sequence[Judgement]) -> list[Judgement]:
    """Return the model's judgements of known candidates, then the offline judgements of the others."""
    known = {judgement.entity_id for judgement in offline}
    first = [judgement for judgement in judged if judgement.entity_id in known]
    named = {judgement.entity_id for judgement in first}
    return first + [judgement for judgement in offline if judgement.entity_id not in named]


def with_reason(judgement: Judgement, reason: str) -> Judgement:
    """Return the judgement with the reason why it was made offline."""
    return replace(judgement, rationale=f"{judgement.rationale} (offline: {reason})")


def _answer(text: str) -> dict[str, Any]:
    data = json.loads(text)
    if not isinstance(data, dict):
        raise ValueError("the language model's answer is no object")
    return data


def _score(value: Any) -> float:
    """Return a score in [0, 1]. Raises ValueError for any other value."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError("the language model's score is no number")
    if not 0.0 <= value <= 1.0:
        raise ValueError("the language model's score is outside [0, 1]")
    return float(value)
