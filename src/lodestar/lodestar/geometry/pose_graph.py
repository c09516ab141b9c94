"""SLAM's pose graph, and the matching of its nodes to nodes of the robot's own trajectory (ADR 0095)."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from lodestar.geometry.map_correction import MapCorrection
from lodestar.geometry.poses import wrap_angle

_log = logging.getLogger(__name__)

# seconds from a graph to the first pose that certainly includes it; SLAM Toolbox's TF is 0.2 s ahead
SETTLED = 0.5
_KEPT = 8  # graphs kept until a pose is new enough for them; chosen
_NEAR = 1.0  # metres between a graph node (base_link) and the sensor at that time; chosen: reach of a Go2's sensors
_MOST = 20_000  # matched nodes, beyond which every second old one is dropped; as in `ClosureConfig.most`
_LAG = 1.0  # metres by which the newest nodes of graph and trajectory may differ; chosen, two nodes
_LOST = 10.0  # metres along the graph without a match, after which the search stops; chosen
_MANY = 10  # unmatched new nodes, above which a warning is logged; chosen, five metres
_STRETCH = 1.2  # ratio by which one path may be longer than the other; chosen
_SPAN = 3.0  # metres of path whose nodes are used to fit a heading; chosen, six nodes
_FLAT = 0.5  # metres, smallest root mean square spread of those nodes; chosen, one node
# metres of mean residual above which the graph is from another session; chosen, 0.02 in simulation
_UNLIKE = 0.3
# share of the known nodes that a graph of the same session still has; chosen: some are pruned
_SAME_SESSION = 0.5


@dataclass(frozen=True)
class PoseGraph:
    """Poses of base_link in map as SLAM estimates them at `stamp` (seconds).

    ids: (N,) int64, ascending along the path. places: (N, 2) metres. headings: (N,) radians, None = unknown, as with
    SLAM Toolbox. stamps: (N,) seconds of the nodes, None = unknown. Raises ValueError for other shapes or values.
    """

    stamp: float
    ids: np.ndarray
    places: np.ndarray
    headings: np.ndarray | None = None
    stamps: np.ndarray | None = None

    def __post_init__(self) -> None:
        count = len(self.ids)
        for name, shape in (("places", (count, 2)), ("headings", (count,)), ("stamps", (count,))):
            array = getattr(self, name)
            if array is not None and (array.shape != shape or not np.isfinite(array).all()):
                raise ValueError(f"a pose graph whose {name} are not finite, or not {shape}")
        if not np.isfinite(self.stamp) or (np.diff(self.ids) <= 0).any():
            raise ValueError("a pose graph without a stamp, or whose ids do not ascend")


class OfferedGraph:
    """Received pose graph that is parsed once, on first use.

    stamp: seconds. `graph` is None if that fails.
    """

    def __init__(self, stamp: float, read: Callable[[], PoseGraph]) -> None:
        self.stamp = stamp
        self._read: Callable[[], PoseGraph] | None = read
        self._graph: PoseGraph | None = None
        self._lock = threading.Lock()

    @property
    def graph(self) -> PoseGraph | None:
        """Return the parsed graph, or None if it is malformed; a warning is then logged."""
        with self._lock:
            read, self._read = self._read, None  # drops the reference to the message, which has megabytes
            if read is not None:
                try:
                    self._graph = read()
                except ValueError as error:
                    _log.warning("the pose graph of SLAM is not followed: %s", error)
            return self._graph


class PoseGraphFeed:
    """Queue of the newest pose graphs received from SLAM. Safe for threads."""

    def __init__(self) -> None:
        self._offers: deque[OfferedGraph] = deque(maxlen=_KEPT)

    def take(self, graph: PoseGraph) -> None:
        """Add a parsed graph."""
        self.offer(graph.stamp, lambda: graph)

    def offer(self, stamp: float, read: Callable[[], PoseGraph]) -> None:
        """Add a graph that is parsed on first use.

        stamp: seconds. read(): parses the graph; may raise ValueError.
        """
        self._offers.append(OfferedGraph(stamp, read))

    def clear(self) -> None:
        """Forget all graphs."""
        self._offers.clear()

    def at(self, stamp: float) -> OfferedGraph | None:
        """Return the newest graph old enough for a pose at `stamp`, seconds, to include it, or None."""
        return next((o for o in reversed(tuple(self._offers)) if o.stamp + SETTLED <= stamp), None)


@dataclass(frozen=True)
class Way:
    """Nodes of the robot's own trajectory.

    serials: (N,) ascending. places: (N, 2+), metres, of the sensor in map. lengths: (N,), metres travelled
    since the start. stamps: (N,) seconds, ascending.
    """

    serials: np.ndarray
    places: np.ndarray
    lengths: np.ndarray
    stamps: np.ndarray


class GraphBinding:
    """Pairs of nodes of SLAM's pose graph and of the robot's trajectory, with their present poses in map."""

    def __init__(self) -> None:
        self._ids, self._serials = np.empty(0, np.int64), np.empty(0, np.int64)
        self._places, self._headings = (
            np.empty((0, 2)),
            np.empty(0),
        )  # positions and headings in the last graph that was read
        self._moved = np.empty((0, 4, 4))  # moves of the map at these nodes since then
        self._told: set[str] = set()

    def __len__(self) -> int:
        return len(self._ids)

    def bind(self, graph: PoseGraph, way: Way) -> None:
        """Match the graph's new nodes to nodes of the trajectory, newest first, and store the pairs.

        The new nodes are later than the last correction in the graph, so map and graph agree on them.
        """
        self._places = np.einsum("nij,nj->ni", self._moved[:, :2, :2], self._places) + self._moved[:, :2, 3]
        self._headings = self._headings + np.arctan2(self._moved[:, 1, 0], self._moved[:, 0, 0])
        self._moved = np.tile(np.eye(4), (len(self._ids), 1, 1))
        if len(self._ids) and np.isin(self._ids, graph.ids).mean() < _SAME_SESSION:
            self._forget("it has few of the known nodes: another session")
        self._keep(np.isin(self._ids, graph.ids))  # the dropped nodes were pruned by SLAM and do not return
        fresh = np.flatnonzero(graph.ids > (self._ids[-1] if len(self._ids) else -1))
        pairs = list(_pairs(graph, fresh, way, int(self._serials[-1]) if len(self._serials) else -1))[::-1]
        if not pairs:
            if len(fresh) > _MANY:
                self._tell("its new nodes do not lie on the robot's way")
            return
        rows, nodes = np.array(pairs).T
        headings = np.zeros(len(rows)) if graph.headings is None else graph.headings[rows]
        self._ids = np.append(self._ids, graph.ids[rows])
        self._serials = np.append(self._serials, way.serials[nodes])
        self._places = np.vstack([self._places, graph.places[rows]])
        self._headings = np.append(self._headings, headings)
        self._moved = np.tile(np.eye(4), (len(self._ids), 1, 1))
        if len(self) > _MOST:
            every = np.arange(len(self))
            self._keep((every % 2 == 0) | (every >= len(self) // 2))

    def _keep(self, rows: np.ndarray) -> None:
        """Drop all pairs except those marked in rows (N,) bool."""
        self._ids, self._serials, self._moved = self._ids[rows], self._serials[rows], self._moved[rows]
        self._places, self._headings = self._places[rows], self._headings[rows]

    def moves(self, graph: PoseGraph, most: float) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the serial numbers (M,) of matched nodes and their moves (M, 4, 4) to poses in the graph.

        None if too few nodes are known, or if the graph does not fit this trajectory. most: largest plausible
        move of a node, metres.
        """
        known = np.isin(self._ids, graph.ids)
        if known.sum() < 2:
            return None
        rows = np.searchsorted(graph.ids, self._ids[known])
        before, after = self._places[known], graph.places[rows]
        turns, misfit = _turns(before, after)
        if graph.headings is not None:
            turns = wrap_angle(graph.headings[rows] - self._headings[known])
        if misfit > _UNLIKE or np.linalg.norm(after - before, axis=1).max() > most:
            self._forget("its nodes have not moved as one way: another session")
            return None
        moves = np.tile(np.eye(4), (len(rows), 1, 1))
        c, s = np.cos(turns), np.sin(turns)
        moves[:, :2, :2] = np.stack([np.stack([c, -s], axis=-1), np.stack([s, c], axis=-1)], axis=1)
        moves[:, :2, 3] = after - np.einsum("nij,nj->ni", moves[:, :2, :2], before)
        # A spread correction may have shifted nodes without turning them: undo what was applied, then move.
        return self._serials[known], moves @ np.linalg.inv(self._moved[known])

    def follow(self, correction: MapCorrection) -> None:
        """Apply a correction of the map to the matched nodes."""
        self._moved = correction.of_serials(self._serials) @ self._moved

    def _forget(self, why: str) -> None:
        self._ids, self._serials = np.empty(0, np.int64), np.empty(0, np.int64)
        self._places, self._headings, self._moved = np.empty((0, 2)), np.empty(0), np.empty((0, 4, 4))
        self._tell(why)

    def _tell(self, problem: str) -> None:
        if problem not in self._told:
            _log.warning("the pose graph of SLAM is not followed: %s", problem)
            self._told.add(problem)


