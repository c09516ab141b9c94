"""Tests that a word unknown to a closed-vocabulary detector is reported in the first feedback and the result."""

from __future__ import annotations

import pytest

from integration.commands import Command
from integration.eyes import VOCABULARY, Stage
from lodestar_ros.nodes.goal_selector_node import FEEDBACK_PERIOD


@pytest.fixture(scope="module")
def closed(tmp_path_factory):
    stage = Stage(tmp_path_factory.mktemp("closed"), kind="closed", names=["chair", "bottle", "fire hydrant"])
    yield stage
    stage.close()


def test_a_word_that_it_cannot_see_is_told_in_the_first_feedback_and_in_the_result(closed):
    began = closed.processes.now()
    goal = closed.follow("find the fire extinguisher next to the chair")
    first = closed.bed.until(
        lambda: next((one for _, one in goal.feedback if one.unseen), None), "it is told"
    )
    words = [("fire extinguisher", ""), ("chair", "chair")]
    heard = lambda: [(one.word, one.label) for one in closed.bed.last(VOCABULARY).words]  # noqa: E731
    closed.bed.until(
        lambda: heard() == words, "it is acknowledged"
    )  # the report before may be heard until then
    acknowledged = closed.bed.heard[VOCABULARY][-1][0]
    silent = sum(at > acknowledged and not one.unseen for at, one in goal.feedback)
    assert silent <= 1 + began.waits() / FEEDBACK_PERIOD, "told at once"
    assert 'no "fire extinguisher"' in first.unseen and "chair" not in first.unseen
    closed.bed.until(
        lambda: "fire extinguisher" in closed.bed.diagnosis("perception").get("words.unseen", ""),
        "a diagnosis",
    )
    goal.cancel()
    result = goal.result()
    assert 'no "fire extinguisher"' in result.unseen and result.unseen in result.report


def test_the_terminal_shows_what_cannot_be_seen(closed):
    sent = Command("lodestar_ros.send_directive", "find the mug")
    try:
        sent.until(lambda: 'no "mug"' in sent.text, "it is told")
        sent.interrupt()
        sent.ends()
    finally:
        sent.kill()
