"""Driver that moves the robot over stairs or into a lift, on behalf of the decision loop."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lodestar.agent.errands.commands import SkillEnd, TakePassage
from lodestar.floors.lift_ride import LiftRide
from lodestar.floors.records import PassageKind
from lodestar.floors.stair_walk import StairWalk, Stance, WalkStatus
from lodestar.geometry.poses import yaw_of


@dataclass(frozen=True)
class PassageStep:
    """A velocity command (3,) in the body frame, and the result of the passage once it has ended.

    ticket: of the `TakePassage` command. end: None = not ended. level: level at which a lift has let the
    robot out, as reported by a person; None = none.
    """

    command: np.ndarray
    ticket: int
    end: SkillEnd | None = None
    level: int | None = None


class PassageDriver:
    """Carries out one `TakePassage` command at a time."""

    def __init__(self) -> None:
        self._under_way: StairWalk | LiftRide | None = None
        self._ticket = 0

    @property
    def ticket(self) -> int:
        """Return the ticket of the passage in progress, 0 = none."""
        return 0 if self._under_way is None else self._ticket

    @property
    def rides(self) -> bool:
        """Return whether a lift is being taken, which needs a person's help."""
        return isinstance(self._under_way, LiftRide)

    @property
    def asks(self) -> str:
        """Return the current request to a person, "" = none."""
        return self._under_way.asks if isinstance(self._under_way, LiftRide) else ""

    def take(self, command: TakePassage) -> None:
        """Begin to take a passage, replacing one in progress."""
        self._ticket = command.ticket
        if command.passage.kind is PassageKind.LIFT:
            self._under_way = LiftRide(command.passage, command.level)
        else:
            self._under_way = StairWalk(command.passage, command.floor)

    def cancel(self, ticket: int) -> bool:
        """Stop the passage with this ticket where the robot is. Return whether it was in progress."""
        is_it = self._under_way is not None and ticket == self._ticket
        self._under_way = None if is_it else self._under_way
        return is_it

    def hear(self, door_is_open: bool | None, level: int | None = None) -> None:
        """Pass a person's report to a lift ride: whether the door is open, and the level reached.

        None = not reported. A level reported without the door counts only while the robot asks for help, and
        not as an open door.
        """
        if isinstance(self._under_way, LiftRide) and (door_is_open is not None or self.asks):
            self._under_way.hear(bool(door_is_open), level)

    def update(self, now: float, map_from_base: np.ndarray, stamp: float | None = None) -> PassageStep | None:
        """Return the next step for a base pose (4, 4) in map; None if no passage is in progress.

        stamp: of the pose, seconds; None = now. With an old or non-finite pose the robot stands.
        """
        walk = self._under_way
        if walk is None:
            return None
        pose = np.array([*map_from_base[:2, 3], yaw_of(map_from_base)])
        tilt = math.acos(min(max(float(map_from_base[2, 2]), -1.0), 1.0))
        stance = Stance(pose, float(map_from_base[2, 3]), tilt, stamp, map_from_base[:2, 2])
        command = walk.update(now, stance)
        if walk.status is WalkStatus.WALKING:
            return PassageStep(command, self._ticket)
        self._under_way, done = None, walk.status is WalkStatus.DONE
        level = walk.reached if isinstance(walk, LiftRide) and done else None
        return PassageStep(command, self._ticket, SkillEnd(done, walk.why), level)
