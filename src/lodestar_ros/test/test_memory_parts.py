"""Unit tests of parts of the memory node, without a node."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("lodestar_interfaces", reason="the workspace is not built")

from builtin_interfaces.msg import Time

from lodestar.language.directive_errors import EmptyDirective
from lodestar.language.time_windows import TimeBasis
from lodestar.memory.config import StoreConfig
from lodestar.memory.records import Snapshot, SnapshotDelta
from lodestar_interfaces.action import AnswerQuestion
from lodestar_ros.answer_server import question_of
from lodestar_ros.memory_keeper import placed
from lodestar_ros.snapshot_server import paged


@pytest.mark.parametrize(
    ("given", "folder"),
    [
        ("", "/state/lodestar/memory"),
        ("elsewhere", "/state/lodestar/elsewhere"),
        ("/data/memory", "/data/memory"),
    ],
)
def test_a_folder_lies_in_the_users_state_folder_unless_it_is_absolute(monkeypatch, given, folder):
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    assert placed(StoreConfig(folder=given)).folder == folder


def test_a_folder_in_the_home_is_found(monkeypatch):
    monkeypatch.setenv("HOME", "/home/someone")
    assert placed(StoreConfig(folder="~/memory")).folder == str(Path("/home/someone/memory"))


def test_pages_hold_every_snapshot_once_and_what_was_removed_once():
    snapshots = tuple(Snapshot(i, i, frozenset({i})) for i in range(1, 6))
    pages = paged(SnapshotDelta(1.0, 9, 3, snapshots, (7,)), 2)
    assert [[snapshot.id for snapshot in page.updated] for page in pages] == [[1, 2], [3, 4], [5]]
    assert [page.removed for page in pages] == [(7,), (), ()]
    assert {(page.revision, page.previous_revision) for page in pages} == {(9, 3)}
    assert [page.updated for page in paged(SnapshotDelta(1.0, 9, 9), 2)] == [()]


def test_times_of_a_goal_are_the_questions_window():
    asked = AnswerQuestion.Goal(question="where is the mug?", from_stamp=Time(sec=10))
    window = question_of(asked).window
    assert (window.begin.basis, window.begin.seconds, window.end) == (TimeBasis.STAMP, 10.0, None)
    assert not question_of(AnswerQuestion.Goal(question="where is the mug?")).window


def test_a_goal_without_words_or_with_times_in_the_wrong_order_is_refused():
    with pytest.raises(EmptyDirective):
        question_of(AnswerQuestion.Goal(question=" "))
    with pytest.raises(ValueError, match="ends before"):
        question_of(
            AnswerQuestion.Goal(question="where is the mug?", from_stamp=Time(sec=9), to_stamp=Time(sec=5))
        )
