"""The robot's way as nodes, and what a jump of map <- odom moves of it (ADR 0095)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from lodestar.geometry.closure_config import ClosureConfig, in_use
from lodestar.geometry.map_correction import ALIKE, MapCorrection, displacement, rotation_vector, spread
from lodestar.geometry.pose_graph import GraphBinding, OfferedGraph, PoseGraph, Way
from lodestar.geometry.poses import inverse


class Trajectory:
    """The nodes of the robot's way, each with its place in map, and what a jump of map <- odom moves of it.

    A node stands at every `spacing` metres or `heading` radians of odometry. Serial numbers count from 0.
    """

    def __init__(self, config: ClosureConfig | None = None) -> None:
        of_anchors, self.graphs = in_use()
        self.config = config or of_anchors
        self._poses = np.empty((64, 4, 4))  # map <- sensor
        self._stamps = np.empty(64)
        self._serials = np.empty(64, np.int64)
        self._way = np.empty(64)  # metres since the start
        self._bends = np.empty((64, 2))  # drift of the edge that ends here: metres, radians
        self._count = self._next = self._submap = 0
        self._odom: np.ndarray | None = None  # odom <- sensor of the newest node
        self._last: np.ndarray | None = None  # map <- odom there, but for jumps
        self._matching = False  # whether SLAM has moved it since the node before
        self._beside_since = np.inf  # way at which the robot came back to its old way
        self._undo: list[_Followed] = []
        self._bound = GraphBinding()
        self._graph: OfferedGraph | None = None  # the last one that was looked at
        self._graph_way = -np.inf  # metres driven then; after a jump it is looked at anew
        self._jumped = self._posed = -np.inf  # stamps of the last jump, and of the last pose
        self._jumped_at = 0  # first serial number after the last jump

    def __len__(self) -> int:
        return self._count

    @property
    def serial(self) -> int:
        """Return the serial number of the newest node, -1 before the first."""
        return self._next - 1

    @property
    def way(self) -> float:
        """Return the metres driven up to the newest node."""
        return float(self._way[self._count - 1]) if self._count else 0.0

    @property
    def submap(self) -> int:
        """Return the serial number of the first node of the newest submap: the newest way on which odometry drifts as
        far as in `submap` metres. Loops that are closed count little.
        """
        return self._submap

    def _find_submap(self) -> None:
        if not self._count:
            return
        drift = np.cumsum(self._bends[: self._count, 0][::-1])
        rate = self.config.way_drift * (self.config.matched_way if self._matching else 1.0)
        length = int(np.searchsorted(drift, self.config.submap * rate, "right"))
        self._submap = int(self._serials[max(self._count - 1 - length, 0)])

    def note(self, stamp: float, map_from_odom: np.ndarray, odom_from_sensor: np.ndarray) -> None:
        """Take a pose; a node is made of it where the robot has come far enough. (4, 4) each."""
        if not self.config.enabled:
            return
        self._posed = stamp
        distance, angle = self._since(odom_from_sensor)
        if self._count and distance < self.config.spacing and angle < self.config.heading:
            return
        if self._count == len(self._stamps):
            self._make_room()
        if self._count:  # after a clock that was set back older nodes are found by their order alone
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
            self._bends[i] *= self.config.matched_way, self.config.matched_heading
        self._count, self._next = i + 1, self._next + 1
        self._settle_proven()
        self._find_submap()

    def restart_odometry(self) -> None:
        """Expect another odometry: the next node follows the last one without way between them."""
        self._odom = self._last = None

    def _since(self, odom_from_sensor: np.ndarray) -> tuple[float, float]:
        """Return metres and radians of odometry since the newest node."""
        if self._odom is None:
            return (np.inf if not self._count else 0.0), (0.0 if not self._count else self.config.heading)
        step = inverse(self._odom) @ odom_from_sensor
        angle = float(np.arccos(np.clip((np.trace(step[:3, :3]) - 1.0) / 2.0, -1.0, 1.0)))
        return float(np.linalg.norm(step[:3, 3])), angle

    def _drift(self, distance: float, angle: float) -> tuple[float, float]:
        config = self.config
        if not self._count:
            return 0.0, 0.0
        return config.way_drift * distance, config.heading_drift * distance + config.turn_drift * angle

    def _old(self, place: np.ndarray, way: float, reach: float) -> np.ndarray:
        """Return the nodes, ascending, within `reach` of a place (3,) from which there is a loop of way to it."""
        old = int(np.searchsorted(self._way[: self._count], way - self.config.shortest, "right"))
        away = self._poses[:old, :3, 3] - place
        gaps = np.linalg.norm(away, axis=1)
        near = np.flatnonzero((gaps <= reach) & (np.abs(away[:, 2]) <= self.config.storey))
        if not len(near):
            return near
        return near[gaps[near] <= gaps[near].min() + ALIKE]

    def _settle_proven(self) -> None:
        """Count a loop as closed when the robot has driven along its old way and nothing jumped."""
        newest = self._count - 1
        old = self._old(self._poses[newest, :3, 3], self._way[newest], self.config.beside)
        if not len(old):
            self._beside_since = np.inf
            return
        self._beside_since = min(self._beside_since, self._way[newest])
        if self._way[newest] - self._beside_since >= self.config.proof:
            self._settle(int(old[0]), newest)

    def _settle(self, first: int, last: int) -> None:
        """The edges between two nodes are held from both sides."""
        lengths = np.diff(self._way[first : last + 1])
        most = self.config.settled * np.column_stack(
            [self.config.way_drift * lengths, self.config.heading_drift * lengths]
        )
        self._bends[first + 1 : last + 1] = np.minimum(self._bends[first + 1 : last + 1], most)

    # --- corrections ------------------------------------------------------------------------------------------

    def correction(
        self, before: np.ndarray, now: np.ndarray, odom_from_sensor: np.ndarray, stamp: float | None
    ) -> MapCorrection | None:
        """Return the move of the map by a jump of map <- odom from `before` to `now`, (4, 4) each; None where the robot
        alone was moved, and the map was right.

        It is rigid where the corrected pose meets no old node, or more is corrected than odometry drifts on the loop.
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
        turned, away, config = rotation_vector(jump[:3, :3]), target[:3, 3] - sensor[:3, 3], self.config
        if not len(old):
            return MapCorrection(jump)
        first, loop = int(old[0]), self.way + distance - float(self._way[old[0]])
        if (
            np.linalg.norm(away) > config.share * loop + config.slack
            or np.linalg.norm(turned) > config.turn * loop + config.slack
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
        """Bind the graph from before the jump or match of this stamp; the next one tells what else it has moved."""
        known = self.graphs.at(self._posed)  # by the pose before the jump
        if known is not None and known.stamp > self._jumped:
            self._look(known)
        self._jumped, self._graph_way, self._jumped_at = stamp, -np.inf, self._next

    def _is_match(self, last: np.ndarray, now: np.ndarray, odom_from_sensor: np.ndarray) -> bool:
        """Return whether SLAM has laid the newest node where its scan fits, and nothing else.

        It does so at each node, which takes back what odometry has drifted since the last one, and a slip. last, now:
        (4, 4) map <- odom at the newest node and now, so that a robot that stands is moved by one match in all.
        """
        config, (distance, _) = self.config, self._since(odom_from_sensor)
        away = (now @ odom_from_sensor)[:3, 3] - (last @ odom_from_sensor)[:3, 3]
        turned = rotation_vector((now @ inverse(last))[:3, :3])
        return bool(
            np.linalg.norm(away) <= config.share * distance + config.matched
            and abs(away[2]) <= config.slack
            and np.linalg.norm(turned) <= config.turn * distance + config.slack
        )

    def _takes_back(self, before: np.ndarray, now: np.ndarray, odom_from_sensor: np.ndarray) -> bool:
        """Return whether the change from `before` to `now` is the last correction's inverse, wherever map <- odom has
        drifted to since.
        """
        if not self._undo:
            return False
        return _is_same(inverse(self._undo[-1].correction.jump) @ before, now, odom_from_sensor)

    def _undone(
        self, jump: np.ndarray, now: np.ndarray, odom_from_sensor: np.ndarray, stamp: float
    ) -> MapCorrection:
        """Return the inverse of the last correction."""
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
        """Return a correction by the moves of all nodes and of the pose at a stamp and place (3,), (N + 1, 4, 4)."""
        stamps = np.append(self._stamps[: self._count], max(stamp, self._stamps[self._count - 1]))
        serials = np.append(self._serials[: self._count], self._next)
        places = np.vstack([self._poses[: self._count, :3, 3], place])
        return MapCorrection(moves[-1], serials, stamps, places, moves, undoes=undoes)

    def follow(
        self, correction: MapCorrection, before: np.ndarray, now: np.ndarray, sensor: np.ndarray
    ) -> None:
        """Move the nodes; the loop that was closed counts as settled. sensor: (4, 4) odom <- sensor at the jump."""
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
        """Return what the pose graph still moves after the jumps that were followed; None = nothing, or it is unknown.

        stamp, sensor: of the pose, (4, 4) in map, which stays. A graph from before the last jump tells nothing.
        """
        offer = self.graphs.at(stamp) if self.config.enabled and self._count else None
        if offer is None or (self._graph is not None and offer.stamp <= self._graph.stamp <= stamp):
            return None
        if offer.stamp <= self._jumped or self.way < self._graph_way + self.config.graph_every:
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
        """Return the moves (N + 1, 4, 4) of the nodes to where a graph has them; None where nothing is to be moved."""
        serials, places = self._serials[: self._count], self._poses[: self._count, :3, 3]
        found = self._bound.moves(graph, self.config.share * self.way + self.config.slack)
        if found is None:
            return None
        bound, own = found
        after = np.searchsorted(bound, serials).clip(1, len(bound) - 1)
        nearer = np.where(bound[after] - serials <= serials - bound[after - 1], after, after - 1)
        moves = np.vstack([own[nearer], np.eye(4)[None]])
        # what is newer than both agrees with the graph
        moves[:-1][serials >= max(self._jumped_at, bound[-1] + 1)] = np.eye(4)
        reach = _reach(moves[:-1], places)
        if reach.max() < self.config.remainder:
            return None
        moves[:-1][reach < self.config.still] = np.eye(4)
        return moves

    def refine(self, correction: MapCorrection) -> None:
        """Move the nodes by what a pose graph still moved; it is undone together with the last jump."""
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
        """Bind the new nodes of a graph that the map agrees with now."""
        self._graph, self._graph_way = offer, self.way
        if offer.graph is not None:
            self._bound.bind(offer.graph, self._driven())

    # --- room and files ---------------------------------------------------------------------------------------

    def _make_room(self) -> None:
        """Double the arrays; beyond `most` nodes drop every second one of the older half."""
        if self._count >= self.config.most:
            half = self._count // 2
            kept = np.concatenate([np.arange(0, half, 2), np.arange(half, self._count)])
            # an edge has the drift of those that it replaces, up to the node where it ends
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
        """Return the nodes, for `read`."""
        odom = np.full((4, 4), np.nan) if self._odom is None else self._odom
        nodes = {f"trajectory{name}": getattr(self, name)[: self._count].copy() for name in _ARRAYS}
        return {**nodes, "trajectory_odom": odom}

    def read(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Go on from the nodes of `to_arrays`, none where there are none. Raises ValueError for others."""
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
    """A jump that was followed. next: first serial number after it. refined: by a pose graph."""

    next: int
    correction: MapCorrection
    refined: bool = False


_BESIDE = 3.0  # metres from the way at which a turn counts; chosen, half a room
_ARRAYS = ("_poses", "_stamps", "_serials", "_way", "_bends")
_UNDO = 3  # corrections before the last that can be undone; chosen
# metres and radians from which map <- odom counts as moved by a match; chosen, a tenth of its cell
_TOUCHED = 1e-3
_SAME, _SAME_ANGLE = 0.05, 0.0175  # metres and radians within which map <- odom is what it was; half a jump


def _reach(moves: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the metres (N,) by which moves (N, 4, 4) move what lies beside the places (N, 3)."""
    turned = np.abs(np.arctan2(moves[:, 1, 0], moves[:, 0, 0]))
    return np.asarray(np.linalg.norm(displacement(moves, places), axis=1) + _BESIDE * turned)


def _is_same(
    before: np.ndarray,
    now: np.ndarray,
    odom_from_sensor: np.ndarray,
    metres: float = _SAME,
    radians: float = _SAME_ANGLE,
) -> bool:
    """Return whether two map <- odom, (4, 4) each, place the sensor alike."""
    moved = inverse(before @ odom_from_sensor) @ now @ odom_from_sensor
    return bool(
        np.linalg.norm(moved[:3, 3]) <= metres and np.linalg.norm(rotation_vector(moved[:3, :3])) <= radians
    )
