"""Newest facts about the world: pose, motion, contacts, grid, scene, distance driven and battery."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from lodestar.agent.facts.config import LOOP_STUCK_ANGLE, LOOP_STUCK_DISTANCE, LoopConfig
from lodestar.agent.facts.times import NEVER, Stamp
from lodestar.floors.records import UNKNOWN, Building, Passage, PassageKind
from lodestar.geometry.poses import wrap_angle
from lodestar.grid.energy import EnergyBudget
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity, EntityState, Region

RECOVERY_DRIVE_BLIND = 2.0  # s (stamps) without any image after which a drive to an object is blind (ours)
# Differences of two poses that odometry does not explain; smaller ones are corrections of a growing map.
RECOVERY_LOST_STEP = 0.3  # m that count as a jump of the pose (ours)
RECOVERY_LOST_TURN = math.radians(15.0)  # rad that count as a jump of the pose (ours)
# m; a longer step between two poses is a correction of the map, not travel (ours)
LOOP_LARGEST_STEP = 0.5

_DRIVEN = 0.30  # m commanded without motion that count as a contact; as in the simulator's navigator, ours
_TURNED = 0.80  # rad, likewise
_MOVES = 0.03, 0.06  # m/s, rad/s: below both the robot stands
_COMMANDED = 0.05, 0.10  # m/s, rad/s: lower commands are ignored
_AHEAD = 0.45  # m from the robot's centre to the assumed contact: half its length, and a cell


@dataclass(frozen=True)
class Contact:
    """A place where commands did not move the robot. xy: (x, y) in map, metres, assumed contact point."""

    stamp: Stamp
    xy: tuple[float, float]


class ContactSense:
    """Detects contacts: sums up commands that do not move the robot."""

    def __init__(self) -> None:
        self.last: Contact | None = None
        self.count = 0  # of all contacts
        self._vain = 0.0  # fraction of a contact summed up, [0, 1]
        self._stamp = NEVER

    @property
    def is_felt(self) -> bool:
        """Return whether commands and velocities are received."""
        return self._stamp > NEVER

    def observe(
        self, command: np.ndarray, velocity: np.ndarray, pose: np.ndarray | None, stamp: Stamp
    ) -> None:
        """Add a command and the velocity measured by odometry, (3,) each: m/s, m/s, rad/s in the body frame."""
        seconds = min(max(stamp - self._stamp, 0.0), 0.5) if self._stamp > NEVER else 0.0
        self._stamp = stamp
        commanded = math.hypot(command[0], command[1]), abs(float(command[2]))
        moves = math.hypot(velocity[0], velocity[1]) > _MOVES[0] or abs(float(velocity[2])) > _MOVES[1]
        if moves or (commanded[0] < _COMMANDED[0] and commanded[1] < _COMMANDED[1]):
            self._vain = 0.0
            return
        self._vain += seconds * (commanded[0] / _DRIVEN + commanded[1] / _TURNED)
        if self._vain >= 1.0 and pose is not None:
            self._vain = 0.0
            turn = math.atan2(command[1], command[0]) if commanded[0] >= _COMMANDED[0] else 0.0
            bearing = float(pose[2]) + turn
            xy = float(pose[0]) + _AHEAD * math.cos(bearing), float(pose[1]) + _AHEAD * math.sin(bearing)
            self.last = Contact(stamp, xy)
            self.count += 1


_GAP = 0.25  # s between two poses, beyond which the motion between them is too uncertain
_HOLDS = 0.5  # s for which a measured velocity is valid
_FASTEST = 1.0  # m/s, assumed maximum speed without a measured velocity


class Odometer:
    """Sums the distance between poses; stores where and since when the robot stands, and its last pose jump.

    A jump is a step between two poses in map that the measured velocity does not explain: the robot was relocalised,
    mislocalised or carried. Without a measured velocity, turns are not judged.
    """

    def __init__(self, config: LoopConfig) -> None:
        self.config = config
        self.distance = 0.0  # metres
        self._last: np.ndarray | None = None
        self._anchor: np.ndarray | None = None
        self._anchor_stamp = self._newest = NEVER
        self._velocity, self._felt = np.zeros(3), NEVER
        self.jumped_at = NEVER  # of the newest jump ...
        self.jump: tuple[np.ndarray, np.ndarray] | None = None  # ... and the poses (3,) before and after it

    def restart_clock(self) -> None:
        """Reset all stamps; the distance driven is kept."""
        self._last = self._anchor = self.jump = None
        self._anchor_stamp = self._newest = self._felt = self.jumped_at = NEVER

    def feel(self, velocity: np.ndarray, stamp: Stamp) -> None:
        """Store a velocity measured by odometry, (3,): m/s, m/s, rad/s in the body frame."""
        self._velocity, self._felt = np.array(velocity, np.float64), stamp

    def observe(self, pose: np.ndarray, stamp: Stamp) -> None:
        """Add the step to pose (3,). Steps above LOOP_LARGEST_STEP are corrections of the map and not counted."""
        if self._last is not None:
            step = math.hypot(pose[0] - self._last[0], pose[1] - self._last[1])
            if step <= LOOP_LARGEST_STEP:
                self.distance += step
            if self._jumps(pose, stamp - self._newest):
                self.jumped_at, self.jump = stamp, (self._last.copy(), pose.copy())
        self._last, self._newest = pose, stamp
        if self._anchor is None or self._moved(pose):
            self._anchor, self._anchor_stamp = pose, stamp

    def _jumps(self, pose: np.ndarray, seconds: float) -> bool:
        """Return whether the step to `pose` is a jump that the velocity does not explain."""
        assert self._last is not None
        if seconds >= _GAP:
            return False
        step = pose[:2] - self._last[:2]
        if self._newest - self._felt > _HOLDS:
            return math.hypot(*step) - _FASTEST * seconds > RECOVERY_LOST_STEP
        yaw = float(self._last[2])
        forward, left = self._velocity[:2] * seconds
        driven = (
            math.cos(yaw) * forward - math.sin(yaw) * left,
            math.sin(yaw) * forward + math.cos(yaw) * left,
        )
        turned = float(wrap_angle(pose[2] - yaw - self._velocity[2] * seconds))
        return math.hypot(*(step - driven)) > RECOVERY_LOST_STEP or abs(turned) > RECOVERY_LOST_TURN

    def rest(self) -> None:
        """Count the robot as standing still since the newest pose."""
        self._anchor, self._anchor_stamp = self._last, self._newest

    @property
    def still_for(self) -> float:
        """Return the seconds between the newest pose and the last noticeable motion before it; 0 if no pose is known.

        A stopped pose clock does not make the robot look stuck.
        """
        return max(self._newest - self._anchor_stamp, 0.0) if self._anchor is not None else 0.0

    def _moved(self, pose: np.ndarray) -> bool:
        assert self._anchor is not None
        far = math.hypot(pose[0] - self._anchor[0], pose[1] - self._anchor[1]) >= LOOP_STUCK_DISTANCE
        return far or abs(float(wrap_angle(pose[2] - self._anchor[2]))) >= LOOP_STUCK_ANGLE


_DETOUR = 1.5  # path length over straight distance on another floor, which is not planned; chosen
_OLDER = 1.0  # s before a pose jump, at which no grid shows it yet


@dataclass
class Facts:
    """The newest fact of each kind. Facts outlive a directive.

    pose: (3,) x, y, yaw in map. stamp: of the newest pose; other facts are dated against it. home: (3,), first pose.
    grid_heard, pose_heard: loop time of the newest grid and pose, seconds. area: m^2 known free. sight: stamp of the
    newest image; NEVER = images are not reported. grid_before_jump: shortly before the last pose jump. rested,
    rested_at: grid and stamp at the end of the last directive, or the first ones.
    """

    odometer: Odometer
    contacts: ContactSense = field(default_factory=ContactSense)
    pose: np.ndarray | None = None
    stamp: Stamp = NEVER
    pose_heard: float = 0.0
    home: np.ndarray | None = None
    home_floor: int = UNKNOWN  # id of the floor of `home` and the charger
    grid: OccupancyGrid2D | None = None
    grid_heard: float = 0.0
    area: float = 0.0
    mirror: SceneMirror | None = None  # of the robot's floor
    whole: SceneMirror | None = None  # of all floors
    building: Building = field(default_factory=Building)
    sight: Stamp = NEVER
    sighted_until: float = 0.0  # metres driven when the newest image became RECOVERY_DRIVE_BLIND old
    grid_before_jump: OccupancyGrid2D | None = None
    rested: OccupancyGrid2D | None = None
    rested_at: Stamp = NEVER
    budget: EnergyBudget = field(default_factory=EnergyBudget)  # of the battery, last reported ...
    budget_driven: float = 0.0  # ... at this distance driven, metres
    _seen_before: dict[int, float] = field(default_factory=dict)  # entity -> stamp at the clock's restart
    _older: OccupancyGrid2D | None = None  # a grid at least `_OLDER` old ...
    _kept: OccupancyGrid2D | None = None  # ... and its successor
    _kept_at: Stamp = NEVER

    def take_pose(self, pose: np.ndarray, stamp: Stamp, now: float) -> bool:
        """Store a pose. Return whether it is valid: shape (3,), finite, not older than the last."""
        pose = np.array(pose, np.float64)
        if stamp < self.stamp or pose.shape != (3,) or not np.isfinite(pose).all():
            return False
        self.pose, self.stamp, self.pose_heard = pose, stamp, now
        if self.home is None:
            self.home, self.home_floor = pose, self.building.active
        before = self.odometer.jumped_at
        self.odometer.observe(pose, stamp)
        if self.blind_for <= RECOVERY_DRIVE_BLIND:
            self.sighted_until = self.odometer.distance
        if self.odometer.jumped_at != before:
            self.grid_before_jump = self._older
        return True

    def take_grid(self, grid: OccupancyGrid2D, now: float) -> None:
        """Store the grid for planning."""
        self.grid, self.grid_heard, self.area = grid, now, grid.free_area
        if self.rested is None:
            self.rest()
        if self.stamp - self._kept_at >= _OLDER or self._kept is None:
            self._older, self._kept, self._kept_at = self._kept or grid, grid, self.stamp

    def take_building(self, building: Building) -> None:
        """Store the known floors. After a change of floor, earlier grids are not compared with later ones."""
        if building.active != self.building.active:
            self._older = self._kept = self.grid_before_jump = self.rested = None
            self._kept_at = self.rested_at = NEVER
        self.building = building
        if building.floor(self.home_floor) is None:
            self.home_floor = building.active

    def take_energy(self, budget: EnergyBudget) -> None:
        """Store the battery's budget."""
        self.budget, self.budget_driven = budget, self.odometer.distance

    def rest(self) -> None:
        """Store the current grid for comparison with later observations. To be called while the pose is
        trusted.
        """
        self.rested, self.rested_at = self.grid, self.stamp

    def restart_clock(self, now: float) -> None:
        """Restart the clock at `now`: discard the pose and all earlier stamps. Battery and distance driven are
        kept.
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
        """Return the stamp at which the entity was last observed; NEVER if that was before the clock restarted."""
        before = self._seen_before.get(entity.id)
        return NEVER if before == entity.last_seen else Stamp(entity.last_seen)

    @property
    def blind_for(self) -> float:
        """Return the seconds (stamps) without an image; 0 if images are not reported."""
        return max(self.stamp - self.sight, 0.0) if self.sight > NEVER else 0.0

    @property
    def known_pose(self) -> np.ndarray:
        """Return the pose. Requires that it is known."""
        assert self.pose is not None
        return self.pose

    @property
    def known_grid(self) -> OccupancyGrid2D:
        """Return the grid. Requires that it is known."""
        assert self.grid is not None
        return self.grid

    @property
    def way_home(self) -> Passage | None:
        """Return the nearest permitted passage toward the charger's floor; None if there is none, or if the robot is
        on that floor or its floor is unknown.
        """
        building, permits = self.building, self.odometer.config.floors.permits
        here, home = building.here, building.floor(self.home_floor)
        if here is None or home is None or here.level == home.level or self.pose is None:
            return None
        pose, floor, up = self.pose[:2], here.id, home.level > here.level
        ways = [
            one
            for one in building.ways_from(floor)
            if permits(one) and (one.kind is PassageKind.LIFT or one.leads_up(floor) == up)
        ]
        return min(ways, key=lambda one: math.dist(one.entry(floor)[:2], pose), default=None)

    @property
    def energy(self) -> EnergyBudget:
        """Return the battery's budget: the last report less the distance driven since. On another floor than the
        charger's, the budget ends at the passage toward it, and the distance beyond is deducted.
        """
        budget, way = self.budget.after(self.odometer.distance - self.budget_driven), self.way_home
        end = budget.charger if budget.charger is not None or self.home is None else tuple(self.home[:2])
        here, home = self.building.here, self.building.floor(self.home_floor)
        if not budget.limited or way is None or here is None or home is None or end is None:
            return budget
        up, storeys = home.level > here.level, abs(home.level - here.level)
        x, y, _ = way.entry(here.id).tolist()
        flight = way.run(abs(home.height - here.height) / storeys)
        beyond = storeys * flight + _DETOUR * math.dist(way.high if up else way.low, end)
        return replace(budget, range_left=max(budget.range_left - beyond, 0.0), charger=(x, y))

    @property
    def charger(self) -> np.ndarray | None:
        """Return the position (2,) at which a return ends on this floor: the charger, the passage toward its
        floor, or the robot's first position; None if none is known.
        """
        charger = self.energy.charger
        if charger is not None:
            return np.array(charger, np.float64)
        return None if self.home is None else self.home[:2].copy()

    @property
    def entities(self) -> Mapping[int, Entity]:
        """Return the entities of the scene by id; {} before the first scene."""
        return {} if self.mirror is None else self.mirror.entities

    @property
    def labels(self) -> dict[int, str]:
        """Return entity id -> label."""
        return {identity: entity.label for identity, entity in self.entities.items()}

    def entity(self, entity_id: int) -> Entity | None:
        """Return the entity with this id, or the one it was merged into; None if it is gone."""
        entity = self.record(entity_id)
        return None if entity is None or entity.state is EntityState.ARCHIVED else entity

    def record(self, entity_id: int) -> Entity | None:
        """Return the entity with this id, archived or not; None if it is unknown."""
        if self.mirror is None or entity_id == 0:
            return None
        return self.mirror.entities.get(self.mirror.resolve(entity_id))

    @property
    def map_id(self) -> int:
        """Return the id of the current map; 0 before the first scene."""
        return 0 if self.mirror is None else self.mirror.map_id

    def region(self, region_id: int) -> Region | None:
        """Return the region with this id, None if it is unknown."""
        return None if self.mirror is None else self.mirror.regions.get(region_id)
