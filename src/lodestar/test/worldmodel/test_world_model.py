"""Tests of actions as transactions: committed, rolled back, undone, and continued after kill -9."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from closed_areas import closed_area
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.floors.records import Building, Floor
from lodestar.geometry.poses import planar_transform
from lodestar.scene.records import Refusal
from lodestar.storage.journal_file import JournalFile
from lodestar.worldmodel import transactions
from lodestar.worldmodel.amendment_checks import MalformedAmendment
from lodestar.worldmodel.amendments import Amendment, Change, ClosedWay
from lodestar.worldmodel.closed_ways import WayBook
from lodestar.worldmodel.events import DIAGNOSED, REFUSED, UNDONE
from lodestar.worldmodel.outcomes import (
    ActionOutcome,
    Cause,
    CauseEstimate,
    ConstraintState,
    Diagnosis,
    Discrepancy,
    Result,
)
from lodestar.worldmodel.records import Action, Belief, Expectation, Phase, Skill, Trace, entity_name
from lodestar.worldmodel.transactions import (
    KIND,
    MAX_ENTRIES,
    VERSION,
    AlreadyUndone,
    Line,
    NoSuchEntry,
    Overtaken,
    Status,
    Transactions,
)
from lodestar.worldmodel.way_file import ways_from_archive, ways_to_archive
from lodestar.worldmodel.world_model import Reply, WorldModel

GONE = Amendment(Change.ARCHIVE, "depth passes through its place", "recovery", 12)
DOOR = ClosedWay((5.0, 4.5), (5.0, 5.4), 60.0, "DOOR_CLOSED")
CLOSED = Amendment(Change.CLOSE_WAY, "the navigator found no way", "recovery", way=DOOR)


def opened(path, **options):
    return JournalFile(path, KIND, VERSION, Line, **options)


def on(floor: int) -> Building:
    """Return a building of three floors with the robot on this one; 0 = no known floor."""
    return Building(tuple(Floor(i, i - 1, 3.0 * i) for i in (1, 2, 3)), active=floor) if floor else Building()


class Scene:
    """Scene that records the changes requested of it; `problem` makes it refuse."""

    def __init__(self):
        self.amended, self.problem, self.later = [], None, None

    def amend(self, amendments, answered):
        if self.later is not None:
            self.later.append(answered)
            return
        if self.problem is not None:
            answered(Reply(problem=self.problem, why="no"))
            return
        self.amended.append(tuple(amendments))
        answered(Reply(tuple(replace(a, change=Change.RESTORE) for a in reversed(amendments))))


class Bench:
    """World model over a journal on disk, with its published events."""

    def __init__(self, path=None):
        self.path, self.scene, self.events, self.told = path, Scene(), [], []
        self.start()

    def start(self):
        """Start, or restart after kill -9."""
        journal = None if self.path is None else opened(self.path)
        self.world = WorldModel(Transactions(journal), self.scene, self.events.append, WayBook())

    def kinds(self):
        return [event.kind for event in self.events]

    def hear(self, entry, reply):
        self.told.append((entry, reply))


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path / "run" / "world.journal")


def trace(identity="q-t1", skill=Skill.GO_TO, arguments=("entity:12",)):
    return Trace(identity, 1, 9.0, "test", Action(skill, arguments), Expectation(Phase.AT), 0.9)


def ended(result=Result.COMMITTED, amendments=(GONE,), identity="q-t1", diagnosis=None, text=""):
    return ActionOutcome(identity, 10.0, result, diagnosis, "", amendments, text)


@pytest.mark.parametrize("result", [Result.COMMITTED, Result.ROLLED_BACK])
def test_what_the_diagnosis_amends_is_carried_out_once(bench, result):
    bench.world.take_trace(trace())
    assert bench.scene.amended == [], "an action that began changes nothing"
    bench.world.take_outcome(ended(result))
    bench.world.take_outcome(ended(result))  # published again, as to a late subscriber
    assert bench.scene.amended == [(replace(GONE, trace_id="q-t1"),)]
    assert bench.kinds() == ["ARCHIVE"] and bench.events[0].entity_ids == (12,) and bench.events[0].entry == 1
    assert "gone (depth passes through its place)" in bench.events[0].text
    assert not bench.world.transactions.staged


def test_a_cancelled_action_changes_nothing(bench):
    bench.world.take_trace(trace())
    bench.world.take_outcome(ended(Result.CANCELLED))
    assert bench.scene.amended == [] and not bench.world.transactions.staged


def test_a_door_is_closed_and_opens_again_when_its_time_is_over(bench):
    bench.world.take_outcome(ended(Result.ROLLED_BACK, (CLOSED,)))
    assert bench.world.ways == (DOOR,)
    bench.world.tick(59.0)
    assert bench.world.ways == (DOOR,)
    bench.world.tick(60.0)
    assert bench.world.ways == () and bench.kinds() == ["CLOSE_WAY", "OPEN_WAY"]
    assert bench.events[0].place == (5.0, 4.95)


def test_a_way_that_had_expired_before_a_restart_is_not_told_of_again(bench):
    later = replace(CLOSED, way=replace(DOOR, start=(1.0, 1.0), end=(2.0, 1.0), expires=200.0))
    bench.world.take_outcome(ended(Result.ROLLED_BACK, (CLOSED, later)))
    bench.world.tick(60.0)
    bench.events.clear()
    for now in (100.0, 110.0):
        bench.start()
        bench.world.tick(0.0)  # before a simulated clock has started
        bench.world.tick(now)
        assert bench.world.ways == (later.way,) and bench.events == []
    bench.world.tick(200.0)
    assert bench.kinds() == ["OPEN_WAY"] and bench.events[0].place == (1.5, 1.0)


def test_a_scene_that_refuses_one_amendment_keeps_the_way_open_too(bench):
    bench.scene.problem = Refusal.UNKNOWN_ENTITY
    bench.world.take_outcome(ended(Result.ROLLED_BACK, (CLOSED, GONE)))
    assert bench.world.ways == () and bench.kinds() == [REFUSED]
    assert bench.world.transactions.entries[1].status is Status.REFUSED


def test_a_scene_that_is_away_gets_it_later(bench):
    bench.scene.problem = Refusal.UNAVAILABLE
    bench.world.take_outcome(ended())
    bench.world.tick(20.0)
    assert bench.events == [] and len(bench.world.transactions.waiting) == 1
    bench.scene.problem = None
    bench.world.tick(21.0)
    bench.world.tick(22.0)
    assert len(bench.scene.amended) == 1 and bench.kinds() == ["ARCHIVE"]


def test_what_is_under_way_is_not_asked_twice(bench):
    bench.scene.later = []
    bench.world.take_outcome(ended())
    bench.world.tick(20.0)
    assert len(bench.scene.later) == 1


def test_an_operator_is_told_at_once_that_the_scene_is_away_and_nothing_happens_later(bench):
    bench.scene.problem = Refusal.UNAVAILABLE
    bench.world.correct((GONE,), 5.0, bench.hear)
    bench.scene.problem = None
    bench.world.tick(20.0)
    assert bench.told[0][1].problem is Refusal.UNAVAILABLE and bench.scene.amended == []


MALFORMED = [
    (CLOSED, "names no way"),
    (replace(GONE, entity_id=-5), "-5 is no entity's id"),
    (Amendment(Change.RELATE, "", "operator"), "names no relation"),
    (Amendment(Change.RELATE, "", "operator", belief=Belief("On", ())), "0 arguments"),
    (Amendment(Change.RELATE, "", "operator", belief=Belief("Eats", ("entity:1", "entity:2"))), "'Eats'"),
    (Amendment(Change.RELATE, "", "operator", belief=Belief("On", ("entity:1",) * 200)), "200 arguments"),
    (Amendment(Change.RELATE, "", "operator", belief=Belief("On", ("entity:1", "the moon"))), "'the moon'"),
]


@pytest.mark.parametrize(("amendment", "why"), MALFORMED)
def test_a_malformed_correction_is_refused_before_anything_is_written(bench, amendment, why):
    with pytest.raises(MalformedAmendment, match=why):
        bench.world.correct((replace(amendment, way=None),), 5.0, bench.hear)
    assert not bench.world.transactions.entries and bench.scene.amended == [] and bench.world.ways == ()
    bench.world.correct((GONE,), 6.0, bench.hear)
    assert bench.told[0][1].problem is None


@pytest.mark.parametrize(("amendment", "why"), MALFORMED)
def test_a_malformed_entry_of_a_predecessor_is_refused_once(bench, amendment, why):
    bench.world.transactions.open(5.0, (replace(amendment, way=None),))
    bench.start()
    bench.world.tick(6.0)
    bench.world.tick(7.0)
    assert bench.kinds() == [REFUSED] and why in bench.events[0].text
    bench.start()
    assert not bench.world.transactions.waiting and not bench.world.transactions.problems


def test_an_outcome_with_a_malformed_amendment_is_refused_and_the_next_one_taken(bench):
    nothing = Amendment(Change.RELATE, "", "recovery", belief=Belief("On", ()))
    bench.world.take_outcome(ended(amendments=(GONE, nothing)))
    bench.world.take_outcome(ended(identity="q-t2"))
    assert bench.kinds() == [REFUSED, "ARCHIVE"] and len(bench.scene.amended) == 1


def test_a_correction_is_undone_once(bench):
    bench.world.correct((GONE, CLOSED), 5.0, bench.hear)
    assert bench.told[0][0].number == 1 and bench.world.ways == (DOOR,)
    bench.world.undo(1, 6.0, bench.hear)
    assert bench.world.ways == () and bench.scene.amended[-1][0].change is Change.RESTORE
    assert bench.kinds()[-1] == UNDONE
    with pytest.raises(AlreadyUndone, match="before"):
        bench.world.undo(1, 7.0, bench.hear)
    with pytest.raises(AlreadyUndone, match="itself"):
        bench.world.undo(2, 7.0, bench.hear)
    with pytest.raises(NoSuchEntry, match="entry 9"):
        bench.world.undo(9, 7.0, bench.hear)


def test_what_a_later_correction_changed_is_undone_last(bench):
    bench.world.correct((replace(GONE, change=Change.RELABEL, label="stool"),), 5.0, bench.hear)
    bench.world.correct((replace(GONE, change=Change.RELABEL, label="bench"),), 6.0, bench.hear)
    with pytest.raises(Overtaken, match="entry 2 changed entity 12 since"):
        bench.world.undo(1, 7.0, bench.hear)
    bench.world.undo(2, 8.0, bench.hear)
    bench.world.undo(1, 9.0, bench.hear)
    assert len(bench.scene.amended) == 4


@pytest.mark.parametrize(
    ("first", "second"),
    [(Change.DOUBT, Change.ARCHIVE), (Change.ARCHIVE, Change.RESTORE), (Change.RESTORE, Change.DOUBT)],
)
def test_an_undo_does_not_revive_what_a_later_entry_archived(bench, first, second):
    bench.world.correct((replace(GONE, change=first),), 5.0, bench.hear)
    bench.world.correct((replace(GONE, change=second),), 6.0, bench.hear)
    with pytest.raises(Overtaken, match="entry 2 changed entity 12 since"):
        bench.world.undo(1, 7.0, bench.hear)
    bench.world.undo(2, 8.0, bench.hear)
    bench.world.undo(1, 9.0, bench.hear)


def test_an_undo_that_the_scene_refuses_may_be_tried_again(bench):
    bench.world.correct((GONE,), 5.0, bench.hear)
    bench.scene.problem = Refusal.STALE
    bench.world.undo(1, 6.0, bench.hear)
    assert bench.told[-1][1].problem is Refusal.STALE
    bench.scene.problem = None
    bench.world.undo(1, 7.0, bench.hear)
    assert bench.told[-1][1].problem is None


def test_opening_a_way_is_taken_back_by_closing_what_was_there(bench):
    bench.world.correct((CLOSED,), 5.0, bench.hear)
    bench.world.correct((replace(CLOSED, change=Change.OPEN_WAY),), 6.0, bench.hear)
    assert bench.world.ways == ()
    bench.world.undo(2, 7.0, bench.hear)
    assert bench.world.ways == (DOOR,)


def test_a_successor_goes_on_after_kill_9(bench):
    bench.world.take_trace(trace("q-t1"))
    bench.world.take_outcome(ended(Result.ROLLED_BACK, (CLOSED,), "q-t1"))
    bench.world.take_trace(trace("q-t2"))
    bench.scene.problem = Refusal.UNAVAILABLE
    bench.world.take_outcome(ended(identity="q-t3"))
    bench.scene.problem = None
    bench.start()
    assert bench.world.ways == (DOOR,) and list(bench.world.transactions.staged) == ["q-t2"]
    assert bench.scene.amended == []
    bench.world.tick(20.0)
    assert bench.scene.amended == [(replace(GONE, trace_id="q-t3"),)]
    bench.world.take_outcome(ended(identity="q-t3"))
    assert len(bench.scene.amended) == 1, "an outcome that is told again changes nothing"
    bench.world.undo(1, 21.0, bench.hear)
    assert bench.world.ways == ()
    bench.start()
    with pytest.raises(AlreadyUndone):
        bench.world.undo(1, 22.0, bench.hear)


def test_what_was_carried_out_and_not_noted_can_still_be_undone(bench):
    """Killed between the scene's change and its record: the scene reports that there is nothing to change."""
    bench.scene.problem = Refusal.UNAVAILABLE
    bench.world.take_outcome(ended())
    bench.start()
    bench.scene.amend = lambda amendments, answered: answered(Reply())
    bench.world.tick(20.0)
    assert [a.change for a in bench.world.transactions.entries[1].inverse] == [Change.RESTORE]


