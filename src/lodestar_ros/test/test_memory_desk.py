"""Tests of the memory's desk without DDS: an operator's word waits for the robot's pose."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("lodestar_interfaces", reason="the workspace is not built")

from lodestar_interfaces.srv import ManageMemory
from lodestar_ros import memory_desk as module
from lodestar_ros.workers import Refused


@pytest.mark.parametrize("answers", [[None, None, 7], [None] * 20, [None, 0]])
def test_a_word_waits_for_the_pose_and_a_lost_robot_is_told(monkeypatch, answers):
    monkeypatch.setattr(module.time, "sleep", lambda seconds: None)
    desk, stamps = module.MemoryDesk.__new__(module.MemoryDesk), []
    desk._node = SimpleNamespace(now=3.0)
    take_word = lambda stamp, text: stamps.append(stamp) or answers[len(stamps) - 1]  # noqa: E731
    desk._feed = SimpleNamespace(
        alone=lambda work: work(), chain=SimpleNamespace(take_word=take_word, problem="the disk is full")
    )
    request = ManageMemory.Request(what=ManageMemory.Request.TELL, text="the mug is mine")
    if answers[-1] is None:
        with pytest.raises(Refused, match="does not know where"):
            desk._tell(None, request)
        return
    if not answers[-1]:
        with pytest.raises(Refused, match="once the memory can be written: the disk is full"):
            desk._tell(None, request)
        return
    assert desk._tell(None, request) == {7: ""} and stamps == [3.0] * 3
