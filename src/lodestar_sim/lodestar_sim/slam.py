"""A stand-in for graph SLAM: poses drift between loop closures, and a closure moves the newest nodes.

The graph has a node per half metre, an edge to the previous node, and an edge to an old node wherever the robot returns
to it; its poses are the least-squares solution with the first node fixed (Grisetti et al. 2010, "A tutorial on
graph-based SLAM"). As in SLAM Toolbox (Karto's `Mapper::Process`, `MapperGraph::AddEdges`) a new node is placed where
its scan best fits the scans of the running buffer, and `map` <- `odom` is updated at each node. The nodes of the buffer
have errors themselves, so that match errors add up to a random walk: with the noise below, which was chosen from SLAM
Toolbox's parameters before any result, each match adds 2 / (buffer + 1) of its own error to all later poses, 0.004 m
and 0.0005 rad, so that the error after 100 m is about 0.1 to 0.3 m.

Not modelled: the bias of matches towards odometry (Karto's penalties), corridors without features, scans without
overlap, and wrong matches. With `matches` off all edges come from odometry, and `map` <- `odom` is constant between
closures: worse than a real SLAM.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lodestar.geometry.pose_graph import PoseGraph
from lodestar.geometry.poses import inverse, planar_pose, planar_transform, wrap_angle
from lodestar.timing.stamps import Periodic

SLAM_SPACING = 0.5  # metres between nodes; SLAM Toolbox's default
SLAM_HEADING = 0.5  # radians between nodes; SLAM Toolbox's default
# metres from a new node to the old node of a closure; SLAM Toolbox's default of loop_search_maximum_distance
SLAM_REACH = 3.0
# metres of path between both nodes of a closure; scan_buffer_maximum_scan_distance of our profile
SLAM_CHAIN = 10.0
SLAM_EVERY = 1.0  # metres of path between two closures; chosen
# metres, standard deviation of a match; chosen, two cells of SLAM Toolbox's correlation_search_space_resolution
SLAM_MATCH = 0.02
# radians, standard deviation of a match; chosen, SLAM Toolbox's fine_search_angle_offset of 0.00349
SLAM_MATCH_TURN = 0.003
SLAM_BUFFER = 10  # nodes that a scan is matched with; SLAM Toolbox's default of scan_buffer_size
# metres to the farthest of these nodes; SLAM Toolbox's scan_buffer_maximum_scan_distance
SLAM_BUFFER_REACH = 10.0
# metres from odometry's guess in which a match is sought; half of SLAM Toolbox's
# correlation_search_space_dimension
SLAM_SEARCH = 0.25
# radians from odometry's guess in which a match is sought; SLAM Toolbox's coarse_search_angle_offset
SLAM_SEARCH_TURN = 0.349
# seconds between two publications of the graph; chosen between SLAM Toolbox's default, 10, and our profile's 1
SLAM_GRAPH_PERIOD = 5.0
# Standard deviations of odometry, by which the graph weighs its edges (issue 37).
SLAM_WAY = 0.015  # metres per metre driven
SLAM_TURN = 0.01  # radians per radian turned
SLAM_WAY_TURN = 0.0044  # radians per metre driven


@dataclass(frozen=True)
class SlamConfig:
    """Switches of the simulated SLAM: on or off, loop closures, and scan matching between closures."""

    enabled: bool = False  # False: map <- odom has only the errors of `LocalizationConfig`
    closes: bool = True  # False: no loop is ever closed
    matches: bool = True  # False: no scan matching; between closures the poses are those of odometry


class SlamStandIn:
    """Simulated pose graph, and the resulting map <- odom. rng: source of the noise of scan matches."""

    def __init__(self, config: SlamConfig, rng: np.random.Generator) -> None:
        self.config, self._rng = config, rng
        self._noise = np.array([SLAM_MATCH, SLAM_MATCH, SLAM_MATCH_TURN])
        self.map_from_odom = np.eye(4)
        self.closures = 0
        self._true: list[np.ndarray] = []  # true poses of the nodes, (3,) x, y, yaw each
        self._odometry: list[np.ndarray] = []
        self._poses: list[np.ndarray] = []
        self._way: list[float] = []
        self._edges: list[
            tuple[int, int, np.ndarray, np.ndarray]
        ] = []  # indices of both nodes, relative pose (3,), weights (3,)
        self._closed_at = -math.inf  # metres driven until the last closure
        self._graph_due = Periodic(SLAM_GRAPH_PERIOD)

    def take(self, true: np.ndarray, odometry: np.ndarray) -> bool:
        """Update the graph with the true pose (3,) and the pose by odometry (3,); return whether a loop was closed."""
        config = self.config
        if not self._true:
            self._begin(true, odometry)
            return False
        step = _between(self._odometry[-1], odometry)
        distance, angle = math.hypot(step[0], step[1]), abs(step[2])
        if distance < SLAM_SPACING and angle < SLAM_HEADING:
            return False
        sigma = np.array(
            [SLAM_WAY * distance + 0.005] * 2 + [SLAM_WAY_TURN * distance + SLAM_TURN * angle + 0.002]
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
        """Return the matched pose (3,) of a scan: the mean over the buffer's nodes, with noise.

        true: (3,) true pose of the scan; guess: (3,) pose by odometry. None if the match is too far from the guess.
        """
        buffer = range(max(0, len(self._poses) - SLAM_BUFFER), len(self._poses))
        seen = [
            _moved(self._poses[k], _between(self._true[k], true))
            for k in buffer
            if np.linalg.norm(self._poses[k][:2] - guess[:2]) <= SLAM_BUFFER_REACH
        ]
        if not seen:
            return None
        away = np.array(seen) - guess
        away[:, 2] = wrap_angle(away[:, 2])
        found = _moved(guess + away.mean(axis=0), self._rng.normal(size=3) * self._noise)
        off = _between(guess, found)
        inside = np.abs(off[:2]).max() <= SLAM_SEARCH and abs(off[2]) <= SLAM_SEARCH_TURN
        return found if inside else None

    def _place_odom(self) -> None:
        """Set map <- odom so that odometry's pose of the newest node coincides with its pose in the graph."""
        self.map_from_odom = planar_transform(*self._poses[-1]) @ inverse(
            planar_transform(*self._odometry[-1])
        )

    def graph(self, stamp: float) -> PoseGraph | None:
        """Return the graph's node positions, as SLAM Toolbox publishes them; None if they are not due yet."""
        if not self._graph_due.due(stamp):
            return None
        return PoseGraph(stamp, np.arange(len(self._poses)), np.array(self._poses)[:, :2])

    @property
    def error(self) -> float:
        """Return the mean distance, metres, between the nodes' poses and their true positions."""
        return float(np.linalg.norm((np.array(self._poses) - np.array(self._true))[:, :2], axis=1).mean())

    def _begin(self, true: np.ndarray, odometry: np.ndarray) -> None:
        self.map_from_odom = planar_transform(*true) @ inverse(planar_transform(*odometry))
        self._true.append(np.array(true))
        self._odometry.append(np.array(odometry))
        self._poses.append(np.array(true))
        self._way.append(0.0)

    def _close(self, last: int) -> bool:
        """Close a loop from the newest to the nearest old node, and solve the graph; return whether it did.

        It does not if no old node is near, or too soon after the last closure.
        """
        true = np.array(self._true)
        if self._way[last] - self._closed_at < SLAM_EVERY:
            return False
        old = np.flatnonzero(np.array(self._way) <= self._way[last] - SLAM_CHAIN)
        if not len(old):
            return False
        gaps = np.linalg.norm(true[old, :2] - true[last, :2], axis=1)
        nearest = int(old[gaps.argmin()])
        if gaps.min() > SLAM_REACH:
            return False
        seen = _between(true[nearest], true[last]) + self._rng.normal(size=3) * self._noise
        self._edges.append((nearest, last, seen, self._noise**-2.0))
        self._closed_at = self._way[last]
        self._poses = list(_solved(np.array(self._poses), self._edges))
        self.closures += 1
        return True


def _between(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the pose (3,) of `other` relative to `one`."""
    return planar_pose(inverse(planar_transform(*one)) @ planar_transform(*other))


def _moved(pose: np.ndarray, step: np.ndarray) -> np.ndarray:
    return planar_pose(planar_transform(*pose) @ planar_transform(*step))


def _solved(
    poses: np.ndarray, edges: list[tuple[int, int, np.ndarray, np.ndarray]], rounds: int = 8
) -> np.ndarray:
    """Return the least-squares poses (N, 3) for the edges, with the first pose fixed (Gauss-Newton)."""
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
        parts = (  # row within the edge, node, column within the pose, derivative
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