def test_a_way_that_was_seen_open_stays_open_after_kill_9(bench, monkeypatch):
    forever = replace(CLOSED, way=replace(DOOR, expires=float("inf")))
    bench.world.correct((forever,), 5.0, bench.hear)
    monkeypatch.setattr(WayBook, "look", lambda self, *seen: self.ways)
    bench.world.take_grid(None, None)
    assert bench.world.ways == () and bench.kinds() == ["CLOSE_WAY", "OPEN_WAY"]
    bench.start()
    assert bench.world.ways == ()


def test_damaged_entries_are_named_and_the_rest_kept(bench):
    for identity in ("q-t1", "q-t2", "q-t3"):
        bench.world.take_outcome(ended(Result.ROLLED_BACK, (CLOSED,), identity))
    text = bench.path.read_text()
    lines = text.splitlines(keepends=True)
    bad = [i for i, line in enumerate(lines) if '"op":"entry"' in line][1]
    lines[bad] = lines[bad].replace("DOOR_CLOSED", "DOOR_OPENED")
    bench.path.write_text("".join(lines))
    journal = opened(bench.path)
    found = Transactions(journal)
    assert list(found.entries) == [1, 3] and journal.problems == [
        f"line {bad + 1} is damaged and was left out"
    ]
    assert len(found.problems) == 2 and "KeyError" in found.problems[1], "its note has no entry"
    assert found.open(1.0, (GONE,)).number == 4


