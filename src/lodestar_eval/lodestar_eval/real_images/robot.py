"""Robot pipeline for a recording: detector, map, scene and memory, as in the nodes."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from lodestar.assembly.config import RobotConfig, changed
from lodestar.assembly.profiles import read_profiles
from lodestar.assembly.robot import HeadlessRobot
from lodestar.geometry.poses import planar_transform
from lodestar.language.directive_errors import DirectiveError
from lodestar.language.grammar import parse_query
from lodestar.language.question_reader import read_question
from lodestar.memory.answer import Answer
from lodestar.memory.answering.answerer import Answerer
from lodestar.memory.answering.tools import Tools
from lodestar.memory.store import MemoryStore
from lodestar.models.phrases import PhraseBook
from lodestar.perception.frames import RgbdFrame, SegmentedFrame
from lodestar.query.verdict import decide, score_query
from lodestar.scene.records import Entity, EntityState
from lodestar_bringup.places import config_folder


def robot_config(model: str = "") -> RobotConfig:
    """Return the configuration of the real robot with NanoDet; its floor plan comes from depth, as there is no LiDAR.

    model: path of the network; "" = that of `make detector`.
    """
    return changed(
        read_profiles([config_folder() / "go2.yaml"]),
        mapping__source="depth",
        perception__adapter="onnx",
        perception__model=model,
    )


@dataclass(frozen=True)
class Reply:
    """Reply to a question or a referring expression. entity: the entity that it points to; None = unknown."""

    sentence: str
    number: float | None = None
    entity: Entity | None = None


class RecordedRobot:
    """Robot that is given frames with known poses. folder: of its memory. Close it after the last question."""

    def __init__(self, config: RobotConfig, phrases: PhraseBook, folder: Path) -> None:
        self._phrases = phrases
        self._robot = HeadlessRobot(config, phrases, remembers=True)
        store = replace(config.memory.store, folder=str(folder), flush_interval=0.05)
        self._store = MemoryStore.open(store, lambda said: phrases.vectors(tuple(said)))
        assert self._robot.memory is not None
        self._memory = self._robot.memory
        self._memory.use_store(self._store)
        self._now, self._pose = 0.0, np.zeros(3)

    def take(self, frame: RgbdFrame, segmented: SegmentedFrame) -> None:
        """Process a frame with its segments; the robot is assumed to stand below its camera."""
        self._now = frame.stamp
        ahead, place = frame.map_from_camera[:3, 2], frame.map_from_camera[:3, 3]
        self._pose = np.array([place[0], place[1], math.atan2(ahead[1], ahead[0])])
        self._robot.take_pose(self._pose, frame.stamp)
        self._robot.take_view(frame, segmented, planar_transform(*self._pose))

    def finish(self) -> None:
        """Finish the processing of scene and memory after the last frame."""
        self._robot.map.tell(*self._robot.map.scene.flush())
        self._memory.close()
        self._store.flush(60.0)

    def close(self) -> None:
        """Close the memory."""
        self._robot.close()
        self._store.close()

    @property
    def rejected(self) -> Counter[str]:
        """Return the number of frames that the map rejected, by reason."""
        return self._robot.map.rejected

    @property
    def config(self) -> RobotConfig:
        """Return the configuration of the robot."""
        return self._robot.config

    @property
    def entities(self) -> list[Entity]:
        """Return the entities that the scene holds as present."""
        entities = self._robot.map.mirror.entities.values()
        return [entity for entity in entities if entity.state != EntityState.ARCHIVED]

    def look_up(self, expression: str) -> Reply:
        """Return a reply with the best entity for a referring expression, as the semantic map ranks them."""
        mirror = self._robot.map.mirror
        try:
            graphs = parse_query(expression)
        except DirectiveError as error:
            return Reply(str(error))
        entities = {entity.id: entity for entity in self.entities}
        ranked = score_query(graphs, entities, self._phrases, regions=mirror.regions, rooms=mirror.rooms)
        best = decide(ranked).best
        return (
            Reply("nothing", None)
            if best is None
            else Reply(best.explanation, None, entities[best.entity_id])
        )

    def ask(self, text: str) -> Reply:
        """Return the memory's answer to a question."""
        memory = self._memory
        tools = Tools(self._store, self._phrases, memory.scene, grid=memory.grid, looks=memory.looks)
        answerer = Answerer(tools, memory.config.answering)
        try:
            answer: Answer = answerer.answer(read_question(text), self._now, self._pose)
        except DirectiveError as error:
            return Reply(str(error))
        value = answer.value
        places = [place.centre for place in value.places] if answer.is_known else []
        entity = min(
            self.entities if places else [],
            key=lambda one: float(np.linalg.norm((one.box_min + one.box_max) / 2.0 - places[0])),
            default=None,
        )
        return Reply(answer.sentence, value.number if answer.is_known else None, entity)
