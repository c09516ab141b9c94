"""Tests that the successor of a dead leader repeats its load once, unless a newer load was requested."""

from __future__ import annotations

import random
from unittest.mock import MagicMock

import pytest
from builtin_interfaces.msg import Time
from load_notes import Killed, Notes, repeated

from lodestar.storage.archive import ForeignFile
from lodestar.storage.checkpoint import CheckpointConfig
from lodestar_ros import load_again
from lodestar_ros.checkpoints import Checkpointer
from lodestar_ros.load_again import LoadAgain
from lodestar_ros.workers import Refused


class Leader:
    """A successor whose `~/load` goals wait in order: its own repetition and those of users."""

    def __init__(self, notes):
        node = MagicMock()
        self.again = LoadAgain(node, notes)
        self.turn = node.steady_timer.call_args.args[1]
        self.again._client = MagicMock()
        self.loaded = []

    @property
    def sent(self):
        return [
            (call.args[0].path, bytes(call.kwargs["goal_uuid"].uuid))
            for call in self.again._client.send_goal_async.call_args_list
        ]

    def load(self, path, goal=b"a person's", fails=False):
        with self.again.until_done(path, goal):
            self.turn()  # the timer runs meanwhile
            if fails:
                raise ForeignFile("it is damaged")
            self.loaded.append(path)


def died_in(path):
    notes = Notes()
    with pytest.raises(Killed), LoadAgain(MagicMock(), notes).until_done(path):
        notes.dead = True
        raise Killed
    notes.dead = False
    return notes


@pytest.fixture
def no_client(monkeypatch):
    monkeypatch.setattr(load_again, "ActionClient", MagicMock())


def test_a_successor_says_what_was_not_finished_until_it_is_repeated(tmp_path, no_client):
    def start():
        node = MagicMock()
        node.get_name.return_value = "scene_dictionary"
        node.get_clock.return_value.now.return_value.to_msg.return_value = Time()
        files = Checkpointer(node, CheckpointConfig(str(tmp_path / "run"), "run"))
        files.restore(lambda archive: archive)
        again = LoadAgain(node, files)
        said = [call.args[0].text for call in node.create_publisher.return_value.publish.call_args_list]
        return again, said

    first, said = start()
    assert said == []
    block = first.until_done("/map")
    block.__enter__()  # killed inside the block
    second, (said,) = start()
    assert said.startswith(
        "scene_dictionary died and came back with an empty map; it was loading /map: grid and"
    )
    with pytest.raises(ForeignFile), second.until_done("/other"):
        raise ForeignFile("it is damaged")
    third, (again,) = start()
    assert again == said, "a load that failed has repaired nothing"
    with third.until_done("/map"):
        pass
    assert start()[1] == ["scene_dictionary died and came back with an empty map"]


def test_a_load_that_kills_its_leader_again_is_not_tried_for_ever(monkeypatch):
    monkeypatch.setattr(load_again, "ActionClient", MagicMock())
    notes = Notes()
    for tries in (1, 2):
        with pytest.raises(Killed), LoadAgain(MagicMock(), notes).until_done("/deadly"):
            notes.dead = True
            raise Killed
        notes.dead = False
        assert notes.notes["loading"] == ["/deadly", tries]
        assert repeated(notes) == (["/deadly"] if tries == 1 else [])
    assert "load it again" in notes.notes["unfinished"]
    with LoadAgain(MagicMock(), notes).until_done("/sound"):
        assert notes.notes["loading"] == ["/sound", 1]
    assert not notes.notes["unfinished"]


@pytest.mark.parametrize("newer", ["/newer", "/old"])
def test_a_load_that_comes_before_the_repetition_is_sent_stands(no_client, newer):
    leader = Leader(died_in("/old"))
    leader.load(newer)
    for _ in range(3):
        leader.turn()
    assert leader.loaded == [newer] and leader.sent == []


def test_a_load_that_comes_before_the_repetition_begins_stands(no_client):
    leader = Leader(died_in("/old"))
    leader.turn()
    ((path, goal),) = leader.sent
    leader.load("/newer")
    with pytest.raises(Refused, match="another map was loaded"):
        leader.load(path, goal)
    assert leader.loaded == ["/newer"] and not repeated(leader.again._checkpoints)


@pytest.mark.parametrize("before_it_is_sent", [True, False])
def test_a_load_that_fails_leaves_the_repetition_due(no_client, before_it_is_sent):
    """A failed load changes nothing, so the parts still belong to two maps."""
    leader = Leader(died_in("/old"))
    if not before_it_is_sent:
        leader.turn()
    with pytest.raises(ForeignFile):
        leader.load("/damaged", fails=True)
    leader.turn()
    leader.turn()
    ((path, goal),) = leader.sent
    leader.load(path, goal)
    assert leader.loaded == ["/old"] and not repeated(leader.again._checkpoints)


@pytest.mark.parametrize("seed", range(40))
def test_after_loads_of_any_course_the_map_of_the_last_one_stands(no_client, seed):
    """Random sequences of user loads, full disks, and deaths of successors."""
    chance, notes = random.Random(seed), died_in("/old")
    last, leader, waiting = None, Leader(notes), []
    for number in range(30):
        what = chance.choice(("turn", "turn", "ask", "begin", "begin", "die"))
        if what == "turn":
            leader.turn()
            waiting += leader.sent
            leader.again._client.reset_mock()
        elif what == "ask":
            waiting.append((f"/map-{number}", bytes([number])))
        elif what == "begin" and waiting:
            path, goal = waiting.pop(0)
            full = chance.random() < 0.3
            try:
                with leader.again.until_done(path, goal):
                    notes.full = full
                last = path if last is None or path != "/old" else "mixed up"
            except Refused:
                assert path == "/old" and last not in (None, "/old")
            notes.full = False
            if full:
                leader.turn()  # timer runs before it dies
                waiting += leader.sent
                leader.again._client.reset_mock()
        elif what == "die":
            leader, waiting = Leader(notes), []
    assert last != "mixed up"


def test_a_disk_that_is_full_at_the_end_of_a_load_repeats_nothing_later(no_client):
    notes = Notes()
    leader = Leader(notes)
    with leader.again.until_done("/map"):
        notes.full = True
    leader.turn()
    notes.full = False
    leader.turn()
    assert not notes.notes["loading"] and not repeated(notes)
