"""Tests of every order of holds, releases, pauses, directives, deaths and messages, over the real classes."""

from __future__ import annotations

import argparse
import random
import sys
import time

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")
pytest.importorskip("lodestar_interfaces", reason="the workspace is not built")
pytest.importorskip("unitree_api", reason="the workspace is not built")

from motion_moves import Moves
from motion_rig import Broken, Patches, Rig
from motion_states import EVENTS, Table, check, check_rest, counts, take

from lodestar_interfaces.srv import PlaceHold
from lodestar_ros.nodes.motion_gate_node import MotionGateNode

MOST_TO_REST = 300  # steps


def step(table, state, name):
    """Return the checked state after a step."""
    after = table.after(state, name)
    check(after)
    return after


def explore(table, events, budget=float("inf"), kinds=EVENTS):
    """Follow all sequences of up to `events` events with every order of arrivals; merge equal states.

    A state that was reached with fewer events is not followed again: more may follow there. Return the number of kept
    states by number of events, of moves, and whether all was seen. budget: seconds of processor. kinds: the events
    that may come.
    """
    began, came, moved, states, looked = time.process_time(), {}, 0, [], 0
    moves, front = Moves(table, kinds), {table.begin(): (None, ())}
    for used in range(events + 1):
        front = {state: way for state, way in front.items() if hash(state) not in came}
        came.update((hash(state), way) for state, way in front.items())
        todo, front = list(front), {}
        while todo:
            looked += 1
            if not looked % 500 and time.process_time() - began > budget:
                return [*states, len(came)], moved, False
            state, last = todo.pop(), ()
            key = hash(state)
            try:
                for steps, after in moves.of(state, used < events):
                    last = steps
                    check(after)
                    last, is_event = (), steps[-1] in EVENTS
                    if used + is_event == events:
                        after = moves.settled(after)
                    moved += 1
                    if (new := hash(after)) in came:
                        continue
                    if is_event:
                        front.setdefault(after, (key, steps))
                    else:
                        came[new] = key, steps
                        todo.append(after)
                if (rest := moves.rest(state)) is not None:
                    check_rest(rest)
            except Broken as broken:
                way = " | ".join([*trail(came, key), *last])
                raise AssertionError(f"{broken}\nafter {way}") from broken
        states.append(len(came))
    return states, moved, True


def trail(came, key):
    """Return the names of the steps that led to a state."""
    names = []
    while key is not None:
        key, steps = came[key]
        names[:0] = steps
    return names


def wander(table, seed, events):
    """Follow a random path with so many events, in any order of arrivals, until all rests; return its length."""
    rng, state, path, left = random.Random(seed), table.begin(), [], events
    try:
        while True:
            steps = table.names(state, False)
            if left and (not steps or rng.random() < 0.25):
                steps, left = list(EVENTS), left - 1
            elif not steps:
                break
            path.append(rng.choice(steps))
            state = step(table, state, path[-1])
            if len(path) > MOST_TO_REST:
                raise Broken("it never comes to rest")
        check_rest(state)
    except Broken as broken:
        raise AssertionError(f"{broken}\nafter {' | '.join(path)}") from broken
    return len(path)


@pytest.fixture(scope="module")
def table():
    with Patches():
        yield Table()


def test_every_order_of_one_event_keeps_what_was_acknowledged(table):
    states, _, whole = explore(table, 1)
    assert whole and states == sorted(states) and states[-1] > 100


def test_every_order_of_two_events_keeps_what_was_acknowledged(table):
    states, _, whole = explore(table, 2)
    assert whole and states[-1] > 50 * states[1]


def all_states(table, events):
    """Return the states of all orders of steps, each step by itself."""
    found, front = set(), {table.begin()}
    for used in range(events + 1):
        todo, front = [state for state in front if state not in found], set()
        found.update(todo)
        while todo:
            state = todo.pop()
            for name in table.names(state, used < events):
                after = table.after(state, name)
                if after not in found:
                    if name in EVENTS:
                        front.add(after)
                    else:
                        found.add(after)
                        todo.append(after)
    return found


