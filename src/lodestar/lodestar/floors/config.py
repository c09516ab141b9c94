"""Configuration of floors: permissions of the operator, and limits for finding and taking passages."""

from __future__ import annotations

from dataclasses import dataclass, field

from lodestar.floors.records import HIGHEST, LOWEST, Passage, PassageKind
from lodestar.floors.stair_finder import StairConfig
from lodestar.floors.stair_walk import STAIR_WALK_APPROACH, STAIR_WALK_CLEAR, STAIR_WALK_SPEED
from lodestar.floors.watch import WATCH_SETTLE

FLOORS_TYPICAL_STOREY = 3.0  # m, height of a storey while fewer than two floors are known; chosen
FLOORS_LOOK = 2.0  # s of observing a known floor before its map is used again; chosen
FLOORS_FIND_PERIOD = 3.0  # s between two searches for stairs in the floor layer; chosen
FLOORS_CONFIRMATIONS = 2  # searches that must find a flight of stairs before it is confirmed; chosen
FLOORS_LIFT_TIME = 60.0  # s that a lift takes, with the wait for people; chosen


@dataclass(frozen=True)
class FloorsConfig:
    """Permissions to use stairs and lifts, level of the starting floor, range of levels, form of stairs."""

    # whether the operator allows the robot to walk on stairs that it has found or was told about: a fall can
    # hurt people below and destroys the robot (docs/how-to/safety.md)
    stairs: bool = False
    lifts: bool = False  # whether it may ask people for a lift and ride in it
    level: int = 0  # level of the building on which the robot starts; 0 = ground; chosen
    lowest: int = LOWEST  # lowest level of the building; statements about lower ones are refused
    highest: int = HIGHEST  # highest level; statements about higher ones are refused
    flights: StairConfig = field(default_factory=StairConfig)

    def permits(self, passage: Passage) -> bool:
        """Return whether the operator allows the robot to take a passage of this kind."""
        return self.stairs if passage.kind is PassageKind.STAIRS else self.lifts

    def has(self, level: int) -> bool:
        """Return whether the building may have this level."""
        return self.lowest <= level <= self.highest

    def seconds_over(self, passage: Passage) -> float:
        """Return the expected seconds to take a passage.

        They count from the approach to its entry until the robot stands on the other floor and has looked at
        it.
        """
        if passage.kind is PassageKind.LIFT:
            return FLOORS_LIFT_TIME
        run = passage.run(FLOORS_TYPICAL_STOREY)
        return (run + STAIR_WALK_APPROACH + STAIR_WALK_CLEAR) / STAIR_WALK_SPEED + WATCH_SETTLE + FLOORS_LOOK
