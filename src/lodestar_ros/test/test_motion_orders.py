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


def explore(table, events, budget=float("inf")):
    """Follow all sequences of up to `events` events with every order of arrivals; merge equal states.

    A state that was reached with fewer events is not followed again: more may follow there. Return the number of states
    by number of events, of transitions, and whether all was seen. budget: seconds of processor.
    """
    began, came, transitions, states = time.process_time(), {}, 0, []
    begin = table.begin()
    front = {begin: (None, "")}
    for used in range(events + 1):
        front = {state: way for state, way in front.items() if hash(state) not in came}
        came.update((hash(state), way) for state, way in front.items())
        todo, front = list(front), {}
        while todo:
            if time.process_time() - began > budget:
                return [*states, len(came)], transitions, False
            state = todo.pop()
            key, rests = hash(state), True
            for name in table.names(state, used < events):
                try:
                    after = step(table, state, name)
                except Broken as broken:
                    raise AssertionError(
                        f"{broken}\nafter {' | '.join([*trail(came, key), name])}"
                    ) from broken
                transitions += 1
                rests = rests and (after == state or name in EVENTS)
                if hash(after) in came:
                    continue
                if name in EVENTS:
                    front.setdefault(after, (key, name))
                else:
                    came[hash(after)] = key, name
                    todo.append(after)
            if rests:
                at_rest(table, state, came)
        states.append(len(came))
    return states, transitions, True


def at_rest(table, state, came):
    try:
        check_rest(state)
    except Broken as broken:
        raise AssertionError(f"{broken}\nafter {' | '.join(trail(came, hash(state)))}") from broken


def trail(came, key):
    """Return the names of the steps that led to a state."""
    names = []
    while key is not None:
        key, name = came[key]
        names.append(name)
    return names[-2::-1]


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


def test_every_order_of_one_event_keeps_what_was_acknowledged():
    with Patches():
        states, _, whole = explore(Table(), 1)
    assert whole and states == sorted(states) and states[-1] > 500


def test_orders_of_two_events_keep_what_was_acknowledged():
    with Patches():
        states, _, _ = explore(Table(), 2, budget=6.0)
    assert states[1] > 50 and states[-1] > 2 * states[1]


def test_no_long_path_breaks_a_promise():
    with Patches():
        table = Table()
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
    parser.add_argument("--paths", type=int, default=0, help="random paths of 8 events in place of all")
    given = parser.parse_args()
    with Patches():
        table, began = Table(), time.process_time()
        if given.paths:
            steps = sum(wander(table, seed, 8) for seed in range(given.paths))
            found = f"{given.paths} paths of 8 events, {steps} steps"
        else:
            states, transitions, whole = explore(table, given.events, given.seconds)
            found = f"{states} states by number of events, {transitions} transitions: {'' if whole else 'not '}all"
    sys.stdout.write(f"{found}, {table.known} by the classes, {time.process_time() - began:.0f} s\n")


if __name__ == "__main__":
    main()
