"""The robot's trajectory as nodes, and the moves of these nodes after a jump of map <- odom (ADR 0095)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from lodestar.geometry.closure_config import ClosureConfig, in_use
from lodestar.geometry.map_correction import ALIKE, MapCorrection, displacement, rotation_vector, spread
from lodestar.geometry.pose_graph import GraphBinding, OfferedGraph, PoseGraph, Way
from lodestar.geometry.poses import inverse

CLOSURE_SPACING = 0.5  # metres between nodes; SLAM Toolbox's minimum_travel_distance
CLOSURE_HEADING = 0.5  # radians between nodes; SLAM Toolbox's minimum_travel_heading
CLOSURE_SHORTEST = 10.0  # least length of a loop, metres; scan_buffer_maximum_scan_distance of our profile
# metres above or below the old path within which a loop closes; chosen: heights drift by 0.5 m, storeys are
# 2.5 m apart or more
CLOSURE_STOREY = 1.0
# metres per metre of loop that odometry drifts at most; chosen, a Go2's are 0.01 to 0.02
CLOSURE_SHARE = 0.15
CLOSURE_TURN = 0.01  # radians per metre of loop that odometry drifts at most; chosen, a Go2's are 0.004
CLOSURE_SLACK = 0.1  # metres and radians beyond CLOSURE_SHARE and CLOSURE_TURN; chosen, the size of a jump
# metres that a match moves the newest node at once, after a slip; half of correlation_search_space_dimension
CLOSURE_MATCHED = 0.25
# Drift of odometry by which a correction is spread (issue 37: 1 to 2 % of the way, 0.25 degrees per metre, 1 %).
CLOSURE_WAY_DRIFT = 0.015  # metres per metre of way
CLOSURE_HEADING_DRIFT = 0.0044  # radians per metre of way
CLOSURE_TURN_DRIFT = 0.01  # radians per radian turned
# Shares of this drift that are left where SLAM matches scans on the way: a buffer of ten leaves 2 / 11 of each match's
# error, 0.004 m and 0.0005 rad per half metre where odometry leaves 0.0075 and 0.0022 (`lodestar_sim/slam.py`).
CLOSURE_MATCHED_WAY = 0.5  # share of CLOSURE_WAY_DRIFT
CLOSURE_MATCHED_HEADING = 0.25  # share of CLOSURE_HEADING_DRIFT and CLOSURE_TURN_DRIFT
# share of its drift that a closed loop keeps when another is closed; chosen: its ends are fixed
CLOSURE_SETTLED = 0.02
CLOSURE_BESIDE = 2.0  # metres from the old path within which the robot is on it again; chosen, a corridor
CLOSURE_PROOF = 10.0  # metres along the old path without a jump that prove a loop to be closed; chosen
CLOSURE_SUBMAP = 10.0  # length of a submap, metres; chosen, CLOSURE_SHORTEST
# metres by which a pose graph must move a node after a closure; chosen, two voxels: each move rounds anew
CLOSURE_REMAINDER = 0.2
CLOSURE_GRAPH_EVERY = 5.0  # metres driven between two readings of the graph without a jump; chosen


class Trajectory:
    """Nodes of the robot's trajectory with their poses in map, and their moves after a jump of map <- odom.

    A node is added every CLOSURE_SPACING metres or CLOSURE_HEADING radians of odometry. Serial numbers start
    at 0.
    """

    def __init__(self, config: ClosureConfig | None = None) -> None:
        of_anchors, self.graphs = in_use()
        self.config = config or of_anchors
        self._poses = np.empty((64, 4, 4))  # map <- sensor
        self._stamps = np.empty(64)
        self._serials = np.empty(64, np.int64)
        self._way = np.empty(64)  # metres travelled since the start
        self._bends = np.empty((64, 2))  # drift of the edge that ends at the node: metres, radians
        self._count = self._next = self._submap = 0
        self._odom: np.ndarray | None = None  # odom <- sensor at the newest node
        self._last: np.ndarray | None = None  # map <- odom at the newest node, jumps removed
        self._matching = False  # whether SLAM changed map <- odom between the last two nodes
        self._beside_since = np.inf  # metres travelled at which the robot came back to its old path
        self._undo: list[_Followed] = []
        self._bound = GraphBinding()
        self._graph: OfferedGraph | None = None  # the last graph that was read
        self._graph_way = -np.inf  # metres travelled then; -inf after a jump, to read the next graph
        self._jumped = self._posed = -np.inf  # stamps of the last jump and of the last pose, seconds
        self._jumped_at = 0  # first serial number after the last jump

    def __len__(self) -> int:
        return self._count

    @property
    def serial(self) -> int:
        """Return the serial number of the newest node, -1 before the first."""
        return self._next - 1

    @property
    def way(self) -> float:
        """Return the metres travelled up to the newest node."""
        return float(self._way[self._count - 1]) if self._count else 0.0

    @property
    def submap(self) -> int:
        """Return the serial number of the first node of the newest submap.

        A submap is a stretch of the trajectory on which odometry drifts by as much as it does on
        CLOSURE_SUBMAP metres; edges of closed loops add little to it.
        """
        return self._submap

    def _find_submap(self) -> None:
        if not self._count:
            return
        drift = np.cumsum(self._bends[: self._count, 0][::-1])
        rate = CLOSURE_WAY_DRIFT * (CLOSURE_MATCHED_WAY if self._matching else 1.0)
        length = int(np.searchsorted(drift, CLOSURE_SUBMAP * rate, "right"))
        self._submap = int(self._serials[max(self._count - 1 - length, 0)])

    def note(self, stamp: float, map_from_odom: np.ndarray, odom_from_sensor: np.ndarray) -> None:
        """Add a node if the robot has moved far enough since the newest node.

        Both poses: (4, 4). stamp: seconds.
        """
        if not self.config.enabled:
            return
        self._posed = stamp
        distance, angle = self._since(odom_from_sensor)
        if self._count and distance < CLOSURE_SPACING and angle < CLOSURE_HEADING:
            return
        if self._count == len(self._stamps):
            self._make_room()
        if self._count:  # if the clock was set back, only the order tells older nodes apart
            np.minimum(self._stamps[: self._count], stamp, out=self._stamps[: self._count])
            self._jumped = min(self._jumped, stamp)
        i, self._odom = self._count, np.array(odom_from_sensor, np.float64)
        self._poses[i] = map_from_odom @ odom_from_sensor
        self._stamps[i], self._serials[i] = stamp, self._next
        self._way[i] = self.way + distance if i else 0.0
        self._matching = self._last is not None and not _is_same(
            self._last, map_from_odom, odom_from_sensor, _TOUCHED, _TOUCHED
        )
        self._last = np.array(map_from_odom, np.float64)
        self._bends[i] = self._drift(distance, angle)
        if self._matching:
            self._bends[i] *= CLOSURE_MATCHED_WAY, CLOSURE_MATCHED_HEADING
        self._count, self._next = i + 1, self._next + 1
        self._settle_proven()
        self._find_submap()

    def restart_odometry(self) -> None:
        """Prepare for a new odometry frame: the distance from the last node to the next one counts as 0."""
        self._odom = self._last = None

    def _since(self, odom_from_sensor: np.ndarray) -> tuple[float, float]:
        """Return the metres and radians of odometry since the newest node."""
        if self._odom is None:
            return (np.inf if not self._count else 0.0), (0.0 if not self._count else CLOSURE_HEADING)
        step = inverse(self._odom) @ odom_from_sensor
        angle = float(np.arccos(np.clip((np.trace(step[:3, :3]) - 1.0) / 2.0, -1.0, 1.0)))
        return float(np.linalg.norm(step[:3, 3])), angle

    def _drift(self, distance: float, angle: float) -> tuple[float, float]:
        if not self._count:
            return 0.0, 0.0
        return CLOSURE_WAY_DRIFT * distance, CLOSURE_HEADING_DRIFT * distance + CLOSURE_TURN_DRIFT * angle

    def _old(self, place: np.ndarray, way: float, reach: float) -> np.ndarray:
        """Return the rows, ascending, of the old nodes nearest to a place (3,), within `reach` metres.

        Old are nodes from which the robot has since driven a loop of at least CLOSURE_SHORTEST metres. way:
        metres travelled at the place.
        """
        old = int(np.searchsorted(self._way[: self._count], way - CLOSURE_SHORTEST, "right"))
        away = self._poses[:old, :3, 3] - place
        gaps = np.linalg.norm(away, axis=1)
        near = np.flatnonzero((gaps <= reach) & (np.abs(away[:, 2]) <= CLOSURE_STOREY))
        if not len(near):
            return near
        return near[gaps[near] <= gaps[near].min() + ALIKE]

    def _settle_proven(self) -> None:
        """Treat a loop as closed if the robot has driven along its old path without a jump."""
        newest = self._count - 1
        old = self._old(self._poses[newest, :3, 3], self._way[newest], CLOSURE_BESIDE)
        if not len(old):
            self._beside_since = np.inf
            return
        self._beside_since = min(self._beside_since, self._way[newest])
        if self._way[newest] - self._beside_since >= CLOSURE_PROOF:
            self._settle(int(old[0]), newest)

    def _settle(self, first: int, last: int) -> None:
        """Lower the drift of the edges between two nodes of a closed loop, which fixes both ends."""
        lengths = np.diff(self._way[first : last + 1])
        most = CLOSURE_SETTLED * np.column_stack(
            [CLOSURE_WAY_DRIFT * lengths, CLOSURE_HEADING_DRIFT * lengths]
        )
        self._bends[first + 1 : last + 1] = np.minimum(self._bends[first + 1 : last + 1], most)

    # --- corrections ------------------------------------------------------------------------------------------

    def correction(
        self, before: np.ndarray, now: np.ndarray, odom_from_sensor: np.ndarray, stamp: float | None
    ) -> MapCorrection | None:
        """Return the correction of the map for a jump of map <- odom from `before` to `now`, (4, 4) each.

        None if only the robot was moved and the map was right. The correction is rigid if no old node is near
        the corrected pose, or if the jump exceeds the odometry drift on the loop.
        """
        jump = now @ inverse(before)
        if not self.config.enabled or not self._count or stamp is None:
            return MapCorrection(jump)
        if self._takes_back(before, now, odom_from_sensor):
            self.expect_graph(stamp)
            return self._undone(jump, now, odom_from_sensor, stamp)
        distance, angle = self._since(odom_from_sensor)
        sensor, target = before @ odom_from_sensor, now @ odom_from_sensor
        old = self._old(target[:3, 3], self.way + distance, self.config.near)
        last = before if self._last is None else self._last
        if not len(old) and self._is_match(last, now, odom_from_sensor):
            return None
        self.expect_graph(stamp)
        turned, away = rotation_vector(jump[:3, :3]), target[:3, 3] - sensor[:3, 3]
        if not len(old):
            return MapCorrection(jump)
        first, loop = int(old[0]), self.way + distance - float(self._way[old[0]])
        if (
            np.linalg.norm(away) > CLOSURE_SHARE * loop + CLOSURE_SLACK
            or np.linalg.norm(turned) > CLOSURE_TURN * loop + CLOSURE_SLACK
        ):
            return MapCorrection(jump)
        bends = np.vstack([self._bends[first + 1 : self._count], self._drift(distance, angle)])
        places = np.vstack([self._poses[first : self._count, :3, 3], sensor[:3, 3]])
        moves = np.tile(np.eye(4), (self._count + 1, 1, 1))
        moves[first:] = spread(places, bends, turned, target[:3, 3])
        moves[first:][_reach(moves[first:], places) < self.config.still] = np.eye(4)
        moves[-1] = jump
        return self._whole(moves, stamp, sensor[:3, 3])

    def expect_graph(self, stamp: float) -> None:
        """Prepare to compare the next pose graph of SLAM with the last one before the jump at `stamp`.

        The newest graph from before the jump or scan match is matched to the trajectory, so that the next
        graph shows which other nodes SLAM has moved.
        """
        known = self.graphs.at(self._posed)  # newest graph included in the pose before the jump
        if known is not None and known.stamp > self._jumped:
            self._look(known)
        self._jumped, self._graph_way, self._jumped_at = stamp, -np.inf, self._next

    def _is_match(self, last: np.ndarray, now: np.ndarray, odom_from_sensor: np.ndarray) -> bool:
        """Return whether SLAM has only matched the newest scan, which moves the newest node alone.

        SLAM does so at each node, to remove the odometry drift and slip since the last node. last, now: (4,
        4) map <- odom at the newest node and now, so that repeated moves of a standing robot add up to one
        match.
        """
        distance, _ = self._since(odom_from_sensor)
        away = (now @ odom_from_sensor)[:3, 3] - (last @ odom_from_sensor)[:3, 3]
        turned = rotation_vector((now @ inverse(last))[:3, :3])
        return bool(
            np.linalg.norm(away) <= CLOSURE_SHARE * distance + CLOSURE_MATCHED
            and abs(away[2]) <= CLOSURE_SLACK
            and np.linalg.norm(turned) <= CLOSURE_TURN * distance + CLOSURE_SLACK
        )

    def _takes_back(self, before: np.ndarray, now: np.ndarray, odom_from_sensor: np.ndarray) -> bool:
        """Return whether the change from `before` to `now` undoes the last correction.

        Small changes of map <- odom since that correction are ignored.
        """
        if not self._undo:
            return False
        return _is_same(inverse(self._undo[-1].correction.jump) @ before, now, odom_from_sensor)

    def _undone(
        self, jump: np.ndarray, now: np.ndarray, odom_from_sensor: np.ndarray, stamp: float
    ) -> MapCorrection:
        """Return the correction that is the inverse of the last one."""
        following, last, refined = self._undo[-1]
        if last.is_rigid:
            return MapCorrection(jump)
        moves = np.tile(jump, (self._count + 1, 1, 1))
        rows = last.rows_of(self._serials[: self._count])
        former = self._serials[: self._count] < following
        moves[:-1][former] = np.linalg.inv(last.moves[rows[former]])
        return self._whole(moves, stamp, (now @ odom_from_sensor)[:3, 3], undoes=not refined)

    def _whole(
        self, moves: np.ndarray, stamp: float, place: np.ndarray, undoes: bool = False
    ) -> MapCorrection:
        """Return a correction with the moves (N + 1, 4, 4) of all N nodes and of the current pose.

        stamp, place: (3,), of the current pose.
        """
        stamps = np.append(self._stamps[: self._count], max(stamp, self._stamps[self._count - 1]))
        serials = np.append(self._serials[: self._count], self._next)
        places = np.vstack([self._poses[: self._count, :3, 3], place])
        return MapCorrection(moves[-1], serials, stamps, places, moves, undoes=undoes)

    def follow(
        self, correction: MapCorrection, before: np.ndarray, now: np.ndarray, sensor: np.ndarray
    ) -> None:
        """Apply a correction to the nodes, and lower the drift of the edges of the closed loop.

        sensor: (4, 4) odom <- sensor at the jump.
        """
        if not self._count:
            return
        serials = self._serials[: self._count]
        undone = self._takes_back(before, now, sensor)
        if self._last is not None:
            self._last = now @ inverse(before) @ self._last
        self._bound.follow(correction)
        self._poses[: self._count] = correction.of_serials(serials) @ self._poses[: self._count]
        self._beside_since = np.inf
        if undone:
            self._undo.pop()
            self._find_submap()
            return
        self._undo = [*self._undo[-_UNDO:], _Followed(self._next, correction)]
        if not correction.is_rigid:
            still = (correction.moves[:-1] == np.eye(4)).all(axis=(1, 2))
            self._settle(max(int(np.argmin(still)) - 1, 0), self._count - 1)
        self._find_submap()

    def remainder(self, stamp: float, sensor: np.ndarray) -> MapCorrection | None:
        """Return the correction that SLAM's pose graph adds to the jumps applied so far, or None.

        None also if no new graph is known; a graph older than the last jump is ignored. stamp, sensor: of the
        current pose, seconds and (4, 4) in map; this pose stays.
        """
        offer = self.graphs.at(stamp) if self.config.enabled and self._count else None
        if offer is None or (self._graph is not None and offer.stamp <= self._graph.stamp <= stamp):
            return None
        if offer.stamp <= self._jumped or self.way < self._graph_way + CLOSURE_GRAPH_EVERY:
            return None
        moves = None if offer.graph is None else self._graph_moves(offer.graph)
        if moves is None:
            self._look(offer)
            return None
        return self._whole(moves, stamp, sensor[:3, 3])

    def _driven(self) -> Way:
        nodes = slice(self._count)
        return Way(self._serials[nodes], self._poses[nodes, :3, 3], self._way[nodes], self._stamps[nodes])

    def _graph_moves(self, graph: PoseGraph) -> np.ndarray | None:
        """Return the moves (N + 1, 4, 4) of the N nodes and the current pose to their poses in a pose graph.

        None if nothing needs to move.
        """
        serials, places = self._serials[: self._count], self._poses[: self._count, :3, 3]
        found = self._bound.moves(graph, CLOSURE_SHARE * self.way + CLOSURE_SLACK)
        if found is None:
            return None
        bound, own = found
        after = np.searchsorted(bound, serials).clip(1, len(bound) - 1)
        nearer = np.where(bound[after] - serials <= serials - bound[after - 1], after, after - 1)
        moves = np.vstack([own[nearer], np.eye(4)[None]])
        # nodes newer than the jump and the graph's last node agree with the graph already
        moves[:-1][serials >= max(self._jumped_at, bound[-1] + 1)] = np.eye(4)
        reach = _reach(moves[:-1], places)
        if reach.max() < CLOSURE_REMAINDER:
            return None
        moves[:-1][reach < self.config.still] = np.eye(4)
        return moves

    def refine(self, correction: MapCorrection) -> None:
        """Apply a pose graph's correction to the nodes; it will be undone together with the last jump."""
        serials = self._serials[: self._count]
        self._bound.follow(correction)
        self._poses[: self._count] = correction.of_serials(serials) @ self._poses[: self._count]
        if self._undo:
            last = self._undo[-1]
            moves = correction.moves @ last.correction.of_serials(correction.serials)
            whole = MapCorrection(
                last.correction.jump, correction.serials, correction.stamps, correction.places, moves
            )
            self._undo[-1] = last._replace(correction=whole, refined=True)
        offer = self.graphs.at(float(correction.stamps[-1]))
        if offer is not None:
            self._look(offer)

    def _look(self, offer: OfferedGraph) -> None:
        """Match the new nodes of a pose graph to the trajectory; the map must agree with the graph."""
        self._graph, self._graph_way = offer, self.way
        if offer.graph is not None:
            self._bound.bind(offer.graph, self._driven())

    # --- capacity and files -----------------------------------------------------------------------------------

    def _make_room(self) -> None:
        """Double the arrays; if there are `most` nodes, drop every second node of the older half instead."""
        if self._count >= self.config.most:
            half = self._count // 2
            kept = np.concatenate([np.arange(0, half, 2), np.arange(half, self._count)])
            # a joined edge has the drift of the edges that it replaces
            joined = np.add.reduceat(self._bends[1 : self._count], kept[:-1])
            for name in _ARRAYS:
                getattr(self, name)[: len(kept)] = getattr(self, name)[kept]
            self._bends[1 : len(kept)] = joined
            self._count = len(kept)
            return
        for name in _ARRAYS:
            array = getattr(self, name)
            grown = np.empty((2 * len(array), *array.shape[1:]), array.dtype)
            grown[: self._count] = array[: self._count]
            setattr(self, name, grown)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the nodes as arrays for `read`."""
        odom = np.full((4, 4), np.nan) if self._odom is None else self._odom
        nodes = {f"trajectory{name}": getattr(self, name)[: self._count].copy() for name in _ARRAYS}
        return {**nodes, "trajectory_odom": odom}

    def read(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Load nodes from arrays of `to_arrays`, if there are any.

        Raises ValueError if they are malformed.
        """
        if f"trajectory{_ARRAYS[0]}" not in arrays:
            return
        found = {name: np.array(arrays[f"trajectory{name}"]) for name in _ARRAYS}
        count = len(found["_stamps"])
        for name, array in found.items():
            if array.shape != (count, *getattr(self, name).shape[1:]) or not np.isfinite(array).all():
                raise ValueError(f"nodes of a trajectory: {name} is {array.shape}")
        if count and ((np.diff(found["_serials"]) <= 0).any() or (np.diff(found["_way"]) < 0.0).any()):
            raise ValueError("nodes of a trajectory are not in order")
        for name, array in found.items():
            setattr(self, name, np.concatenate([array, np.empty((64, *array.shape[1:]), array.dtype)]))
        self._count, self._next = count, int(found["_serials"][-1]) + 1 if count else 0
        self._undo, self._beside_since, self._bound = [], np.inf, GraphBinding()
        odom = np.asarray(arrays.get("trajectory_odom", np.nan), np.float64)
        self._odom = odom if odom.shape == (4, 4) and np.isfinite(odom).all() else None
        self._last, self._matching, self._graph, self._graph_way = None, False, None, -np.inf


