"""Tests that a pose graph gives the move of each node of the robot's path, also for uneven drift."""

from __future__ import annotations

import logging
import weakref

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lodestar.geometry import pose_graph
from lodestar.geometry.closure_config import ClosureConfig, closures_as
from lodestar.geometry.corrections import Anchor, jump_between
from lodestar.geometry.map_correction import MapCorrection
from lodestar.geometry.pose_graph import SETTLED, GraphBinding, PoseGraph, PoseGraphFeed, Way
from lodestar.geometry.poses import inverse, planar_transform, yaw_of
from lodestar.geometry.trajectory import CLOSURE_REMAINDER

SPEED = 0.25  # metres between two poses, one per second
SENSOR = planar_transform(0.3, 0.0, 0.0, 0.5)  # base_link <- camera
DEFAULT, EXACT = ClosureConfig(), ClosureConfig(still=0.0)


class Run:
    """Robot on a path of straight lines and turns on the spot, with drift per step. believed: SLAM's poses."""

    def __init__(self, seed: int, sides: int, shifts: float, turns: float, slips: float = 0.02) -> None:
        rng = np.random.default_rng(seed)
        self.true, self.odometry = [np.eye(4)], [np.eye(4)]
        for side in range(sides):
            length = rng.uniform(4.0, 9.0) if side % 2 else rng.uniform(9.0, 14.0)
            rate = rng.uniform(-turns, turns)  # a different rate per side, so that the drift is uneven
            for _ in range(int(length / SPEED)):
                self._step(planar_transform(SPEED, 0.0, 0.0), rng.normal(0.0, shifts, 2), rate * SPEED)
            slip = rng.normal(0.0, slips)
            for _ in range(4):
                self._step(planar_transform(0.0, 0.0, np.pi / 8), np.zeros(2), slip / 4.0)
        self.nodes = [0]
        for k in range(1, len(self.true)):
            step = inverse(self.odometry[self.nodes[-1]]) @ self.odometry[k]
            if np.linalg.norm(step[:2, 3]) >= 0.5 or abs(yaw_of(step)) >= 0.5:
                self.nodes.append(k)

    def _step(self, step: np.ndarray, shift: np.ndarray, turn: float) -> None:
        self.true.append(self.true[-1] @ step)
        self.odometry.append(self.odometry[-1] @ step @ planar_transform(*shift, turn))

    @property
    def has_jump(self) -> bool:
        """Return whether the error at the end is large enough to move the map."""
        end = self.true[-1] @ inverse(self.odometry[-1])
        return jump_between(np.eye(4), end, self.odometry[-1] @ SENSOR) is not None

    def graph(self, stamp: float, poses: list[np.ndarray]) -> PoseGraph:
        """Return the graph at a stamp, with these poses of base_link."""
        told = [k for k in self.nodes if k <= stamp]
        return PoseGraph(stamp, np.array([self.nodes.index(k) for k in told]),
                         np.array([poses[k][:2, 3] for k in told]))  # fmt: skip

    def drive(self, graphs: PoseGraphFeed, config: ClosureConfig = DEFAULT) -> Anchor:
        """Return the anchor of a camera after driving the whole path before any loop closure."""
        with closures_as(config, graphs):
            anchor = Anchor()
        for stamp, pose in enumerate(self.odometry):
            if stamp % 5 == 0:
                graphs.take(self.graph(float(stamp), self.odometry))
            assert told(anchor, np.eye(4), pose @ SENSOR, float(stamp)) is None
        return anchor

    def errors(self, moves: list[MapCorrection]) -> np.ndarray:
        """Return the errors in metres, at each stamp, of a place seen 2 m ahead by the camera."""
        found = []
        for stamp, (true, pose) in enumerate(zip(self.true, self.odometry)):
            for move in moves:
                pose = move.at(float(stamp)) @ pose
            ahead = np.array([2.0, 0.0, 0.0, 1.0])
            found.append(np.linalg.norm((pose @ ahead - true @ ahead)[:2]))
        return np.array(found)


def told(anchor: Anchor, map_from_odom: np.ndarray, odom: np.ndarray, stamp: float) -> MapCorrection | None:
    with anchor.correction(map_from_odom, odom, stamp) as correction:
        return correction


