"""Pairing, monitors, workers, the gate's rule, the patient clock, label tables, markers."""

from __future__ import annotations

import json
import threading

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar.mapping.colors import colors_of
from lodestar.scene.records import Entity, EntityState, Region
from lodestar_ros.clocks import PatientClock
from lodestar_ros.conversions import BadMessage
from lodestar_ros.diagnostics import InputConfig, InputMonitor
from lodestar_ros.gate import ZERO, GateConfig, MotionGate
from lodestar_ros.labels import parse_table
from lodestar_ros.markers import entity_markers
from lodestar_ros.sync import Companions, PoseQueue, StampPairer
from lodestar_ros.transforms import Cause, TransformUnavailable
from lodestar_ros.workers import LatestWorker, QueueWorker

# --- pairing -------------------------------------------------------------------------------------------


@pytest.fixture
def pairs():
    found = []
    pairer = StampPairer(("depth", "labels"), lambda stamp, parts: found.append((stamp, parts)), capacity=3)
    pairer.found = found
    return pairer


def test_pairs_exact_stamps_in_any_order(pairs):
    for name, stamp in (("depth", 1.0), ("labels", 1.1), ("labels", 1.0), ("depth", 1.1)):
        pairs.add(name, stamp, f"{name}{stamp}")
    assert [parts["labels"] for _, parts in pairs.found] == ["labels1.0", "labels1.1"]
    assert pairs.unmatched == {"depth": 0, "labels": 0}


def test_pairs_within_the_tolerance_and_not_beyond(pairs):
    pairs.add("depth", 1.0, "d")
    pairs.add("labels", 1.015, "l")
    assert pairs.found == [(1.0, {"depth": "d", "labels": "l"})]
    pairs.add("depth", 2.0, "d")
    pairs.add("labels", 2.03, "l")
    assert len(pairs.found) == 1


def test_what_finds_no_partner_is_counted_and_bounded(pairs):
    for tick in range(10):
        pairs.add("labels", float(tick), "l")
    assert pairs.unmatched["labels"] == 7
    assert not pairs.found


def test_a_moment_gives_up_older_ones(pairs):
    pairs.add("depth", 1.0, "d")
    pairs.add("depth", 2.0, "d")
    pairs.add("labels", 2.0, "l")
    assert pairs.unmatched == {"depth": 1, "labels": 0}
    pairs.add("labels", 1.0, "l")
    assert len(pairs.found) == 1, "the older moment is over"


class Poses:
    """Resolves items up to a stamp."""

    def __init__(self):
        self.until = 0.0
        self.cause = Cause.FUTURE

    def __call__(self, item):
        if item > self.until:
            raise TransformUnavailable(self.cause, "missing")
        return item


class Joined:
    """What `Companions` hands on, under a clock that a test turns."""

    def __init__(self):
        self.now, self.out = 0.0, []
        self.companions = Companions(lambda item, with_it: self.out.append((item, with_it)), lambda: self.now)


@pytest.mark.parametrize("first", ["item", "companion"])
def test_an_item_goes_on_with_its_companion_whichever_comes_first(first):
    joined = Joined()
    joined.companions.add_companion(0.9, "old")
    for stamp in (1.0, 1.1, 1.2):
        calls = [
            lambda s=stamp: joined.companions.add(s, s),
            lambda s=stamp: joined.companions.add_companion(s + 0.01, "c"),
        ]
        for call in calls if first == "item" else calls[::-1]:
            call()
    assert joined.out == [(1.0, "c"), (1.1, "c"), (1.2, "c")]
    assert (joined.companions.joined, joined.companions.alone) == (3, 0)


def test_without_companions_nothing_waits():
    joined = Joined()
    for stamp in range(5):
        joined.companions.add(float(stamp), stamp)
    assert joined.out == [(i, None) for i in range(5)] and joined.companions.alone == 5


