"""Tests that a directive's words reach the detector in another process within one period plus encoding time."""

from __future__ import annotations

import numpy as np
import pytest
from sensor_msgs.msg import Image

from integration.eyes import PERIOD, SEGMENTED, VOCABULARY, WANTED, Stage
from lodestar_ros import qos

ENCODING = 2.0  # s, encoding time of the fake text model
SLACK = 0.5  # s, margin for a busy machine
IMAGES = "camera/color/image_raw"


@pytest.fixture(scope="module")
def prompted(tmp_path_factory):
    stage = Stage(tmp_path_factory.mktemp("prompted"), kind="prompt", encoding=ENCODING)
    stage.bed.hear(Image, IMAGES, qos.SENSOR)
    yield stage
    stage.close()


def gaps(stage, since):
    """Return the seconds of the camera between consecutive segmented images received after a time, and until now.

    Its clock are its images: it pauses where the whole machine does.
    """
    times = [since, *(at for at, _ in stage.bed.heard[SEGMENTED] if at > since), np.inf]
    return PERIOD * np.diff(np.searchsorted([at for at, _ in stage.bed.heard[IMAGES]], times))


def test_a_directives_word_is_in_the_detector_within_a_period_and_its_encoding(prompted):
    bed = prompted.bed
    bed.until(lambda: prompted.labels() == {"chair", "desk"}, "the standing words are looked for")
    for text, word in (("find the fire extinguisher", "fire extinguisher"), ("find the mugs", "mug")):
        goal = prompted.follow(text)
        began = prompted.processes.now()
        bed.until(lambda word=word: prompted.labels() == {"chair", "desk", word}, f"{word} is looked for")
        spans, waits = gaps(prompted, began.at), began.waits()
        assert spans.sum() < ENCODING + 2 * PERIOD + SLACK + waits
        assert spans.max() < 2 * PERIOD + SLACK + waits, "images went on meanwhile"
        heard = lambda: [(one.word, one.label) for one in bed.last(VOCABULARY).words]  # noqa: E731
        bed.until(lambda word=word, heard=heard: heard() == [(word, word)], "the word is acknowledged")
        bed.until(lambda: prompted.agreed, "both sides agree")
        assert bed.last(VOCABULARY).is_open and heard() == [(word, word)]
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