@pytest.mark.parametrize(
    "line",
    [
        {"op": "dance"},
        {"number": 1},
        {
            "op": "entry",
            "number": 2,
            "stamp": 1.0,
            "trace_id": "",
            "undoes": 0,
            "amendments": [{"change": "PAINT"}],
        },
        {"op": "entry", "number": 2, "stamp": 1.0, "trace_id": "", "undoes": 0, "amendments": 7},
        {"op": "done", "number": 77, "inverse": []},
        {"op": "begin", "trace_id": "x"},
    ],
)
def test_a_whole_line_that_is_no_entry_is_named(bench, line):
    bench.world.correct((GONE,), 5.0, bench.hear)
    opened(bench.path).append(line)
    found = Transactions(opened(bench.path))
    assert len(found.problems) == 1 and list(found.entries) == [1]


def test_a_journal_that_grew_is_rewritten_without_loss(tmp_path):
    path = tmp_path / "run" / "world.journal"
    transactions = Transactions(opened(path, max_bytes=20_000))
    for number in range(100):
        entry = transactions.open(float(number), (GONE,), f"q-t{number}")
        transactions.done(entry, (replace(GONE, change=Change.RESTORE),))
    transactions.undo(100, 101.0)
    again = Transactions(opened(path, max_bytes=20_000))
    assert again.entries.keys() == transactions.entries.keys() and not again.problems
    assert {e.number: e.status for e in again.entries.values()} == {
        e.number: e.status for e in transactions.entries.values()
    }


