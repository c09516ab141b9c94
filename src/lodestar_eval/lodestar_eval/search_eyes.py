"""A scripted model that looks at the pictures of a search, and the images that an episode keeps for it."""

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
from lodestar.language.reasoner import Judgement
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
#: What the scripted model is shown: views of the search, with them pictures of elsewhere, or pictures with a question.
EYES = ("none", VIEW, PICTURES, ANSWERS)
_BEYOND = 0.05  # cosine by which a frontier's picture must fit better than the others; chosen
_BEST = 3  # things of a picture by which it is judged; chosen
_DATA = re.compile(r"^<data>\n(.*)\n</data>", re.MULTILINE | re.DOTALL)


class SearchEyes:
    """Judges views as a model would that reads marks and looks at pictures.

    A mark is worth going to where its words name what is looked for. Of the pictures it takes one that truly shows the
    target, else that of the frontier whose things are nearest in meaning to it, where that stands out. What a picture
    shows it knows by the simulator's truth of that very picture, and of others nothing. target_ids: of the task.
    """

    def __init__(self, phrases: PhraseBook) -> None:
        self.target_ids: frozenset[int] = frozenset()
        self.chosen = 0  # pictures
        self._phrases = phrases
        self._seen: dict[str, dict[int, str]] = {}

    def keep(self, image: bytes, things: dict[int, str]) -> None:
        """Note what a picture truly shows: object id -> category."""
        self._seen[hashlib.sha256(image).hexdigest()] = things

    def complete(
        self, system: str, user: str, schema: dict[str, Any], images: Sequence[bytes] = (),
        shorter: Shorter | None = None,
    ) -> str:  # fmt: skip
        """See ChatModel."""
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
        """Return the number of the picture that is worth going to, 0 = none, and why."""
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
    """Answers about the annotated pictures of a run by their own truth."""

    def __init__(self) -> None:
        self._views: dict[str, View] = {}

    def keep(self, image: bytes, view: View) -> None:
        """Note what a picture truly shows."""
        self._views[hashlib.sha256(image).hexdigest()] = view

    def view(self, image: bytes) -> View | None:
        """See Eyes."""
        return self._views.get(hashlib.sha256(image).hexdigest())


_serving: ContextVar[tuple[AnswerEyes, OpenAiChat] | None] = ContextVar("serving", default=None)


@contextmanager
def served(settings: EpisodeSettings) -> Iterator[EpisodeSettings]:
    """Yield settings of robots whose memory asks a model that looks, behind an endpoint on this machine."""
    eyes = AnswerEyes()
    with looking_server(eyes.look) as url:
        chat = OpenAiChat(ChatConfig(model="eyes", base_url=url, rest=0.0, spending=SpendingConfig(tokens=0)))
        before = _serving.set((eyes, chat))
        try:
            yield replace(settings, robot=changed(settings.robot, shared__vision_model=True), eyes=ANSWERS)
        finally:
            _serving.reset(before)


def serving() -> tuple[AnswerEyes, OpenAiChat]:
    """Return the eyes of the block of `served` that runs, and how to ask them. Raises ValueError outside."""
    found = _serving.get()
    if found is None:
        raise ValueError(f"eyes {ANSWERS!r} need an endpoint: use settings of `served`")
    return found


class EyesReasoner(ModelReasoner):
    """A model's judgement of views alone."""

    def rank(
        self, candidates: Any, task: Any, entities: Any = None, context: Sequence[str] = ()
    ) -> list[Judgement]:
        """See Reasoner; offline."""
        return self._offline.rank(candidates, task, entities, context)


class SearchImages:
    """Keeps images of an episode as the keyframes node does, and gives them to the robot's memory and explorer."""

    def __init__(self, robot: HeadlessRobot, eyes: SearchEyes | AnswerEyes, offered: bool) -> None:
        self._robot, self._eyes = robot, eyes
        self._true: dict[int, tuple[Scene, frozenset[int]]] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="search-eyes-")
        self._store = KeyframeStore(self._folder.name, KeyframeConfig(), robot.config.shared.map_id)
        if offered:
            robot.use_search_pictures(lambda keyframe: self.annotated(ImageName("", keyframe)))

    def take(self, frame: RgbdFrame, simulator: Simulator) -> None:
        """Offer an image that the robot has seen just now."""
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
        """Note what a keyframe of now truly shows."""
        ids, depth, _ = simulator.view_truth(record.camera.width, record.camera.height)
        pixels = np.bincount(ids.ravel())
        metres = np.bincount(ids.ravel(), np.where(np.isfinite(depth), depth, 0.0).ravel()) / np.maximum(
            pixels, 1
        )
        near = np.flatnonzero((pixels >= MIN_PIXELS) & (metres <= NEAR))
        scene = Scene(simulator.world, simulator.time)
        self._true[record.id] = scene, frozenset(thing.id for thing in scene.things if thing.id in near)

    def annotated(self, name: ImageName) -> bytes | None:
        """Return an image with outlines and ids, as the memory node does; None where there is none."""
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
