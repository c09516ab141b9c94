"""Movers that range sensors see all around: returns where beams passed a moment ago, which move on."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from lodestar.geometry.poses import wrap_angle, yaw_of
from lodestar.grid.config import Footprint
from lodestar.mapping.config import RangeMoverConfig
from lodestar.mapping.mover_tracks import MoverTrack
from lodestar.mapping.plane_tracks import LONGEST, PlaneTrack, associate, new_belief
from lodestar.perception.config import MoverConfig

_BINS = 360  # directions of a turn
_ASIDE = 30  # directions at either side, at most, of which the beams count as beside
_CELL = 0.1  # m, of the grid in which returns hang together
_THIN = 0.05  # m, of the cells of which one return is tested, and of those around the robot
_SWAY = 5  # cells at which a part of the robot may be seen from it: 0.1 m to either side
_FLAT = 0.15  # m of height below which returns may be of one ring of beams; chosen
_CLOCK_SET = 1.0  # s by which stamps may come late before the clock counts as set back


@dataclass(frozen=True)
class _Turn:
    """One turn as a planar scan. origin: (2,) in odom, metres; yaw: rad; nearest: (windows, bins) to the first return
    in a direction and so many at either side, inf = none; blur: rad, error of a direction; beside_robot: (rows,
    columns) bool, cells around the robot, in its frame, with returns near.
    """

    stamp: float
    origin: np.ndarray
    yaw: float
    nearest: np.ndarray
    blur: float
    beside_robot: np.ndarray

    def passed(self, points: np.ndarray, margin: float, beside: float = 0.0, blur: float = 0.0) -> np.ndarray:
        """Return (N,) bool: points (N, 2) beyond which all beams went on that may have passed within `beside` metres.

        blur: rad, error of the directions of the points.
        """
        away = points - self.origin
        far = np.hypot(*away.T)
        aside = np.ceil((beside / np.maximum(far, 1e-6) + self.blur + blur) * (_BINS / (2.0 * np.pi)))
        first = self.nearest[np.clip(aside, 1, _ASIDE).astype(np.int64), _bins_of(away)]
        return np.isfinite(first) & (first > far + margin)


@dataclass(eq=False, kw_only=True)
class _Body(PlaneTrack):
    """One body. born: (2,) where it was first seen; wide, tall: m; id: 0 until it has moved."""

    born: np.ndarray
    wide: float
    tall: float
    id: int = 0


class RangeMovers:
    """Follow what moves in the turns of a LiDAR or scanner, whatever it is. Not safe for threads, but for `tracks`
    and `restart_clock`.

    A return where the beams of several turns of the last seconds went on is new. All beams beside it must have: at the
    end of a wall one beam meets it and the next goes on, and which one does changes as the sensor turns. New returns
    that hang together are a body, or a group of them; a body that has moved on by `moved` is a mover. What was pushed
    once, or came into view as the robot drove, ends with the memory of the turns. The robot itself is none: returns
    within its outline, and those around it that turn after turn stay where they are as seen from it.

    body: the robot's outline about its base. feet: metres of the base over the ground; None = a planar scan, of which
    all returns count, whatever their height.
    """

    def __init__(
        self, config: RangeMoverConfig, motion: MoverConfig, body: Footprint, feet: float | None
    ) -> None:
        self.config, self._motion = config, motion
        self._half = np.array([body.length, body.width]) / 2.0
        self._feet = feet
        self._next = 0
        self._is_over = False  # the clock went back; the next turn forgets what was before
        self._forget()

    def restart_clock(self) -> None:
        """Have everything forgotten before the next turn, as the clock went back. On any thread."""
        self._is_over = True

    def _forget(self) -> None:
        self._turns: list[_Turn] = []
        self._bodies: list[_Body] = []
        self._tracks: tuple[MoverTrack, ...] = ()
        self._stamp = -np.inf

    def tracks(self) -> tuple[MoverTrack, ...]:
        """Return the movers in map at the stamp of the newest turn; their label is empty. On any thread."""
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
        """Follow the movers of one turn. points: (N, 3), metres in the sensor's frame; poses: (4, 4).

        passed: (K, 3) in that frame, how far beams without a return count as having gone on; None = none do.
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
            low, high = config.band
            offsets = offsets[(offsets[:, 2] >= ground + low) & (offsets[:, 2] <= ground + high)]
        offsets = offsets[np.isfinite(offsets).all(axis=1)]
        offsets, heights = offsets[:, :2], offsets[:, 2]
        seen = self._from_robot(offsets + origin, odom_from_base)
        away = np.hypot(*offsets.T)
        others = (away >= config.near) & (np.abs(seen) > self._half + config.legs).any(axis=1)
        hidden = offsets[~others]
        offsets, heights, seen, away = offsets[others], heights[others], seen[others], away[others]
        self._turns = [one for one in self._turns if stamp - config.memory <= one.stamp <= stamp]
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
        inside = (away <= config.far) & ~self._is_carried(cells)
        near = np.column_stack([offsets + origin, heights])[inside]
        self._follow(_clusters(near[self._is_new(near[:, :2], turn.blur)], config), turn, step)
        self._turns.append(turn)
        turned = np.asarray(map_from_odom, np.float64)
        self._tracks = tuple(
            _told(body, turned, odom_from_sensor[2, 3], stamp) for body in self._bodies if body.id
        )

    def _from_robot(self, points: np.ndarray, odom_from_base: np.ndarray) -> np.ndarray:
        """Return points (N, 2) of odom in the robot's plane, as its yaw has it."""
        c, s = np.cos(yaw_of(odom_from_base)), np.sin(yaw_of(odom_from_base))
        return np.asarray((points - odom_from_base[:2, 3]) @ [[c, -s], [s, c]])

    def _beside_robot(self, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the cells (N, 2) around the robot of points (N, 2) in its frame, of which -1 are none, and which cells
        (rows, columns) are near one.
        """
        reach = self._half + self.config.carried
        cells = np.floor((seen + reach) / _THIN).astype(np.int64)
        shape = np.ceil(2.0 * reach / _THIN).astype(np.int64)
        cells[((cells < 0) | (cells >= shape)).any(axis=1)] = -1
        held = np.zeros(tuple(shape), np.uint8)
        held[tuple(cells[cells[:, 0] >= 0].T)] = 1
        return cells, cv2.dilate(held, np.ones((_SWAY, _SWAY), np.uint8)).astype(bool)

    def _is_carried(self, cells: np.ndarray) -> np.ndarray:
        """Return (N,) bool: returns in cells (N, 2) around the robot that all remembered turns but one had too."""
        turns = sum((turn.beside_robot.astype(np.int64) for turn in self._turns), np.zeros((1, 1), np.int64))
        inside = cells[:, 0] >= 0
        if not self._turns or not inside.any():
            return np.zeros(len(cells), bool)
        return inside & (turns[tuple(cells.T)] >= max(len(self._turns) - 1, 1))

    def _is_new(self, points: np.ndarray, blur: float) -> np.ndarray:
        """Return (N,) bool: points (N, 2) in cells where the beams of enough of the remembered turns went on.

        blur: rad, error of their directions.
        """
        if not len(points):
            return np.zeros(0, bool)
        cells, shape = _cells_of(points, _THIN)
        flat = np.ravel_multi_index(tuple(cells.T), shape)
        last = np.full(shape[0] * shape[1], -1)
        last[flat] = np.arange(len(points))  # one return of each cell stands for all
        tested = last[last >= 0]
        passed = np.zeros(len(tested), np.int64)
        for turn in self._turns:
            passed += turn.passed(points[tested], self.config.margin, self.config.beside, blur)
        new = np.zeros(len(last), bool)
        new[flat[tested]] = passed >= self.config.passes
        return new[flat]

    def _follow(self, found: list[tuple[np.ndarray, float, float]], turn: _Turn, step: float) -> None:
        """Update the bodies by new returns: middle (2,), width and height, metres, of each."""
        config, motion = self.config, self._motion
        places = np.array([_inner(place, wide, turn.origin) for place, wide, _ in found]).reshape(-1, 2)
        for body in self._bodies:
            body.predict(step, motion)
        pairs = dict(associate(self._bodies, places, motion))
        for row, body in enumerate(self._bodies):
            if row in pairs:
                body.update(places[pairs[row]], turn.stamp, motion)
                body.wide, body.tall = (
                    max(body.wide, found[pairs[row]][1]),
                    max(body.tall, found[pairs[row]][2]),
                )
                if not body.id and self._has_moved(body):
                    self._next += 1
                    body.id = self._next
            else:
                body.coast(step)
                body.misses += bool(turn.passed(body.mean[None, :2], config.margin)[0])
        taken = set(pairs.values())
        for column, (place, (_, wide, tall)) in enumerate(zip(places, found)):
            if column not in taken:
                mean, spread = new_belief(place, motion)
                self._bodies.append(
                    _Body(
                        mean=mean, covariance=spread, first_seen=turn.stamp, last_seen=turn.stamp,
                        born=place, wide=wide, tall=tall,
                    )
                )  # fmt: skip
        alive = [
            body for body in self._bodies
            if body.misses < motion.misses and turn.stamp - body.last_seen <= config.life * (1.0 if body.id else 0.5)
        ]  # fmt: skip
        self._bodies = sorted(alive, key=lambda body: (bool(body.id), body.last_seen))[-motion.most :]

    def _has_moved(self, body: _Body) -> bool:
        """Return whether a body has moved on.

        Which ring of beams meets the edge or the underside of a table changes as the robot walks, and where it does is
        flat and moves; whoever walks has a height.
        """
        if self._feet is not None and body.tall < _FLAT:
            return False
        away = float(np.linalg.norm(body.mean[:2] - body.born))
        speed = float(np.linalg.norm(body.mean[2:]))
        return body.sights >= 3 and away >= self.config.moved and speed >= self.config.slowest


def _bins_of(away: np.ndarray) -> np.ndarray:
    turns = np.arctan2(away[:, 1], away[:, 0]) / (2.0 * np.pi)
    return np.floor(turns * _BINS).astype(np.int64) % _BINS


def _first_returns(offsets: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """Return (windows, bins) metres to the first return in each direction and up to _ASIDE at either side.

    offsets: (N, 2) from the sensor; hidden: (M, 2), returns of the robot itself, behind which nothing has passed.
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
    """Return the cells (N, 2) of points (N, 2), N > 0, in a grid with a border of one, and its shape. size: metres."""
    cells = np.floor(points / size).astype(np.int64)
    cells -= cells.min(axis=0) - 1
    rows, columns = cells.max(axis=0) + 2
    return cells, (int(rows), int(columns))


def _clusters(points: np.ndarray, config: RangeMoverConfig) -> list[tuple[np.ndarray, float, float]]:
    """Return the middle (2,), the width and the height, metres, of each body among points (N, 3): those that hang
    together, and of a group each part along its length.
    """
    if len(points) < config.least:
        return []
    cells, shape = _cells_of(points[:, :2], _CELL)
    image = np.zeros(shape, np.uint8)
    image[tuple(cells.T)] = 1
    _, labels = cv2.connectedComponents(cv2.dilate(image, np.ones((3, 3), np.uint8)), connectivity=8)
    owner = labels[tuple(cells.T)]
    found = []
    for label in np.unique(owner):
        for own in _parts(points[owner == label], config):
            if len(own) >= config.least:
                low, high = own.min(axis=0), own.max(axis=0)
                wide = float(np.linalg.norm((high - low)[:2]))
                found.append(((low + high)[:2] / 2.0, wide, float(high[2] - low[2])))
    return found


def _parts(points: np.ndarray, config: RangeMoverConfig) -> list[np.ndarray]:
    """Return points (N, 3) that hang together as one body, or in equal parts along their length; [] where too wide."""
    plan = points[:, :2]
    wide = float(np.linalg.norm(np.ptp(plan, axis=0)))
    if wide <= config.wide:
        return [points]
    if wide > config.widest:
        return []
    off = plan - plan.mean(axis=0)
    along = off @ np.linalg.eigh(off.T @ off)[1][:, 1]
    along -= along.min()
    count = max(round(float(along.max()) / config.part), 1)
    which = np.minimum(along / along.max() * count, count - 1).astype(np.int64)
    return [points[which == k] for k in range(count)]


def _inner(place: np.ndarray, wide: float, origin: np.ndarray) -> np.ndarray:
    """Return the middle (2,) of a body of which the side at the sensor is seen."""
    away = place - origin
    return np.asarray(place + away * (0.25 * min(wide, 0.5) / max(float(np.linalg.norm(away)), 1e-6)))


def _told(body: _Body, map_from_odom: np.ndarray, height: float, stamp: float) -> MoverTrack:
    turn = map_from_odom[:3, :3]
    place = turn @ (*body.mean[:2], height) + map_from_odom[:3, 3]
    size = np.array([body.wide, body.wide, 0.0])
    return MoverTrack(
        body.id, "", "", place, turn[:2, :2] @ body.mean[2:], size, body.first_seen, body.last_seen, stamp
    )