def moved_states(table, events, settles):
    """Return the states of all moves, and those after silent steps in between."""
    moves, found, front = Moves(table), set(), {table.begin()}
    for used in range(events + 1):
        todo, front = [state for state in front if state not in found], set()
        found.update(todo)
        while todo:
            for steps, after in moves.of(todo.pop(), used < events):
                is_event = steps[-1] in EVENTS
                after = moves.settled(after) if settles and used + is_event == events else after
                if after not in found:
                    if is_event:
                        front.add(after)
                    else:
                        found.add(after)
                        todo.append(after)
    todo = list(found)
    while todo:
        state = todo.pop()
        for name in table.names(state, False):
            if name in SILENT and (after := table.after(state, name)) not in found:
                found.add(after)
                todo.append(after)
    return found


SILENT = ("<gate>selector", "<answer>selector", "work", "<gate>base", "<answer>base", "<gate>console")


def test_moves_lose_no_state(table):
    every = all_states(table, 2)
    assert len(every) > 50_000 and moved_states(table, 2, False) == every
    moves = Moves(table)
    settled = {moves.settled(state) for state in all_states(table, 1)}
    assert {moves.settled(state) for state in moved_states(table, 1, True)} == settled


def test_no_long_path_breaks_a_promise(table):
    assert max(wander(table, seed, 8) for seed in range(150)) > 30


@pytest.mark.parametrize("seed", range(12))
def test_the_table_does_what_the_classes_do(seed):
    rng, path = random.Random(seed), []
    with Patches():
        table, rig = Table(), Rig()
        rig.settle()
        state = take(rig)
        for _ in range(40):
            steps = list(rig.steps())
            path.append(rng.choice(steps if steps and rng.random() < 0.7 else list(EVENTS)))
            changes = not is_ignored(rig, path[-1])
            assert not changes or path[-1] in table.names(state, True)
            (rig.events() | rig.steps())[path[-1]]()
            rig.check()
            state = table.after(state, path[-1]) if changes else state
            assert state == take(rig), path


def is_ignored(rig, name):
    """Return whether a step delivers an answer that changes nothing."""
    if not name.startswith("<answer>"):
        return False
    future, _, owner = rig.channels[name[1:]][0]
    return owner is None or not counts(rig, name.removeprefix("<answer>"), owner, future)


def test_a_reserved_name_is_refused_and_the_robot_is_held_all_the_same():
    with Patches():
        rig = Rig()
        asked = PlaceHold.Request(kind=1, who="the joystick")
        told = rig.gate._on_place(asked, PlaceHold.Response())
    assert told.error_code and "reserved" in told.error_msg and told.number
    assert rig.gate._authority.standing.hold.who == "somebody"


def test_a_hold_that_is_not_on_disk_is_answered_as_such():
    with Patches():
        rig = Rig()
        rig.gate._authority._file = None
        told = rig.gate._on_place(PlaceHold.Request(kind=1, who="Ada"), PlaceHold.Response())
    assert told.number and told.error_code and "not kept on disk" in told.error_msg


def test_the_joystick_stops_the_navigator_before_its_hold_waits_for_the_disk():
    order = []
    with Patches():
        node = Rig().gate
        node._gate = node.gate
        node._publish = order.append
        place = node._authority.place
        node._authority.place = lambda *a: (order.append("disk"), place(*a))[1]
        MotionGateNode._on_joystick(node, (0.1, 0.0, 0.0), 0.0)
    assert order[:2] == [(0.0, 0.0, 0.0), "disk"]


def main() -> None:
    """Explore whole: python src/lodestar_ros/test/test_motion_orders.py --events 3; --paths for random ones of 8."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="of processor")
    parser.add_argument("--kinds", help="names of the events that may come, with commas; default: all")
    parser.add_argument("--paths", type=int, default=0, help="random paths of 8 events in place of all")
    given = parser.parse_args()
    kinds = given.kinds.split(",") if given.kinds else EVENTS
    with Patches():
        table, began = Table(), time.process_time()
        if given.paths:
            paths = steps = 0
            while paths < given.paths and (paths % 500 or time.process_time() - began < given.seconds):
                steps += wander(table, paths, 8)
                paths += 1
            found = f"{paths} paths of 8 events, {steps} steps"
        else:
            states, moved, whole = explore(table, given.events, given.seconds, kinds)
            found = f"{states} states by number of events, {moved} moves: {'' if whole else 'not '}all"
    sys.stdout.write(f"{found}, {table.known} by the classes, {time.process_time() - began:.0f} s\n")


if __name__ == "__main__":
    main()