def closed(run: Run, anchor: Anchor, graphs: PoseGraphFeed, late: float = 3.0) -> list[MapCorrection]:
    """Return the corrections if SLAM closes the loop at the end, and publishes its graph `late` seconds later."""
    end, last = run.true[-1] @ inverse(run.odometry[-1]), float(len(run.true))
    found = [told(anchor, end, run.odometry[-1] @ SENSOR, last)]
    graphs.take(run.graph(last + late, run.true))
    for k in range(1, 8):
        found.append(told(anchor, end, run.odometry[-1] @ SENSOR, last + k))
    return [one for one in found if one is not None]


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(3, 7), st.floats(0.0, 0.006), st.floats(0.0, 0.008))
def test_the_moves_are_those_of_the_graph_where_drift_is_uneven(seed, sides, shifts, turns):
    run, graphs = Run(seed, sides, shifts, turns), PoseGraphFeed()
    assume(run.has_jump)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lodestar.geometry.trajectory.CLOSURE_REMAINDER", 0.01)
        anchor = run.drive(graphs, EXACT)
        moves = closed(run, anchor, graphs)
    for move in moves[1:]:
        np.testing.assert_array_equal(move.jump, np.eye(4))  # the newest part does not move
    errors = run.errors(moves)[
        :-15
    ]  # the graph is published every 5 s; newer poses get the move of its newest node
    # places 2 m beside the path; headings are those of nearby nodes, which a slip at a corner bends
    assert np.median(errors) < 0.03 and np.quantile(errors, 0.95) < 0.1


@pytest.mark.parametrize("seed", [5, 7, 9])
def test_a_match_on_the_way_does_not_hide_what_the_graph_still_moves(seed):
    """A consumer that updates rarely gets the graph of a closure together with the next match."""
    run, graphs = Run(seed, 5, 0.004, 0.008), PoseGraphFeed()
    anchor = run.drive(graphs)
    end, last = run.true[-1] @ inverse(run.odometry[-1]), float(len(run.true))
    first = told(anchor, end, run.odometry[-1] @ SENSOR, last)
    assert first is not None and not first.is_rigid
    graphs.take(run.graph(last + 3.0, run.true))
    far = run.odometry[-1] @ planar_transform(20.0, 0.0, 0.0)
    gaps = [np.linalg.norm((end @ far - pose)[:2, 3]) for pose in run.true]
    assert min(gaps) > 6.0, "no old node is met"
    match = planar_transform(0.0, 0.15, 0.0) @ end
    rest = told(anchor, match, far @ SENSOR, last + 20.0)
    assert rest is not None
    np.testing.assert_array_equal(rest.jump, np.eye(4))
    assert np.median(run.errors([first, rest])[:-15]) < 0.6 * np.median(run.errors([first])[:-15])
    assert told(anchor, match, far @ SENSOR, last + 21.0) is None


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 2**32 - 1), st.integers(3, 7))
def test_what_is_left_is_less_than_the_smallest_remainder(seed, sides):
    run, graphs = Run(seed, sides, 0.004, 0.006), PoseGraphFeed()
    assume(run.has_jump)  # a graph without a jump is used only after CLOSURE_GRAPH_EVERY more metres
    errors = run.errors(closed(run, run.drive(graphs), graphs))
    assert np.quantile(errors, 0.95) < CLOSURE_REMAINDER + 0.1


@pytest.mark.parametrize("late", [1.0, 4.0])
@pytest.mark.parametrize("seed", range(6))
def test_a_graph_is_nearer_than_the_jump_alone(seed, late):
    run, graphs = Run(seed, 6, 0.004, 0.008), PoseGraphFeed()
    anchor = run.drive(graphs)
    moves = closed(run, anchor, graphs, late)
    assert len(moves) <= 2
    assert run.errors(moves).mean() <= run.errors(moves[:1]).mean() + 1e-9
    np.testing.assert_allclose(anchor.trajectory._poses[0, :2, 3], SENSOR[:2, 3], atol=0.1)


def test_a_small_remainder_does_nothing():
    run, graphs = Run(3, 5, 0.0, 0.0, 0.0), PoseGraphFeed()
    run.true = [planar_transform(0.04 * k / len(run.true), 0.0, 0.0) @ p for k, p in enumerate(run.true)]
    anchor = run.drive(graphs)
    assert closed(run, anchor, graphs) == []


