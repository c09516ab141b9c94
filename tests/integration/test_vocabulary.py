"""The words of a directive reach the detector of another process within a period and their encoding."""

from __future__ import annotations

import time

import numpy as np
import pytest

from integration.eyes import PERIOD, SEGMENTED, VOCABULARY, WANTED, Stage

ENCODING = 1.0  # s that the text model takes
SLACK = 0.5  # s of a machine that does other things too, beside the period


@pytest.fixture(scope="module")
def prompted(tmp_path_factory):
    stage = Stage(tmp_path_factory.mktemp("prompted"), kind="prompt", encoding=ENCODING)
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
