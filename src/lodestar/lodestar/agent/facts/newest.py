"""The newest facts about the world: pose, grid, scene, distance driven and battery."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from lodestar.agent.facts.contact import ContactSense
from lodestar.agent.facts.energy import Battery
from lodestar.agent.facts.motion import Odometer
from lodestar.agent.facts.stamps import NEVER, Stamp
from lodestar.grid.energy import EnergyBudget
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity, EntityState, Region

_OLDER = 1.0  # s before a jump of the pose, at which no grid shows it yet


@dataclass
class Facts:
    """The newest fact of each kind. They outlive a directive.

    pose: (3,) x, y, yaw in map. stamp: of the newest pose; facts of other kinds are dated against it. home: (3,), the
    first pose. grid_heard, pose_heard: loop time at which the newest ones came, seconds. area: m^2 known free. sight:
    of the newest image; NEVER = nobody says when images come. grid_before_jump: from shortly
    before the pose jumped last. rested, rested_at: the grid when the last directive ended, or the first one.
    """

    odometer: Odometer
    battery: Battery = field(default_factory=Battery)
    contacts: ContactSense = field(default_factory=ContactSense)
    pose: np.ndarray | None = None
    stamp: Stamp = NEVER
    pose_heard: float = 0.0
    home: np.ndarray | None = None
    grid: OccupancyGrid2D | None = None
    grid_heard: float = 0.0
    area: float = 0.0
    mirror: SceneMirror | None = None
    sight: Stamp = NEVER
    grid_before_jump: OccupancyGrid2D | None = None
    rested: OccupancyGrid2D | None = None
    rested_at: Stamp = NEVER
    _seen_before: dict[int, float] = field(default_factory=dict)  # entity -> stamp, when the clock began anew
    _older: OccupancyGrid2D | None = None  # a grid that is at least `_OLDER` old, ...
    _kept: OccupancyGrid2D | None = None  # ... and the one that follows it
    _kept_at: Stamp = NEVER

    def take_pose(self, pose: np.ndarray, stamp: Stamp, now: float) -> bool:
        """Whether the pose is taken: it has shape (3,), is finite and no older than the last."""
        pose = np.array(pose, np.float64)
        if stamp < self.stamp or pose.shape != (3,) or not np.isfinite(pose).all():
            return False
        self.pose, self.stamp, self.pose_heard = pose, stamp, now
        if self.home is None:
            self.home = pose
        before = self.odometer.jumped_at
        self.odometer.observe(pose, stamp)
        if self.odometer.jumped_at != before:
            self.grid_before_jump = self._older
        return True

    def take_grid(self, grid: OccupancyGrid2D, now: float) -> None:
        """Plan on this grid from now on."""
        self.grid, self.grid_heard, self.area = grid, now, grid.free_area
        if self.rested is None:
            self.rest()
        if self.stamp - self._kept_at >= _OLDER or self._kept is None:
            self._older, self._kept, self._kept_at = self._kept or grid, grid, self.stamp

    def rest(self) -> None:
        """The robot is where it believes to be; what it sees later is compared with the grid of now."""
        self.rested, self.rested_at = self.grid, self.stamp

    def restart_clock(self, now: float) -> None:
        """The clock began anew at `now`: nothing known of where the robot is holds any more, and no stamp of before
        is compared with those to come. What is left of the battery, and the distance driven, stay.
        """
        self.grid_heard = self.pose_heard = now
        self.stamp = self.sight = NEVER
        self.pose = self.home = None
        self.odometer.restart_clock()
        self.contacts = ContactSense()
        self._seen_before = {i: entity.last_seen for i, entity in self.entities.items()}
        self._older = self._kept = self.grid_before_jump = self.rested = None
        self._kept_at = self.rested_at = NEVER

    def last_seen(self, entity: Entity) -> Stamp:
        """Return the stamp at which the entity was last observed; NEVER if that was before the clock began anew."""
        before = self._seen_before.get(entity.id)
        return NEVER if before == entity.last_seen else Stamp(entity.last_seen)

    def is_blind(self, patience: float) -> bool:
        """Whether the camera sent no image for longer than `patience` seconds, as far as anybody says when it does."""
        return self.sight > NEVER and self.stamp - self.sight > patience

    @property
    def energy(self) -> EnergyBudget:
        """The battery's budget now: the newest one less the distance driven since."""
        return self.battery.left(self.odometer.distance)

    @property
    def charger(self) -> np.ndarray | None:
        """(2,) where the drive must end: the charger, or where the robot was first."""
        charger = self.energy.charger
        if charger is not None:
            return np.array(charger, np.float64)
        return None if self.home is None else self.home[:2].copy()

    @property
    def entities(self) -> Mapping[int, Entity]:
        """The entities of the scene by id; none before the first scene."""
        return {} if self.mirror is None else self.mirror.entities

    def entity(self, entity_id: int) -> Entity | None:
        """The entity that has this id or into which it was merged; None where it is gone."""
        entity = self.record(entity_id)
        return None if entity is None or entity.state is EntityState.ARCHIVED else entity

    def record(self, entity_id: int) -> Entity | None:
        """Return the entity of this id, archived or not; None where it is unknown."""
        if self.mirror is None or entity_id == 0:
            return None
        return self.mirror.entities.get(self.mirror.resolve(entity_id))

    @property
    def map_id(self) -> int:
        """Return the map that the robot is on; 0 before the first scene."""
        return 0 if self.mirror is None else self.mirror.map_id

    def region(self, region_id: int) -> Region | None:
        """Return the region of this id, None where it is unknown."""
        return None if self.mirror is None else self.mirror.regions.get(region_id)
