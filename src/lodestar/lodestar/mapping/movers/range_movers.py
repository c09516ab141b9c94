"""Detection of movers by range sensors: new objects, where beams passed a moment ago, that move on.

A "turn" is one rotation of a LiDAR, or one scan of a planar scanner.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from lodestar.geometry.poses import wrap_angle, yaw_of
from lodestar.grid.config import Footprint
from lodestar.mapping.config import RANGE_MOVER_FAR, RangeMoverConfig
from lodestar.mapping.movers.mover_tracks import MoverTrack
from lodestar.mapping.movers.plane_tracks import LONGEST, MOVER_MISSES, PlaneTrack, associate, new_belief
from lodestar.perception.config import MoverConfig

# m above the ground under the robot, within which returns of a LiDAR are used: without floor and ceiling
RANGE_MOVER_BAND: tuple[float, float] = (0.35, 1.7)
RANGE_MOVER_LEGS = 0.15  # m around `shared.body` in which returns are the robot itself: legs swing
# m around the robot within which returns that keep their place relative to it are part of the robot
RANGE_MOVER_CARRIED = 0.4
# s for which turns are remembered; a person who has stood for as long is not new any more
RANGE_MOVER_MEMORY = 2.5
RANGE_MOVER_MARGIN = 0.15  # m beyond a return to which a beam must have passed
# m to either side of a return within which all beams must have passed, because beams graze walls
RANGE_MOVER_BESIDE = 0.15
RANGE_MOVER_PASSES = 2  # remembered turns whose beams must have passed; a single one may be an error
RANGE_MOVER_LEAST = 4  # least returns of a body
# m, largest width of one body; a wider cluster is a group, whose parts are tracked separately
RANGE_MOVER_WIDE = 0.9
RANGE_MOVER_PART = 0.6  # m, width of one part of a group: a person with some space to either side
RANGE_MOVER_WIDEST = 6.0  # m, largest width of a group; a wider cluster is a room that comes into view
# m by which a body must have moved to be a mover: returns that come and go do not move
RANGE_MOVER_MOVED = 0.35
RANGE_MOVER_SLOWEST = 0.25  # m/s, least speed of a body before it is a mover

_BINS = 360  # directions per turn of the sensor
_ASIDE = 30  # largest number of neighbouring directions to each side
_CELL = 0.1  # m, grid cell for clustering returns
_THIN = 0.05  # m, cells that share one test, also of the grid around the robot
# cells by which a part of the robot may shift between turns: 0.1 m to each side, with the cell size
_SWAY = 5
_FLAT = 0.15  # m; returns of less height may come from one ring of beams; chosen
_CLOCK_SET = 1.0  # s; a stamp that is older by more means that the clock was set back


@dataclass(frozen=True)
class _Turn:
    """One turn of the sensor, reduced to a planar scan.

    origin: (2,) in odom, metres. yaw: rad. nearest: (windows, bins), metres to the first return in a
    direction and in its neighbours to each side (row k: k neighbours), inf = none. blur: rad, error of a
    direction. beside_robot: (rows, columns) bool, cells near a return, on a grid around the robot and in its
    frame.
    """

    stamp: float
    origin: np.ndarray
    yaw: float
    nearest: np.ndarray
    blur: float
    beside_robot: np.ndarray

    def passed(self, points: np.ndarray, margin: float, beside: float = 0.0, blur: float = 0.0) -> np.ndarray:
        """Return (N,) bool: whether all beams near a point went on more than `margin` metres beyond it.

        points: (N, 2) in odom. The beams are those that may have passed within `beside` metres of the point;
        blur: rad, error of the points' directions. False if none of these beams has a return.
        """
        away = points - self.origin
        far = np.hypot(*away.T)
        aside = np.ceil((beside / np.maximum(far, 1e-6) + self.blur + blur) * (_BINS / (2.0 * np.pi)))
        first = self.nearest[np.clip(aside, 1, _ASIDE).astype(np.int64), _bins_of(away)]
        return np.isfinite(first) & (first > far + margin)


@dataclass(eq=False, kw_only=True)
class _Body(PlaneTrack):
    """Track of one body that may be a mover.

    born: (2,), where it was first seen. wide, tall: metres. id: 0 until it has moved.
    """

    born: np.ndarray
    wide: float
    tall: float
    id: int = 0


class RangeMovers:
    """Tracks everything that moves in the turns of a LiDAR or scanner.

    Only `tracks` and `restart_clock` are thread-safe. A return is new if the beams of several turns of the
    last seconds went through its place. The neighbouring beams must have gone through too: at the end of a
    wall one beam hits and the next passes, and this changes as the sensor rotates. Connected new returns are
    a body, or a group of bodies; a body that has moved on is a mover. An object that was pushed once, or came
    into view as the robot drove, is forgotten when the turns before it are. The robot itself is excluded:
    returns within its outline, and nearby returns that keep their place relative to it from turn to turn.

    body: the robot's outline about its base. feet: height of the base above the ground, metres; None = a
    planar scan, of which returns of all heights count.
    """

    def __init__(
        self, config: RangeMoverConfig, motion: MoverConfig, body: Footprint, feet: float | None
    ) -> None:
        self.config, self._motion = config, motion
        self._half = np.array([body.length, body.width]) / 2.0
        self._feet = feet
        self._next = 0
        self._is_over = False  # set when the clock went back; the next turn then clears all state
        self._forget()

    def restart_clock(self) -> None:
        """Clear all state before the next turn, because the clock went back. May be called from any thread."""
        self._is_over = True

    def _forget(self) -> None:
        self._turns: list[_Turn] = []
        self._bodies: list[_Body] = []
        self._tracks: tuple[MoverTrack, ...] = ()
        self._stamp = -np.inf

    def tracks(self) -> tuple[MoverTrack, ...]:
        """Return the movers in map at the stamp of the newest turn; their label is empty. May be called from any
        thread.
        """
        return () if self._is_over else self._tracks

    def take(
        self,
        stamp: float,
        points: np.ndarray,
        odom_from_sensor: np.ndarray,
        map_from_odom: np.ndarray,
        odom_from_base: np.ndarray,
        passed: np.ndarray | None = None,
    ) -> None:
        """Update the movers with one turn.

        points: (N, 3), metres in the sensor's frame. Poses: (4, 4). passed: (K, 3) in the sensor's frame,
        free ends of beams without a return; None = such beams are ignored.
        """
        if not np.isfinite([odom_from_sensor, map_from_odom, odom_from_base]).all():
            return
        if self._is_over or stamp <= self._stamp - _CLOCK_SET:
            self._is_over = False
            self._forget()
        if stamp <= self._stamp:
            return
        config, origin = self.config, odom_from_sensor[:2, 3]
        step = min(stamp - self._stamp, LONGEST) if self._bodies else 0.0
        self._stamp = stamp
        offsets = np.asarray(points, np.float64) @ odom_from_sensor[:3, :3].T
        if self._feet is not None:
            ground = odom_from_base[2, 3] - self._feet * odom_from_base[2, 2] - odom_from_sensor[2, 3]
            low, high = RANGE_MOVER_BAND
            offsets = offsets[(offsets[:, 2] >= ground + low) & (offsets[:, 2] <= ground + high)]
        offsets = offsets[np.isfinite(offsets).all(axis=1)]
        offsets, heights = offsets[:, :2], offsets[:, 2]
        seen = self._from_robot(offsets + origin, odom_from_base)
        away = np.hypot(*offsets.T)
        others = (away >= config.near) & (np.abs(seen) > self._half + RANGE_MOVER_LEGS).any(axis=1)
        hidden = offsets[~others]
        offsets, heights, seen, away = offsets[others], heights[others], seen[others], away[others]
        self._turns = [one for one in self._turns if stamp - RANGE_MOVER_MEMORY <= one.stamp <= stamp]
        yaw, rate = yaw_of(odom_from_sensor), 0.0
        for last in self._turns[-1:]:
            rate = abs(float(wrap_angle(yaw - last.yaw))) / (stamp - last.stamp)
        beyond = (
            np.zeros((0, 3))
            if passed is None
            else np.asarray(passed, np.float64) @ odom_from_sensor[:3, :3].T
        )
        beams = np.concatenate([offsets, beyond[:, :2]])
        cells, beside_robot = self._beside_robot(seen)
        turn = _Turn(
            stamp, origin.copy(), yaw, _first_returns(beams, hidden), config.lag * rate, beside_robot
        )
        inside = (away <= RANGE_MOVER_FAR) & ~self._is_carried(cells)
        near = np.column_stack([offsets + origin, heights])[inside]
        self._follow(_clusters(near[self._is_new(near[:, :2], turn.blur)]), turn, step)
        self._turns.append(turn)
        turned = np.asarray(map_from_odom, np.float64)
        self._tracks = tuple(
            _told(body, turned, odom_from_sensor[2, 3], stamp) for body in self._bodies if body.id
        )

    def _from_robot(self, points: np.ndarray, odom_from_base: np.ndarray) -> np.ndarray:
        """Return points (N, 2) of odom in the robot's frame in plan."""
        c, s = np.cos(yaw_of(odom_from_base)), np.sin(yaw_of(odom_from_base))
        return np.asarray((points - odom_from_base[:2, 3]) @ [[c, -s], [s, c]])

    def _beside_robot(self, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the cells of points in the grid around the robot, and which cells lie near a point.

        seen: points (N, 2) in the robot's frame. The cells are (N, 2), -1 = outside; the grid is (rows,
        columns) bool.
        """
        reach = self._half + RANGE_MOVER_CARRIED
        cells = np.floor((seen + reach) / _THIN).astype(np.int64)
        shape = np.ceil(2.0 * reach / _THIN).astype(np.int64)
        cells[((cells < 0) | (cells >= shape)).any(axis=1)] = -1
        held = np.zeros(tuple(shape), np.uint8)
        held[tuple(cells[cells[:, 0] >= 0].T)] = 1
        return cells, cv2.dilate(held, np.ones((_SWAY, _SWAY), np.uint8)).astype(bool)

    def _is_carried(self, cells: np.ndarray) -> np.ndarray:
        """Return (N,) bool: whether returns at cells (N, 2) of the grid around the robot move with the robot.

        They do if all remembered turns but at most one had a return there.
        """
        turns = sum((turn.beside_robot.astype(np.int64) for turn in self._turns), np.zeros((1, 1), np.int64))
        inside = cells[:, 0] >= 0
        if not self._turns or not inside.any():
            return np.zeros(len(cells), bool)
        return inside & (turns[tuple(cells.T)] >= max(len(self._turns) - 1, 1))

    def _is_new(self, points: np.ndarray, blur: float) -> np.ndarray:
        """Return (N,) bool: whether enough remembered turns saw through the places of points (N, 2), odom.

        blur: rad, error of the points' directions.
        """
        if not len(points):
            return np.zeros(0, bool)
        cells, shape = _cells_of(points, _THIN)
        flat = np.ravel_multi_index(tuple(cells.T), shape)
        last = np.full(shape[0] * shape[1], -1)
        last[flat] = np.arange(len(points))  # test one return per cell
        tested = last[last >= 0]
        passed = np.zeros(len(tested), np.int64)
        for turn in self._turns:
            passed += turn.passed(points[tested], RANGE_MOVER_MARGIN, RANGE_MOVER_BESIDE, blur)
        new = np.zeros(len(last), bool)
        new[flat[tested]] = passed >= RANGE_MOVER_PASSES
        return new[flat]

    def _follow(self, found: list[tuple[np.ndarray, float, float]], turn: _Turn, step: float) -> None:
        """Update the tracked bodies with the new returns of a turn.

        found: middle (2,), width and height, metres, per cluster. step: seconds since the last turn.
        """
        places = np.array([_inner(place, wide, turn.origin) for place, wide, _ in found]).reshape(-1, 2)
        for body in self._bodies:
            body.predict(step)
        pairs = dict(associate(self._bodies, places))
        for row, body in enumerate(self._bodies):
            if row in pairs:
                body.update(places[pairs[row]], turn.stamp)
                body.wide, body.tall = (
                    max(body.wide, found[pairs[row]][1]),
                    max(body.tall, found[pairs[row]][2]),
                )
                if not body.id and self._has_moved(body):
                    self._next += 1
                    body.id = self._next
            else:
                body.coast(step)
                body.misses += bool(turn.passed(body.mean[None, :2], RANGE_MOVER_MARGIN)[0])
        taken = set(pairs.values())
        for column, (place, (_, wide, tall)) in enumerate(zip(places, found)):
            if column not in taken:
                mean, spread = new_belief(place)
                self._bodies.append(
                    _Body(
                        mean=mean, covariance=spread, first_seen=turn.stamp, last_seen=turn.stamp,
                        born=place, wide=wide, tall=tall,
                    )
                )  # fmt: skip
        life = self.config.life
        alive = [
            body for body in self._bodies
            if body.misses < MOVER_MISSES and turn.stamp - body.last_seen <= life * (1.0 if body.id else 0.5)
        ]  # fmt: skip
        self._bodies = sorted(alive, key=lambda body: (bool(body.id), body.last_seen))[-self._motion.most :]

    def _has_moved(self, body: _Body) -> bool:
        """Return whether a body has moved far and fast enough to be a mover.

        A flat body of a 3-D sensor never counts: as the robot walks, other rings of beams hit the edge or
        underside of a table, and the resulting flat returns move.
        """
        if self._feet is not None and body.tall < _FLAT:
            return False
        away = float(np.linalg.norm(body.mean[:2] - body.born))
        speed = float(np.linalg.norm(body.mean[2:]))
        return body.sights >= 3 and away >= RANGE_MOVER_MOVED and speed >= RANGE_MOVER_SLOWEST


def _bins_of(away: np.ndarray) -> np.ndarray:
    turns = np.arctan2(away[:, 1], away[:, 0]) / (2.0 * np.pi)
    return np.floor(turns * _BINS).astype(np.int64) % _BINS


def _first_returns(offsets: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """Return (windows, bins): metres to the first return per direction bin.

    Row k also covers the k neighbouring bins to each side. offsets: (N, 2) from the sensor. hidden: (M, 2),
    returns of the robot itself; directions with only such returns count as blocked at distance 0.
    """
    nearest = np.full((_ASIDE + 1, _BINS), np.inf)
    np.minimum.at(nearest[0], _bins_of(offsets), np.hypot(*offsets.T))
    shadow = np.unique(_bins_of(hidden))
    nearest[0, shadow[np.isinf(nearest[0, shadow])]] = 0.0
    for k in range(1, _ASIDE + 1):
        beside = np.minimum(np.roll(nearest[0], k), np.roll(nearest[0], -k))
        nearest[k] = np.minimum(nearest[k - 1], beside)
    return nearest


def _cells_of(points: np.ndarray, size: float) -> tuple[np.ndarray, tuple[int, int]]:
    """Return the cells (N, 2) of points (N, 2), N > 0, in the smallest grid around them, and its shape.

    The grid has a border of one cell. size: edge of a cell, metres.
    """
    cells = np.floor(points / size).astype(np.int64)
    cells -= cells.min(axis=0) - 1
    rows, columns = cells.max(axis=0) + 2
    return cells, (int(rows), int(columns))


def _clusters(points: np.ndarray) -> list[tuple[np.ndarray, float, float]]:
    """Return the middle (2,), width and height, metres, of each body among points (N, 3).

    Connected points are one body; a group that is too wide for one body is divided into equal parts along its
    length.
    """
    if len(points) < RANGE_MOVER_LEAST:
        return []
    cells, shape = _cells_of(points[:, :2], _CELL)
    image = np.zeros(shape, np.uint8)
    image[tuple(cells.T)] = 1
    _, labels = cv2.connectedComponents(cv2.dilate(image, np.ones((3, 3), np.uint8)), connectivity=8)
    owner = labels[tuple(cells.T)]
    found = []
    for label in np.unique(owner):
        for own in _parts(points[owner == label]):
            if len(own) >= RANGE_MOVER_LEAST:
                low, high = own.min(axis=0), own.max(axis=0)
                wide = float(np.linalg.norm((high - low)[:2]))
                found.append(((low + high)[:2] / 2.0, wide, float(high[2] - low[2])))
    return found


def _parts(points: np.ndarray) -> list[np.ndarray]:
    """Return connected points (N, 3) as one body, or as equal parts along their length if they are too wide.

    The list is empty if they are too wide even for a group.
    """
    plan = points[:, :2]
    wide = float(np.linalg.norm(np.ptp(plan, axis=0)))
    if wide <= RANGE_MOVER_WIDE:
        return [points]
    if wide > RANGE_MOVER_WIDEST:
        return []
    off = plan - plan.mean(axis=0)
    along = off @ np.linalg.eigh(off.T @ off)[1][:, 1]
    along -= along.min()
    count = max(round(float(along.max()) / RANGE_MOVER_PART), 1)
    which = np.minimum(along / along.max() * count, count - 1).astype(np.int64)
    return [points[which == k] for k in range(count)]


def _inner(place: np.ndarray, wide: float, origin: np.ndarray) -> np.ndarray:
    """Return the estimated middle (2,) of a body, from the middle of its side that faces the sensor."""
    away = place - origin
    return np.asarray(place + away * (0.25 * min(wide, 0.5) / max(float(np.linalg.norm(away)), 1e-6)))


def _told(body: _Body, map_from_odom: np.ndarray, height: float, stamp: float) -> MoverTrack:
    turn = map_from_odom[:3, :3]
    place = turn @ (*body.mean[:2], height) + map_from_odom[:3, 3]
    size = np.array([body.wide, body.wide, 0.0])
    return MoverTrack(
        body.id, "", "", place, turn[:2, :2] @ body.mean[2:], size, body.first_seen, body.last_seen, stamp
    )
