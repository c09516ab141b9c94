"""The simulated base: motion limits, contacts, odometry drift and its correction by localisation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numba as nb
import numpy as np

from lodestar.geometry.poses import inverse, make_transform, planar_transform, yaw_of
from lodestar_sim.slam import SlamConfig, SlamStandIn
from lodestar_sim.worlds.terrain import Terrain

ROBOT_BODY_BOTTOM = 0.10  # m, lower objects are stepped over (a Go2 climbs 0.16 m)
ROBOT_BODY_TOP = 0.55  # m, higher objects are walked under
ROBOT_ACCELERATION = 1.5  # m/s^2, largest
ROBOT_BRAKING = 4.0  # m/s^2, largest deceleration
ROBOT_TURN_ACCELERATION = 3.0  # rad/s^2, largest
ROBOT_TURN_BRAKING = 6.0  # rad/s^2, largest deceleration
ROBOT_COMMAND_TIMEOUT = 0.5  # s after the last command at which the robot stops
ROBOT_CONTACT_GAP = 0.3  # s of free motion after which a touch counts as a new contact
ROBOT_FEET: tuple[float, float] = (0.19, 0.14)  # m, of each foot ahead of and beside the middle (Go2's hips)
ODOMETRY_STEP_SIGMA = 0.005  # m per sqrt(m) driven, standard deviation of odometry
ODOMETRY_TURN_SIGMA = 0.003  # rad per sqrt(rad turned + m driven), standard deviation of odometry


@dataclass(frozen=True)
class RobotConfig:
    """Size and speed limits of a Unitree Go2 that walks in any direction; the limits are assumptions."""

    length: float = 0.70  # m, footprint; Unitree Go2
    width: float = 0.32  # m, footprint; Unitree Go2
    max_forward: float = 0.8  # m/s
    max_lateral: float = 0.4  # m/s
    max_turn: float = 1.2  # rad/s
    base_height: float = 0.0  # m, base_link above the ground; a Go2's driver has 0.32


@dataclass(frozen=True)
class OdometryConfig:
    """Drift of leg odometry. All values are assumptions."""

    scale_sigma: float = 0.01  # systematic share of the distance, one draw per run
    turn_scale_sigma: float = 0.01  # systematic share of the angle turned, one draw per run
    yaw_per_meter: float = 0.004  # rad/m, one draw per run


#: Drift of a Go2: 1 to 2 % of the distance, 0.25 degrees per metre, 1 % of the angle turned (issue 37).
GO2_DRIFT = OdometryConfig(scale_sigma=0.015, turn_scale_sigma=0.01, yaw_per_meter=math.radians(0.25))


@dataclass(frozen=True)
class LocalizationConfig:
    """Error of map <- odom, as of SLAM between loop closures. By default there is none."""

    error_per_meter: float = 0.0  # m per sqrt(m) driven, random walk
    yaw_error_per_meter: float = 0.0  # rad per sqrt(m) driven
    correction_every: float = 0.0  # s between loop closures, which remove the error at once; 0 = never
    # replaces the errors above by a pose graph that drifts and closes loops
    slam: SlamConfig = field(default_factory=SlamConfig)


@nb.njit(cache=True)
def _clip_to_band(corners, low, high, polygon, scratch):
    """Clip a triangle to low <= z <= high and write the result into `polygon`; return its number of corners."""
    count = 3
    for i in range(3):
        for k in range(3):
            polygon[i, k] = corners[i, k]
    for side in range(2):
        sign = 1.0 if side == 0 else -1.0
        level = low if side == 0 else high
        kept = 0
        for i in range(count):
            j = (i + 1) % count
            a = (polygon[i, 2] - level) * sign
            b = (polygon[j, 2] - level) * sign
            if a >= 0.0:
                for k in range(3):
                    scratch[kept, k] = polygon[i, k]
                kept += 1
            if (a >= 0.0) != (b >= 0.0):
                share = a / (a - b)
                for k in range(3):
                    scratch[kept, k] = polygon[i, k] + share * (polygon[j, k] - polygon[i, k])
                kept += 1
        count = kept
        for i in range(count):
            for k in range(3):
                polygon[i, k] = scratch[i, k]
        if count == 0:
            return 0
    return count


@nb.njit(cache=True)
def _mark(cells, x, y):
    row, column = math.floor(y), math.floor(x)
    if 0 <= row < cells.shape[0] and 0 <= column < cells.shape[1]:
        cells[row, column] = 1


@nb.njit(cache=True)
def _rasterize(vertices, triangles, low, high, origin_x, origin_y, resolution, cells):
    polygon, scratch = np.empty((8, 3)), np.empty((8, 3))
    corners = np.empty((3, 3))
    for t in range(triangles.shape[0]):
        for i in range(3):
            vertex = triangles[t, i]
            corners[i, 0] = (vertices[vertex, 0] - origin_x) / resolution
            corners[i, 1] = (vertices[vertex, 1] - origin_y) / resolution
            corners[i, 2] = vertices[vertex, 2]
        count = _clip_to_band(corners, low, high, polygon, scratch)
        top, bottom = -1e18, 1e18
        for i in range(count):  # mark the outline, sampled every half cell
            j = (i + 1) % count
            dx, dy = polygon[j, 0] - polygon[i, 0], polygon[j, 1] - polygon[i, 1]
            steps = int(2.0 * max(abs(dx), abs(dy))) + 1
            for s in range(steps + 1):
                _mark(cells, polygon[i, 0] + dx * s / steps, polygon[i, 1] + dy * s / steps)
            top, bottom = max(top, polygon[i, 1]), min(bottom, polygon[i, 1])
        if count < 3:
            continue
        first, last = max(math.ceil(bottom - 0.5), 0), min(math.floor(top - 0.5), cells.shape[0] - 1)
        for row in range(first, last + 1):  # fill the inside by cell centres
            y = row + 0.5
            left, right = 1e18, -1e18
            for i in range(count):
                j = (i + 1) % count
                ya, yb = polygon[i, 1], polygon[j, 1]
                if (ya <= y) != (yb <= y):
                    x = polygon[i, 0] + (y - ya) / (yb - ya) * (polygon[j, 0] - polygon[i, 0])
                    left, right = min(left, x), max(right, x)
            for column in range(max(math.ceil(left - 0.5), 0), min(int(right - 0.5), cells.shape[1] - 1) + 1):
                cells[row, column] = 1


@nb.njit(cache=True)
def _overlap(cells, origin_x, origin_y, resolution, body, x, y, yaw):
    """Return the number of a body's sample points (N, 2) in occupied cells, for the body at x, y, yaw."""
    c, s = math.cos(yaw), math.sin(yaw)
    count = 0
    for i in range(body.shape[0]):
        column = math.floor((x + c * body[i, 0] - s * body[i, 1] - origin_x) / resolution)
        row = math.floor((y + s * body[i, 0] + c * body[i, 1] - origin_y) / resolution)
        if 0 <= row < cells.shape[0] and 0 <= column < cells.shape[1] and cells[row, column]:
            count += 1
    return count


