"""Parts of a map that are loaded in stages: lost answers, nodes that die, and what a successor says."""

from __future__ import annotations

import random
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
from builtin_interfaces.msg import Time

from lodestar.storage.archive import ForeignFile
from lodestar.storage.checkpoint import CheckpointConfig
from lodestar.storage.replacement import Exchange
from lodestar_interfaces.action import LoadMap
from lodestar_ros import map_actions
from lodestar_ros.checkpoints import Checkpointer
from lodestar_ros.map_actions import Codes, MapError, PartServer
from lodestar_ros.remote_map_parts import RemotePart

GOAL = LoadMap.Goal
STAGES = (GOAL.PREPARE, GOAL.SWAP, GOAL.UNDO, GOAL.FINISH)


class Part:
    """A part whose content is the name of the file that it was loaded from."""

    name, is_optional = "part", False

    def __init__(self) -> None:
        self.content = "own"
        self.prepared = 0  # and neither finished nor undone

    def prepare(self, path):
        if path.name == "damaged":
            raise ForeignFile("it is damaged")
        self.prepared += 1

        class Counted(Exchange):
            def undo(one):
                super().undo()
                self.prepared -= 1

            def finish(one):
                super().finish()
                self.prepared -= 1

        return Counted(self._put, path.name)

    def _put(self, content):
        former, self.content = self.content, content
        return lambda: setattr(self, "content", former)


@pytest.fixture
def served(monkeypatch):
    """Return what serves a part, how it is asked, and the part."""
    monkeypatch.setattr(map_actions, "serve", lambda *_: None)
    part = Part()

    def successor():
        server = PartServer(MagicMock(), part)
        return lambda stage, path="": server._load(
            SimpleNamespace(request=SimpleNamespace(stage=stage, path=path))
        )

    return successor, part


def test_a_part_goes_on_with_what_it_uses_when_a_load_ended_without_its_leader(served):
    successor, part = served
    ask = successor()
    ask(GOAL.PREPARE, "/first")
    ask(GOAL.SWAP)
    with pytest.raises(ForeignFile):  # another leader, hours later
        ask(GOAL.PREPARE, "/damaged")
    assert part.content == "first", "the map that the robot has gone on with"
    assert part.prepared == 0, "nothing is held for a load that nobody ends"


def test_what_was_only_prepared_is_dropped_with_the_next_load(served):
    successor, part = served
    ask = successor()
    ask(GOAL.PREPARE, "/first")
    ask(GOAL.WHOLE, "/second")
    assert part.content == "second" and part.prepared == 0


@pytest.mark.parametrize("last", [GOAL.UNDO, GOAL.FINISH])
def test_a_stage_whose_answer_was_lost_is_no_restart(served, last):
    successor, part = served
    ask = successor()
    ask(GOAL.PREPARE, "/map")
    for stage in (GOAL.SWAP, GOAL.SWAP, last, last):
        ask(stage)
    assert part.content == ("own" if last == GOAL.UNDO else "map") and part.prepared == 0


@pytest.mark.parametrize("stage", STAGES[1:])
def test_a_successor_knows_of_no_load(served, stage):
    served[0]()(GOAL.PREPARE, "/map")
    with pytest.raises(MapError) as raised:
        served[0]()(stage)
    assert raised.value.code == Codes.NODE_LOST


@pytest.mark.parametrize("seed", range(200))
def test_loads_in_any_order_leave_a_map_that_somebody_asked_for(served, seed):
    """Leaders die anywhere, answers are lost, files are damaged: the content follows from the swaps alone."""
    chance, (successor, part) = random.Random(seed), served
    ask, before = successor(), "own"
    for number in range(12):
        name = chance.choice((f"map-{number}", f"map-{number}", "damaged"))
        stages = [GOAL.PREPARE, GOAL.SWAP, chance.choice((GOAL.UNDO, GOAL.FINISH))]
        wanted = before = part.content
        try:
            for stage in stages[: chance.randint(1, 3)]:  # the leader may die after each
                for _ in range(chance.randint(1, 2)):
                    ask(stage, f"/{name}")
                    wanted = {GOAL.PREPARE: before, GOAL.UNDO: before}.get(stage, name)
                    assert part.content == wanted
        except ForeignFile:
            assert name == "damaged" and part.content == before
        assert part.prepared <= 1
    ask(GOAL.WHOLE, "/last")
    assert part.content == "last" and part.prepared == 0


def test_a_node_that_is_not_up_is_told_where_the_map_has_its_part(monkeypatch, tmp_path):
    monkeypatch.setattr("lodestar_ros.remote_map_parts.RemoteAction", lambda *a: MagicMock(owner=a[-1]))
    remote = RemotePart(
        MagicMock(), "grid", "mapping", actions=("save_grid", "load_grid"), is_optional=True, required=False
    )
    remote.loading.is_there.return_value = False
    part = remote.asked_by(MagicMock())
    assert part.prepare(tmp_path / "grid").notes == ()
    (tmp_path / "grid").touch()
    (note,) = part.prepare(tmp_path / "grid").notes
    assert note == "grid was not loaded: mapping is not up"


def test_a_successor_says_what_was_not_finished_until_it_is_repeated(tmp_path):
    def start():
        node = MagicMock()
        node.get_name.return_value = "scene_dictionary"
        node.get_clock.return_value.now.return_value.to_msg.return_value = Time()
        files = Checkpointer(node, CheckpointConfig(str(tmp_path / "run"), "run"))
        files.restore(lambda archive: archive)
        said = [call.args[0].text for call in node.create_publisher.return_value.publish.call_args_list]
        return files, said

    first, said = start()
    assert said == []
    block = first.until_done("it was loading a map")
    block.__enter__()  # and is killed
    second, (said,) = start()
    assert said == "scene_dictionary died and came back with an empty map; it was loading a map"
    with pytest.raises(ForeignFile), second.until_done("it was loading another"):
        raise ForeignFile("it is damaged")
    third, (again,) = start()
    assert again == said, "a load that failed has repaired nothing"
    with third.until_done("it was loading a map"):
        pass
    assert start()[1] == ["scene_dictionary died and came back with an empty map"]
