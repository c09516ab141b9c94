"""Configuration of the grid: the robot's outline, costs of paths, success, viewpoints."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Footprint:
    """Rectangle centred on base_link."""

    length: float = 0.70  # metres; Unitree Go2 data sheet
    width: float = 0.32  # metres; Unitree Go2 data sheet

    @property
    def circumscribed_radius(self) -> float:
        """Return the radius of the circumscribed circle, metres: farther obstacles cannot collide."""
        return math.hypot(self.length, self.width) / 2.0


@dataclass(frozen=True)
class LookConfig:
    """Looks of the camera that count: for searches, counts and answers alike."""

    range: float = 4.5  # metres in plan from which floor counts as looked at; chosen: below the 5 m of STaR V
    # radians in plan, the camera's field of view without its edges; chosen: 80 degrees of the simulated camera
    fov: float = math.radians(75.0)
    near: float = 3.0  # metres from which a look would have shown a thing that is there; chosen
    near_fov: float = math.radians(
        60.0
    )  # radians in plan, likewise; chosen: narrower than any that is shipped
    age: float = (
        600.0  # seconds (stamps) for which a look tells what is there; chosen: furniture stays for a while
    )
    interval: float = 0.5  # seconds (stamps) between two looks of a camera that are noted; chosen

    def __post_init__(self) -> None:
        """Raise ValueError for ranges, angles and times that are none."""
        if not 0.0 < self.near <= self.range < 655.0:  # as centimetres in 16 bits
            raise ValueError(f"near, {self.near} m, must be above 0 and at most range, {self.range} m")
        if not (0.0 < self.near_fov <= self.fov <= 2.0 * math.pi):
            raise ValueError(f"near_fov, {self.near_fov}, must be above 0 and at most fov, {self.fov}")
        if not (self.age > 0.0 and self.interval >= 0.0):
            raise ValueError("age must be above 0, and interval not below 0")


@dataclass(frozen=True)
class ZoneGrowthConfig:
    """Keep-out zones that appear where the robot stands."""

    margin: float = (
        0.15  # metres around the body that stay open; chosen: a costmap cell, its padding and a turn
    )
    way_out: float = (
        12.0  # metres around the robot in which a way out is looked for; above the widest zone, 10 m
    )


@dataclass(frozen=True)
class FenceConfig:
    """Bounds of where the robot may be: a polygon in `map`. Empty, there are none."""

    corners: tuple[float, ...] = ()  # x, y of one corner after the other, metres of `map`
    # metres beyond the known map that are barred in advance. Chosen: more than a LiDAR adds between two updates
    ahead: float = 10.0

    def __post_init__(self) -> None:
        """Raise ValueError for corners that make no polygon."""
        count = len(self.corners)
        if count and (count % 2 or count < 6 or not all(map(math.isfinite, self.corners))):
            raise ValueError(
                f"corners has {count} values: three or more corners are needed, each as x, y in metres"
            )
        if count and self.area < 1.0:
            raise ValueError(f"corners encloses {self.area:.2f} m2: give them in order, round a larger area")

    @property
    def points(self) -> list[tuple[float, float]]:
        """Return the corners, (x, y) in metres."""
        return list(zip(self.corners[::2], self.corners[1::2], strict=True))

    @property
    def area(self) -> float:
        """Return the enclosed area, m2; that of a polygon that crosses itself is too small."""
        points = self.points
        pairs = zip(points, [*points[1:], *points[:1]], strict=True)
        return abs(sum(x * v - u * y for (x, y), (u, v) in pairs)) / 2.0


@dataclass(frozen=True)
class TravelConfig:
    """Constraints and costs of paths."""

    clearance: float = 0.22  # metres always kept from obstacles; half the Go2's width plus a margin
    # metres from obstacles below which a step costs more; chosen
    soft_clearance: float = 0.45
    # additional cost factor of a step at `clearance`; chosen
    soft_weight: float = 2.0
    # additional cost factor of a step at a person, falling to 0 at the comfort distance; chosen
    comfort_weight: float = 6.0
    unknown_ok: bool = False  # paths may cross unknown cells
    # metres a start too near an obstacle is moved at most; chosen
    start_snap: float = 0.5
    # metres a goal too near an obstacle is moved at most; chosen: three cells of 5 cm
    goal_snap: float = 0.15
    # m^2; below it the free space around the start is a pocket, entered before all of its walls were known. Chosen:
    # a robot needs more to turn and look for another way out.
    pocket_area: float = 3.0
    # metres within which a narrower gap out of a pocket is searched; chosen
    pocket_reach: float = 2.5
    # metres of clearance accepted in that gap, tried in this order; chosen: half the Go2's width plus 3 cm, then less
    pocket_clearances: tuple[float, ...] = (0.19, 0.14)


@dataclass(frozen=True)
class ViewpointConfig:
    """Constraints on viewpoints and weights of their score."""

    # Distances in plan from the footprint to the box, metres.
    max_distance: float = 0.75  # chosen: below the 1.0 m of success, for errors of the box and of the drive
    # maximum for objects so low that a nearer camera looks over them; chosen: below 1.0 m
    far_distance: float = 0.90
    # maximum for objects above the camera, hidden from nearer by their support; chosen: between the other two
    high_distance: float = 0.85
    min_distance: float = 0.08  # chosen
    # radians to the box's nearest point; chosen: below the 30 degrees of success
    max_bearing: float = math.radians(20.0)
    # metres from obstacles for a free turn (Go2's circumscribed radius plus a margin); nearer to obstacles
    # the footprint must fit at the heading
    turning_clearance: float = 0.40
    # metres before the box that may be furniture under the object; chosen
    ignore_last: float = 0.8
    # the same beyond `side_angle` of every saved view, metres; chosen: three cells of 5 cm
    strict_ignore: float = 0.15
    # radians in plan from a saved view; chosen
    side_angle: float = math.radians(60.0)
    # radians in plan, the largest angle from a saved view; chosen
    wide_angle: float = math.radians(110.0)
    camera_forward: float = 0.30  # metres ahead of base_link; the simulated Go2's camera
    camera_height: float = 0.45  # metres above the floor; the simulated Go2's camera
    camera_pitch: float = math.radians(10.0)  # radians, positive = up; the simulated Go2's camera
    # radians, half the vertical field of view; the simulated Go2's camera
    half_vfov: float = math.radians(32.0)
    # metres from an object to its support's edge if the support is unknown; chosen
    set_back: float = 0.2
    # metres around excluded poses without viewpoints; chosen
    excluded_radius: float = 0.3
    spacing: float = 0.25  # metres between returned viewpoints; chosen
    limit: int = 48  # most viewpoints returned; chosen
    # Score weights, without unit unless stated; chosen on simulated apartments and offices.
    visible_weight: float = 1.0  # times the share of the object's height in the camera's field
    view_weight: float = 0.5  # times the alignment with a saved view, 0..1
    turning_weight: float = 0.4  # for room to turn
    plain_weight: float = 0.3  # for an unobstructed line of sight
    clearance_weight: float = 0.3  # times the clearance up to 0.6 m, as a share of it
    path_weight: float = 0.12  # score lost per metre of path
    distance_weight: float = 0.4  # score lost per metre off `best_distance`
    best_distance: float = 0.45  # metres from footprint to box; chosen
    footprint: Footprint = field(default_factory=Footprint, metadata={"shared": "body"})  # of the robot


@dataclass(frozen=True)
class SuccessConfig:
    """Largest distance and bearing of an object that counts as found (DESIGN section 3)."""

    distance: float = 1.0  # metres in plan from the footprint to the object's box; DESIGN section 3
    # radians from the heading to the box's nearest point; DESIGN section 3
    bearing: float = math.radians(30.0)


@dataclass(frozen=True)
class ComfortConfig:
    """Proxemics: the distance that the robot keeps from people where there is room."""

    # m between the middle of the robot and that of a person; 0 = none. Hall's personal distance ends there
    distance: float = 1.2
    ahead: float = (
        1.0  # s for which a person is taken to walk on; chosen: the time in which the robot stops twice
    )

    def __post_init__(self) -> None:
        if not (0.0 <= self.distance <= 5.0 and 0.0 <= self.ahead <= 5.0):
            raise ValueError("comfort.distance must be 0 to 5 m, comfort.ahead 0 to 5 s")


@dataclass(frozen=True)
class PaceConfig:
    """Time that goals take this robot, for estimates. Others than `sim_navigator` set theirs in a profile."""

    speed: float = 0.45  # m/s of path; measured: mean of driving over eight simulated buildings
    turn: float = 1.0  # rad/s; the limit of `sim_navigator`, FollowerConfig.max_turn
    overlap: float = (
        0.75  # share, 0..1, of the shorter of driving and turning that passes beside the longer; chosen
    )
    look: float = (
        1.0  # s of standing from the arrival to the next goal; chosen: the least of 1 to 2 s measured
    )
    verify: float = 2.0  # s of standing until a target is verified; chosen

    def __post_init__(self) -> None:
        """Raise ValueError for a pace that is none."""
        if not (self.speed > 0.0 and self.turn > 0.0 and 0.0 <= self.overlap <= 1.0):
            raise ValueError("speed and turn must be above 0, overlap between 0 and 1")
        if not (self.look > 0.0 and self.verify >= 0.0):
            raise ValueError("look must be above 0, and verify not below 0")