def test_a_diagnosis_is_told(bench):
    state = ConstraintState(Phase.APPROACHING, entity_name(12))
    found = Diagnosis(Discrepancy(state, state), (CauseEstimate(Cause.DOOR_CLOSED, 1.0),), look_at=(1.0, 2.0))
    bench.world.take_outcome(ended(Result.ROLLED_BACK, (), diagnosis=found, text="The door is closed."))
    assert bench.kinds() == [DIAGNOSED] and bench.events[0].place == (1.0, 2.0)
    assert np.isfinite(bench.events[0].stamp)


def _jump(x: float, yaw: float = 0.0) -> np.ndarray:
    return planar_transform(x, 0.0, yaw)


def test_closed_ways_follow_a_loop_closure_and_can_still_be_taken_back(bench):
    world = bench.world
    world.take_correction(np.eye(4), np.eye(4))
    world.correct((CLOSED,), 1.0, bench.hear)
    world.take_correction(_jump(0.05), np.eye(4))  # smaller than a jump
    assert world.ways == (DOOR,)
    world.take_correction(_jump(1.05), np.eye(4))
    moved = replace(DOOR, start=(6.0, 4.5), end=(6.0, 5.4))
    assert world.ways == (moved,)
    world.undo(1, 2.0, bench.hear)
    assert world.ways == ()