def test_no_item_is_lost_or_overtaken_when_companions_stop_or_skip():
    joined = Joined()
    joined.companions.add_companion(1.0, "a")
    joined.companions.add(1.0, 1)
    joined.companions.add(1.1, 2)
    assert joined.out == [(1, "a")]  # another may be on its way
    joined.companions.add(1.2, 3)
    joined.companions.add_companion(1.2, "b")
    assert joined.out == [(1, "a"), (2, None), (3, "b")]  # the one of a later moment says that it was skipped
    joined.companions.add(1.3, 4)
    joined.now = 5.0
    joined.companions.expire()
    for stamp in (1.4, 1.5, 1.6, 1.7):
        joined.companions.add(stamp, stamp)
    assert [item for item, _ in joined.out] == [1, 2, 3, 4, 1.4]  # the others still wait
    joined.companions.add(3.0, 3.0)  # no companion for long: they have stopped
    joined.now = 6.0
    joined.companions.expire()
    assert [item for item, _ in joined.out] == [1, 2, 3, 4, 1.4, 1.5, 1.6, 1.7, 3.0]


def test_a_frame_waits_for_its_transform_and_keeps_its_order():
    poses, delivered, dropped = Poses(), [], []
    queue = PoseQueue(poses, delivered.append, dropped.append, capacity=3)
    queue.add(1.0)
    queue.add(2.0)
    assert delivered == []
    poses.until = 1.5
    queue.retry()
    assert delivered == [1.0]
    poses.until = 2.0
    queue.retry()
    assert (delivered, dropped) == ([1.0, 2.0], [])


def test_frames_that_wait_too_long_are_dropped():
    poses, delivered, dropped = Poses(), [], []
    queue = PoseQueue(poses, delivered.append, dropped.append, capacity=2)
    for stamp in (1.0, 2.0, 3.0, 4.0):
        queue.add(stamp)
    assert (len(dropped), delivered) == (2, [])


def test_a_frame_whose_transform_will_never_come_is_dropped_at_once():
    poses, delivered, dropped = Poses(), [], []
    poses.cause = Cause.NO_FRAME
    PoseQueue(poses, delivered.append, dropped.append).add(1.0)
    assert len(dropped) == 1


# --- monitors ------------------------------------------------------------------------------------------


def test_monitor_counts_and_drops_what_is_late_repeated_or_out_of_order():
    monitor = InputMonitor("depth", InputConfig(max_age=1.0))
    stamps = [(10.0, 10.1), (10.0, 10.1), (9.9, 10.2), (10.2, 10.3), (10.3, 12.0)]
    assert [monitor.accept(*pair) for pair in stamps] == [True, False, False, True, False]
    assert monitor.drops == {"duplicate": 1, "out_of_order": 1, "late": 1}
    assert monitor.received == 5
    assert monitor.values()["depth.dropped"] == "3"


def test_monitor_follows_a_source_that_starts_again():
    monitor = InputMonitor("depth", InputConfig(restart_after=3))
    assert monitor.accept(100.0, 100.0)
    accepted = [monitor.accept(stamp, stamp) for stamp in (1.0, 1.1, 1.2, 1.3, 1.4)]
    assert accepted == [False, False, False, True, True]


def test_monitor_is_not_fooled_by_a_stream_that_jumps_back_and_forth():
    monitor = InputMonitor("depth", InputConfig(restart_after=3))
    assert monitor.accept(100.0, 100.0)
    for tick in range(20):
        assert not monitor.accept(50.0, 100.0)
        assert monitor.accept(100.1 + tick, 100.1 + tick)


def test_monitor_after_a_clock_jump():
    monitor = InputMonitor("depth")
    assert monitor.accept(100.0, 100.0)
    monitor.restart()
    assert monitor.accept(0.1, 0.1)


# --- workers -------------------------------------------------------------------------------------------


def test_latest_worker_drops_what_is_overtaken():
    started, go, done = threading.Event(), threading.Event(), []

    def work(item):
        started.set()
        go.wait(5.0)
        done.append(item)

    worker = LatestWorker("test", work)
    worker.submit(1)
    assert started.wait(5.0)
    for item in (2, 3, 4):
        worker.submit(item)
    go.set()
    while worker.done < 2:
        pass
    worker.close()
    assert (done, worker.dropped) == ([1, 4], 2)


