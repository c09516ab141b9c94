"""A word of a directive that a closed detector does not know is told in the first feedback and in the result."""

from __future__ import annotations

import pytest

from integration.commands import Command
from integration.eyes import VOCABULARY, Stage


@pytest.fixture(scope="module")
def closed(tmp_path_factory):
    stage = Stage(tmp_path_factory.mktemp("closed"), kind="closed", names=["chair", "bottle", "fire hydrant"])
    yield stage
    stage.close()


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
