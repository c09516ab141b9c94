"""Scripted vision model for the pictures of a search, and the images that an episode keeps for it."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lodestar.assembly.config import changed
from lodestar.assembly.robot import HeadlessRobot
from lodestar.experts.registry import holder
from lodestar.experts.specs import Role
from lodestar.keyframes.records import ImageName, Keyframe
from lodestar.keyframes.store import KeyframeConfig, KeyframeStore
from lodestar.language.model_reasoner import ModelReasoner
from lodestar.language.reasoner import Judgement, RankRequest
from lodestar.language.views import FRONTIER, GO, PICTURE
from lodestar.memory.keyframe_contours import annotated_jpeg
from lodestar.models.chat import OpenAiChat, Shorter
from lodestar.models.config import ChatConfig, SpendingConfig
from lodestar.models.lexicon import words_of
from lodestar.models.phrases import PhraseBook
from lodestar.perception.frames import RgbdFrame
from lodestar_eval.looking_server import looking_server
from lodestar_eval.memory_qa.eyes import Eyes, View, view_of
from lodestar_eval.memory_qa.truth import MIN_PIXELS, NEAR
from lodestar_sim.reference_truth import Scene
from lodestar_sim.simulator import Simulator

if TYPE_CHECKING:
    from lodestar_eval.settings import EpisodeSettings

VIEW, PICTURES, ANSWERS = "view", "pictures", "answers"
#: Inputs of the scripted model: views of the search, also pictures from elsewhere, or also pictures with a
#: question.
EYES = ("none", VIEW, PICTURES, ANSWERS)
_BEYOND = 0.05  # least lead in cosine of the best frontier's picture over the others; chosen
_BEST = 3  # number of best objects of a picture that count; chosen
_DATA = re.compile(r"^<data>\n(.*)\n</data>", re.MULTILINE | re.DOTALL)


class SearchEyes:
    """Scripted vision model that judges the marks on a view and chooses among pictures of frontiers.

    A mark is worth a visit if its words name the target. The chosen picture is one that truly shows the
    target; else that of the frontier whose objects are clearly closest in meaning to the target. The model
    knows the true content of each picture, and nothing beyond it. target_ids: of the task.
    """

    def __init__(self, phrases: PhraseBook) -> None:
        self.target_ids: frozenset[int] = frozenset()
        self.chosen = 0  # number of pictures chosen
        self._phrases = phrases
        self._seen: dict[str, dict[int, str]] = {}

    def keep(self, image: bytes, things: dict[int, str]) -> None:
        """Record the objects that a picture truly shows: object id -> category."""
        self._seen[hashlib.sha256(image).hexdigest()] = things

    def complete(
        self, system: str, user: str, schema: dict[str, Any], images: Sequence[bytes] = (),
        shorter: Shorter | None = None,
    ) -> str:  # fmt: skip
        """Return a scripted JSON answer; see `ChatModel.complete`."""
        found = _DATA.search(user)
        records = [json.loads(line) for line in found.group(1).splitlines()] if found else []
        target = next((r["looked_for"] for r in records if "looked_for" in r), "")
        name = next((r["image"] for r in records if "image" in r), "")
        wanted = set(words_of(target))
        marks = [(r["mark"], bool(wanted) and wanted <= set(words_of(r.get("thing", "")))) for r in records
                 if "mark" in r]  # fmt: skip
        answer: dict[str, Any] = {
            "image": name, "scores": [{"number": n, "score": 0.9 if fits else 0.0} for n, fits in marks],
            "description": "", "reason": "",
        }  # fmt: skip
        actions = schema["properties"]["action"]["enum"]
        if PICTURE in actions:
            answer["picture"] = 0
        if any(fits for _, fits in marks):
            return json.dumps({**answer, "action": GO})
        kinds = [r["of"] for r in records if "picture" in r]
        pick, why = self._picture(target, kinds, images[1:]) if PICTURE in actions else (0, "")
        if pick:
            self.chosen += 1
            return json.dumps({**answer, "action": PICTURE, "picture": pick, "reason": why})
        turns = [action for action in actions if action not in (GO, PICTURE)]
        return json.dumps({**answer, "action": turns[0] if turns else GO})

    def _picture(self, target: str, kinds: Sequence[str], images: Sequence[bytes]) -> tuple[int, str]:
        """Return the number of the picture that is worth a visit, 0 = none, and the reason."""
        shown = [self._seen.get(hashlib.sha256(image).hexdigest(), {}) for image in images]
        for number, things in enumerate(shown, start=1):
            if self.target_ids & things.keys():
                return number, "it is in the picture"
        fit = {n: self._likeness(target, things) for n, things in enumerate(shown, start=1) if things}
        frontiers = {n: value for n, value in fit.items() if kinds[n - 1] == FRONTIER}
        if len(frontiers) < 2:
            return 0, ""
        best = max(frontiers, key=lambda n: frontiers[n])
        others = [value for n, value in frontiers.items() if n != best]
        stands_out = frontiers[best] - float(np.mean(others)) >= _BEYOND
        return (best, "such things are found there") if stands_out else (0, "")

    def _likeness(self, target: str, things: dict[int, str]) -> float:
        words = sorted(set(things.values()))
        cosines = self._phrases.vectors(words) @ self._phrases.vectors((target,))[0]
        return float(np.sort(cosines)[-_BEST:].mean())


class AnswerEyes(Eyes):
    """Answers about the annotated pictures of a run by ground truth."""

    def __init__(self) -> None:
        self._views: dict[str, View] = {}

    def keep(self, image: bytes, view: View) -> None:
        """Record the true content of a picture."""
        self._views[hashlib.sha256(image).hexdigest()] = view

    def view(self, image: bytes) -> View | None:
        """Return the recorded content of a picture; None for an unknown one."""
        return self._views.get(hashlib.sha256(image).hexdigest())


_serving: ContextVar[tuple[AnswerEyes, OpenAiChat] | None] = ContextVar("serving", default=None)


@contextmanager
def served(settings: EpisodeSettings) -> Iterator[EpisodeSettings]:
    """Yield settings of robots whose memory queries a vision model behind a local endpoint."""
    eyes = AnswerEyes()
    with looking_server(eyes.look) as url:
        chat = OpenAiChat(ChatConfig(model="eyes", base_url=url, rest=0.0, spending=SpendingConfig(tokens=0)))
        before = _serving.set((eyes, chat))
        try:
            yield replace(settings, robot=changed(settings.robot, shared__vision_model=True), eyes=ANSWERS)
        finally:
            _serving.reset(before)


def serving() -> tuple[AnswerEyes, OpenAiChat]:
    """Return the scripted model and chat client of the enclosing `served` block; ValueError without one."""
    found = _serving.get()
    if found is None:
        raise ValueError(f"eyes {ANSWERS!r} need an endpoint: use settings of `served`")
    return found


class EyesReasoner(ModelReasoner):
    """Reasoner that uses the model only to judge views."""

    def rank(self, request: RankRequest) -> list[Judgement]:
        """Rank candidates with the offline reasoner."""
        return self._offline.rank(request)


class SearchImages:
    """Keeps images of an episode like the keyframes node, and gives them to the robot's memory and explorer."""

    def __init__(self, robot: HeadlessRobot, eyes: SearchEyes | AnswerEyes, offered: bool) -> None:
        self._robot, self._eyes = robot, eyes
        self._true: dict[int, tuple[Scene, frozenset[int]]] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="search-eyes-")
        self._store = KeyframeStore(self._folder.name, KeyframeConfig(), robot.config.shared.map_id)
        if offered:
            robot.use_search_pictures(lambda keyframe: self.annotated(ImageName("", keyframe)))

    def take(self, frame: RgbdFrame, simulator: Simulator) -> None:
        """Offer the robot's newest image to the store; if it is kept, pass it to explorer and memory."""
        robot = self._robot
        kept = self._store.offer(frame)
        if kept is None:
            return
        seen = robot.map.seen
        boxes = {} if seen is None else {o.instance_id: o.box for o in seen.observations}
        record = self._store.link(frame.stamp, boxes) or kept
        self._look(record, simulator)
        explorer: Any = robot.experts[holder(Role.EXPLORER)]
        explorer.add_image(record.map_from_camera, record.camera, record.id)
        explorer.keep_images(self._store.ids, self._store.stored[1])
        if robot.memory is not None:
            robot.memory.take_keyframe(record)

    def _look(self, record: Keyframe, simulator: Simulator) -> None:
        """Record the true content of a keyframe just taken."""
        ids, depth, _ = simulator.view_truth(record.camera.width, record.camera.height)
        pixels = np.bincount(ids.ravel())
        metres = np.bincount(ids.ravel(), np.where(np.isfinite(depth), depth, 0.0).ravel()) / np.maximum(
            pixels, 1
        )
        near = np.flatnonzero((pixels >= MIN_PIXELS) & (metres <= NEAR))
        scene = Scene(simulator.world, simulator.time)
        self._true[record.id] = scene, frozenset(thing.id for thing in scene.things if thing.id in near)

    def annotated(self, name: ImageName) -> bytes | None:
        """Return an image with outlines and ids, as from the memory node; None if it is not stored."""
        try:
            keyframe, data = self._store.get(name.id, name.session)
        except KeyError:
            return None
        resolve = self._robot.map.mirror.resolve
        picture = annotated_jpeg(data, keyframe.instances, resolve)
        if picture is not None:
            scene, seen = self._true[keyframe.id]
            if isinstance(self._eyes, AnswerEyes):
                self._eyes.keep(picture, view_of(keyframe, scene, seen, resolve))
            else:
                self._eyes.keep(
                    picture, {thing.id: thing.category for thing in scene.things if thing.id in seen}
                )
        return picture

    def close(self) -> None:
        """Delete the images."""
        self._folder.cleanup()
