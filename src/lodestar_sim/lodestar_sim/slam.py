"""A stand-in for graph SLAM: odometry drifts between loop closures, and a closure moves the newest nodes.

The graph has a node per half metre, an edge to the node before it, and one wherever the robot is back at an old node;
its poses are the least-squares solution with the first node fixed (Grisetti et al. 2010, "A tutorial on graph-based
SLAM"). As in SLAM Toolbox (Karto's `Mapper::Process`, `MapperGraph::AddEdges`) a new node is laid where its scan fits
those of the running buffer best, wherever odometry has it, and `map` <- `odom` follows at each node. What the buffer
believes is wrong already, so that the errors of matches add up to a random walk without a scale: with the noise
below, which was chosen from SLAM Toolbox's parameters before any result, each match leaves 2 / (buffer + 1) of its own
error in all that follows, 0.004 m and 0.0005 rad, so that 100 m end about 0.1 to 0.3 m off.

Left out: a match that odometry's guess pulls to itself (Karto's penalties), a corridor without features along which no
match holds, scans without overlap, and a wrong match. With `matches` off the edges are odometry's alone, and nothing
moves between closures: worse than a real SLAM.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lodestar.geometry.pose_graph import PoseGraph
from lodestar.geometry.poses import inverse, planar_transform, wrap_angle, yaw_of
from lodestar.timing.stamps import Periodic


@dataclass(frozen=True)
class SlamConfig:
    """Rules for the nodes and closures of the stand-in, and its noise."""

    enabled: bool = False  # False: map <- odom is without drift, but for the walk of `LocalizationConfig`
    closes: bool = True  # False: no loop is ever closed
    matches: bool = True  # False: no scan is matched on the way; between closures it is as good as odometry
    spacing: float = 0.5  # metres between nodes; SLAM Toolbox's default
    heading: float = 0.5  # radians between nodes; likewise
    reach: float = 3.0  # metres to the old node; SLAM Toolbox's default of loop_search_maximum_distance
    chain: float = 10.0  # metres of way between the two; scan_buffer_maximum_scan_distance of our profile
    every: float = 1.0  # metres of way between two closures; chosen
    # metres, standard deviation of a match; chosen, two cells of SLAM Toolbox's correlation_search_space_resolution
    match: float = 0.02
    match_turn: float = 0.003  # radians, likewise; chosen, its fine_search_angle_offset of 0.00349
    buffer: int = 10  # nodes that a scan is matched with; SLAM Toolbox's default of scan_buffer_size
    buffer_reach: float = 10.0  # metres to the farthest of them; its scan_buffer_maximum_scan_distance
    # metres from odometry's guess in which a match is sought; half of its correlation_search_space_dimension
    search: float = 0.25
    search_turn: float = 0.349  # radians, likewise; its coarse_search_angle_offset
    # seconds between two publications of its graph; chosen between SLAM Toolbox's default, 10, and our profile's 1
    graph_period: float = 5.0
    # Standard deviations of odometry, by which the graph weighs its edges (issue 37).
    way: float = 0.015  # metres per metre driven
    turn: float = 0.01  # radians per radian turned
    way_turn: float = 0.0044  # radians per metre driven


class SlamStandIn:
    """Poses of nodes as the graph has them, and map <- odom. rng: of the matches."""

    def __init__(self, config: SlamConfig, rng: np.random.Generator) -> None:
        self.config, self._rng = config, rng
        self._noise = np.array([config.match, config.match, config.match_turn])
        self.map_from_odom = np.eye(4)
        self.closures = 0
        self._true: list[np.ndarray] = []  # (3,) x, y, yaw each
        self._odometry: list[np.ndarray] = []
        self._poses: list[np.ndarray] = []
        self._way: list[float] = []
        self._edges: list[
            tuple[int, int, np.ndarray, np.ndarray]
        ] = []  # from, to, relative pose (3,), weights (3,)
        self._closed_at = -math.inf  # metres of way
        self._graph_due = Periodic(config.graph_period)

    def take(self, true: np.ndarray, odometry: np.ndarray) -> bool:
        """Take the true pose (3,) and that of odometry; return whether a loop was closed."""
        config = self.config
        if not self._true:
            self._begin(true, odometry)
            return False
        step = _between(self._odometry[-1], odometry)
        distance, angle = math.hypot(step[0], step[1]), abs(step[2])
        if distance < config.spacing and angle < config.heading:
            return False
        sigma = np.array(
            [config.way * distance + 0.005] * 2 + [config.way_turn * distance + config.turn * angle + 0.002]
        )
        last = len(self._true)
        guess = _moved(self._poses[-1], step)
        found = self._matched(np.array(true), guess) if config.matches else None
        if found is None:
            self._edges.append((last - 1, last, step, sigma**-2.0))
        else:
            self._edges.append((last - 1, last, _between(self._poses[-1], found), self._noise**-2.0))
        self._poses.append(guess if found is None else found)
        self._true.append(np.array(true))
        self._odometry.append(np.array(odometry))
        self._way.append(self._way[-1] + distance)
        closed = config.closes and self._close(last)
        if closed or config.matches:
            self._place_odom()
        return closed

    def _matched(self, true: np.ndarray, guess: np.ndarray) -> np.ndarray | None:
        """Return where the scan of a pose (3,) fits those of the buffer on average, with noise; None = nowhere near the
        guess (3,).
        """
        config = self.config
        buffer = range(max(0, len(self._poses) - config.buffer), len(self._poses))
        seen = [
            _moved(self._poses[k], _between(self._true[k], true))
            for k in buffer
            if np.linalg.norm(self._poses[k][:2] - guess[:2]) <= config.buffer_reach
        ]
        if not seen:
            return None
        away = np.array(seen) - guess
        away[:, 2] = wrap_angle(away[:, 2])
        found = _moved(guess + away.mean(axis=0), self._rng.normal(size=3) * self._noise)
        off = _between(guess, found)
        inside = np.abs(off[:2]).max() <= config.search and abs(off[2]) <= config.search_turn
        return found if inside else None

    def _place_odom(self) -> None:
        """Lay map <- odom so that odometry's newest node lies on the graph's."""
        self.map_from_odom = planar_transform(*self._poses[-1]) @ inverse(
            planar_transform(*self._odometry[-1])
        )

    def graph(self, stamp: float) -> PoseGraph | None:
        """Return the graph as SLAM Toolbox publishes it, without headings and stamps of its nodes, where it is due."""
        if not self._graph_due.due(stamp):
            return None
        return PoseGraph(stamp, np.arange(len(self._poses)), np.array(self._poses)[:, :2])

    @property
    def error(self) -> float:
        """Return the metres between the nodes and the true places, on average."""
        return float(np.linalg.norm((np.array(self._poses) - np.array(self._true))[:, :2], axis=1).mean())

    def _begin(self, true: np.ndarray, odometry: np.ndarray) -> None:
        self.map_from_odom = planar_transform(*true) @ inverse(planar_transform(*odometry))
        self._true.append(np.array(true))
        self._odometry.append(np.array(odometry))
        self._poses.append(np.array(true))
        self._way.append(0.0)

    def _close(self, last: int) -> bool:
        """Add an edge to the nearest old node, and solve the graph."""
        config, true = self.config, np.array(self._true)
        if self._way[last] - self._closed_at < config.every:
            return False
        old = np.flatnonzero(np.array(self._way) <= self._way[last] - config.chain)
        if not len(old):
            return False
        gaps = np.linalg.norm(true[old, :2] - true[last, :2], axis=1)
        nearest = int(old[gaps.argmin()])
        if gaps.min() > config.reach:
            return False
        seen = _between(true[nearest], true[last]) + self._rng.normal(size=3) * self._noise
        self._edges.append((nearest, last, seen, self._noise**-2.0))
        self._closed_at = self._way[last]
        self._poses = list(_solved(np.array(self._poses), self._edges))
        self.closures += 1
        return True


def _between(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the pose (3,) of `other` seen from `one`."""
    seen = inverse(planar_transform(*one)) @ planar_transform(*other)
    return np.array([seen[0, 3], seen[1, 3], yaw_of(seen)])