def test_ways_turn_with_the_map(bench):
    bench.world.take_correction(np.eye(4), np.eye(4))
    bench.world.correct((CLOSED,), 1.0, bench.hear)
    bench.world.take_correction(_jump(0.0, np.pi / 2), np.eye(4))
    (way,) = bench.world.ways
    assert way.start == pytest.approx((-4.5, 5.0)) and way.end == pytest.approx((-5.4, 5.0))


def test_ways_that_were_moved_stay_moved_after_kill_9(bench):
    bench.world.take_correction(np.eye(4), np.eye(4))
    bench.world.correct((CLOSED,), 1.0, bench.hear)
    bench.world.take_correction(_jump(2.0), np.eye(4))
    bench.start()
    assert bench.world.ways == (replace(DOOR, start=(7.0, 4.5), end=(7.0, 5.4)),)
    bench.world.undo(1, 2.0, bench.hear)
    assert bench.world.ways == () and not bench.world.transactions.problems


def drive_round(world: WorldModel, ring: list[np.ndarray]) -> None:
    for stamp, pose in enumerate(ring):
        world.take_correction(np.eye(4), pose, float(stamp))


def test_a_closed_loop_moves_a_way_with_the_part_that_it_lies_in_also_after_kill_9(bench):
    corners = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0), (0.0, 0.0)]
    ring = [
        planar_transform(a[0] + (b[0] - a[0]) * k / 20, a[1] + (b[1] - a[1]) * k / 20, 0.0)
        for a, b in pairwise(corners) for k in range(20)
    ]  # fmt: skip
    ways = tuple(ClosedWay((x, y), (x + 0.5, y)) for x, y in ((2.0, 0.5), (9.5, 9.0), (0.5, 3.0)))
    bench.world.correct(
        tuple(Amendment(Change.CLOSE_WAY, "shut", "operator", way=way) for way in ways), 1.0, bench.hear
    )
    drive_round(bench.world, ring)
    bench.world.take_correction(planar_transform(0.6, 0.0, 0.0), ring[0], 100.0)
    moved = [now.start[0] - was.start[0] for now, was in zip(bench.world.ways, ways)]
    assert moved == pytest.approx([0.03, 0.3, 0.5], abs=0.1)
    now = bench.world.ways
    bench.start()
    for one, other in zip(bench.world.ways, now):
        assert one.start == pytest.approx(other.start) and one.end == pytest.approx(other.end)
    bench.world.undo(1, 2.0, bench.hear)
    assert bench.world.ways == () and not bench.world.transactions.problems


