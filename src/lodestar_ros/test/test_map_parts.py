"""Tests of staged loading of map parts: lost answers, dying nodes, and successors."""

from __future__ import annotations

import random
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
from load_notes import Killed, Notes, repeated

from lodestar.storage.archive import ForeignFile
from lodestar.storage.replacement import exchange, replace_all
from lodestar_interfaces.action import LoadMap
from lodestar_ros import load_again, map_actions
from lodestar_ros.load_again import LoadAgain
from lodestar_ros.map_actions import Codes, PartServer
from lodestar_ros.remote_map_parts import RemotePart
from lodestar_ros.workers import Refused

GOAL = LoadMap.Goal
STAGES = (GOAL.PREPARE, GOAL.SWAP, GOAL.UNDO, GOAL.FINISH)


class Part:
    """Fake map part whose content is the name of the loaded file."""

    name, is_optional = "part", False

    def __init__(self) -> None:
        self.content = "own"
        self.prepared = 0  # number of preparations neither finished nor undone

    def prepare(self, path):
        if path.name == "damaged":
            raise ForeignFile("it is damaged")
        self.prepared += 1

        try:
            yield from exchange(self._put, path.name)
        finally:
            self.prepared -= 1

    def _put(self, content):
        former, self.content = self.content, content
        return lambda: setattr(self, "content", former)


@pytest.fixture
def served(monkeypatch):
    """Return a factory of servers that ask stages of a part, and the part."""
    monkeypatch.setattr(map_actions, "serve", lambda *_: None)
    part = Part()

    return lambda: asker(part), part


def test_a_part_goes_on_with_what_it_uses_when_a_load_ended_without_its_leader(served):
    successor, part = served
    ask = successor()
    ask(GOAL.PREPARE, "/first")
    ask(GOAL.SWAP)
    with pytest.raises(ForeignFile):  # a later leader
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
    with pytest.raises(Refused) as raised:
        served[0]()(stage)
    assert raised.value.code == Codes.NODE_LOST


@pytest.mark.parametrize("seed", range(200))
def test_loads_in_any_order_leave_a_map_that_somebody_asked_for(served, seed):
    """With dying leaders, lost answers and damaged files, the content depends on the swaps only."""
    chance, (successor, part) = random.Random(seed), served
    ask, before = successor(), "own"
    for number in range(12):
        name = chance.choice((f"map-{number}", f"map-{number}", "damaged"))
        stages = [GOAL.PREPARE, GOAL.SWAP, chance.choice((GOAL.UNDO, GOAL.FINISH))]
        wanted = before = part.content
        try:
            for stage in stages[: chance.randint(1, 3)]:  # the leader may die after each stage
                for _ in range(chance.randint(1, 2)):
                    ask(stage, f"/{name}")
                    wanted = {GOAL.PREPARE: before, GOAL.UNDO: before}.get(stage, name)
                    assert part.content == wanted
        except ForeignFile:
            assert name == "damaged" and part.content == before
        assert part.prepared <= 1
    ask(GOAL.WHOLE, "/last")
    assert part.content == "last" and part.prepared == 0


def test_a_swap_that_failed_is_no_success_when_it_is_asked_for_again(served):
    successor, part = served
    ask = successor()
    part._put = MagicMock(side_effect=OSError("disk full"))
    ask(GOAL.PREPARE, "/map")
    with pytest.raises(OSError, match="disk full"):
        ask(GOAL.SWAP)
    with pytest.raises(Refused):
        ask(GOAL.SWAP)
    ask(GOAL.UNDO)  # the part has restored itself
    assert part.content == "own" and part.prepared == 0


def test_a_part_that_could_not_be_prepared_needs_no_undoing(served):
    successor, _ = served
    ask = successor()
    with pytest.raises(ForeignFile):
        ask(GOAL.PREPARE, "/damaged")
    ask(GOAL.UNDO)


@pytest.mark.parametrize(("stages", "content"), [([GOAL.PREPARE], "own"), ([GOAL.PREPARE, GOAL.SWAP], "map")])
def test_a_node_that_ends_during_a_load_leaves_what_is_in_use(served, stages, content):
    successor, part = served
    ask = successor()
    for stage in stages:
        ask(stage, "/map")
    with ask.server._lock:
        ask.server.close()  # does not wait for a stage in progress
    assert part.prepared == 1
    ask.server.close()
    assert part.prepared == 0 and part.content == content


def test_a_node_that_is_not_up_is_told_where_the_map_has_its_part(monkeypatch, tmp_path):
    monkeypatch.setattr("lodestar_ros.remote_map_parts.RemoteAction", lambda *a: MagicMock(owner=a[-1]))
    remote = RemotePart(
        MagicMock(), "grid", "mapping", actions=("save_grid", "load_grid"), is_optional=True, required=False
    )
    remote.loading.is_there.return_value = False
    part = remote.asked_by(MagicMock())
    assert next(part.prepare(tmp_path / "grid")) == ()
    (tmp_path / "grid").touch()
    (note,) = next(part.prepare(tmp_path / "grid"))
    assert note == "grid was not loaded: mapping is not up"


