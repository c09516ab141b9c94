"""Tests of STOP and Resume: a STOP is a hold of the motion gate, and a Resume names the hold that it releases."""

import asyncio
import time
from collections import deque
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("lodestar_interfaces", reason="the workspace is not built")

from lodestar_console import protocol
from lodestar_console.intake.calls import NotThere
from lodestar_console.intake.orders import MOST_ASKED, RosStack
from lodestar_console.intake.robot_state import RobotState
from lodestar_interfaces.srv import PlaceHold, ReleaseHold
from lodestar_ros.motion.authority import UNTOLD, Kind, MotionAuthority, Record, ReleaseRefused

WHO = SimpleNamespace(name="Ada")


class Told:
    """Fake rclpy future."""

    def __init__(self):
        self.callbacks, self.said = [], None

    def add_done_callback(self, callback):
        self.callbacks.append(callback)

    def give(self, said):
        self.said = said
        for one in self.callbacks:
            one(self)

    def exception(self):
        return None

    def result(self):
        return self.said


class Gate:
    """The gate's real records behind fake clients. how: "ok", "silent", "raises" (a broken handle), "missing"."""

    def __init__(self, folder, how="ok"):
        self.how, self.authority, self.removed = (
            how,
            MotionAuthority(folder / "motion" / "gate.json", 1.8e9),
            0,
        )
        self.tell = lambda: None  # how the console hears what stands

    def service_is_ready(self):
        return self.how != "missing"

    def call_async(self, request):
        if self.how == "raises":
            raise RuntimeError("the handle is broken")
        told = Told()
        if self.how == "ok":
            record = self.authority.place(Kind(request.kind), request.who, request.why, 1.8e9)
            asyncio.get_running_loop().call_soon(told.give, PlaceHold.Response(number=record.number))
        return told

    def remove_pending_request(self, _):
        self.removed += 1

    async def service(self, name, request, patience):
        assert name == "release_hold"
        if self.how == "silent":
            raise asyncio.TimeoutError
        response = ReleaseHold.Response()
        try:
            self.authority.release(request.number, request.who, 1.8e9)
        except ReleaseRefused as refusal:
            response = ReleaseHold.Response(error_code=11601, error_msg=str(refusal))
        asyncio.get_running_loop().call_later(0.01, self.tell)  # the topic may be later than the answer
        return response


def robot_of(standing=UNTOLD):
    robot = RobotState.__new__(RobotState)
    robot.standing = standing
    return robot


def stack_of(gate):
    stack = RosStack.__new__(RosStack)
    stack._gate, stack._asked, stack.errors = gate, deque(), []
    stack._caller = gate
    stack._robot = robot_of()
    stack._node = SimpleNamespace(diagnostics=SimpleNamespace(error=stack.errors.append))
    stack.hear = lambda: setattr(stack._robot, "standing", gate.authority.standing)
    gate.tell = stack.hear
    return stack


def resume(stack, *numbers):
    """Send Resume with these numbers, else with those that the page shows."""
    shown = numbers or [one.number for one in stack._robot.holds]
    return asyncio.run(stack._resume(protocol.Resume(id=1, numbers=list(shown)), WHO, None))


async def pressed(stack, who="Ada"):
    answer = stack.stop(who)
    await asyncio.sleep(0.005)
    return answer.done() and answer.result()


def test_a_resume_releases_the_holds_that_the_page_shows(tmp_path):
    stack = stack_of(gate := Gate(tmp_path))
    assert asyncio.run(pressed(stack))
    gate.authority.place(Kind.PAUSE, "goal_selector/pause", "", 1.8e9)
    stack.hear()
    assert [(one.kind, one.who) for one in stack._robot.holds] == [
        ("hold", "Ada"),
        ("pause", "goal_selector/pause"),
    ]
    told = resume(stack)
    assert told.ok and not gate.authority.standing.records
    assert gate.authority.standing.release.who == WHO.name


@pytest.mark.parametrize("heard", [False, True])
def test_a_resume_on_its_way_leaves_a_later_stop(tmp_path, heard):
    """Ada resumes the hold that she saw; the STOP of Bob, acknowledged before hers arrives, stays."""
    stack = stack_of(gate := Gate(tmp_path))
    asyncio.run(pressed(stack))
    stack.hear()
    (shown,) = stack._robot.holds
    assert asyncio.run(pressed(stack, "Bob"))
    if heard:
        stack.hear()
    told = resume(stack, shown.number)
    assert not told.ok and "still held by Bob since " in told.text, told.text
    assert gate.authority.standing.hold.who == "Bob"
    assert resume(stack).ok and not gate.authority.standing.records


