"""Moves the robot over stairs or into a lift while the loop has it take a passage."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lodestar.agent.errands.commands import SkillEnd, TakePassage
from lodestar.floors.config import FloorsConfig
from lodestar.floors.lift_ride import LiftRide
from lodestar.floors.records import PassageKind
from lodestar.floors.stair_walk import StairWalk, Stance, WalkStatus
from lodestar.geometry.poses import yaw_of


@dataclass(frozen=True)
class PassageStep:
    """A command (3,) in the body frame, and what ends with it.

    ticket: of the command that is carried out. end: None = it goes on. level: at which a person said that a lift has
    let the robot out, None = none.
    """

    command: np.ndarray
    ticket: int
    end: SkillEnd | None = None
    level: int | None = None


class PassageDriver:
    """Carries out one `TakePassage` at a time."""

    def __init__(self, config: FloorsConfig) -> None:
        self.config = config
        self._under_way: StairWalk | LiftRide | None = None
        self._ticket = 0

    @property
    def ticket(self) -> int:
        """Return the ticket of what is under way, 0 = nothing is."""
        return 0 if self._under_way is None else self._ticket

    @property
    def rides(self) -> bool:
        """Return whether a lift is taken, in which a person helps."""
        return isinstance(self._under_way, LiftRide)

    @property
    def asks(self) -> str:
        """Return what a person is asked to do now, "" = nothing."""
        return self._under_way.asks if isinstance(self._under_way, LiftRide) else ""

    def take(self, command: TakePassage) -> None:
        """Begin to take a passage, in the place of another one."""
        self._ticket = command.ticket
        if command.passage.kind is PassageKind.LIFT:
            self._under_way = LiftRide(command.passage, command.level, self.config.ride)
        else:
            self._under_way = StairWalk(command.passage, command.floor, self.config.walk)

    def cancel(self, ticket: int) -> bool:
        """End what is under way with this ticket, where the robot stands; return whether it was that."""
        is_it = self._under_way is not None and ticket == self._ticket
        self._under_way = None if is_it else self._under_way
        return is_it

    def hear(self, door_is_open: bool | None, level: int | None = None) -> None:
        """A person says whether the door of the lift that is taken is open, and which level is reached; None = neither.

        A level without a word of the door is kept while the robot waits for one, and opens none.
        """
        if isinstance(self._under_way, LiftRide) and (door_is_open is not None or self.asks):
            self._under_way.hear(bool(door_is_open), level)

    def update(self, now: float, map_from_base: np.ndarray, stamp: float | None = None) -> PassageStep | None:
        """Return the step of a base at (4, 4) in map; None where nothing is under way.

        stamp: of the pose, seconds; None = now. With one that is old or not finite the robot stands.
        """
        walk = self._under_way
        if walk is None:
            return None
        pose = np.array([*map_from_base[:2, 3], yaw_of(map_from_base)])
        tilt = math.acos(min(max(float(map_from_base[2, 2]), -1.0), 1.0))
        stance = Stance(pose, float(map_from_base[2, 3]), tilt, stamp)
        command = walk.update(now, stance)
        if walk.status is WalkStatus.WALKING:
            return PassageStep(command, self._ticket)
        self._under_way, done = None, walk.status is WalkStatus.DONE
        level = walk.reached if isinstance(walk, LiftRide) and done else None
        return PassageStep(command, self._ticket, SkillEnd(done, walk.why), level)