def _pairs(graph: PoseGraph, fresh: np.ndarray, way: Way, oldest: int) -> Iterator[tuple[int, int]]:
    """Yield pairs (row of the graph, row of the trajectory) of nodes that match, newest first.

    fresh: rows of the graph to match. oldest: serial number of the last matched node; no earlier node is
    matched.
    """
    first = int(np.searchsorted(way.serials, oldest))
    at = int(np.searchsorted(way.stamps, graph.stamp, "right")) - 1
    walked, last = _LAG, None
    for row in fresh[::-1].tolist():
        if last is not None:
            walked += float(np.linalg.norm(graph.places[row] - graph.places[last]))
        last = row
        if at < first or walked > _LOST:
            return
        if graph.stamps is not None:
            node = int(np.argmin(np.abs(way.stamps[first : at + 1] - graph.stamps[row]))) + first
        else:
            low = int(np.searchsorted(way.lengths, way.lengths[at] - _STRETCH * walked - 0.5))
            near = slice(max(low, first), at + 1)
            gaps = np.linalg.norm(way.places[near, :2] - graph.places[row], axis=1)
            node = len(gaps) - 1 - int(np.argmin(gaps[::-1])) + near.start
        if np.linalg.norm(way.places[node, :2] - graph.places[row]) <= _NEAR:
            at, walked = node, 0.0
            yield row, node


