"""The words of a directive reach the detector of another process, and come back as what it can and cannot see."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from sensor_msgs.msg import CameraInfo, Image

from integration.bed import Bed, Processes
from integration.commands import Command
from integration.surroundings import TIMES, World
from lodestar_bringup.domains import free_domain
from lodestar_interfaces import msg
from lodestar_interfaces.action import FollowDirective
from lodestar_ros import qos
from lodestar_ros.conversions import stamp_to_msg
from lodestar_ros.conversions_sensors import image_to_msg

FAKES = Path(__file__).parents[1] / "fake_detector"
PERIOD = 0.2  # s between two images
ENCODING = 1.0  # s that the text model takes
SLACK = 0.5  # s of a machine that does other things too, beside the period
WANTED, VOCABULARY, SEGMENTED = "goal_selector/wanted_words", "perception/vocabulary", "perception/segmented"


class Camera:
    """Publishes an image per period from a thread of its own."""

    def __init__(self, bed):
        make = bed.on_executor
        self._image = make(lambda: bed.node.create_publisher(Image, "camera/color/image_raw", qos.SENSOR))
        self._info = make(
            lambda: bed.node.create_publisher(CameraInfo, "camera/color/camera_info", qos.SENSOR)
        )
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        picture = image_to_msg(np.full((48, 640, 3), 90, np.uint8), "rgb8")
        while not self._over.wait(PERIOD):
            picture.header.stamp = stamp_to_msg(time.time())
            picture.header.frame_id = "camera"
            self._image.publish(picture)

    def close(self):
        self._over.set()
        self._thread.join()


class Stage:
    """A goal selector and a perception with the given weights, in a domain of their own."""

    def __init__(self, folder, **weights):
        self._domain = free_domain()
        self.domain = self._domain.__enter__()
        self.bed = Bed(self.domain)
        words = folder / "words.txt"
        words.write_text("# standing\nchair\ndesk\n")
        (folder / "weights.pt").write_text(json.dumps(weights))
        environment = {
            "PYTHONPATH": f"{FAKES}:{os.environ.get('PYTHONPATH', '')}",
            "LODESTAR_CACHE_DIR": str(folder / "cache"),
        }
        self.processes = Processes(self.domain, folder / "logs", environment)
        for name, kind, profile in (
            (WANTED, msg.WantedWords, qos.LATCHED),
            (VOCABULARY, msg.VocabularyReport, qos.LATCHED),
            (SEGMENTED, msg.SegmentedImage, qos.RELIABLE),
        ):
            self.bed.hear(kind, name, profile)
        self.world = World(self.bed, self.processes, folder / "decisions.jsonl")
        eyes = {"adapter": "ultralytics", "model": str(folder / "weights.pt"), "words.file": str(words)}
        self.processes.start(
            "goal_selector", "motion_gate", "perception",
            parameters={"goal_selector": TIMES, "perception": {**eyes, "ultralytics.min_pixels": 1}},
        )  # fmt: skip
        self.camera = Camera(self.bed)
        self.bed.until(lambda: self.agreed, "both sides agree before any directive")
        self.world.robot.publish_grid()

    def close(self):
        self.camera.close()
        self.processes.stop()
        self.bed.close()
        self._domain.__exit__(None, None, None)

    @property
    def agreed(self):
        """Whether the newest answer is to the newest wanted words."""
        wanted, told = self.bed.last(WANTED), self.bed.last(VOCABULARY)
        return wanted is not None and told is not None and wanted.id == told.wanted_id

    def labels(self):
        frame = self.bed.last(SEGMENTED)
        return set() if frame is None else {one.label for one in frame.detections}

    def follow(self, text):
        self.world.experts["frontier"].goes_to(2.0, 0.0, 0.0)
        goal = self.bed.action(FollowDirective, "follow_directive").send(FollowDirective.Goal(text=text))
        self.bed.until(lambda: goal.feedback, "feedback")
        return goal


@pytest.fixture(scope="module")
def prompted(tmp_path_factory):
    stage = Stage(tmp_path_factory.mktemp("prompted"), kind="prompt", encoding=ENCODING)
    yield stage
    stage.close()


@pytest.fixture(scope="module")
def closed(tmp_path_factory):
    stage = Stage(tmp_path_factory.mktemp("closed"), kind="closed", names=["chair", "bottle", "fire hydrant"])
    yield stage
    stage.close()


def gaps(stage, since):
    """Seconds between two segmented images that came after a time."""
    times = [since, *(at for at, _ in stage.bed.heard[SEGMENTED] if at > since)]
    return np.diff(times)


def test_a_directives_word_is_in_the_detector_within_a_period_and_its_encoding(prompted):
    bed = prompted.bed
    bed.until(lambda: prompted.labels() == {"chair", "desk"}, "the standing words are looked for")
    for text, word in (("find the fire extinguisher", "fire extinguisher"), ("find the mugs", "mug")):
        goal = prompted.follow(text)
        began = time.monotonic()
        bed.until(lambda word=word: prompted.labels() == {"chair", "desk", word}, f"{word} is looked for")
        assert time.monotonic() - began < ENCODING + 2 * PERIOD + SLACK
        assert gaps(prompted, began).max() < 2 * PERIOD + SLACK, "images went on meanwhile"
        bed.until(lambda: prompted.agreed, "it is acknowledged")
        told = bed.last(VOCABULARY)
        assert told.is_open and [(one.word, one.label) for one in told.words] == [(word, word)]
        assert {message.unseen for _, message in goal.feedback} == {""}
        goal.cancel()
        assert goal.result().unseen == ""
        bed.until(
            lambda: prompted.labels() == {"chair", "desk"}, "a directive that is over is not looked for"
        )


def test_either_side_comes_back_to_what_is_wanted(prompted):
    bed, processes = prompted.bed, prompted.processes
    prompted.follow("find the fire extinguisher")
    bed.until(lambda: "fire extinguisher" in prompted.labels(), "it is looked for")
    bed.until(lambda: prompted.agreed, "it is acknowledged")
    bed.forget(VOCABULARY)
    bed.forget(SEGMENTED)
    processes.kill("perception")
    processes.starter.start_one("perception")
    bed.until(
        lambda: "fire extinguisher" in prompted.labels(), "perception that came back looks for it again"
    )
    bed.until(lambda: prompted.agreed, "and says so")
    processes.kill("goal_selector")
    processes.starter.start_one("goal_selector")
    bed.until(lambda: not bed.last(WANTED).words, "a selector that came back wants nothing of before")
    bed.until(lambda: prompted.agreed and prompted.labels() == {"chair", "desk"}, "and nothing is looked for")


def test_a_word_that_it_cannot_see_is_told_in_the_first_feedback_and_in_the_result(closed):
    goal = closed.follow("find the fire extinguisher next to the chair")
    first = goal.feedback[0][1]
    assert 'no "fire extinguisher"' in first.unseen and "chair" not in first.unseen
    closed.bed.until(lambda: closed.agreed, "it is acknowledged")
    assert [(one.word, one.label) for one in closed.bed.last(VOCABULARY).words] == [
        ("fire extinguisher", ""), ("chair", "chair"),
    ]  # fmt: skip
    closed.bed.until(
        lambda: "fire extinguisher" in closed.bed.diagnosis("perception").get("words.unseen", ""),
        "a diagnosis",
    )
    goal.cancel()
    result = goal.result()
    assert 'no "fire extinguisher"' in result.unseen and result.unseen in result.report


def test_the_terminal_shows_what_cannot_be_seen(closed):
    sent = Command(
        "lodestar_ros.send_directive", "find the mug", environment={"ROS_DOMAIN_ID": str(closed.domain)}
    )
    try:
        sent.until(lambda: 'no "mug"' in sent.text, "it is told")
        sent.interrupt()
        sent.ends()
    finally:
        sent.kill()


def test_malformed_words_are_dropped_and_the_last_good_ones_stay(closed):
    before = closed.bed.last(VOCABULARY).wanted_id
    publisher = closed.bed.on_executor(
        lambda: closed.bed.node.create_publisher(msg.WantedWords, WANTED, qos.LATCHED)
    )
    for words in (["x" * 1000], [""], ["word"] * 1000):
        publisher.publish(msg.WantedWords(id="bad", words=words))
    closed.bed.until(lambda: closed.bed.count("perception", "wanted_words.malformed") >= 1, "it is counted")
    assert closed.bed.last(VOCABULARY).wanted_id == before
    closed.processes.assert_alive()
