"""Configuration of the grid: the robot's outline, costs of paths, success criteria, viewpoints."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

# Distances in plan from the footprint to the box, metres.
VIEWPOINT_MAX_DISTANCE = 0.75  # chosen: below the 1.0 m of success, for errors of the box and of the drive
# metres, largest distance to objects so low that a nearer camera looks over them; chosen: below 1.0 m
VIEWPOINT_FAR_DISTANCE = 0.90
# metres, largest distance to objects above the camera, hidden from nearer by their support; chosen: between both
VIEWPOINT_HIGH_DISTANCE = 0.85
# radians to the box's nearest point; chosen: below the 30 degrees of success
VIEWPOINT_MAX_BEARING = math.radians(20.0)
# metres from obstacles for a free turn (Go2's circumscribed radius plus a margin); nearer to obstacles
# the footprint must fit at the heading
VIEWPOINT_TURNING_CLEARANCE = 0.40
# metres before the box that may be furniture under the object where the view is beyond `side_angle` of every saved
# one; chosen: three cells of 5 cm
VIEWPOINT_STRICT_IGNORE = 0.15
VIEWPOINT_CAMERA_FORWARD = 0.30  # metres ahead of base_link; the simulated Go2's camera
SAME_GOAL = 0.35  # metres within which two goals are the same, so that none is proposed around an excluded one; chosen


@dataclass(frozen=True)
class Footprint:
    """Outline of the robot on the ground: a rectangle centred on base_link, metres."""

    length: float = 0.70  # metres; Unitree Go2 data sheet
    width: float = 0.32  # metres; Unitree Go2 data sheet

    @property
    def circumscribed_radius(self) -> float:
        """Return the radius of the circumscribed circle, metres; obstacles beyond it cannot be hit."""
        return math.hypot(self.length, self.width) / 2.0

    def gaps(self, poses: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Return the distances (T, N), metres, from the outline at poses (T, 3) to places (N, 2).

        They are negative inside the outline.
        """
        c, s = np.cos(poses[:, 2:]), np.sin(poses[:, 2:])
        x, y = np.moveaxis(places - poses[:, None, :2], -1, 0)
        ahead, aside = abs(c * x + s * y) - self.length / 2.0, abs(c * y - s * x) - self.width / 2.0
        outside = np.hypot(np.maximum(ahead, 0.0), np.maximum(aside, 0.0))
        return np.asarray(outside + np.minimum(np.maximum(ahead, aside), 0.0))


@dataclass(frozen=True)
class LookConfig:
    """Limits within which a camera observation ("look") of a cell counts: range, field of view and age."""

    range: float = 4.5  # metres in plan from which floor counts as looked at; chosen: below the 5 m of STaR V
    # radians in plan, the camera's field of view without its edges; chosen: 80 degrees of the simulated camera
    fov: float = math.radians(75.0)
    near: float = 3.0  # metres within which a look would have shown an object; chosen
    # radians in plan, field of view for `near`; chosen: narrower than that of any supported camera
    near_fov: float = math.radians(60.0)
    # seconds (stamps) for which a look counts; chosen: furniture stays for a while
    age: float = 600.0
    interval: float = 0.5  # seconds (stamps) between two recorded looks of a camera; chosen
    # measured detector (`perception/measured/`) by whose chances looks and misses are weighed; "" = not measured
    eyes: str = ""

    def __post_init__(self) -> None:
        """Raise ValueError for ranges, angles and times out of bounds."""
        if not 0.0 < self.near <= self.range < 655.0:  # as centimetres in 16 bits
            raise ValueError(f"near, {self.near} m, must be above 0 and at most range, {self.range} m")
        if not (0.0 < self.near_fov <= self.fov <= 2.0 * math.pi):
            raise ValueError(f"near_fov, {self.near_fov}, must be above 0 and at most fov, {self.fov}")
        if not (self.age > 0.0 and self.interval >= 0.0):
            raise ValueError("age must be above 0, and interval not below 0")


@dataclass(frozen=True)
class FenceConfig:
    """Fence: polygon in `map` that the robot must not leave; without corners there is no fence."""

    corners: tuple[float, ...] = ()  # x, y of one corner after the other, metres of `map`
    # metres beyond the known map that are barred in advance. Chosen: more than a LiDAR adds between two updates
    ahead: float = 10.0

    def __post_init__(self) -> None:
        """Raise ValueError for corners that form no polygon of at least 1 m^2."""
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
        """Return the enclosed area, m2; too small for a polygon that crosses itself."""
        points = self.points
        pairs = zip(points, [*points[1:], *points[:1]], strict=True)
        return abs(sum(x * v - u * y for (x, y), (u, v) in pairs)) / 2.0


@dataclass(frozen=True)
class TravelConfig:
    """Clearances, costs and start and goal tolerances of path planning."""

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
    """Constraints on viewpoints: angles to saved views, camera height, robot outline."""

    # metres before the box that may be furniture under the object; chosen
    ignore_last: float = 0.8
    # radians in plan from a saved view; chosen
    side_angle: float = math.radians(60.0)
    # radians in plan, the largest angle from a saved view; chosen
    wide_angle: float = math.radians(110.0)
    camera_height: float = 0.45  # metres above the floor; the simulated Go2's camera
    footprint: Footprint = field(default_factory=Footprint, metadata={"shared": "body"})  # of the robot


@dataclass(frozen=True)
class SuccessConfig:
    """Largest distance and bearing at which an object counts as found (DESIGN section 3)."""

    distance: float = 1.0  # metres in plan from the footprint to the object's box; DESIGN section 3
    # radians from the heading to the box's nearest point; DESIGN section 3
    bearing: float = math.radians(30.0)


@dataclass(frozen=True)
class ComfortConfig:
    """Proxemics: the distance that the robot keeps from people if there is space."""

    # m between the middle of the robot and that of a person; 0 = none. Hall's personal distance ends there
    distance: float = 1.2

    def __post_init__(self) -> None:
        if not 0.0 <= self.distance <= 5.0:
            raise ValueError("comfort.distance must be 0 to 5 m")