def test_a_graph_from_before_the_jump_tells_nothing():
    run, graphs = Run(5, 6, 0.004, 0.008), PoseGraphFeed()
    anchor = run.drive(graphs)
    assert len(closed(run, anchor, graphs, late=-0.6)) == 1


def test_a_jump_that_is_undone_takes_the_remainder_back_too():
    run, graphs = Run(7, 6, 0.004, 0.008), PoseGraphFeed()
    anchor = run.drive(graphs)
    moves = closed(run, anchor, graphs)
    assert len(moves) == 2
    last = float(len(run.true) + 20)
    undo = told(anchor, np.eye(4), run.odometry[-1] @ SENSOR, last)
    assert undo is not None and not undo.undoes
    for stamp in range(0, len(run.true) - 1, 7):
        whole = undo.at(float(stamp)) @ moves[1].at(float(stamp)) @ moves[0].at(float(stamp))
        np.testing.assert_allclose(whole, np.eye(4), atol=1e-6)
    graphs.take(run.graph(last + 1.0, run.odometry))
    assert told(anchor, np.eye(4), run.odometry[-1] @ SENSOR, last + 1.0 + SETTLED) is None


@pytest.mark.parametrize("what", ["anew", "elsewhere", "fewer", "far"])
def test_the_graph_of_another_session_moves_nothing_and_is_told_once(what, caplog, monkeypatch):
    monkeypatch.setattr("lodestar.geometry.trajectory.CLOSURE_GRAPH_EVERY", 0.0)
    run, graphs = Run(7, 6, 0.004, 0.008), PoseGraphFeed()
    anchor = run.drive(graphs)
    poses = anchor.trajectory._poses[: len(anchor.trajectory)].copy()
    last = float(len(run.true))
    ids = np.arange(len(run.nodes))
    rng = np.random.default_rng(0)
    places = {
        "anew": (ids[:3], np.zeros((3, 2)) + ids[:3, None]),
        "elsewhere": (ids, np.cumsum(rng.normal(0.0, 0.5, (len(ids), 2)), axis=0)),
        "fewer": (ids[:5], np.array([run.odometry[k][:2, 3] for k in run.nodes[:5]])),
        "far": (ids, np.array([run.odometry[k][:2, 3] for k in run.nodes]) + 20.0),
    }[what]
    with caplog.at_level(logging.WARNING):
        for k in range(3):
            graphs.take(PoseGraph(last + k, *places))
            assert told(anchor, np.eye(4), run.odometry[-1] @ SENSOR, last + k + SETTLED) is None
    assert len({record.message for record in caplog.records}) == len(caplog.records) >= 1
    np.testing.assert_array_equal(poses, anchor.trajectory._poses[: len(poses)])


@pytest.mark.parametrize(
    "given_",
    [
        {"ids": np.arange(3), "places": np.full((3, 2), np.nan)},
        {"ids": np.array([2, 1, 3]), "places": np.zeros((3, 2))},
        {"ids": np.arange(3), "places": np.zeros((2, 2))},
        {"ids": np.arange(2), "places": np.zeros((2, 2)), "headings": np.array([np.inf, 0.0])},
        {"stamp": np.nan, "ids": np.arange(2), "places": np.zeros((2, 2))},
    ],
)
def test_a_malformed_graph_is_refused(given_):
    with pytest.raises(ValueError):
        PoseGraph(**{"stamp": 1.0, **given_})


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32 - 1), st.floats(-3.0, 3.0))
def test_headings_and_stamps_that_a_graph_has_are_used(seed, turn):
    """Cartographer's graphs have both: for turns on the spot, positions do not show the heading."""
    rng = np.random.default_rng(seed)
    count = 20
    stamps = np.arange(count, dtype=float)
    places = np.tile(rng.uniform(-3.0, 3.0, 2), (count, 1)) + rng.normal(0.0, 0.01, (count, 2))
    headings = np.linspace(0.0, turn, count)
    way = Way(np.arange(count), places, np.zeros(count), stamps)
    binding = GraphBinding()
    binding.bind(PoseGraph(float(count), np.arange(count), places, headings, stamps), way)
    assert len(binding) == count
    slip = np.linspace(0.0, 0.1, count)
    found = binding.moves(PoseGraph(2.0 * count, np.arange(count), places, headings + slip, stamps), 5.0)
    assert found is not None
    np.testing.assert_allclose([yaw_of(move) for move in found[1]], slip, atol=1e-9)