def test_a_worker_survives_what_its_work_raises():
    errors, done = [], threading.Event()

    def work(item):
        if item == 0:
            raise ZeroDivisionError
        done.set()

    worker = LatestWorker("test", work, errors.append)
    worker.submit(0)
    while not errors:
        pass
    worker.submit(1)
    assert done.wait(5.0)
    worker.close()
    assert worker.failed == 1


def test_queue_worker_loses_nothing_and_ends_after_the_last():
    done = []
    worker = QueueWorker("test", done.append)
    for item in range(500):
        worker.submit(item)
    worker.close()
    assert done == list(range(500))


# --- the gate ------------------------------------------------------------------------------------------


@pytest.fixture
def gate():
    gate = MotionGate(GateConfig())
    gate.on_heartbeat(True, False, 10.0)
    gate.on_command((0.5, 0.1, 0.2), 10.0)
    return gate


def test_gate_passes_a_fresh_command_under_a_fresh_heartbeat(gate):
    assert gate.output(10.1) == (0.5, 0.1, 0.2)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda gate: gate.hold(True), "held"),
        (lambda gate: gate.on_heartbeat(False, False, 10.05), "motion not allowed"),
        (lambda gate: gate.on_heartbeat(True, True, 10.05), "held by the goal selector"),
    ],
)
def test_gate_stops(gate, change, reason):
    change(gate)
    assert gate.blocked_by(10.1) == reason
    assert gate.output(10.1) == ZERO


def test_gate_stops_without_heartbeat_and_without_commands(gate):
    gate.on_command((0.5, 0.0, 0.0), 10.3)
    assert gate.blocked_by(10.26) == "no heartbeat"
    gate.on_heartbeat(True, False, 10.5)
    assert gate.output(10.5) == (0.5, 0.0, 0.0)
    assert gate.blocked_by(10.61) == "stale command"


def test_a_command_from_the_future_is_of_a_clock_that_went_back(gate):
    gate.on_command((0.5, 0.0, 0.0), 10.0, clock=600.0)
    assert gate.blocked_by(10.1, clock=0.1) == "stale command"


def test_a_goal_selector_releases_its_own_hold(gate):
    gate.on_heartbeat(False, True, 10.1)
    gate.on_heartbeat(True, False, 10.15)
    assert gate.blocked_by(10.18) == ""


def test_a_hold_outlives_the_goal_selector_that_asked_for_it(gate):
    """One that was started again knows nothing of the hold, and is told."""
    gate.on_heartbeat(False, True, 10.1)
    for tick in range(20):
        gate.on_heartbeat(True, False, 13.0 + tick * 0.05)
        gate.on_command((0.5, 0.0, 0.0), 13.0 + tick * 0.05)
        assert gate.blocked_by(13.0 + tick * 0.05) == "held by the goal selector"
    assert gate.selector_must_be_told(13.95)
    gate.on_heartbeat(False, True, 14.0)
    assert not gate.selector_must_be_told(14.0)
    gate.on_heartbeat(True, False, 14.05)
    assert gate.blocked_by(14.05) != "held by the goal selector", "now it is its own to release"


def test_a_hold_of_the_gate_is_told_to_a_goal_selector_that_comes_later():
    gate = MotionGate()
    gate.hold(True)
    assert not gate.selector_must_be_told(1.0), "nobody is there"
    gate.on_heartbeat(False, False, 2.0)
    assert gate.selector_must_be_told(2.0)
    gate.hold(False)
    assert not gate.selector_must_be_told(2.0)


def test_a_slow_simulated_clock_does_not_make_commands_stale(gate):
    gate.on_command((0.5, 0.0, 0.0), 10.0, clock=3.0)
    gate.on_heartbeat(True, False, 11.5)
    assert gate.blocked_by(11.5, clock=3.15) == ""
    assert gate.blocked_by(11.5, clock=3.25) == "stale command"
    gate.on_heartbeat(True, False, 12.1)
    assert gate.blocked_by(12.1, clock=3.0) == "stale command", "a clock that stands does not keep it moving"


def test_gate_begins_closed():
    gate = MotionGate()
    gate.on_command((0.5, 0.0, 0.0), 0.0)
    assert gate.output(0.0) == ZERO