def test_a_damaged_bend_in_the_journal_is_left_out(tmp_path):
    journal = opened(tmp_path / "world.journal")
    WorldModel(Transactions(journal), Scene()).correct((CLOSED,), 1.0, lambda entry, reply: None)
    journal.append({"op": "bend", "jump": np.eye(4).tolist(), "places": [[0.0]], "moves": []})
    again = WorldModel(Transactions(opened(tmp_path / "world.journal")), Scene())
    assert again.ways == (DOOR,) and len(again.transactions.problems) == 1


def test_a_jump_without_a_closed_way_writes_nothing(bench):
    bench.world.take_correction(np.eye(4), np.eye(4))
    bench.world.correct((GONE,), 1.0, bench.hear)
    before = bench.path.read_bytes()
    bench.world.take_correction(_jump(2.0), np.eye(4))
    assert bench.path.read_bytes() == before


@pytest.mark.parametrize("jump", [None, [[1.0, 0.0]], "far"])
def test_a_damaged_move_in_the_journal_is_left_out(tmp_path, jump):
    journal = opened(tmp_path / "world.journal")
    first = WorldModel(Transactions(journal), Scene())
    first.correct((CLOSED,), 1.0, lambda entry, reply: None)
    journal.append({"op": "move", "jump": jump})
    again = WorldModel(Transactions(opened(tmp_path / "world.journal")), Scene())
    assert again.ways == (DOOR,) and len(again.transactions.problems) == 1


def test_the_closed_ways_of_a_loaded_map_replace_the_others_and_outlive_a_restart(tmp_path):
    path = tmp_path / "world.journal"
    world = WorldModel(Transactions(opened(path)), Scene())
    here, there = ClosedWay((0.0, 0.0), (1.0, 0.0)), ClosedWay((8.0, 0.0), (9.0, 0.0), 500.0)
    world.correct((Amendment(Change.CLOSE_WAY, "shut", "operator", way=here),), 1.0, lambda *_: None)
    saved = ways_from_archive(ways_to_archive((there,), 100.0), 10.0)
    assert saved == (ClosedWay((8.0, 0.0), (9.0, 0.0), 410.0),), "they expire as long after the load"
    take_back = world.replace_ways(saved, 10.0)
    assert world.ways == saved
    again = WorldModel(Transactions(opened(path)), Scene())
    assert again.ways == saved
    take_back()
    assert world.ways == (here,)


def area(*corners, **options):
    way = closed_area(corners, "wet floor", **options) if corners else ClosedWay((0.0, 0.0), (1.0, 0.0))
    return Amendment(Change.CLOSE_WAY, "it is wet", "operator", way=way)


def test_an_area_is_closed_follows_the_map_outlives_kill_9_and_is_taken_back(bench):
    zone = area((0.0, 0.0), (2.0, 0.0), (2.0, 1.0))
    bench.world.take_correction(np.eye(4), np.eye(4))
    bench.world.correct((zone,), 1.0, bench.hear)
    assert bench.events[0].text.startswith("The area at (1.3, 0.3) is closed (it is wet)")
    bench.world.take_correction(_jump(1.0, np.pi / 2), np.eye(4))
    bench.start()
    (way,) = bench.world.ways
    assert np.allclose(way.area, ((1.0, 0.0), (1.0, 2.0), (0.0, 2.0))) and way.cause == "wet floor"
    assert ways_from_archive(ways_to_archive((way, DOOR), 1.0), 1.0) == (way, DOOR)
    bench.world.undo(1, 2.0, bench.hear)
    assert bench.world.ways == ()


@pytest.mark.parametrize("corners", [((0.0, 0.0), (1.0, 0.0)), ((0.0, 0.0), (1.0, 0.0), (2.0, 0.0)),
                                     tuple((float(n), float(n % 2)) for n in range(65))])  # fmt: skip