def _turns(before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, float]:
    """Return by how much the nodes of a path turned, (N,) radians, and the mean residual, metres.

    The path moved from places `before` (N, 2) to `after`. Each turn is that of the rigid transform (Umeyama
    1991) that best fits the nodes around it. Three windows are tried: `_SPAN` metres back, `_SPAN` metres
    ahead, and half of that to both sides, so that a turn on the spot separates them; a path shorter than a
    window turns as a whole.
    """
    b, a = before - before.mean(axis=0), after - after.mean(axis=0)
    lengths = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(b, axis=0), axis=1)))
    dot, cross = (a * b).sum(axis=1), b[:, 0] * a[:, 1] - b[:, 1] * a[:, 0]
    columns = np.column_stack([np.ones(len(b)), b, a, dot, cross, (b * b).sum(axis=1), (a * a).sum(axis=1)])
    sums = np.vstack([np.zeros(9), np.cumsum(columns, axis=0)])
    found, errors = [], []
    for back, on in ((_SPAN / 2.0, _SPAN / 2.0), (_SPAN, 0.0), (0.0, _SPAN), (np.inf, np.inf)):
        low = np.searchsorted(lengths, lengths - back - 1e-9)
        high = np.searchsorted(lengths, lengths + on + 1e-9, "right")
        n, bx, by, ax, ay, dots, crosses, bb, aa = (sums[high] - sums[low]).T
        dots, crosses = dots - (ax * bx + ay * by) / n, crosses - (bx * ay - by * ax) / n
        bb, aa = bb - (bx * bx + by * by) / n, aa - (ax * ax + ay * ay) / n
        found.append(np.arctan2(crosses, dots))
        error = np.maximum(bb + aa - 2.0 * np.hypot(dots, crosses), 0.0) / n
        errors.append(np.where(bb > n * _FLAT**2, error, np.inf))
    errors[0] = errors[0] * 0.5  # prefer the window around the node if two fit about equally well
    errors[3] = np.where(np.isinf(np.min(errors[:3], axis=0)), 0.0, np.inf)  # a short path turns as a whole
    best, every = np.argmin(errors, axis=0), np.arange(len(b))
    turns = np.array(found)[best, every]
    if np.ptp(lengths) < _FLAT:
        turns[:] = 0.0
    return turns, float(np.sqrt(np.array(errors)[best, every]).mean())