class CollisionRaster:
    """Plan-view raster of the true geometry between the heights of the robot's belly and back."""

    def __init__(self, vertices: np.ndarray, triangles: np.ndarray, resolution: float = 0.02):
        self.resolution = resolution
        used = vertices if len(vertices) else np.zeros((1, 3), np.float32)
        low, high = used.min(axis=0) - 0.1, used.max(axis=0) + 0.1
        self.origin = (float(low[0]), float(low[1]))
        shape = np.ceil((high[:2] - low[:2]) / resolution).astype(int)[::-1]
        self.cells = np.zeros(tuple(shape), np.uint8)
        _rasterize(
            np.asarray(vertices, np.float64), np.asarray(triangles, np.int64), ROBOT_BODY_BOTTOM,
            ROBOT_BODY_TOP, *self.origin, resolution, self.cells,
        )  # fmt: skip

    def clear(self, x0: float, y0: float, x1: float, y1: float) -> None:
        """Clear the cells within a rectangle, metres."""
        (c0, c1), (r0, r1) = (
            (max(round((low - first) / self.resolution), 0), max(round((high - first) / self.resolution), 0))
            for low, high, first in ((x0, x1, self.origin[0]), (y0, y1, self.origin[1]))
        )
        self.cells[r0:r1, c0:c1] = 0

    def points(self) -> np.ndarray:
        """Return the centres of the filled cells, (N, 2) float64, metres."""
        rows, columns = np.nonzero(self.cells)
        return np.stack([columns, rows], axis=1) * self.resolution + self.origin + self.resolution / 2.0

    def overlap(self, pose: Sequence[float] | np.ndarray, body: np.ndarray) -> int:
        """Return the number of sample points (N, 2) of a body at pose (x, y, yaw) in filled cells."""
        return int(_overlap(self.cells, *self.origin, self.resolution, body, pose[0], pose[1], pose[2]))