def test_what_stands_beside_the_released_is_told(tmp_path):
    stack = stack_of(gate := Gate(tmp_path))
    asyncio.run(pressed(stack))
    stack.hear()
    (shown,) = stack._robot.holds
    gate.authority.place(Kind.PAUSE, "Bob", "", 1.8e9)
    at = time.strftime("%H:%M", time.localtime(1.8e9))
    told = resume(stack, shown.number)
    assert (told.ok, told.text) == (False, f"Released yours; still paused by Bob since {at}.")
    told = resume(stack, shown.number)
    assert (told.ok, told.text) == (False, f"Nothing was released; still paused by Bob since {at}.")
    stack.hear()
    assert resume(stack).ok and not gate.authority.standing.records


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_whatever_is_released_was_shown(data):
    """Any holds and pauses, seen at any time, in a gate that keeps a list: a release names only shown numbers."""
    gate = ListGate()
    stack = stack_of(gate)
    stack._robot.standing = gate.authority.standing
    for _ in range(data.draw(st.integers(1, 5))):
        gate.place(
            data.draw(st.sampled_from(["Ada", "Bob"])), data.draw(st.sampled_from([Kind.HOLD, Kind.PAUSE]))
        )
    stack.hear()
    seen = [one.number for one in stack._robot.holds]
    for _ in range(data.draw(st.integers(0, 3))):
        gate.place("Bob", Kind.HOLD)
    if data.draw(st.booleans()):
        stack.hear()
    later = {one.number for one in gate.records} - set(seen)
    told = resume(stack, *data.draw(st.lists(st.sampled_from(seen), min_size=1)))
    assert later <= {one.number for one in gate.records}
    assert told.ok == (not gate.records)
    for one in gate.records:
        assert f"by {one.who} since" in told.text


class ListGate:
    """Gate that keeps every record until its number is released."""

    def __init__(self):
        self.records, self.number = [], 0

    @property
    def authority(self):
        return SimpleNamespace(standing=SimpleNamespace(is_told=True, records=tuple(self.records)))

    def place(self, who, kind):
        self.number += 1
        self.records.append(Record(self.number, kind, who, "", 1.8e9))

    async def service(self, name, request, patience):
        before = len(self.records)
        self.records = [one for one in self.records if one.number != request.number]
        self.tell()
        return ReleaseHold.Response(
            error_code=11601 if len(self.records) == before else 0, error_msg="no such"
        )


def test_nothing_is_released_that_was_not_told_or_named(tmp_path):
    stack = stack_of(gate := Gate(tmp_path))
    with pytest.raises(NotThere):
        resume(stack, 1)
    assert not stack._robot.holds
    gate.authority.place(Kind.HOLD, "a terminal", "", 1.8e9)
    stack.hear()
    for numbers in ([], [99]):
        told = asyncio.run(stack._resume(protocol.Resume(id=1, numbers=numbers), WHO, None))
        assert not told.ok and "a terminal" in told.text and gate.authority.standing.hold is not None


def test_a_silent_gate_is_no_release(tmp_path):
    stack = stack_of(gate := Gate(tmp_path))
    asyncio.run(pressed(stack))
    stack.hear()
    gate.how = "silent"
    with pytest.raises(asyncio.TimeoutError):
        resume(stack)


@pytest.mark.parametrize("how", ["ok", "silent", "raises", "missing"])
def test_a_stop_is_told_as_held_only_by_the_gates_answer(tmp_path, how):
    stack = stack_of(Gate(tmp_path, how))
    assert asyncio.run(pressed(stack)) is (how == "ok")
    assert bool(stack.errors) is (how in ("raises", "missing"))


def test_the_stops_at_a_silent_gate_do_not_pile_up(tmp_path):
    stack = stack_of(gate := Gate(tmp_path, "silent"))

    async def press():
        for _ in range(MOST_ASKED + 10):
            stack.stop("Ada")

    asyncio.run(press())
    assert len(stack._asked) == MOST_ASKED and gate.removed == 10
