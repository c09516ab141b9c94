"""Vision model with ground truth: it recognises a tour's image and reports the objects truly in view."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from lodestar.geometry.boxes import box_iou
from lodestar.keyframes.records import Keyframe
from lodestar.language.directive_errors import DirectiveError
from lodestar.language.question import AnswerType, Question, QuestionKind
from lodestar.language.question_reader import read_question
from lodestar.models.lexicon import load_lexicon
from lodestar.perception.frames import ImageBox
from lodestar_eval.memory_qa.recording import Recording
from lodestar_eval.memory_qa.truth import MIN_PIXELS, NEAR, TourTruth
from lodestar_sim.reference_truth import Scene, is_class
from lodestar_sim.worlds.world import WorldObject

_SIDE = (48, 36)  # pixels, size of the thumbnails by which an image is recognised
_ALIKE = 14.0  # grey levels by which a picture may differ because of outlines and encoding; chosen
_ASKED = re.compile(r'^Question: "(.*?)"$', re.MULTILINE)
_MADE_OF = re.compile(r"made (?:out )?of (\w+)\??$")
_FITS = 0.3  # least overlap of an outline with an object's box; chosen: boxes of parts overlap less
_LISTED = re.compile(r"^k(\d+): ", re.MULTILINE)


@dataclass(frozen=True)
class View:
    """Content of a picture: the scene at that time, the objects near enough with enough pixels, and the numbers
    drawn on them, by object id.
    """

    scene: Scene
    things: tuple[WorldObject, ...]
    marks: dict[int, int]


class Eyes(ABC):
    """Base of scripted vision models: answers about pictures, in the form of `agent_schema.SCHEMA`, from the
    true content that `view` returns.
    """

    @abstractmethod
    def view(self, image: bytes) -> View | None:
        """Return the true content of a picture; None for an unknown one."""

    def look(self, text: str, images: Sequence[bytes]) -> dict[str, Any]:
        """Return the answer, with claims about the pictures, to a question that was sent with pictures."""
        asked = _ASKED.search(text)
        ids = [int(found) for found in _LISTED.findall(text)][: len(images)]
        views = {k: view for k, image in zip(ids, images) if (view := self.view(image)) is not None}
        if asked is None or not views:
            return _said([])
        try:
            question = read_question(asked.group(1))
        except DirectiveError:
            return _said([])
        return _answer(question, asked.group(1), views)


class TourEyes(Eyes):
    """Scripted vision model that recognises the tour's images and knows the simulator's truth about them.

    An object counts as seen if it covers 60 pixels within 5 m; its number is that of the outline that fits its box.
    Objects outside the pictures are unknown. `unknown`: number of pictures that are not of the tour.
    """

    def __init__(self, recording: Recording) -> None:
        self._truth = TourTruth(recording.world, recording.glances)
        self._resolve = recording.stream.scene.resolve
        store = recording.stream.keyframes()
        self._keyframes = store.keyframes()
        copies = [_copy(store.get(keyframe.id)[1]) for keyframe in self._keyframes]
        self._copies = np.array(copies, np.float32).reshape(len(copies), -1)
        self.unknown = 0

    def view(self, image: bytes) -> View | None:
        """Return what an image of the simulated tour shows by ground truth; None for any other image."""
        found = np.abs(self._copies - _copy(image).reshape(1, -1)).mean(axis=1)
        best = int(found.argmin())
        if found[best] > _ALIKE:
            self.unknown += 1
            return None
        truth, keyframe = self._truth, self._keyframes[best]
        glance = truth.glances[int(np.abs(truth.stamps - keyframe.stamp).argmin())]
        scene = truth.scenes[max(k for k, (start, _) in enumerate(truth.epochs) if start <= keyframe.stamp)]
        near = {i for i, (pixels, metres) in glance.things.items() if pixels >= MIN_PIXELS and metres <= NEAR}
        return view_of(keyframe, scene, near, self._resolve)


def view_of(keyframe: Keyframe, scene: Scene, seen: Collection[int], resolve: Callable[[int], int]) -> View:
    """Return the true content of a keyframe. seen: ids of the objects that it shows. resolve: instance id ->
    entity id.
    """
    things = tuple(thing for thing in scene.things if thing.id in seen)
    outlines = {resolve(i): box for i, box in keyframe.instances.items()}
    pairs = []
    for thing in things:
        own = _box_in(keyframe, *scene.boxes[thing.id])
        pairs += [(_overlap(own, box), thing.id, mark) for mark, box in outlines.items() if own is not None]
    marks: dict[int, int] = {}
    for overlap, identity, mark in sorted(pairs, reverse=True):
        if overlap >= _FITS and identity not in marks and mark not in marks.values():
            marks[identity] = mark
    return View(scene, things, marks)


def _box_in(keyframe: Keyframe, low: np.ndarray, high: np.ndarray) -> np.ndarray | None:
    """Return the image box (4,) x0, y0, x1, y1, pixels, of a box in map; None if it is behind the camera."""
    corners = np.where((np.arange(8)[:, None] >> np.arange(3)) & 1, high, low)
    pose, camera = keyframe.map_from_camera, keyframe.camera
    inside = (corners - pose[:3, 3]) @ pose[:3, :3]
    if inside[:, 2].max() <= 0.05:
        return None
    depth = np.maximum(inside[:, 2:], 0.05)
    pixels = inside[:, :2] / depth * (camera.fx, camera.fy) + (camera.cx, camera.cy)
    limits = np.array([camera.width, camera.height, camera.width, camera.height], float)
    return np.clip(np.concatenate([pixels.min(axis=0), pixels.max(axis=0)]), 0.0, limits)


def _overlap(own: np.ndarray, box: ImageBox) -> float:
    """Return the intersection over union of two boxes in an image."""
    other = np.array([box.x, box.y, box.x + box.width, box.y + box.height], float)
    return float(box_iou(own[:2], own[2:], other[:2], other[2:]))


def _copy(image: bytes) -> np.ndarray:
    grey = cv2.imdecode(np.frombuffer(image, np.uint8), cv2.IMREAD_GRAYSCALE)
    if grey is None:
        return np.full(_SIDE[::-1], np.inf, np.float32)
    return cv2.resize(grey, _SIDE, interpolation=cv2.INTER_AREA).astype(np.float32)


def _answer(question: Question, text: str, views: dict[int, View]) -> dict[str, Any]:
    """Return the answer to a question from the pictures' contents."""
    if question.item is None:
        return _said([])
    meant = {k: _meant(question, view) for k, view in views.items()}
    made = _MADE_OF.search(text)
    if question.answer is AnswerType.YES_NO:
        if made is not None and question.asked:
            return _is_made_of(meant, views, made.group(1))
        return _is_there(meant, views, made.group(1) if made is not None else "")
    tells: Callable[[WorldObject], str] | None = None
    if question.kind is QuestionKind.ATTRIBUTE and ("made of" in text or "material" in text):
        tells = lambda thing: thing.material  # noqa: E731
    elif question.kind is QuestionKind.WHAT_THERE:
        tells = lambda thing: thing.category  # noqa: E731
    if tells is None:
        return _said([])
    words: dict[str, list[tuple[int, WorldObject]]] = {}
    for k, things in meant.items():
        for thing in things:
            words.setdefault(tells(thing), []).append((k, thing))
    return _said([_claim(f"It is {w}.", w, sights, views) for w, sights in words.items() if w][:8])


