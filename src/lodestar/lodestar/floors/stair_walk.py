"""Controller that walks over one straight flight of stairs, slowly along its line, until level again."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from lodestar.floors.records import Passage, PassageKind
from lodestar.timing.stamps import AttendedTime

STAIR_WALK_SPEED = 0.25  # m/s; chosen: a third of the walking speed
STAIR_WALK_LATERAL = 0.10  # m/s, most to the side; chosen
STAIR_WALK_TURN = 0.4  # rad/s, most; chosen
STAIR_WALK_GAIN = 1.0  # 1/s, of sideways error and of heading; chosen
# m before the edge at which it begins; chosen: half a Go2 and two tolerances of a goal
STAIR_WALK_APPROACH = 0.75
STAIR_WALK_ALIGNED = math.radians(6.0)  # rad of heading within which it walks on; chosen
STAIR_WALK_OFF_LINE = 0.25  # m beside the line from which it stops; chosen: half the spare width
# rad off the line on the steps from which it stops, because it must not turn there
STAIR_WALK_ASKEW = math.radians(25.0)
# s for which a stance is valid; without one the robot stands; chosen: three at 10 Hz
STAIR_WALK_FRESH = 0.3
STAIR_WALK_LOST = 3.0  # s without a stance after which the walk is over; chosen
STAIR_WALK_BEGUN = math.radians(12.0)  # rad of tilt from which it is on the flight; a flight has 20 and more
# rad of tilt below which it is level again; WATCH_LEVEL less noise
STAIR_WALK_LEVEL = math.radians(6.0)
# rad of tilt at which it stops; 0.16 m over 0.28 m are 30, and a step's pitch
STAIR_WALK_STEEPEST = math.radians(38.0)
_WHOLE = 0.5  # m on the flight from which the whole body leans as it does; chosen: most of its length
STAIR_WALK_CLEAR = 0.45  # m that it walks on after it is level again: half its length and a tolerance
STAIR_WALK_LATE = 1.0  # m beyond the edge without a tilt, after which the flight counts as missing; chosen
STAIR_WALK_BACK = 0.5  # m that it may slide back; chosen: nearly two steps, more than a pose jumps
STAIR_WALK_LONGEST = 12.0  # m, longest flight; chosen: 30 steps
_ATTENDS = 0.2  # s between two updates that count at most; chosen: four periods of the passage desk
STAIR_WALK_STALLED = 4.0  # s without 5 cm of progress after which it counts as blocked; chosen


class WalkStatus(Enum):
    """State of a walk."""

    WALKING = "walking"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True)
class Stance:
    """The robot's pose by odometry.

    pose: (3,) x, y, yaw in map. height: metres. tilt: of the body, radians. stamp: seconds on the clock of
    `update`'s `now`; None = now. downhill: (2,) in map, the upright body axis seen from above; zeros = unknown.
    """

    pose: np.ndarray
    height: float
    tilt: float
    stamp: float | None = None
    downhill: np.ndarray = field(default_factory=lambda: np.zeros(2))

    def is_known(self, now: float, fresh: float) -> bool:
        """Return whether all values are finite and at most `fresh` seconds old at `now`."""
        finite = bool(np.isfinite([*self.pose, self.height, self.tilt]).all())
        return finite and (self.stamp is None or abs(now - self.stamp) <= fresh)


class StanceWatch:
    """Checks the stances that a controller receives.

    A stance is valid if it is finite and at most `fresh` seconds old; the pose is lost after `lost` seconds
    without one.
    """

    def __init__(self, fresh: float, lost: float) -> None:
        self._fresh, self._lost = fresh, lost
        self._time = AttendedTime(_ATTENDS)
        self._attended = 0.0  # s
        self._known = 0.0  # attended time of the last valid stance, or of the first check
        self.lasts = 0.0  # attended seconds with a valid stance

    def sees(self, now: float, stance: Stance) -> bool:
        """Return whether the stance is valid at `now`, and remember the time of the last valid one."""
        is_known = stance.is_known(now, self._fresh)
        before, self._attended = self._attended, self._time.at(now)
        if is_known:
            self._known = self._attended
            self.lasts += self._attended - before
        return is_known

    @property
    def is_lost(self) -> bool:
        """Return whether the last valid stance was more than `lost` attended seconds ago."""
        return self._attended - self._known > self._lost


class StairWalk:
    """One walk over a flight of stairs.

    `update` returns the velocity (3,) vx, vy, wz in the body frame. why: reason of a failure. On the steps the
    line turns about the first edge to where the body's lean leads: a flight seen in part is some degrees off.
    """

    def __init__(self, passage: Passage, floor: int) -> None:
        if passage.kind is not PassageKind.STAIRS:
            raise ValueError("only stairs are walked")
        self.passage = passage
        self._entry = passage.entry(floor).copy()
        self._along = np.array([math.cos(self._entry[2]), math.sin(self._entry[2])])
        self._seen = self._along
        self.status, self.why = WalkStatus.WALKING, ""
        self._begun: float | None = None  # start height, once on the flight
        self._ended: float | None = None  # metres along the line at which it was level again
        # seconds of valid stances until the last progress, and metres then
        self._moved: tuple[float, float] | None = None
        self._start: float | None = None
        self._farthest = -math.inf  # greatest metres along the line so far
        self._whole = math.inf  # metres along the line from which the body leans as the flight does
        self._downhill = np.zeros(2)  # sum of the stances' since then
        self._watch = StanceWatch(STAIR_WALK_FRESH, STAIR_WALK_LOST)

    @property
    def is_on_flight(self) -> bool:
        """Return whether the robot stands on the stairs, where it must not turn."""
        return self._begun is not None and self._ended is None

    def update(self, now: float, stance: Stance) -> np.ndarray:
        """Return the velocity command at `now` seconds.

        It is zero after the end, and while the stance is not valid.
        """
        if self.status is not WalkStatus.WALKING:
            return np.zeros(3)
        if not self._watch.sees(now, stance):
            if self._watch.is_lost:
                self.status, self.why = WalkStatus.FAILED, "I no longer know where I am"
            return np.zeros(3)
        offset = stance.pose[:2] - self._entry[:2]
        if self.is_on_flight and float(offset @ self._along) >= self._whole:
            self._turn_line(stance.downhill)
        way = float(offset @ self._along)
        beside = float(offset @ (-self._along[1], self._along[0]))
        turned = math.remainder(float(stance.pose[2] - self._entry[2]), math.tau)
        self._note(way, stance)
        why = self._fault(way, beside, turned, stance)
        if why:
            self.status, self.why = WalkStatus.FAILED, why
            return np.zeros(3)
        if self._ended is not None and way >= self._ended + STAIR_WALK_CLEAR:
            self.status = WalkStatus.DONE
            return np.zeros(3)
        return self._command(beside, turned)

    def _note(self, way: float, stance: Stance) -> None:
        if self._start is None:
            self._start = stance.height
        if self._begun is None and stance.tilt >= STAIR_WALK_BEGUN:
            self._begun, self._whole = self._start, way + _WHOLE
        rise = abs(stance.height - (self._begun or 0.0))
        if self._begun is not None and self._ended is None and stance.tilt <= STAIR_WALK_LEVEL and rise > 0.3:
            self._ended = way
        if self._moved is None or abs(way - self._moved[1]) > 0.05:
            self._moved = self._watch.lasts, way

    def _turn_line(self, downhill: np.ndarray) -> None:
        """Turn the line to the mean slope so far, unless that leads elsewhere than the flight that was seen."""
        self._downhill += downhill
        size = math.hypot(*self._downhill)
        along = self._downhill / max(size, 1e-9)
        along = along if along @ self._along > 0.0 else -along
        if size > 0.0 and along @ self._seen >= math.cos(STAIR_WALK_ASKEW):
            self._along, self._entry[2] = along, math.atan2(along[1], along[0])

    def _fault(self, way: float, beside: float, turned: float, stance: Stance) -> str:
        assert self._moved is not None
        if stance.tilt > STAIR_WALK_STEEPEST:
            return "the steps are too steep for me"
        self._farthest = max(self._farthest, way)
        if way < self._farthest - STAIR_WALK_BACK:
            return f"I slid back {'on' if self._begun is not None else 'before'} the stairs"
        if self._begun is None and way > STAIR_WALK_LATE:
            return "there is no flight of stairs where I expected one"
        if self._begun is None and abs(beside) > STAIR_WALK_OFF_LINE and way > -0.5 * STAIR_WALK_APPROACH:
            return f"I came to the stairs {abs(beside):.2f} m beside their middle"
        if self.is_on_flight and (abs(beside) > STAIR_WALK_OFF_LINE or abs(turned) > STAIR_WALK_ASKEW):
            off = (
                f"{abs(beside):.2f} m and {math.degrees(abs(turned)):.0f} degrees off the line of the stairs"
            )
            return f"I came {off}, and may not turn on them"
        if way > STAIR_WALK_LONGEST:
            return f"the stairs go on beyond {STAIR_WALK_LONGEST:.0f} m"
        if self._watch.lasts - self._moved[0] > STAIR_WALK_STALLED:
            place = "on the stairs" if self.is_on_flight else "at the stairs"
            return f"something is in the way {place}"
        return ""

    def _command(self, beside: float, turned: float) -> np.ndarray:
        turn = min(max(-STAIR_WALK_GAIN * turned, -STAIR_WALK_TURN), STAIR_WALK_TURN)
        if self._begun is None and abs(turned) > STAIR_WALK_ALIGNED:
            return np.array([0.0, 0.0, turn])  # before the first edge, where turning is safe
        error = -STAIR_WALK_GAIN * beside
        side = min(max(error * math.cos(turned), -STAIR_WALK_LATERAL), STAIR_WALK_LATERAL)
        return np.array([STAIR_WALK_SPEED, side, turn])


def approach_of(entry: np.ndarray) -> np.ndarray:
    """Return the pose (3,) in front of the first edge of stairs, facing it.

    entry: pose (3,) of the edge; the result is STAIR_WALK_APPROACH metres before it.
    """
    x, y, yaw = entry
    return np.array([x - STAIR_WALK_APPROACH * math.cos(yaw), y - STAIR_WALK_APPROACH * math.sin(yaw), yaw])