def test_hold_is_a_latch_that_only_a_release_opens(gate):
    gate.hold(True)
    for tick in range(100):
        gate.on_heartbeat(True, False, 10.0 + tick * 0.1)
        gate.on_command((0.5, 0.0, 0.0), 10.0 + tick * 0.1)
        assert gate.output(10.0 + tick * 0.1) == ZERO
    gate.hold(False)
    assert gate.output(19.95) == (0.5, 0.0, 0.0)


def test_gate_cuts_speed_and_swallows_nonsense(gate):
    gate.on_command((9.0, -9.0, 9.0), 10.1)
    assert gate.output(10.1) == (1.0, -0.6, 1.5)
    gate.on_command((float("nan"), 0.0, 0.0), 10.15)
    assert gate.output(10.15) == ZERO


# --- the patient clock ---------------------------------------------------------------------------------


def test_a_clock_that_stands_counts_as_running_after_a_while():
    simulated, real = [5.0], [0.0]
    clock = PatientClock(lambda: simulated[0], 10.0, lambda: real[0])
    real[0] = 9.0
    assert clock.now() == 5.0
    real[0] = 25.0
    assert clock.now() == pytest.approx(20.0)
    simulated[0], before = 5.1, clock.now()
    assert clock.now() == pytest.approx(before + 0.1), "time never goes back when the clock goes on"
    real[0] = 30.0
    assert clock.now() == pytest.approx(before + 0.1)


# --- labels, colours -----------------------------------------------------------------------------------


def test_label_tables_of_both_simulators():
    own = {"stamp": [3, 500_000_000], "labels": {"17": {"class": "chair", "caption": "red chair"}}}
    assert parse_table(json.dumps(own)) == (3.5, {17: {"class": "chair", "caption": "red chair"}})
    isaac = {"2": {"class": "desk"}, "0": {"class": "BACKGROUND"}, "time_stamp": {"sec": 3, "nanosec": 0}}
    assert parse_table(json.dumps(isaac)) == (3.0, {2: {"class": "desk", "caption": "desk"}})


@pytest.mark.parametrize("text", ["", "nonsense", "[]", "{}", '{"labels": {"x": {}}, "stamp": [0, 0]}'])
def test_broken_label_tables_are_refused(text):
    with pytest.raises(BadMessage, match="label table"):
        parse_table(text)


def test_colours_stay_with_their_ids():
    colours = colors_of(np.array([3, 9, 3, 12]))
    assert colours.shape == (4, 3)
    assert np.array_equal(colours[0], colours[2])
    assert len({tuple(colour) for colour in colours}) == 3


def test_markers_show_boxes_by_instance_and_captions_by_state():
    low, high = np.array([0.0, 0.0, 0.0]), np.array([0.5, 0.4, 0.9])
    entities = [
        Entity(number, "chair", "red chair", (low + high) / 2, np.eye(3), low, high, state=state)
        for number, state in enumerate((EntityState.ACTIVE, EntityState.UNCERTAIN, EntityState.ARCHIVED), start=1)
    ]
    markers = entity_markers(entities, 1.0).markers
    assert markers[0].action == markers[0].DELETEALL
    boxes = {m.id: m for m in markers if m.ns == "boxes"}
    captions = {m.id: m for m in markers if m.ns == "captions"}
    assert boxes.keys() == captions.keys() == {1, 2}
    assert boxes[1].color.a > boxes[2].color.a > 0.0
    assert captions[1].color != captions[2].color and "red chair" in captions[1].text
    assert boxes[1].scale.x == pytest.approx(0.5)


def test_rooms_with_a_name_are_shown():
    rooms = [Region(1, "kitchen", 0.8, 12.0, np.array([2.0, 3.0])), Region(2, "", 0.0, 4.0, np.zeros(2))]
    shown = [m for m in entity_markers((), 1.0, rooms).markers if m.ns == "rooms"]
    assert [(m.id, m.text, m.pose.position.x, m.pose.position.y) for m in shown] == [(1, "kitchen", 2.0, 3.0)]