def _is_made_of(meant: dict[int, list[WorldObject]], views: dict[int, View], material: str) -> dict[str, Any]:
    """Answer whether the object in view is made of a material; no claim if no picture shows it."""
    sights = [(k, thing) for k, things in meant.items() for thing in things]
    if not sights or len({thing.material for _, thing in sights}) > 1:
        return _said([])
    yes = sights[0][1].material == material
    return _said([_claim(f"It is {sights[0][1].material}.", sights[0][1].material, sights, views)], yes=yes)


def _is_there(meant: dict[int, list[WorldObject]], views: dict[int, View], material: str) -> dict[str, Any]:
    """Answer yes if the object is in a picture, else no, like a model that ignores unseen places."""
    sights = [(k, t) for k, things in meant.items() for t in things if material in ("", t.material)]
    if sights:
        return _said([_claim("Yes, I see it.", "it", sights[:1], views)], yes=True)
    none = {
        **_claim("I see none in any picture.", "it", (), views),
        "evidence": [f"k{k}" for k in views][:12],
    }
    return _said([none], yes=False)


def _meant(question: Question, view: View) -> list[WorldObject]:
    """Return the objects in view to which the question refers, by ground truth."""
    assert question.item is not None
    seen = {thing.id: thing for thing in view.things}
    ids: set[int] = set()
    for graph in question.item.best:
        with suppress(IndexError):  # a superlative without any anchor object
            ids |= set(view.scene.matching(graph))
    generic = load_lexicon().is_generic
    anchors = [v for graph in question.item.best for v in graph.variables[1:] if not generic(v.category)]
    if anchors and not _shows_anchor(question, view):
        return []
    return [seen[i] for i in sorted(ids & seen.keys())]


def _shows_anchor(question: Question, view: View) -> bool:
    """Return whether an object of the anchor's category ("on the desk") is in view."""
    assert question.item is not None
    kinds = {v.category for graph in question.item.best for v in graph.variables[1:]}
    return any(is_class(thing, kind) for thing in view.things for kind in kinds)


def _claim(
    text: str, thing: str, sights: Sequence[tuple[int, WorldObject]], views: dict[int, View]
) -> dict[str, Any]:
    """Return a claim about objects in pictures; it cites the objects' numbers if each of them has one."""
    pictures = list(dict.fromkeys(f"k{k}" for k, _ in sights))
    marks = [views[k].marks.get(seen.id) for k, seen in sights]
    marked = [] if None in marks else list(dict.fromkeys(f"e{mark}" for mark in marks))
    empty = {"place": None, "seconds_ago": None, "number": None}
    return {"text": text, "evidence": [*pictures, *marked][:12], "thing": thing, **empty}


def _said(claims: list[dict[str, Any]], yes: bool | None = None) -> dict[str, Any]:
    return {"calls": [], "claims": claims, "yes": yes}
