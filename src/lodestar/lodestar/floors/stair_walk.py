"""The walk over one straight flight of stairs: from before its first edge, in a line, slowly, until level again."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np

from lodestar.floors.records import Passage, PassageKind


@dataclass(frozen=True)
class StairWalkConfig:
    """Speeds, tolerances and ends of a walk."""

    speed: float = 0.25  # m/s; chosen: a third of the walking speed
    lateral: float = 0.10  # m/s, most to the side; chosen
    turn: float = 0.4  # rad/s, most; chosen
    gain: float = 1.0  # 1/s, of sideways error and of heading; chosen
    approach: float = (
        0.75  # m before the edge at which it begins; chosen: half a Go2 and two tolerances of a goal
    )
    aligned: float = math.radians(6.0)  # rad of heading within which it walks on; chosen
    off_line: float = 0.25  # m beside the line from which it stops; chosen: half the spare width
    askew: float = math.radians(
        25.0
    )  # rad off the line on the steps from which it stops, for it may not turn there
    fresh: float = (
        0.3  # s for which a stance tells where it is, after which it stands; chosen: three of 10 Hz
    )
    lost: float = 3.0  # s without a stance after which the walk is over; chosen
    begun: float = math.radians(12.0)  # rad of tilt from which it is on the flight; a flight has 20 and more
    level: float = math.radians(
        6.0
    )  # rad of tilt below which it is level again; `WatchConfig.level` less noise
    steepest: float = math.radians(
        38.0
    )  # rad of tilt at which it stops; 0.16 m over 0.28 m are 30, and a step's pitch
    clear: float = 0.45  # m that it goes on when it is level again: half its length and a tolerance
    late: float = 1.0  # m beyond the edge without a tilt after which there is no flight; chosen
    back: float = 0.5  # m of way that it may lose again; chosen: nearly two steps, more than a pose jumps
    longest: float = 12.0  # m of way; chosen: a flight of 30 steps
    stalled: float = 4.0  # s without 5 cm of way after which something is in the way; chosen


class WalkStatus(Enum):
    """State of a walk."""

    WALKING = "walking"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True)
class Stance:
    """The robot as odometry tells: (3,) x, y, yaw in map, height in metres, tilt of the body in radians.

    stamp: seconds on the clock of `update`'s `now`; None = now.
    """

    pose: np.ndarray
    height: float
    tilt: float
    stamp: float | None = None

    def is_known(self, now: float, fresh: float) -> bool:
        """Return whether it is finite and not older than `fresh` seconds at `now`."""
        finite = bool(np.isfinite([*self.pose, self.height, self.tilt]).all())
        return finite and (self.stamp is None or abs(now - self.stamp) <= fresh)


class StanceWatch:
    """Tells whether stances say where the robot is: none may be older than `fresh`, or be away for `lost` seconds."""

    def __init__(self, fresh: float, lost: float) -> None:
        self._fresh, self._lost = fresh, lost
        self._known: float | None = None  # when one was known last, or asked for first

    def sees(self, now: float, stance: Stance) -> bool:
        """Return whether the robot knows where it is."""
        is_known = stance.is_known(now, self._fresh)
        if is_known or self._known is None:
            self._known = now
        return is_known

    def is_lost(self, now: float) -> bool:
        """Return whether that is not so for too long, as of the last stance."""
        return self._known is not None and now - self._known > self._lost


class StairWalk:
    """One walk. `update` returns the velocity (3,) vx, vy, wz in the body frame; why: of a failure."""

    def __init__(self, passage: Passage, floor: int, config: StairWalkConfig = StairWalkConfig()) -> None:
        if passage.kind is not PassageKind.STAIRS:
            raise ValueError("only stairs are walked")
        self.config, self.passage = config, passage
        self._entry = passage.entry(floor)
        self._along = np.array([math.cos(self._entry[2]), math.sin(self._entry[2])])
        self.status, self.why = WalkStatus.WALKING, ""
        self._begun: float | None = None  # height at the first edge, once it is on the flight
        self._ended: float | None = None  # way at which it was level again
        self._moved: tuple[float, float] | None = None  # when, and way then
        self._start: float | None = None
        self._farthest = -math.inf  # way that it had come to
        self._watch = StanceWatch(config.fresh, config.lost)

    @property
    def is_on_flight(self) -> bool:
        """Return whether the robot stands on steps, so that it must not turn."""
        return self._begun is not None and self._ended is None

    def update(self, now: float, stance: Stance) -> np.ndarray:
        """Return the command at `now` seconds; zeros once the walk is over, and while the stance is not known."""
        if self.status is not WalkStatus.WALKING:
            return np.zeros(3)
        if not self._watch.sees(now, stance):
            if self._watch.is_lost(now):
                self.status, self.why = WalkStatus.FAILED, "I no longer know where I am"
            return np.zeros(3)
        offset = stance.pose[:2] - self._entry[:2]
        way = float(offset @ self._along)
        beside = float(offset @ (-self._along[1], self._along[0]))
        turned = math.remainder(float(stance.pose[2] - self._entry[2]), math.tau)
        self._note(now, way, stance)
        why = self._fault(now, way, beside, turned, stance)
        if why:
            self.status, self.why = WalkStatus.FAILED, why
            return np.zeros(3)
        if self._ended is not None and way >= self._ended + self.config.clear:
            self.status = WalkStatus.DONE
            return np.zeros(3)
        return self._command(beside, turned)

    def _note(self, now: float, way: float, stance: Stance) -> None:
        config = self.config
        if self._start is None:
            self._start = stance.height
        if self._begun is None and stance.tilt >= config.begun:
            self._begun = self._start
        rise = abs(stance.height - (self._begun or 0.0))
        if self._begun is not None and self._ended is None and stance.tilt <= config.level and rise > 0.3:
            self._ended = way
        if self._moved is None or abs(way - self._moved[1]) > 0.05:
            self._moved = now, way

    def _fault(self, now: float, way: float, beside: float, turned: float, stance: Stance) -> str:
        config = self.config
        assert self._moved is not None
        if stance.tilt > config.steepest:
            return "the steps are too steep for me"
        self._farthest = max(self._farthest, way)
        if way < self._farthest - config.back:
            return f"I slid back {'on' if self._begun is not None else 'before'} the stairs"
        if self._begun is None and way > config.late:
            return "there is no flight of stairs where I expected one"
        if self._begun is None and abs(beside) > config.off_line and way > -0.5 * config.approach:
            return f"I came to the stairs {abs(beside):.2f} m beside their middle"
        if self.is_on_flight and (abs(beside) > config.off_line or abs(turned) > config.askew):
            return "I came off the line of the stairs, and may not turn on them"
        if way > config.longest:
            return f"the stairs go on beyond {config.longest:.0f} m"
        if now - self._moved[0] > config.stalled:
            place = "on the stairs" if self.is_on_flight else "at the stairs"
            return f"something is in the way {place}"
        return ""

    def _command(self, beside: float, turned: float) -> np.ndarray:
        config = self.config
        turn = min(max(-config.gain * turned, -config.turn), config.turn)
        if self._begun is None and abs(turned) > config.aligned:
            return np.array([0.0, 0.0, turn])  # still before the first edge
        error = -config.gain * beside
        side = min(max(error * math.cos(turned), -config.lateral), config.lateral)
        return np.array([config.speed, side, turn])


def approach_of(entry: np.ndarray, config: StairWalkConfig = StairWalkConfig()) -> np.ndarray:
    """Return the pose (3,) `approach` metres before an edge (3,), facing it."""
    x, y, yaw = entry
    return np.array([x - config.approach * math.cos(yaw), y - config.approach * math.sin(yaw), yaw])
