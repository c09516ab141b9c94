"""Tests of the motion authority: what is held stays held until its own number is released, whatever the disk does."""

from __future__ import annotations

import json
import tempfile
from contextlib import suppress
from functools import partial

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar_ros.motion import authority as module
from lodestar_ros.motion.authority import Kind, MotionAuthority, ReleaseRefused, RunMark

OWNERS = ("console", "a terminal", "the joystick")


@pytest.fixture
def file(tmp_path):
    return tmp_path / "motion" / "motion_gate.json"


def begun(file, crashed=False):
    return MotionAuthority(file, 1.8e9, crashed)


def test_a_first_start_holds_nothing_and_numbers_ascend(file):
    authority = begun(file)
    assert not authority.standing.records and not authority.fault
    numbers = [authority.place(Kind.HOLD, who, "", 0.0).number for who in OWNERS]
    assert numbers == [1, 2, 3] and authority.standing.hold.who == OWNERS[-1]


def test_a_release_names_the_newest_hold_and_a_later_one_stays(file):
    authority = begun(file)
    first = authority.place(Kind.HOLD, "console", "STOP", 0.0)
    later = authority.place(Kind.HOLD, "console", "STOP", 0.0)
    with pytest.raises(ReleaseRefused, match="followed by another: held by console") as refused:
        authority.release(first.number, "console", 1.0)
    assert refused.value.later and authority.standing.hold is later
    for number in (0, later.number + 1):
        with pytest.raises(ReleaseRefused):
            authority.release(number, "console", 1.0)
    assert authority.release(later.number, "a person", 2.0) is later
    assert not authority.standing.records and authority.standing.release.who == "a person"
    with pytest.raises(ReleaseRefused, match="nothing stands"):
        authority.release(later.number, "a person", 3.0)


def test_the_release_of_one_hold_releases_no_other(file):
    authority = begun(file)
    pause = authority.place(Kind.PAUSE, "agent", "", 0.0)
    ada = authority.place(Kind.HOLD, "Ada", "", 0.0)
    bob = authority.place(Kind.HOLD, "Bob", "STOP", 0.0)
    assert authority.standing.records == (bob, ada, pause)
    authority.release(bob.number, "Bob", 0.0)
    authority.close()
    assert begun(file).standing.records == (ada, pause)


def test_many_owners_are_merged_and_none_is_freed(file):
    authority = begun(file)
    authority.place(Kind.PAUSE, "first", "", 0.0)
    for number in range(40):
        authority.place(Kind.HOLD, f"owner {number}", "", 0.0)
    merged = next(one for one in authority.standing.records if one.who == module.SEVERAL)
    assert len(authority.standing.records) == module.MOST
    assert (merged.who, merged.kind) == (module.SEVERAL, Kind.HOLD) and merged.why.startswith(
        "first, owner 0"
    )


def test_no_owner_of_a_merged_record_releases_those_of_the_others(file):
    authority = begun(file)
    shown = [authority.place(Kind.HOLD, f"owner {number}", "", 0.0) for number in range(module.MOST)]
    later = authority.place(Kind.PAUSE, "a seventeenth", "", 0.0)
    for record in shown[:2]:
        with pytest.raises(module.ReleaseRefused):
            authority.release(record.number, record.who, 0.0)
    numbers = [one.number for one in authority.standing.records]
    assert len({*numbers}) == module.MOST and max(numbers) == later.number == authority.standing.number
    authority.place(Kind.HOLD, "an eighteenth", "", 0.0)
    assert [one.who for one in authority.standing.records].count(module.SEVERAL) == 1
    assert begun(file, crashed=True).standing.hold.who == "an eighteenth"


def test_every_text_that_is_taken_can_be_read_again(file):
    authority = MotionAuthority(file, 1.8e9, ran=True)  # with long numbers
    authority.release(authority.standing.number, "a person", 0.0)
    long = "\U0001f6d1" * module.BRIEF
    authority.release(authority.place(Kind.HOLD, long, long, 0.0).number, long, 0.0)
    authority.close()
    assert not begun(file).standing.records


def test_every_record_is_synced_before_it_is_answered(file, monkeypatch):
    order = []
    synced = module.write_file
    monkeypatch.setattr(module, "write_file", lambda *a: (order.append(json.loads(a[1][0])), synced(*a)))
    authority = begun(file)
    order.clear()
    number = authority.place(Kind.HOLD, "console", "", 0.0).number
    assert [one["records"][0]["number"] for one in order] == [number]
    authority.release(number, "console", 0.0)
    assert [one["records"] for one in order[1:]] == [[]]


def test_a_thousand_holds_a_second_grow_neither_file_nor_memory(file, monkeypatch):
    authority = begun(file)
    authority.place(Kind.HOLD, "flood", "", 0.0)
    size, writes = file.stat().st_size, []
    synced = module.write_file
    monkeypatch.setattr(module, "write_file", lambda *a: (writes.append(a), synced(*a)))
    for second in range(3000):
        number = authority.place(Kind.HOLD, "flood", "x" * 10_000, float(second)).number
    assert len(writes) <= 3 and len(authority.standing.records) == 1
    assert file.stat().st_size < size + 500
    assert begun(file, crashed=True).standing.hold.number > number, "none is given twice"


