"""The robot's memory and answerer as compared methods ("rows"), which differ in the selection of evidence."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from lodestar.assembly.memory_chain import MemoryChain
from lodestar.geometry.poses import yaw_of
from lodestar.keyframes.records import ImageName
from lodestar.language.directive_errors import DirectiveError
from lodestar.language.likely_questions import LikelyQuestions
from lodestar.language.picture_goals import goal_of
from lodestar.language.question import AnswerType
from lodestar.language.question_reader import read_question
from lodestar.memory import answer as memory_answer
from lodestar.memory.answering.agent import ModelAnswerer
from lodestar.memory.answering.answerer import Answerer as MemoryAnswerer
from lodestar.memory.answering.config import AgentConfig
from lodestar.memory.answering.coverage import FloorLooks
from lodestar.memory.answering.outcomes import Answers
from lodestar.memory.answering.shots import Shot
from lodestar.memory.answering.tools import Shown, Tools
from lodestar.memory.evidence.selection import SELECTIONS
from lodestar.memory.keyframe_contours import annotated_jpeg
from lodestar.memory.records import Memory
from lodestar.memory.store import MemoryStore
from lodestar.models.chat import OpenAiChat
from lodestar.models.config import ChatConfig, SpendingConfig
from lodestar.models.phrases import PhraseBook
from lodestar.perception.pictures import BadPicture
from lodestar.scene.mirror import SceneMirror
from lodestar_eval.looking_server import looking_server
from lodestar_eval.memory_qa.eyes import TourEyes
from lodestar_eval.memory_qa.questions import (
    DURATION,
    NUMBER,
    PLACE,
    TIME,
    WORDS,
    YES_NO,
    Answer,
    Asked,
    Evidence,
)
from lodestar_eval.memory_qa.recording import Recording, Stream, TourStep
from lodestar_eval.memory_qa.rivals import RIVALS
from lodestar_eval.settings import robot_config

_log = logging.getLogger(__name__)

FULL, EYES = "full", "eyes"  # rules with which answers may also use the scene
_VALUES = {
    AnswerType.PLACE: PLACE,
    AnswerType.TIME: TIME,
    AnswerType.DURATION: DURATION,
    AnswerType.NUMBER: NUMBER,
    AnswerType.YES_NO: YES_NO,
    AnswerType.TEXT: WORDS,
}


@dataclass(frozen=True)
class Remembered:
    """Memory of a tour. store: its memories; looks: floor seen by the camera; stream: the recorded data;
    shots: stored images.
    """

    store: MemoryStore
    looks: FloorLooks
    stream: Stream
    shots: tuple[Shot, ...] = ()


class OwnAnswerer:
    """Answerer that records a tour with the robot's MemoryChain, and answers with the robot's Answerer."""

    def __init__(self, phrases: PhraseBook) -> None:
        self._phrases = phrases
        self._likely = LikelyQuestions(phrases.vectors)
        self._folder = tempfile.TemporaryDirectory(prefix="memory-qa-")

    def remember(self, stream: Stream) -> Remembered:
        """Return the memory of a tour, made from its stream alone."""
        config = robot_config().memory
        folder = Path(self._folder.name) / "store"
        store = MemoryStore.open(replace(config.store, folder=str(folder), flush_interval=0.05), self._embed)
        keyframes = {keyframe.id: keyframe for keyframe in stream.keyframes().keyframes()}
        chain: MemoryChain | None = None
        for step, mirror in stream.scenes():
            if chain is None:
                chain = MemoryChain(config, mirror, store)
                chain.take_grid(stream.grid)
            if mirror.rooms is None:
                mirror.set_regions(mirror.regions.values(), stream.scene.rooms)
            chain.take_pose(step.stamp, step.map_from_base)
            for delta in step.deltas:
                chain.take_delta(delta)
            chain.take_look(step.stamp, step.map_from_camera)
            chain.take_view(step.stamp, _pixels(step))
            if step.keyframe_id:
                chain.take_keyframe(keyframes[step.keyframe_id])
            chain.tick(step.stamp)
        assert chain is not None  # never None, as a tour has images
        chain.close()
        store.flush(600.0)
        return Remembered(store, chain.looks, stream, chain.images.shots(stream.scene))

    def answer_all(self, memory: Remembered, questions: Sequence[Asked], evidence_rule: str) -> list[Answer]:
        """Return an answer for each question, in their order."""
        full = evidence_rule in (FULL, EYES)
        stream = memory.stream
        select = None if full else {**SELECTIONS, **RIVALS}[evidence_rule]
        tools = Tools(
            memory.store,
            self._phrases,
            stream.scene,
            select,
            use_scene=full,
            grid=stream.grid,
            looks=memory.looks,
            shots=memory.shots,
        )
        answerer = MemoryAnswerer(tools)
        return [self._answer(answerer, answerer, stream, asked) for asked in questions]

    def _answer(self, answers: Answers, answerer: MemoryAnswerer, stream: Stream, asked: Asked) -> Answer:
        try:
            question = read_question(asked.text, likely=self._likely)
        except DirectiveError as error:
            return Answer(asked.id, known=False, text=str(error))
        shown = None
        if asked.picture is not None:
            try:
                shown = Shown(goal_of(asked.picture.segmented))
            except BadPicture as error:
                return Answer(asked.id, known=False, text=str(error))
        pose = np.array([*stream.pose[:2, 3], yaw_of(stream.pose)])
        found = answers.answer(question, asked.asked_at, pose, shown)
        pieces = answerer.inquiry(question, asked.asked_at, pose, shown).pieces
        cited = _cited(answerer, found) if answerer.tools.use_scene else []
        memories = {m.id: m for m in (*cited, *(piece.hit.memory for piece in pieces))}
        value = found.value
        time = sum(value.times[0]) / 2.0 if value.times else None
        return Answer(
            asked.id,
            _VALUES[value.type],
            known=found.is_known,
            place=value.places[0].centre if value.places else None,
            time=time,
            number=value.number,
            yes=value.yes,
            words=frozenset(value.names),
            confidence=found.confidence,
            evidence=tuple(_evidence(m, answerer.tools.scene) for m in memories.values()),
            text=found.sentence,
            seen=any(p.text == "seen by a model" for p in found.proof),
        )

    def _embed(self, phrases: Sequence[str]) -> np.ndarray:
        return self._phrases.vectors(tuple(phrases))


class LookingAnswerer(OwnAnswerer):
    """`OwnAnswerer` that also asks a vision model, `TourEyes`, behind a local HTTP endpoint."""

    def __init__(self, phrases: PhraseBook, recording: Recording) -> None:
        super().__init__(phrases)
        self._recording = recording

    def answer_all(self, memory: Remembered, questions: Sequence[Asked], evidence_rule: str) -> list[Answer]:
        """Return an answer for each question, in order, by HTTP requests to the model."""
        stream = memory.stream
        tools = Tools(
            memory.store,
            self._phrases,
            stream.scene,
            grid=stream.grid,
            looks=memory.looks,
            shots=memory.shots,
        )
        offline = MemoryAnswerer(tools)
        store = stream.keyframes()

        def picture(image: ImageName) -> bytes | None:
            """Return an image as JPEG with outlines and ids, as from the memory node; None for an unknown one."""
            try:
                keyframe, data = store.get(image.id, image.session)
            except KeyError:
                return None
            return annotated_jpeg(data, keyframe.instances, stream.scene.resolve)

        with looking_server(TourEyes(self._recording).look) as url:
            chat = OpenAiChat(
                ChatConfig(model="eyes", base_url=url, rest=0.0, spending=SpendingConfig(tokens=0))
            )
            answers = ModelAnswerer(chat, offline, AgentConfig(sees=True), pictures=picture, warn=_log.info)
            return [self._answer(answers, offline, stream, asked) for asked in questions]


def _pixels(step: TourStep) -> dict[int, int]:
    """Return the pixels of each entity in a step's image: entity id -> pixels of its masks."""
    pixels: dict[int, int] = {}
    for sighting in step.sightings:
        pixels[sighting.entity_id] = pixels.get(sighting.entity_id, 0) + sighting.pixels
    return pixels


def _cited(answerer: MemoryAnswerer, found: memory_answer.Answer) -> list[Memory]:
    """Return the memories cited as proof of an answer, best first."""
    store = answerer.tools.memories
    assert isinstance(store, MemoryStore)
    return [store.get(p.id) for p in found.proof if p.kind is memory_answer.ProofKind.CAPTION]


def _evidence(memory: Memory, scene: SceneMirror) -> Evidence:
    ids = frozenset(scene.resolve(identity) for identity in memory.entity_ids)
    return Evidence(memory.start, memory.end, memory.position, ids)