def _body_samples(config: RobotConfig, spacing: float) -> np.ndarray:
    xs = np.linspace(-config.length / 2, config.length / 2, int(config.length / spacing) + 2)
    ys = np.linspace(-config.width / 2, config.width / 2, int(config.width / spacing) + 2)
    return np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)


#: Moving bodies: raster in the body's own frame, and world_from_body (4, 4).
Bodies = list[tuple[CollisionRaster, np.ndarray]]


class Robot:
    """A holonomic base that moves through the true geometry. pose, odometry: (3,) x, y, yaw; velocity: (3,) body frame.

    terrain: the ground, None = level. If a foot or the centre has no ground below it, the robot falls and stays down
    for the rest of the run.
    """

    def __init__(
        self, config: RobotConfig, odometry: OdometryConfig, localization: LocalizationConfig,
        start: Sequence[float] | np.ndarray, rng: np.random.Generator, terrain: Terrain | None = None,
    ):  # fmt: skip
        self.config = config
        self.pose = np.array(start, np.float64)
        self.odometry = np.zeros(3)
        self.velocity = np.zeros(3)
        self.collisions = 0
        self.path_length = 0.0
        self._rng = rng
        self._scale = 1.0 + rng.normal() * odometry.scale_sigma
        self._turn_scale = 1.0 + rng.normal() * odometry.turn_scale_sigma
        self._veer = rng.normal() * odometry.yaw_per_meter
        self._localization = localization
        self._error = np.eye(4)  # transform estimated map <- true map
        self.slam: SlamStandIn | None = None
        if localization.slam.enabled:
            self.slam = SlamStandIn(localization.slam, rng.spawn(1)[0])
            self.slam.take(self.pose, self.odometry)
        self._since_correction = 0.0
        self._command = np.zeros(3)
        self._command_age = math.inf
        self._since_contact = math.inf  # s since the last contact
        self._overlap = 0  # body samples inside a mover that walked into the robot; they do not block it
        self._body = _body_samples(config, 0.02)
        self._terrain = terrain
        ahead, beside = ROBOT_FEET
        self._feet = np.array(
            [[ahead, beside], [ahead, -beside], [-ahead, beside], [-ahead, -beside], [0, 0]]
        )
        self._lift = planar_transform(0.0, 0.0, 0.0, config.base_height)
        self.falls = 0
        self._stand = np.eye(4)  # planar pose on z = 0 <- ground frame, tilted by the feet
        self._follow_ground()

    def _follow_ground(self) -> None:
        """Set height, pitch and roll from the ground under the feet; without ground the robot falls."""
        if self._terrain is None or self.falls:
            return
        c, s = math.cos(self.pose[2]), math.sin(self.pose[2])
        heights = self._terrain.at(self._feet @ np.array([[c, s], [-s, c]]) + self.pose[:2])
        if np.isnan(heights).any():
            self.falls += 1
            self.velocity = np.zeros(3)
            return
        front, back = heights[:2].mean(), heights[2:4].mean()
        left, right = heights[[0, 2]].mean(), heights[[1, 3]].mean()
        along = np.array([2.0 * ROBOT_FEET[0], 0.0, front - back])
        across = np.array([0.0, 2.0 * ROBOT_FEET[1], left - right])
        x = along / np.linalg.norm(along)
        z = np.cross(x, across)
        z /= np.linalg.norm(z)
        self._stand = make_transform(np.stack([x, np.cross(z, x), z], axis=1), (0.0, 0.0, heights[:4].mean()))

    def stand_on(self, terrain: Terrain | None) -> None:
        """Replace the ground; None = level."""
        self._terrain = terrain

    @property
    def ground_height(self) -> float:
        """Return the height of the ground under the centre, metres in the world."""
        return float(self._stand[2, 3])

    def command(self, velocity: Sequence[float] | np.ndarray) -> None:
        """Set the wanted velocity (vx, vy, wz) in the body frame. Limits apply; a non-finite one stops the robot."""
        velocity = np.asarray(velocity, np.float64)
        self._command = velocity.copy() if np.isfinite(velocity).all() else np.zeros(3)
        self._command_age = 0.0

    def step(self, dt: float, raster: CollisionRaster, bodies: Bodies) -> None:
        """Advance by dt seconds. bodies: raster of each moving body in its own frame, and world_from_body (4, 4)."""
        if self.falls:
            return
        self._command_age += dt
        self._accelerate(np.zeros(3) if self._deserted() else self._command, dt)
        before = self.pose
        self._move(dt, raster, bodies)
        self._measure(before)
        self._follow_ground()
        self._since_correction += dt
        every = self._localization.correction_every
        if every > 0.0 and self._since_correction >= every:
            self._since_correction = 0.0
            self._error = np.eye(4)

    def _deserted(self) -> bool:
        """Return whether the robot must brake now in order to stand still when the last command times out."""
        speed, turn = math.hypot(self.velocity[0], self.velocity[1]), abs(self.velocity[2])
        needed = max(speed / ROBOT_BRAKING, turn / ROBOT_TURN_BRAKING)
        return self._command_age >= ROBOT_COMMAND_TIMEOUT - needed

    def _accelerate(self, wanted: np.ndarray, dt: float) -> None:
        config = self.config
        limits = np.array([config.max_forward, config.max_lateral, config.max_turn])
        change = np.clip(wanted, -limits, limits) - self.velocity
        planar = math.hypot(change[0], change[1])
        slows = change[:2] @ self.velocity[:2] < 0.0
        limit = (ROBOT_BRAKING if slows else ROBOT_ACCELERATION) * dt
        if planar > limit:
            change[:2] *= limit / planar
        slows = change[2] * self.velocity[2] < 0.0
        limit = (ROBOT_TURN_BRAKING if slows else ROBOT_TURN_ACCELERATION) * dt
        change[2] = min(max(change[2], -limit), limit)
        self.velocity = self.velocity + change

    def _hits(self, pose: np.ndarray, raster: CollisionRaster, bodies: Bodies) -> int:
        count = raster.overlap(pose, self._body)
        for other, world_from_body in bodies:
            body_from_world = inverse(world_from_body)
            x, y = (body_from_world[:3, :3] @ (pose[0], pose[1], 0.0) + body_from_world[:3, 3])[:2]
            count += other.overlap((x, y, pose[2] - yaw_of(world_from_body)), self._body)
        return count

    def _move(self, dt: float, raster: CollisionRaster, bodies: Bodies) -> None:
        """Move by the current velocity, or slide along an obstacle."""
        if not self.velocity.any():
            return
        c, s = math.cos(self.pose[2]), math.sin(self.pose[2])
        vx, vy, wz = self.velocity
        dx, dy, turn = (c * vx - s * vy) * dt, (s * vx + c * vy) * dt, wz * dt
        inside = self._hits(self.pose, raster, bodies)
        self._overlap = max(self._overlap, inside) if inside else 0
        slides = ((1, 1, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0))
        for slide in slides:
            motion = np.array([dx, dy, turn]) * slide
            hits = self._hits(self.pose + motion, raster, bodies)
            if hits <= self._overlap:
                break
        else:
            motion = np.zeros(3)
        self.pose = self.pose + motion
        self.path_length += math.hypot(motion[0], motion[1])
        self._since_contact += dt
        if slide is not slides[0]:
            self.collisions += self._since_contact > ROBOT_CONTACT_GAP
            self._since_contact = 0.0
            mx, my, mt = motion / dt
            self.velocity = np.array([c * mx + s * my, -s * mx + c * my, mt])

    def _measure(self, before: np.ndarray) -> None:
        """Update odometry and localisation error for the motion since pose `before` (3,)."""
        c, s = math.cos(before[2]), math.sin(before[2])
        dx, dy, turn = self.pose - before
        moved = np.array([c * dx + s * dy, -s * dx + c * dy])
        distance = float(np.hypot(dx, dy))
        if distance == 0.0 and turn == 0.0:
            return
        draw = self._rng.normal(size=6)
        moved = moved * self._scale + draw[:2] * ODOMETRY_STEP_SIGMA * math.sqrt(distance)
        turned = turn * self._turn_scale + self._veer * distance
        turned += draw[2] * ODOMETRY_TURN_SIGMA * math.sqrt(distance + abs(turn))
        middle = self.odometry[2] + turned / 2.0
        c, s = math.cos(middle), math.sin(middle)
        step = (c * moved[0] - s * moved[1], s * moved[0] + c * moved[1], turned)
        self.odometry = self.odometry + np.array(step)
        if self.slam is not None:
            self.slam.take(self.pose, self.odometry)
            self._follow_slam()
            return
        walk = self._localization
        if walk.error_per_meter > 0.0 or walk.yaw_error_per_meter > 0.0:
            root = math.sqrt(distance)
            shift = draw[3:5] * walk.error_per_meter * root
            self.shift_belief(shift[0], shift[1], draw[5] * walk.yaw_error_per_meter * root)

    def _follow_slam(self) -> None:
        if self.slam is not None:
            believed = self.slam.map_from_odom @ planar_transform(*self.odometry)
            self._error = believed @ inverse(planar_transform(*self.pose))

    def shift_belief(self, dx: float, dy: float, dyaw: float) -> None:
        """Shift the estimated pose in the map (m, rad, turning in place), as a SLAM correction of map <- odom does."""
        believed = self._error @ planar_transform(*self.pose)
        x, y = believed[0, 3], believed[1, 3]
        turn = planar_transform(x + dx, y + dy, dyaw) @ planar_transform(-x, -y, 0.0)
        self._error = turn @ self._error
        if self.slam is not None:
            self.slam.map_from_odom = turn @ self.slam.map_from_odom

    def mend_belief(self) -> None:
        """Reset the localisation error to zero, as a loop closure does."""
        self._error = np.eye(4)

    @property
    def world_from_ground(self) -> np.ndarray:
        """Return the true pose (4, 4) of the frame between the feet, on the ground and tilted with it."""
        return planar_transform(*self.pose) @ self._stand

    @property
    def world_from_base(self) -> np.ndarray:
        """Return the true pose (4, 4) of base_link."""
        return self.world_from_ground @ self._lift

    @property
    def odom_from_ground(self) -> np.ndarray:
        """Return the pose (4, 4) of the ground frame by odometry; tilt and height are exact, as from IMU and legs."""
        return planar_transform(*self.odometry) @ self._stand

    @property
    def odom_from_base(self) -> np.ndarray:
        """Return the pose (4, 4) of base_link by odometry."""
        return self.odom_from_ground @ self._lift

    @property
    def map_from_base(self) -> np.ndarray:
        """Return the estimated pose (4, 4) of base_link in the map."""
        return self._error @ self.world_from_base

    @property
    def map_from_odom(self) -> np.ndarray:
        """Return the localisation's correction (4, 4) of odometry drift, exact but for the localisation error."""
        return self._error @ planar_transform(*self.pose) @ inverse(planar_transform(*self.odometry))