def _moved(pose: np.ndarray, step: np.ndarray) -> np.ndarray:
    end = planar_transform(*pose) @ planar_transform(*step)
    return np.array([end[0, 3], end[1, 3], yaw_of(end)])


def _solved(
    poses: np.ndarray, edges: list[tuple[int, int, np.ndarray, np.ndarray]], rounds: int = 8
) -> np.ndarray:
    """Return the poses (N, 3) that fit the edges best, the first one unchanged (Gauss-Newton)."""
    from scipy import sparse
    from scipy.sparse.linalg import spsolve

    poses = poses.copy()
    i, j = np.array([e[0] for e in edges]), np.array([e[1] for e in edges])
    seen, weights = np.array([e[2] for e in edges]), np.array([e[3] for e in edges])
    count, rows = len(poses), np.arange(len(edges))
    for _ in range(rounds):
        c, s = np.cos(poses[i, 2]), np.sin(poses[i, 2])
        dx, dy = (poses[j, :2] - poses[i, :2]).T
        error = np.column_stack([c * dx + s * dy, -s * dx + c * dy, poses[j, 2] - poses[i, 2]]) - seen
        error[:, 2] = wrap_angle(error[:, 2])
        parts = (  # row of the edge, column of the pose, derivative
            (0, i, 0, -c), (0, i, 1, -s), (0, i, 2, -s * dx + c * dy), (0, j, 0, c), (0, j, 1, s),
            (1, i, 0, s), (1, i, 1, -c), (1, i, 2, -c * dx - s * dy), (1, j, 0, -s), (1, j, 1, c),
            (2, i, 2, -np.ones_like(c)), (2, j, 2, np.ones_like(c)),
        )  # fmt: skip
        row = np.concatenate([3 * rows + a for a, _, _, _ in parts])
        column = np.concatenate([3 * node + b for _, node, b, _ in parts])
        jacobian = sparse.csr_matrix(
            (np.concatenate([value for *_, value in parts]), (row, column)), shape=(3 * len(edges), 3 * count)
        )[:, 3:]
        weighted = jacobian.T @ sparse.diags(weights.ravel())
        step = spsolve((weighted @ jacobian).tocsc(), -(weighted @ error.ravel()))
        poses[1:] += step.reshape(-1, 3)
        if np.abs(step).max(initial=0.0) < 1e-6:
            break
    poses[:, 2] = wrap_angle(poses[:, 2])
    return poses
