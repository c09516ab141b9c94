"""Tests that a robot whose detector or camera fails says so, and neither claims a target nor its absence."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from embedders import LetterEmbedder
from quick_episodes import EXACT, QUICK

from lodestar.agent.errands.commands import DirectiveResult
from lodestar.agent.facts.errors import ErrorCode
from lodestar.assembly.config import changed
from lodestar.models.phrases import PhraseBook
from lodestar.perception.eyes import eyes_of
from lodestar.perception.frames import Detection, SegmentedFrame
from lodestar.perception.segments import label_extents
from lodestar_eval.episode import Episode, selector_of
from lodestar_eval.simulated_robot import SimulatedRobot
from lodestar_sim.judge import judge_find
from lodestar_sim.sensors import CameraFrame
from lodestar_sim.simulator import Simulator
from lodestar_sim.tasks import Task
from lodestar_sim.worlds import Room, Wall, World, WorldObject
from lodestar_sim.worlds.elements import Slab

TARGET = WorldObject(
    2,
    "backpack",
    "red backpack",
    "red",
    "fabric",
    (0.35, 0.25, 0.45),
    "param:backpack",
    (1.9, -1.5, 0.0, 0.0),
)
SETTINGS = replace(QUICK, robot=EXACT, time_limit=60.0)
Spoil = Callable[[SegmentedFrame], SegmentedFrame]


def room(has_target: bool) -> World:
    """Return a room of 5 x 4 m with a desk and, if asked for, the target."""
    walls = (
        Wall(-2.6, -2.1, 2.6, -2.0, 0.0, 2.5), Wall(-2.6, 2.0, 2.6, 2.1, 0.0, 2.5),
        Wall(-2.6, -2.0, -2.5, 2.0, 0.0, 2.5), Wall(2.5, -2.0, 2.6, 2.0, 0.0, 2.5),
    )  # fmt: skip
    bounds = (-2.6, -2.1, 2.6, 2.1)
    slabs = (Slab(*bounds, 0.0, "beige", "wood"), Slab(*bounds, 2.5, "white", "plaster", ceiling=True))
    desk = WorldObject(
        1, "desk", "brown desk", "brown", "wood", (1.2, 0.6, 0.75), "param:desk", (1.6, 1.6, 0.0, 0.0)
    )
    rooms = (Room(1, "study", ((-2.5, -2.0), (2.5, -2.0), (2.5, 2.0), (-2.5, 2.0))),)
    things = (desk, TARGET) if has_target else (desk,)
    return World("small", "apartment", 0, bounds, (-1.5, -1.0, 0.0), rooms, walls, slabs, things, (), ())


class BadDetector:
    """Detector whose segments are spoiled before the robot gets them."""

    def __init__(self, detector: Any, spoil: Spoil) -> None:
        self._detector, self._spoil = detector, spoil

    def __getattr__(self, name: str) -> Any:
        return getattr(self._detector, name)

    def segment(self, *given: Any) -> SegmentedFrame:
        return self._spoil(self._detector.segment(*given))


def blank(segmented: SegmentedFrame) -> SegmentedFrame:
    return replace(segmented, labels=np.zeros_like(segmented.labels), detections=())


def boxes(count: int, side: tuple[int, int], names: tuple[str, ...]) -> Spoil:
    """Return a detector of `count` random boxes with these names. side: least and largest, pixels."""
    rng = np.random.default_rng(7)

    def spoil(segmented: SegmentedFrame) -> SegmentedFrame:
        labels = np.zeros_like(segmented.labels)
        for k in range(1, count + 1):
            height, width = rng.integers(*side, 2)
            top, left = rng.integers(1 - height, labels.shape[0]), rng.integers(1 - width, labels.shape[1])
            labels[max(top, 0) : top + height, max(left, 0) : left + width] = k
        found = (Detection(v, names[v % len(names)], "", 0.9, *shown) for v, *shown in label_extents(labels))
        return replace(segmented, labels=labels, detections=tuple(found))

    return spoil


def rain(segmented: SegmentedFrame) -> SegmentedFrame:
    """Return 500 boxes of many kinds, side by side."""
    rows, columns = (np.arange(n) * k // n for n, k in zip(segmented.labels.shape, (20, 25)))
    labels = (1 + rows[:, None] * 25 + columns).astype(np.uint16)
    names = ("backpack", "chair", "lamp", "desk")
    found = (Detection(v, names[v % 4], "", 0.9, *shown) for v, *shown in label_extents(labels))
    return replace(segmented, labels=labels, detections=tuple(found))


def certain(segmented: SegmentedFrame) -> SegmentedFrame:
    return replace(segmented, detections=tuple(replace(d, score=1.0) for d in segmented.detections))


def covered(image: CameraFrame) -> CameraFrame:
    return replace(image, depth=np.zeros_like(image.depth), labels=np.zeros_like(image.labels))


EVERYWHERE = boxes(80, (30, 90), ("backpack",))


def search(
    monkeypatch: pytest.MonkeyPatch,
    has_target: bool,
    spoil: Spoil = lambda segmented: segmented,
    see: Callable[[CameraFrame], CameraFrame] = lambda image: image,
    directive: str = "find the backpack",
    robot: Any = EXACT,
) -> tuple[DirectiveResult, Episode]:
    """Run a directive to its end with this detector and camera."""
    making, seeing = SimulatedRobot._made_detector, SimulatedRobot.see
    monkeypatch.setattr(
        SimulatedRobot, "_made_detector", lambda self, rng: BadDetector(making(self, rng), spoil)
    )
    monkeypatch.setattr(SimulatedRobot, "see", lambda self, image: seeing(self, see(image)))
    world, settings = room(has_target), replace(SETTINGS, robot=robot)
    task = Task(directive, (TARGET.id,) if has_target else (), world.start)
    episode = Episode(world, task, 3, settings, PhraseBook(LetterEmbedder()), selector_of(settings))
    while episode.result is None:
        episode.step()
    return episode.result, episode


@pytest.mark.parametrize("has_target", [True, False])
@pytest.mark.parametrize(
    ("spoil", "reason"), [(blank, ""), (EVERYWHERE, "EVERYWHERE"), (rain, "TOO_MANY")],
    ids=["nothing", "everywhere", "rain"],
)  # fmt: skip
def test_a_search_with_a_useless_detector_ends_without_a_claim(monkeypatch, spoil, reason, has_target):
    result, episode = search(monkeypatch, has_target, spoil)
    assert not result.success and not result.entity_ids
    assert result.error_code is ErrorCode.NO_EXPERT, result.error_msg
    told = "No image entered the map" if reason else "Nothing was seen"
    assert told in result.error_msg and "looked at" not in result.error_msg
    assert not episode.map.mirror.entities
    assert dict(episode.map.rejected) == ({reason: episode.frames} if reason else {})


@pytest.mark.parametrize("has_target", [True, False])
def test_a_detector_that_is_always_certain_claims_the_target_alone(monkeypatch, has_target):
    result, episode = search(monkeypatch, has_target, certain)
    assert result.success is has_target, result.error_msg
    if has_target:
        assert judge_find(episode.world, episode.simulator.true_pose, (TARGET.id,)).success
    else:
        assert result.error_code is ErrorCode.TARGET_NOT_FOUND, result.error_msg


def test_a_search_with_a_covered_camera_says_so(monkeypatch):
    result, episode = search(monkeypatch, True, see=covered)
    assert result.error_code is ErrorCode.NO_EXPERT and "covered" in result.error_msg, result.error_msg
    assert dict(episode.map.rejected) == {"NO_DEPTH": 2 * episode.frames}


def test_a_camera_that_is_covered_during_a_search_proves_no_absence(monkeypatch):
    robot = changed(EXACT, goal_selector__loop__scene_patience=5.0)
    result, episode = search(
        monkeypatch, False, see=lambda i: covered(i) if i.stamp > 4.0 else i, robot=robot
    )
    assert episode.map.mirror.entities, "the desk was seen before"
    assert result.error_code is ErrorCode.NO_EXPERT and "covered" in result.error_msg, result.error_msg


@pytest.mark.parametrize("directive", ["is there a backpack?", "count the backpacks", "list everything"])
def test_a_question_is_not_answered_by_a_detector_that_sees_nothing(monkeypatch, directive):
    result, _ = search(monkeypatch, True, blank, directive=directive)
    assert not result.success and "Nothing was seen" in result.error_msg, result
    assert result.error_code in (ErrorCode.CANNOT_ANSWER, ErrorCode.NO_EXPERT)


def test_a_rain_of_boxes_costs_no_more_than_a_few_frames_and_leaves_no_entity():
    simulator = Simulator(room(True), seed=1)
    robot = SimulatedRobot(simulator, SETTINGS, PhraseBook(LetterEmbedder()), np.random.default_rng(0))
    detector = robot.detector

    def seconds(spoil: Spoil) -> float:
        robot.detector = BadDetector(detector, spoil)
        image = simulator.render(rgb=False, width=160, height=120)
        times = []
        for _ in range(12):
            simulator.step(0.1)
            began = time.thread_time()
            robot.see(replace(image, stamp=simulator.time))
            times.append(time.thread_time() - began)
        return float(np.median(times))

    usual = seconds(lambda segmented: segmented)
    entities = set(robot.mirror.entities)
    assert entities
    made = rain(SegmentedFrame(0.0, np.zeros((120, 160), np.uint16), ()))
    raining = seconds(lambda segmented: replace(made, stamp=segmented.stamp))
    assert raining < 3.0 * usual
    assert set(robot.mirror.entities) == entities


@pytest.mark.parametrize("distance", [0.5, 3.0, None])
def test_a_category_without_trials_has_the_pooled_chance(distance):
    eyes = eyes_of("nanodet")
    assert eyes.measured is not None and not eyes.measured.knows("harpsichord")
    chance = eyes.chance("harpsichord", 40.0, distance)
    assert 0.0 < chance < 1.0
    assert chance == replace(eyes.measured, offsets={}, kinds={}).chance("chair", 40.0, distance)
    cases = eyes.cases("harpsichord", float("nan"), [0.5, 3.0, 30.0])
    assert cases.shape == (3, 3) and ((cases > 0.0) & (cases < 1.0)).all()
    assert (np.diff(cases, axis=0) >= 0.0).all(), "its own chance may be lower or higher"