def written(number=3, last_hold=1, release=None, **changes):
    record = {"number": 1, "kind": 1, "who": "console", "why": "", "since": 1.0, **changes}
    return json.dumps({"number": number, "last_hold": last_hold, "records": [record], "release": release})


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", '{"number": "x"}', "[" * 100_000, "null", written(number=-1), written(number=2**63),
        written(number=True), written(since=float("nan")), written(since=-1.0), written(since=2.0**31),
        written(kind=3), written(kind=4), written(who=None), written(why="\ud800"), written(release=7),
    ],
    ids=range(17),
)  # fmt: skip
def test_a_damaged_file_begins_held_and_says_so(file, text):
    begun(file).place(Kind.HOLD, "console", "", 0.0)
    file.write_text(text)
    authority = begun(file)
    assert "cannot be read" in authority.standing.hold.why and authority.standing.number > 1e9
    authority.release(authority.standing.number, "a person", 0.0)
    authority.close()
    assert not begun(file).standing.records


def test_a_record_that_is_missing_after_a_run_begins_held(tmp_path):
    RunMark(tmp_path / "gate.running").close()
    mark = RunMark(tmp_path / "gate.running")
    assert mark.existed and not mark.crashed
    authority = MotionAuthority(tmp_path / "gate.json", 1.8e9, mark.crashed, mark.existed)
    assert authority.standing.hold.why == "its record is missing"


def test_an_unwritable_file_begins_held_and_a_stop_is_taken_all_the_same(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    authority = MotionAuthority(blocked / "motion.json", 0.0)
    assert "cannot be" in authority.standing.hold.why and "cannot be written" in authority.fault
    authority.release(authority.standing.number, "a person", 0.0)
    assert not authority.standing.records
    assert authority.place(Kind.HOLD, "console", "", 0.0) is authority.standing.hold and authority.fault


def test_a_disk_that_fails_under_way_does_not_lose_a_stop(file, monkeypatch):
    authority = begun(file)

    def fail(*_):
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(module, "write_file", fail)
        held = authority.place(Kind.HOLD, "console", "STOP", 0.0)
        assert authority.standing.hold is held and "disk is full" in authority.fault
        authority.close()
    assert begun(file, crashed=True).standing.hold.number > held.number


def test_a_twin_without_the_file_holds_and_writes_nothing(file):
    begun(file).place(Kind.PAUSE, "agent", "", 0.0)
    before = file.read_text()
    assert MotionAuthority(None, 0.0).standing.hold is not None
    assert file.read_text() == before


def test_a_mark_tells_a_crash_and_leaves_a_living_process_alone(tmp_path):
    file = tmp_path / "motion" / "go2_base.running"
    first = RunMark(file)
    assert not first.crashed
    twin = RunMark(file)
    assert twin.twin and twin.crashed, "it may hang"
    twin.close()
    assert RunMark(file).twin, "the first one has it still"
    first.close()
    second = RunMark(file)
    assert not second.crashed
    module.os.close(second._handle)  # as at kill -9
    third = RunMark(file)
    assert third.crashed
    with suppress(RuntimeError):
        try:
            raise RuntimeError("an error that ends the process")
        finally:
            third.close()
    fourth = RunMark(file)
    assert fourth.crashed
    fourth.close(proper=False)
    fifth = RunMark(file)
    assert fifth.crashed, "also after an end by a fault"
    fifth.close()
    assert not RunMark(file).crashed


class Sequences(RuleBasedStateMachine):
    """Any order of requests, proper ends, crashes, and disks that fail; `due` are the holds that nobody released."""

    @initialize()
    def begin(self):
        self._patch = pytest.MonkeyPatch()  # a sync takes longer than everything else
        self._patch.setattr(module, "write_file", partial(module.write_file, durable=False))
        self._folder = tempfile.TemporaryDirectory()
        self.file = module.Path(self._folder.name) / "motion" / "gate.json"
        self.now, self.due, self.numbers = 1.8e9, {}, set()
        self.authority = MotionAuthority(self.file, self.now)

    def teardown(self):
        self._folder.cleanup()
        self._patch.undo()

    @rule(kind=st.sampled_from([Kind.HOLD, Kind.PAUSE]), who=st.sampled_from(OWNERS))
    def place(self, kind, who):
        record = self.authority.place(kind, who, "", self.now)
        assert record.number not in self.numbers
        self.numbers.add(record.number)
        self.due[kind, who] = record.number

    @rule(back=st.integers(0, 3))
    def release(self, back):
        number = sorted(self.numbers)[-1 - back] if len(self.numbers) > back else 0
        try:
            released = self.authority.release(number, "a person", self.now)
        except ReleaseRefused:
            assert number not in self.due.values() or number not in [
                r.number for r in self.authority.standing.records
            ]
        else:
            assert released.number == number
            self.due = {kind: one for kind, one in self.due.items() if one != number}

    @rule(damaged=st.booleans())
    def crash(self, damaged):
        if damaged:
            self.file.write_bytes(self.file.read_bytes()[:-4])
        self.now += 1.0
        self.authority = MotionAuthority(self.file, self.now, crashed=True)
        standing = self.authority.standing
        assert standing.hold is not None, "nothing survives a crash unheld"
        self.due = {record.owner: record.number for record in standing.records}
        assert not self.numbers & set(self.due.values()), "no release in flight names the hold after a crash"
        self.numbers |= set(self.due.values())

    @rule()
    def end(self):
        self.authority.close()
        self.authority = MotionAuthority(self.file, self.now)

    @invariant()
    def what_was_acknowledged_stands(self):
        standing = {record.owner: record.number for record in self.authority.standing.records}
        assert standing == self.due
        assert self.authority.standing.number >= max(self.numbers, default=0)


TestSequences = Sequences.TestCase
TestSequences.settings = settings(max_examples=30, stateful_step_count=20)