def test_an_area_that_is_none_is_refused_before_anything_is_written(bench, corners):
    with pytest.raises(MalformedAmendment, match="area"):
        bench.world.correct((area(*corners),), 1.0, bench.hear)
    assert bench.world.ways == () and not bench.world.transactions.entries


def test_a_way_file_of_before_areas_is_read(bench):
    archive = ways_to_archive((DOOR,), 1.0)
    archive.meta["ways"] = [values[:5] for values in archive.meta["ways"]]
    assert ways_from_archive(archive, 1.0) == (DOOR,)


def test_what_is_not_closed_cannot_be_opened_by_a_person(bench):
    zone = area((0.0, 0.0), (2.0, 0.0), (2.0, 1.0))
    bench.world.correct((zone,), 1.0, bench.hear)
    stale = area((0.05, 0.0), (2.05, 0.0), (2.05, 1.0))
    with pytest.raises(MalformedAmendment, match="no area like this is closed"):
        bench.world.correct((replace(stale, change=Change.OPEN_WAY),), 2.0, bench.hear)
    with pytest.raises(MalformedAmendment, match="no way like this is closed"):
        bench.world.correct((replace(area(), change=Change.OPEN_WAY),), 2.0, bench.hear)
    assert len(bench.world.ways) == 1 and len(bench.world.transactions.entries) == 1
    bench.world.correct((replace(zone, change=Change.OPEN_WAY),), 3.0, bench.hear)
    assert bench.world.ways == ()


def test_no_area_gives_way_to_another_where_there_are_too_many(bench):
    zones = [area((x, 0.0), (x + 0.5, 0.0), (x + 0.5, 1.0)) for x in map(float, range(101))]
    for zone in zones[:100]:
        bench.world.correct((zone,), 1.0, bench.hear)
    with pytest.raises(MalformedAmendment, match="too many areas"):
        bench.world.correct((zones[100],), 1.0, bench.hear)
    assert [way.area for way in bench.world.ways] == [zone.way.area for zone in zones[:100]]
    bench.start()
    assert len(bench.world.ways) == 100


def test_a_zone_outlives_any_number_of_other_entries_and_a_restart(bench):
    zone = area((0.0, 0.0), (2.0, 0.0), (2.0, 1.0))
    bench.world.correct((zone,), 1.0, bench.hear)
    for number in range(MAX_ENTRIES + 50):
        bench.world.correct((replace(GONE, reason=f"look {number}"),), 2.0, bench.hear)
    assert len(bench.world.transactions.entries) == MAX_ENTRIES
    bench.start()
    assert bench.world.ways == (zone.way,)
    bench.world.undo(1, 3.0, bench.hear)
    assert bench.world.ways == ()


OUTLINES = [((x, 0.0), (x + 0.5, 0.0), (x + 0.5, 1.0)) for x in (0.0, 1.0, 2.0, 3.0)]


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(1, 8))
def test_a_successor_closes_the_same_ways_however_few_entries_are_kept(data, most):
    """Random closing, opening, undoing, corrections, time and restarts, with a journal that keeps few entries."""
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        patch.setattr(transactions, "MAX_ENTRIES", most)
        bench, now = Bench(Path(folder) / "world.journal"), 1.0
        bench.world.take_correction(np.eye(4), np.eye(4))
        steps = st.sampled_from(
            ["close", "for a while", "door", "open", "undo", "other", "move", "time", "load", "floor"]
        )
        for step in data.draw(st.lists(steps, max_size=40)):
            some = data.draw(st.sampled_from(OUTLINES))
            ways = bench.world.ways
            with suppress(MalformedAmendment, NoSuchEntry, AlreadyUndone, Overtaken):
                if step in ("close", "for a while"):
                    until = {} if step == "close" else {"expires": now + 15.0}
                    bench.world.correct((area(*some, **until),), now, bench.hear)
                elif step == "door":
                    way = ClosedWay(some[0], some[2], now + 25.0)
                    bench.world.correct((replace(area(), way=way),), now, bench.hear)
                elif step == "open" and ways:
                    way = data.draw(st.sampled_from(ways))
                    bench.world.correct((replace(area(), change=Change.OPEN_WAY, way=way),), now, bench.hear)
                elif step == "undo" and bench.world.transactions.entries:
                    number = data.draw(st.sampled_from(list(bench.world.transactions.entries)))
                    bench.world.undo(number, now, bench.hear)
                elif step == "other":
                    bench.world.correct((GONE,), now, bench.hear)
                elif step == "move":
                    bench.world.take_correction(_jump(data.draw(st.floats(-3.0, 3.0)), 0.3), np.eye(4))
                elif step == "load":
                    bench.world.replace_ways([area(*some).way], now)
                elif step == "floor":
                    bench.world.building = on(data.draw(st.integers(0, 2)))
                elif step == "time":
                    now += 10.0
            bench.world.tick(now)
            believed = bench.world.ways
            again = WorldModel(Transactions(opened(bench.path)), Scene())
            again.tick(now)
            assert {*again.ways} == {*believed}