def test_after_a_shorter_way_was_loaded_the_graph_is_looked_at_at_once():
    run, graphs = Run(11, 6, 0.0, 0.0), PoseGraphFeed()
    with closures_as(ClosureConfig(), graphs):
        anchor = Anchor()
    for stamp, pose in enumerate(run.odometry):
        if stamp % 5 == 0:
            graphs.take(run.graph(float(stamp), run.odometry))
        told(anchor, np.eye(4), pose @ SENSOR, float(stamp))
        if stamp == 40:
            early = anchor.trajectory.to_arrays()
    anchor.trajectory.read(early)
    last = float(len(run.odometry))
    graphs.take(run.graph(last, run.odometry))
    told(anchor, np.eye(4), run.odometry[-1] @ SENSOR, last + 1.0)
    assert len(anchor.trajectory._bound) > 0


def test_a_way_that_begins_later_than_the_graph_is_bound_from_its_end():
    run, graphs = Run(11, 6, 0.0, 0.0), PoseGraphFeed()
    late = len(run.odometry) // 2
    with closures_as(ClosureConfig(), graphs):
        anchor = Anchor()
    for stamp in range(late, len(run.odometry)):
        told(anchor, np.eye(4), run.odometry[stamp] @ SENSOR, float(stamp))
    last = float(len(run.odometry))
    graphs.take(run.graph(last, run.odometry))
    told(anchor, np.eye(4), run.odometry[-1] @ SENSOR, last + 1.0)
    bound, nodes = anchor.trajectory._bound, [k for k in run.nodes if k >= late]
    # they differ by the nodes within a metre of the start
    assert len(nodes) - 4 <= len(bound) <= len(nodes) + 4


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.integers(3, 30))
def test_the_binding_is_no_larger_than_the_graph_that_slam_keeps(seed, window, rounds):
    """The binding follows the remaining nodes when SLAM drops its oldest ones, as in lifelong mapping."""
    rng = np.random.default_rng(seed)
    binding, count = GraphBinding(), 0
    for _ in range(rounds):
        count += int(rng.integers(1, max(window // 2, 2)))
        ids = np.arange(max(0, count - window), count)
        places = np.stack([0.5 * ids, np.zeros(len(ids))], axis=1)
        nodes = np.arange(count)
        way = Way(nodes, np.stack([0.5 * nodes, 0.0 * nodes], axis=1), 0.5 * nodes, nodes.astype(float))
        binding.bind(PoseGraph(float(count), ids, places), way)
        assert len(binding) <= len(ids)
    if len(binding) > 2:
        found = binding.moves(PoseGraph(count + 1.0, ids, places + np.array([1.0, 2.0])), 5.0)
        assert found is not None
        np.testing.assert_allclose(found[1][:, :2, 3], np.tile((1.0, 2.0), (len(found[0]), 1)), atol=1e-6)


def test_a_graph_without_end_is_thinned_where_it_is_old(monkeypatch):
    monkeypatch.setattr(pose_graph, "_MOST", 50)
    binding = GraphBinding()
    for count in range(10, 400, 10):
        nodes = np.arange(count)
        places = np.stack([0.5 * nodes, 0.0 * nodes], axis=1)
        graph = PoseGraph(float(count), nodes, places)
        binding.bind(graph, Way(nodes, places, 0.5 * nodes, nodes.astype(float)))
        assert len(binding) <= 50
    found = binding.moves(PoseGraph(400.0, nodes, places + np.array([0.5, 0.0])), 5.0)
    assert found is not None and found[0][0] == 0 and found[0][-1] == nodes[-1]


def test_a_graph_that_was_read_keeps_its_message_no_longer_and_is_read_once():
    class Message:
        """Message of several megabytes."""

    message, reads = Message(), []
    there = weakref.ref(message)

    def read(given=message):
        reads.append(given.__class__)
        return PoseGraph(1.0, np.arange(2), np.zeros((2, 2)))

    feed = PoseGraphFeed()
    feed.offer(1.0, read)
    del message, read
    offer = feed.at(5.0)
    assert there() is not None and offer.graph is offer.graph is not None
    assert reads == [Message] and there() is None
