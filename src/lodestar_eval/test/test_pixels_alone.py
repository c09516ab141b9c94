"""Tests that a robot with a detector on colour images uses pixels, depth and scans alone, and no simulator truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from embedders import LetterEmbedder

from lodestar.models.phrases import PhraseBook
from lodestar.perception.frames import Detection, ImageBox, SegmentedFrame, Vocabulary
from lodestar_eval.settings import EpisodeSettings, robot_config, with_detector
from lodestar_eval.simulated_robot import SimulatedRobot
from lodestar_sim.simulator import Simulator
from lodestar_sim.worlds import world_from_spec


class RedThings:
    """Colour detector that returns a box around all red pixels."""

    name = "red things"
    vocabulary = Vocabulary(("box",))

    def look_for(self, words):
        pass

    def detect(self, stamp, rgb, depth=None):
        red = rgb[..., 0].astype(int) - rgb[..., 1:].max(-1) > 60
        if red.sum() < 60:
            return SegmentedFrame(stamp, np.zeros(red.shape, np.uint16), (), self.name)
        rows, columns = np.nonzero(red)
        box = ImageBox(columns.min(), rows.min(), np.ptp(columns) + 1, np.ptp(rows) + 1)
        found = Detection(1, "box", "box", 0.9, box, int(red.sum()))
        return SegmentedFrame(stamp, red.astype(np.uint16), (found,), self.name)


def robot_of(simulator, settings):
    return SimulatedRobot(simulator, settings, PhraseBook(LetterEmbedder()), np.random.default_rng(0))


@pytest.fixture
def seeing(monkeypatch):
    monkeypatch.setattr("lodestar.assembly.parts.color_detector", lambda config, checked=True: RedThings())
    return with_detector(EpisodeSettings(), "network")


def test_a_detector_on_colour_takes_the_images_of_its_profile(seeing):
    assert seeing.robot.perception.adapter == "onnx" and seeing.robot.perception.model == "packaged"
    assert (seeing.width, seeing.height) == (320, 240)


def turned(robot):
    """Return the images of a turn on the spot."""
    for _ in range(24):
        robot.simulator.set_command(0.0, 0.0, 1.0)
        robot.simulator.step(0.25)
        yield robot.look()


def test_its_frames_hold_no_labels_and_others_do(seeing):
    world = world_from_spec("apartment", 3)
    for image in turned(robot_of(Simulator(world, seed=1), seeing)):
        assert image.rgb is not None and not image.labels.any() and image.label_table == {}
    told = list(turned(robot_of(Simulator(world, seed=1), EpisodeSettings(robot=robot_config()))))
    assert any(image.labels.any() and image.label_table for image in told)


def test_what_it_maps_does_not_depend_on_the_simulators_names(seeing):
    """The same building with only false names gives the same map."""
    world = world_from_spec("apartment", 3)
    false = replace(world, objects=tuple(replace(o, category="lie", caption="a lie") for o in world.objects))
    maps = []
    for one in (world, false):
        robot = robot_of(Simulator(one, seed=1), seeing)
        list(turned(robot))
        maps.append([(e.label, e.caption, e.mean.tolist()) for e in robot.mirror.entities.values()])
    assert maps[0] == maps[1] and maps[0]
    assert {label for label, *_ in maps[0]} == {"box"}
