"""Configuration of floors: what the operator allows, and limits of noticing, finding and taking ways between them."""

from __future__ import annotations

from dataclasses import dataclass, field

from lodestar.floors.lift_ride import LiftConfig
from lodestar.floors.records import HIGHEST, LOWEST, Passage, PassageKind
from lodestar.floors.stair_finder import StairConfig
from lodestar.floors.stair_walk import StairWalkConfig
from lodestar.floors.watch import WatchConfig


@dataclass(frozen=True)
class FloorsConfig:
    """Permissions to leave a floor, and limits by which floors are told apart."""

    # whether the operator allows the robot to walk stairs that it has found or was told of: a fall can hurt people
    # below and destroys the robot (docs/safety.md)
    stairs: bool = False
    lifts: bool = False  # likewise to ask people for a lift and to ride in it
    level: int = 0  # of the building, on which the robot starts; 0 = ground; chosen
    lowest: int = LOWEST  # level of the building; what is told of one below is refused
    highest: int = HIGHEST  # likewise above
    least_storey: float = 2.0  # m, least height between two floors; chosen: a door's height
    typical_storey: float = 3.0  # m, where no two floors are known yet; chosen
    match: float = 0.7  # m by which a height may differ from a known floor's: a third of the least storey
    same: float = 0.4  # m, likewise from that of the floor that was left last: three steps are more
    look: float = (
        2.0  # s for which a floor that is known is looked at before its map is taken up again; chosen
    )
    look_radius: float = 4.0  # m around the robot that are compared; chosen
    fit: float = (
        0.6  # share of what stands there that must stand in the map; as `recovery.carried_share`'s rest
    )
    near: float = 0.2  # m off the map's that it may stand: two cells
    least_seen: int = 15  # cells that must stand around for a comparison; chosen
    find_period: float = 3.0  # s between two searches for stairs in the floor layer; chosen
    confirmations: int = 2  # of them that a flight must be found in; chosen
    tries: int = 2  # failures of one passage, after which it is not taken again; chosen
    arrival: float = (
        12.0  # s after a passage, in which the floor must be known: `watch.settle`, `look`, a margin; chosen
    )
    patience: float = 20.0  # s without a known floor, after which a directive is over; chosen
    lift_time: float = 60.0  # s that a lift takes, with the wait for people; chosen
    crossing_time: float = 90.0  # s that stairs may take; chosen: 12 m at `walk.speed`, and a stop
    watch: WatchConfig = field(default_factory=WatchConfig)
    flights: StairConfig = field(default_factory=StairConfig)
    walk: StairWalkConfig = field(default_factory=StairWalkConfig)
    ride: LiftConfig = field(default_factory=LiftConfig)

    def permits(self, passage: Passage) -> bool:
        """Return whether the operator allows the robot to take a passage of this kind."""
        return self.stairs if passage.kind is PassageKind.STAIRS else self.lifts

    def has(self, level: int) -> bool:
        """Return whether the building may have a level."""
        return self.lowest <= level <= self.highest

    def seconds_over(self, passage: Passage) -> float:
        """Return the expected seconds that a passage takes, from before its edge to behind its other one."""
        if passage.kind is PassageKind.LIFT:
            return self.lift_time
        run = passage.run(self.typical_storey)
        return (run + self.walk.approach + self.walk.clear) / self.walk.speed + self.watch.settle + self.look