SHUT = st.builds(
    lambda x, cause, area: (
        closed_area(((x, 0.0), (x + 3.0, 0.0), (x + 3.0, 2.0)), cause) if area else ClosedWay((x, 0.0), (x + 0.9, 0.0))
    ),
    st.sampled_from([0.0, 0.05, 5.0]), st.sampled_from(["wet", "party"]), st.booleans(),
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 3), st.sampled_from(["close", "open", "undo"]), SHUT), max_size=12))
def test_what_is_closed_or_opened_on_a_floor_changes_no_way_of_another(steps):
    """The same holds for equal passages at the same place, while one is added and another removed."""
    world = WorldModel(Transactions(), Scene())
    for floor, what, way in steps:
        world.building, before = on(floor), world.ways
        change = Change.CLOSE_WAY if what == "close" else Change.OPEN_WAY
        numbers = [n for n, e in world.transactions.entries.items() if e.amendments[0].way.floor == floor]
        with suppress(MalformedAmendment, NoSuchEntry, AlreadyUndone, Overtaken):
            if what == "undo" and numbers:
                world.undo(numbers[-1], 1.0, lambda *_: None)
            elif what != "undo":
                here = any(one.floor == floor for one in before)
                opened_here = what == "open" and here and replace(way, floor=floor) in before
                if what == "close" or opened_here:
                    world.correct((Amendment(change, "said", "operator", way=way),), 1.0, lambda *_: None)
        assert [one for one in world.ways if one.floor != floor] == [
            one for one in before if one.floor != floor
        ]
        if what == "close":
            assert replace(way, floor=floor) in world.ways


def test_a_way_is_closed_where_the_robot_is_and_opened_from_anywhere(bench):
    bench.world.building = on(2)
    bench.world.correct((CLOSED,), 1.0, bench.hear)
    bench.world.building = on(1)
    bench.world.correct((CLOSED,), 2.0, bench.hear)
    assert [way.floor for way in bench.world.ways] == [2, 1]
    assert bench.world.nearest_way(np.array([5.0, 5.0]), 2.0).floor == 1
    grid_of_two = bench.world._ways.nearest(np.array([5.0, 5.0]), 2.0, on(2))
    assert grid_of_two.floor == 2
    bench.start()
    assert [way.floor for way in bench.world.ways] == [2, 1], "a successor knows it too"
    bench.world.building = on(1)
    opens = replace(CLOSED, change=Change.OPEN_WAY, way=ClosedWay(DOOR.start, DOOR.end))
    bench.world.correct((opens,), 3.0, bench.hear)
    assert [way.floor for way in bench.world.ways] == [2], "the one here alone"
    bench.world.correct((opens,), 4.0, bench.hear)
    assert bench.world.ways == (), "none lies here: the page shows those of all floors"


def test_the_floor_of_a_way_is_saved_and_ways_of_before_lie_on_all():
    ways = (replace(DOOR, floor=3), DOOR)
    archive = ways_to_archive(ways, 1.0)
    assert ways_from_archive(archive, 1.0) == ways
    archive.meta["ways"] = [values[:6] for values in archive.meta["ways"]]
    assert ways_from_archive(archive, 1.0) == (DOOR, DOOR)