def test_what_is_held_for_a_dead_leader_is_dropped_after_its_time(served, monkeypatch):
    """After a timeout, a prepared load is dropped unchanged, and a swapped one stays in use."""
    now = [100.0]
    monkeypatch.setattr(map_actions.time, "monotonic", lambda: now[0])
    successor, part = served
    ask = successor()
    for stages, content in (([GOAL.PREPARE], "own"), ([GOAL.PREPARE, GOAL.SWAP], "map")):
        for stage in stages:
            ask(stage, "/map")
        now[0] += map_actions.HELD - 1.0
        ask.server.end_unasked()
        assert part.prepared == 1, "its leader may be slow"
        now[0] += 2.0
        ask.server.end_unasked()
        assert part.prepared == 0 and part.content == content


class Stack:
    """A leader's own part and three parts of other nodes; checkpointed content survives a process.

    die_at: number of the call in which the leader is killed, before or after its execution; 0 = never.
    """

    def __init__(self, successor_of, chance, notes):
        self.notes = notes
        self.parts = [Part() for _ in range(4)]
        self.asks = [successor_of(part) for part in self.parts[1:]]
        self.successor_of, self.chance = successor_of, chance
        self.calls = self.die_at = 0
        self.kept = "own"  # content of the leader's checkpoint
        self.dead = []  # keeps generators of dead processes from being closed

    def load(self, name):
        """Load a map in the leader, in the same way as `MapFiles`."""
        own = self.parts[0]

        def put():
            return self.mortal(self.mortal(lambda: own._put(name))())

        def remote(ask):
            def do(stage):
                self.mortal(lambda: ask(stage, f"/{name}"))()

            do(GOAL.PREPARE)
            try:
                yield ()
                do(GOAL.SWAP)
                yield ()
            except BaseException:
                do(GOAL.UNDO)
                raise
            do(GOAL.FINISH)

        kept = self.mortal(lambda: setattr(self, "kept", own.content))
        own_part = "own", exchange(lambda _: put(), name, kept)
        parts = [own_part, *((str(k), remote(ask)) for k, ask in enumerate(self.asks))]
        self.dead.append(parts)
        replace_all(parts)

    def mortal(self, call):
        def made():
            self.calls += 1
            if self.die_at and self.calls >= self.die_at:
                if self.calls == self.die_at and self.chance.random() < 0.5:
                    call()
                self.notes.dead = True
                raise Killed
            return call()

        return made

    def leader_comes_back(self):
        self.parts[0].content = self.kept
        self.notes.dead = False
        self.calls = self.die_at = 0

    def node_dies(self, number):
        """Kill the node of another part; its successor has the content in use."""
        self.dead.append(self.asks[number])
        self.asks[number] = self.successor_of(self.parts[1 + number])
        self.parts[1 + number].prepared = 0

    @property
    def contents(self):
        return {part.content for part in self.parts}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of dead processes
@pytest.mark.parametrize("seed", range(60))
def test_a_leader_that_is_killed_anywhere_leaves_one_map_when_its_successor_has_repeated_the_load(
    monkeypatch, seed
):
    """The load is noted before it starts and repeated afterwards; another node may be killed with the leader."""
    monkeypatch.setattr(map_actions, "serve", lambda *_: None)
    chance = random.Random(seed)
    monkeypatch.setattr(load_again, "ActionClient", MagicMock())
    notes = Notes()
    stack = Stack(asker, chance, notes)
    before = "own"
    for number in range(4):
        name = chance.choice((f"map-{number}", f"map-{number}", "damaged"))
        stack.die_at = chance.choice((0, *range(1, 13)))
        again = LoadAgain(MagicMock(), notes)
        try:
            with again.until_done(f"/{name}"):
                stack.load(name)
        except ForeignFile:
            assert stack.contents == {before}, "all former"
        except Killed:
            assert notes.notes["loading"] == [f"/{name}", 1]
            if chance.random() < 0.3:
                stack.node_dies(chance.randrange(3))
            stack.leader_comes_back()
            sent = repeated(notes)
            assert sent == [f"/{name}"]
            try:
                with LoadAgain(MagicMock(), notes).until_done(f"/{name}"):
                    stack.load(name)
            except ForeignFile:
                assert name == "damaged"
        assert stack.contents in ({before}, {name}), "nothing is mixed"
        assert all(part.prepared == 0 for part in stack.parts), "nothing is held"
        assert not notes.notes["loading"] and not repeated(notes)
        (before,) = stack.contents


def asker(part):
    """Return a function that requests stages of a part from a new process."""
    server = PartServer(MagicMock(), part)

    def ask(stage, path=""):
        return server._load(SimpleNamespace(request=SimpleNamespace(stage=stage, path=path)))

    ask.server = server
    return ask
