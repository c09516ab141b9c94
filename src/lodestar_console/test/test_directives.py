"""Tests of running directives: cancellation at the end of a lease, also before a goal has started, and display."""

import asyncio
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar_console.access.sessions import Session
from lodestar_console.board.board import Board
from lodestar_console.intake import directives
from lodestar_console.intake.directives import DirectiveDesk
from lodestar_interfaces.action import FollowDirective


class Node:
    now = 5.0

    def listen(self, *_):
        pass


class Caller:
    """Fake executor that runs posted work in `drain`."""

    def __init__(self):
        self.work = []

    def post(self, work):
        self.work.append(work)

    def drain(self):
        while self.work:
            self.work.pop(0)()


class Sender:
    """Fake sender that records goals and cancels open ones."""

    def __init__(self, _node):
        self.open, self.cancelled, self.sent = [], [], []

    def send(self, goal, ears):
        self.open.append((goal, ears))
        self.sent.append(goal)

    def cancel(self):
        found, self.open = self.open, []
        self.cancelled += [goal for goal, _ in found]
        return bool(found)


@pytest.fixture
def desk():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(directives, "DirectiveSender", Sender)
        yield make()


def make():
    caller = Caller()
    return DirectiveDesk(Node(), Board("x", lambda: 5.0), caller), caller


def who(name):
    return Session(id=name, name=name, role="command", since=0, used=0, agent=True)


def send(desk, caller, name, told, text="find the chair"):
    goal = FollowDirective.Goal(text=text)
    caller.post(lambda: desk._send(goal, text, who(name), told.append))
    caller.drain()
    return goal


def test_a_goal_that_nothing_was_heard_of_yet_is_cancelled_with_its_lease(desk):
    desk, caller = desk
    goal = send(desk, caller, "agent", [])
    desk.cancel_of("somebody else")
    caller.drain()
    assert not desk._sender.cancelled, "another lease's end is none of its business"
    desk.cancel_of("agent")
    caller.drain()
    assert desk._sender.cancelled == [goal]


def test_each_directive_has_a_number_and_it_is_told_with_its_begin(desk):
    desk, caller = desk
    told = []
    for number in (1, 2):
        send(desk, caller, "agent", told)
        desk._sender.open[-1][1].feedback(FollowDirective.Feedback(understood="Find the chair."))
        assert told[-1].directive == number == desk._board.get("directive").number


def test_the_end_of_a_lease_starts_nothing_where_nothing_runs(desk):
    desk, caller = desk
    told = []
    send(desk, caller, "agent", told)
    desk._sender.open[0][1].result(FollowDirective.Result(success=True, report="Found."))
    desk._sender.open.clear()
    desk.cancel_of("agent")
    caller.drain()
    assert len(desk._sender.sent) == 1 and told[-1].ok, "no stop was sent after the directive had ended"


def test_a_lease_that_ends_before_the_goal_is_sent_cancels_it(desk):
    """Sending and cancelling are posted by the web server's loop and executed in order."""
    desk, caller = desk

    async def run():
        waits = asyncio.ensure_future(desk.run(FollowDirective.Goal(text="x"), "x", who("agent")))
        await asyncio.sleep(0)
        desk.cancel_of("agent")
        executor = threading.Thread(target=caller.drain)
        executor.start()
        executor.join()
        waits.cancel()

    asyncio.run(run())
    assert [goal.text for goal in desk._sender.cancelled] == ["x"]


STEP = st.tuples(st.sampled_from(["send", "feedback", "end", "fail", "lease ends"]), st.integers(0, 3))


@settings(max_examples=80, deadline=None)
@given(st.lists(STEP, max_size=25))
def test_no_goal_outlives_its_lease_in_any_order_of_what_is_heard(steps):
    """After the end of a session's lease none of its goals is open, started or not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(directives, "DirectiveSender", Sender)
        desk, caller = make()
        owners = {}
        for what, number in steps:
            entries = desk._sender.open
            if what == "send":
                owners[id(send(desk, caller, f"a{number}", []))] = f"a{number}"
            elif what == "lease ends":
                desk.cancel_of(f"a{number}")
                caller.drain()
                assert f"a{number}" not in {owners.get(id(goal)) for goal, _ in desk._sender.open}
            elif entries:
                goal, ears = entries[number % len(entries)]
                if what == "feedback":
                    ears.feedback(FollowDirective.Feedback(understood="Find the chair.", text="I go."))
                    # A lease that ends twice sends the directive "stop", which is no session's and is not shown.
                    assert desk._board.get("directive").running or id(goal) not in owners
                else:
                    entries.remove((goal, ears))
                    told = FollowDirective.Result(error_code=11005, report="Over.")
                    ears.result(told) if what == "end" else ears.failure("gone")
        if not desk._sender.open and not desk._sender.cancelled:
            assert not desk._under_way and not desk._board.get("directive").running
