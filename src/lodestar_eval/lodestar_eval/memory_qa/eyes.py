"""A model that really looks at a tour's pictures: it recognises the image and says what was truly in view there."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from lodestar.language.directive_errors import DirectiveError
from lodestar.language.question import AnswerType, Question, QuestionKind
from lodestar.language.question_reader import read_question
from lodestar.models.lexicon import load_lexicon
from lodestar_eval.memory_qa.recording import Recording
from lodestar_eval.memory_qa.truth import MIN_PIXELS, NEAR, TourTruth
from lodestar_sim.reference_truth import Scene, is_class
from lodestar_sim.worlds.world import WorldObject

_SIDE = (48, 36)  # pixels of the copies by which an image is recognised
_ALIKE = 14.0  # grey levels that a picture's outlines and its encoding may change of it; chosen
_ASKED = re.compile(r'^Question: "(.*?)"$', re.MULTILINE)
_MADE_OF = re.compile(r"made (?:out )?of (\w+)\?$")
_LISTED = re.compile(r"^k(\d+): ", re.MULTILINE)


@dataclass(frozen=True)
class _View:
    """Content of a picture: the scene at that time, and its things that cover enough pixels near enough."""

    scene: Scene
    things: tuple[WorldObject, ...]


class TourEyes:
    """Answers of a model about pictures of a tour, as `agent_schema.SCHEMA` has them.

    It gets the picture itself, finds which image of the tour it is, and knows of it what the simulator knows: a thing
    is seen where it covers 60 pixels within 5 m. What it is not shown it does not know. `unknown` counts pictures that
    are none of the tour.
    """

    def __init__(self, recording: Recording) -> None:
        self._truth = TourTruth(recording.world, recording.glances)
        store = recording.stream.keyframes()
        self._stamps: list[float] = []
        copies = []
        for keyframe in store.keyframes():
            self._stamps.append(keyframe.stamp)
            copies.append(_copy(store.get(keyframe.id)[1]))
        self._copies = np.array(copies, np.float32).reshape(len(copies), -1)
        self.unknown = 0

    def look(self, text: str, images: Sequence[bytes]) -> dict[str, Any]:
        """Return the claims about the pictures that come with a question."""
        asked = _ASKED.search(text)
        ids = [int(found) for found in _LISTED.findall(text)][: len(images)]
        views = {k: view for k, image in zip(ids, images) if (view := self._view(image)) is not None}
        if asked is None or not views:
            return _said([])
        try:
            question = read_question(asked.group(1))
        except DirectiveError:
            return _said([])
        return _answer(question, asked.group(1), views)

    def _view(self, image: bytes) -> _View | None:
        """Return what is truly in a picture; None for one that is none of the tour."""
        found = np.abs(self._copies - _copy(image).reshape(1, -1)).mean(axis=1)
        best = int(found.argmin())
        if found[best] > _ALIKE:
            self.unknown += 1
            return None
        truth, stamp = self._truth, self._stamps[best]
        glance = truth.glances[int(np.abs(truth.stamps - stamp).argmin())]
        scene = truth.scenes[max(k for k, (start, _) in enumerate(truth.epochs) if start <= stamp)]
        near = {i for i, (pixels, metres) in glance.things.items() if pixels >= MIN_PIXELS and metres <= NEAR}
        return _View(scene, tuple(thing for thing in scene.things if thing.id in near))


def _copy(image: bytes) -> np.ndarray:
    grey = cv2.imdecode(np.frombuffer(image, np.uint8), cv2.IMREAD_GRAYSCALE)
    if grey is None:
        return np.full(_SIDE[::-1], np.inf, np.float32)
    return cv2.resize(grey, _SIDE, interpolation=cv2.INTER_AREA).astype(np.float32)


def _answer(question: Question, text: str, views: dict[int, _View]) -> dict[str, Any]:
    """Return what the pictures show of a question."""
    asks_presence = question.kind is QuestionKind.IS_THERE and not question.scope
    if question.item is None or (question.answer is AnswerType.YES_NO and not asks_presence):
        return _said([])  # what was moved, or lies in which room, no single picture tells
    meant = {k: _meant(question, view) for k, view in views.items()}
    made = _MADE_OF.search(text)
    if made is not None:
        meant = {k: [t for t in things if t.material == made.group(1)] for k, things in meant.items()}
    if question.answer is AnswerType.YES_NO:
        shown = [k for k, things in meant.items() if things]
        if shown:
            return _said([_claim("Yes, I see it.", "it", shown[:1])], yes=True)
        return _said([_claim("I see none in any picture.", "it", list(views))], yes=False)
    tells: Callable[[WorldObject], str] | None = None
    if question.kind is QuestionKind.ATTRIBUTE and ("made of" in text or "material" in text):
        tells = lambda thing: thing.material  # noqa: E731
    elif question.kind is QuestionKind.WHAT_THERE:
        tells = lambda thing: thing.category  # noqa: E731
    if tells is None:
        return _said([])
    words: dict[str, list[int]] = {}
    for k, things in meant.items():
        for thing in things:
            shown = words.setdefault(tells(thing), [])
            if k not in shown:
                shown.append(k)
    if question.kind is QuestionKind.ATTRIBUTE and len(words) > 1:
        return _said([])  # several fit, and they are not alike
    return _said(
        [_claim(f"It is {word}." if word else "It is there.", word, ks) for word, ks in words.items()][:8]
    )


def _meant(question: Question, view: _View) -> list[WorldObject]:
    """Return the things in view that the question means, by their truth."""
    assert question.item is not None
    seen = {thing.id: thing for thing in view.things}
    ids: set[int] = set()
    for graph in question.item.best:
        with suppress(IndexError):  # a superlative that leaves nothing of its anchor
            ids |= set(view.scene.matching(graph))
    generic = load_lexicon().is_generic
    anchors = [v for graph in question.item.best for v in graph.variables[1:] if not generic(v.category)]
    if anchors and not _shows_anchor(question, view):
        return []
    return [seen[i] for i in sorted(ids & seen.keys())]


def _shows_anchor(question: Question, view: _View) -> bool:
    """Whether a thing of the kind of the anchor ("on the desk") is in view at all."""
    assert question.item is not None
    kinds = {v.category for graph in question.item.best for v in graph.variables[1:]}
    return any(is_class(thing, kind) for thing in view.things for kind in kinds)


def _claim(text: str, thing: str, ids: Sequence[int]) -> dict[str, Any]:
    evidence = [f"k{i}" for i in ids][:12]
    return {
        "text": text,
        "evidence": evidence,
        "thing": thing,
        "place": None,
        "seconds_ago": None,
        "number": None,
    }


def _said(claims: list[dict[str, Any]], yes: bool | None = None) -> dict[str, Any]:
    return {"calls": [], "claims": claims, "yes": yes}
