"""Movers that range sensors see all around: returns where beams passed a moment ago, which move on."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from lodestar.geometry.poses import wrap_angle, yaw_of
from lodestar.mapping.config import RangeMoverConfig
from lodestar.mapping.mover_tracks import MoverTrack
from lodestar.mapping.plane_tracks import LONGEST, PlaneTrack, associate, new_belief
from lodestar.perception.config import MoverConfig

_BINS = 360  # directions of a turn
_ASIDE = 30  # directions at either side, at most, of which the beams count as beside
_CELL = 0.1  # m, of the grid in which returns hang together
_THIN = 0.05  # m, of the cells of which one return is tested
_CLOCK_SET = 1.0  # s by which stamps may come late before the clock counts as set back


@dataclass(frozen=True)
class _Turn:
    """One turn as a planar scan. origin: (2,) in odom, metres; yaw: rad; nearest: (windows, bins) to the first return
    in a direction and so many at either side, inf = none; blur: rad, error of a direction.
    """

    stamp: float
    origin: np.ndarray
    yaw: float
    nearest: np.ndarray
    blur: float

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
    """One body. born: (2,) where it was first seen; wide: m; id: 0 until it has moved."""

    born: np.ndarray
    wide: float
    id: int = 0


class RangeMovers:
    """Follow what moves in the turns of a LiDAR or scanner, whatever it is. Not safe for threads, but for `tracks`
    and `restart_clock`.

    A return where the beams of several turns of the last seconds went on is new. All beams beside it must have: at the
    end of a wall one beam meets it and the next goes on, and which one does changes as the sensor turns. New returns
    that hang together are a body; one that has moved on by `moved` is a mover. What was pushed once, or came into view
    as the robot drove, ends with the memory of the turns.
    """

    def __init__(self, config: RangeMoverConfig, motion: MoverConfig) -> None:
        self.config, self._motion = config, motion
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
        self, stamp: float, points: np.ndarray, odom_from_sensor: np.ndarray, map_from_odom: np.ndarray
    ) -> None:
        """Follow the movers of one turn. points: (N, 3), metres in the sensor's frame; poses: (4, 4)."""
        if not np.isfinite([odom_from_sensor, map_from_odom]).all():
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
        low, high = config.band
        offsets = offsets[(offsets[:, 2] >= low) & (offsets[:, 2] <= high)][:, :2]
        away = np.hypot(*offsets.T)
        self._turns = [one for one in self._turns if stamp - config.memory <= one.stamp <= stamp]
        yaw, rate = yaw_of(odom_from_sensor), 0.0
        for last in self._turns[-1:]:
            rate = abs(float(wrap_angle(yaw - last.yaw))) / (stamp - last.stamp)
        turn = _Turn(stamp, origin.copy(), yaw, _first_returns(offsets, away), config.lag * rate)
        near = offsets[(away >= config.near) & (away <= config.far)] + origin
        self._follow(_clusters(near[self._is_new(near, turn.blur)], config), turn, step)
        self._turns.append(turn)
        turned = np.asarray(map_from_odom, np.float64)
        self._tracks = tuple(
            _told(body, turned, odom_from_sensor[2, 3], stamp) for body in self._bodies if body.id
        )

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

    def _follow(self, found: list[tuple[np.ndarray, float]], turn: _Turn, step: float) -> None:
        """Update the bodies by new returns: middle (2,) and width, metres, of each."""
        config, motion = self.config, self._motion
        places = np.array([_inner(place, wide, turn.origin) for place, wide in found]).reshape(-1, 2)
        for body in self._bodies:
            body.predict(step, motion)
        pairs = dict(associate(self._bodies, places, motion))
        for row, body in enumerate(self._bodies):
            if row in pairs:
                body.update(places[pairs[row]], turn.stamp, motion)
                body.wide = max(body.wide, found[pairs[row]][1])
                if not body.id and self._has_moved(body):
                    self._next += 1
                    body.id = self._next
            else:
                body.coast(step)
                body.misses += bool(turn.passed(body.mean[None, :2], config.margin)[0])
        taken = set(pairs.values())
        for column, (place, (_, wide)) in enumerate(zip(places, found)):
            if column not in taken:
                mean, spread = new_belief(place, motion)
                self._bodies.append(
                    _Body(
                        mean=mean, covariance=spread, first_seen=turn.stamp, last_seen=turn.stamp,
                        born=place, wide=wide,
                    )
                )  # fmt: skip
        alive = [
            body for body in self._bodies
            if body.misses < motion.misses and turn.stamp - body.last_seen <= config.life * (1.0 if body.id else 0.5)
        ]  # fmt: skip
        self._bodies = sorted(alive, key=lambda body: (bool(body.id), body.last_seen))[-motion.most :]

    def _has_moved(self, body: _Body) -> bool:
        gone = float(np.linalg.norm(body.mean[:2] - body.born))
        speed = float(np.linalg.norm(body.mean[2:]))
        return body.sights >= 3 and gone >= self.config.moved and speed >= self.config.slowest


def _bins_of(away: np.ndarray) -> np.ndarray:
    turns = np.arctan2(away[:, 1], away[:, 0]) / (2.0 * np.pi)
    return np.floor(turns * _BINS).astype(np.int64) % _BINS


def _first_returns(offsets: np.ndarray, away: np.ndarray) -> np.ndarray:
    """Return (windows, bins) metres to the first return in each direction and up to _ASIDE at either side."""
    nearest = np.full((_ASIDE + 1, _BINS), np.inf)
    np.minimum.at(nearest[0], _bins_of(offsets), away)
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


def _clusters(points: np.ndarray, config: RangeMoverConfig) -> list[tuple[np.ndarray, float]]:
    """Return the middle (2,) and the width, metres, of points (N, 2) that hang together as a body does."""
    if len(points) < config.least:
        return []
    cells, shape = _cells_of(points, _CELL)
    image = np.zeros(shape, np.uint8)
    image[tuple(cells.T)] = 1
    _, labels = cv2.connectedComponents(cv2.dilate(image, np.ones((3, 3), np.uint8)), connectivity=8)
    owner = labels[tuple(cells.T)]
    found = []
    for label in np.unique(owner):
        own = points[owner == label]
        wide = float(np.linalg.norm(np.ptp(own, axis=0)))
        if len(own) >= config.least and wide <= config.widest:
            found.append(((own.min(axis=0) + own.max(axis=0)) / 2.0, wide))
    return found


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