class _Followed(NamedTuple):
    """A correction that was applied.

    next: first serial number after it. refined: whether a pose graph refined it.
    """

    next: int
    correction: MapCorrection
    refined: bool = False


_BESIDE = 3.0  # metres; lever arm by which a turn counts as displacement; chosen, half a room
_ARRAYS = ("_poses", "_stamps", "_serials", "_way", "_bends")
_UNDO = 3  # older corrections that can still be undone; chosen
# metres and radians of change of map <- odom that count as a scan match; chosen, a tenth of SLAM's cell
_TOUCHED = 1e-3
_SAME, _SAME_ANGLE = 0.05, 0.0175  # metres, radians within which two map <- odom count as equal; half a jump


def _reach(moves: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return by how much moves (N, 4, 4) displace places (N, 3), in metres (N,), rotations included.

    A rotation counts as the displacement of a point 3 m away.
    """
    turned = np.abs(np.arctan2(moves[:, 1, 0], moves[:, 0, 0]))
    return np.asarray(np.linalg.norm(displacement(moves, places), axis=1) + _BESIDE * turned)


def _is_same(
    before: np.ndarray,
    now: np.ndarray,
    odom_from_sensor: np.ndarray,
    metres: float = _SAME,
    radians: float = _SAME_ANGLE,
) -> bool:
    """Return whether two transforms map <- odom put the sensor at the same pose, within these limits.

    before, now: (4, 4).
    """
    moved = inverse(before @ odom_from_sensor) @ now @ odom_from_sensor
    return bool(
        np.linalg.norm(moved[:3, 3]) <= metres and np.linalg.norm(rotation_vector(moved[:3, :3])) <= radians
    )
