"""The embedded simulator: one world, one robot, its sensors and its clock, without ROS."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import planar_transform
from lodestar_sim import sensors
from lodestar_sim.raycast import MISS, Hits, RaycastWorld, rays_from
from lodestar_sim.robot import CollisionRaster, LocalizationConfig, OdometryConfig, Robot, RobotConfig
from lodestar_sim.sensors import CameraFrame, Labeler, ScanFrame, SensorConfig
from lodestar_sim.shader import Shader
from lodestar_sim.walkers import Manners
from lodestar_sim.worlds.geometry import Geometry, join
from lodestar_sim.worlds.terrain import Terrain
from lodestar_sim.worlds.world import World, WorldObject

PHYSICS_STEP = 0.02  # s, 50 Hz; chosen
RASTER = 0.02  # m, cell of the collision raster; chosen

#: A base pose: (x, y, yaw), or map_from_base (4, 4).
Pose = Sequence[float] | np.ndarray


@dataclass(frozen=True)
class SimConfig:
    """Configuration of the simulated robot, its odometry, localisation and sensors."""

    walkers_wait: float = 0.0  # s for which a walker waits before a robot in its way; 0 = it walks through
    robot: RobotConfig = field(default_factory=RobotConfig)
    odometry: OdometryConfig = field(default_factory=OdometryConfig)
    localization: LocalizationConfig = field(default_factory=LocalizationConfig)
    sensors: SensorConfig = field(default_factory=SensorConfig)


class Simulator:
    """Step the world and the robot, and simulate the sensors. The same world, seed and commands give the same run.

    start: (x, y, yaw) in the world, by default the world's own. storey: index of the storey of the start.
    Every sensor has its own random generator, so that omitting one sensor does not change the data of another.
    """

    def __init__(
        self,
        world: World,
        config: SimConfig = SimConfig(),
        seed: int = 0,
        start: Sequence[float] | np.ndarray | None = None,
        storey: int = 0,
    ) -> None:
        self.world = world
        self.config = config
        self.epoch = 0.0  # s, stamp of the start: 0, or the time of a shared clock
        self._ticks = 0
        streams = np.random.SeedSequence(seed).spawn(5)
        robot_rng, self._depth_rng, self._label_rng, self._lidar_rng, self._scan_rng = (
            np.random.default_rng(stream) for stream in streams
        )
        pose = world.start if start is None else start
        self._grounds = world.grounds
        self.storey = storey  # index of the robot's storey in `world.storeys`
        self.robot = Robot(
            config.robot, config.odometry, config.localization, pose, robot_rng, self._grounds[storey]
        )
        self._walkers = frozenset(event.object_id for event in world.events if event.kind == "walk")
        self._manners = Manners(config.walkers_wait)
        self.things: tuple[WorldObject, ...] = ()  # objects at their current poses
        self._shader = Shader(world)
        self._directions: dict[tuple[int, int], np.ndarray] = {}
        self._lidar_directions = sensors.lidar_directions()
        scan = config.sensors.scan
        self._scan_directions, self._scan_first, self._scan_step = sensors.scan_directions(scan)
        self._standing: tuple[tuple[WorldObject, ...], frozenset[int]] | None = None
        self._next_change = self._followed = -np.inf
        self._follow_world()

    def warm_up(self) -> None:
        """Compile all numba functions before the first frame, without changing this run."""
        other = Simulator(self.world, self.config, 0, self.robot.pose, self.storey)
        other.set_command(0.1, 0.0, 0.0)
        other.step()
        other.render()
        other.scan()
        other.lidar()

    @property
    def time(self) -> float:
        """Return the simulated seconds since the start."""
        return self._ticks * PHYSICS_STEP

    @property
    def stamp(self) -> float:
        """Return the stamp of current measurements, seconds."""
        return self.epoch + self.time

    @property
    def true_pose(self) -> np.ndarray:
        """Return the true pose (3,) x, y, yaw in the world."""
        return self.robot.pose

    @property
    def velocity(self) -> np.ndarray:
        """Return the velocity (3,) vx, vy, wz in the body frame."""
        return self.robot.velocity

    @property
    def odom_from_base(self) -> np.ndarray:
        """Return the pose (4, 4) of base_link by odometry."""
        return self.robot.odom_from_base

    @property
    def map_from_odom(self) -> np.ndarray:
        """Return the localisation's correction (4, 4) of odometry."""
        return self.robot.map_from_odom

    @property
    def map_from_base(self) -> np.ndarray:
        """Return the pose (4, 4) of base_link by localisation and odometry."""
        return self.robot.map_from_base

    @property
    def collisions(self) -> int:
        """Return the number of contacts caused by the robot's motion, one per touch."""
        return self.robot.collisions

    @property
    def solid(self) -> np.ndarray:
        """Return the centres (N, 2), metres, of the collision cells on the robot's storey."""
        return self._rasters[self.storey].points()

    @property
    def falls(self) -> int:
        """Return the number of falls, at most 1: a robot without ground under a foot stays down."""
        return self.robot.falls

    @property
    def base_from_ground(self) -> np.ndarray:
        """Return the transform (4, 4) base_link <- ground frame between the feet.

        The sensors' heights are given in the ground frame.
        """
        return planar_transform(0.0, 0.0, 0.0, -self.config.robot.base_height)

    @property
    def muted(self) -> frozenset[str]:
        """Return the sensors (of `world.SENSORS`) that are silent now."""
        return self.world.muted(self.time)

    @property
    def path_length(self) -> float:
        """Return the distance driven, metres."""
        return self.robot.path_length

    def set_command(self, vx: float, vy: float, wz: float) -> None:
        """Command a body velocity (m/s, rad/s); it is valid until the command timeout."""
        self.robot.command((vx, vy, wz))

    def step(self, dt: float | None = None) -> None:
        """Advance by `dt` seconds, rounded to whole physics steps, at least one; default: one step."""
        for _ in range(1 if dt is None else max(1, round(dt / PHYSICS_STEP))):
            self._ticks += 1
            if self.time >= self._next_change:
                self._follow_world()
            self.robot.step(PHYSICS_STEP, self._rasters[self.storey], list(self._bodies.values()))
            self._change_storey()

    def _change_storey(self) -> None:
        """Set the robot's storey to the one nearest to its height, which changes while it walks on stairs."""
        storeys, height = self.world.storeys, self.robot.ground_height
        if not storeys or self.robot.falls:
            return
        nearest = min(range(len(storeys)), key=lambda i: abs(storeys[i].height - height))
        if nearest != self.storey:
            self.storey = nearest
            self.robot.stand_on(self._grounds[nearest])

    def _follow_world(self) -> None:
        """Apply the world's events up to now; rebuild geometry only if objects changed."""
        for event in self.world.shifts(self._followed, self.time):
            if event.pose is None:
                self.robot.mend_belief()
            else:
                self.robot.shift_belief(event.pose[0], event.pose[1], event.pose[3])
        self._followed = self.time
        self.things = self.world.objects_at(self.time, self._manners.waited)
        things = {thing.id: thing for thing in self.things}
        still = tuple(thing for thing in things.values() if thing.id not in self._walkers)
        standing = (still, self._walkers & things.keys())
        if standing != self._standing:
            self._rebuild(things, standing[1])
            self._standing = standing
        for key in standing[1]:
            x, y, z, yaw = things[key].pose
            world_from_body = planar_transform(x, y, yaw, z)
            self._raycast.movers[key].world_from_body = world_from_body
            self._bodies[key] = (self._bodies[key][0], world_from_body)
        walking = [things[key] for key in standing[1]]
        self._manners.observe(self.time, PHYSICS_STEP, walking, self.robot.pose)
        late = walking and self._manners.waited  # waiting walkers finish later than the world file says
        self._next_change = self.time if late else self.world.next_change(self.time)

    def _rebuild(self, things: dict[int, WorldObject], walkers: frozenset[int]) -> None:
        still = self.world.geometry(self.time, without=self._walkers, sensed=True)
        moving: dict[int, Geometry] = {}
        self._bodies: dict[int, tuple[CollisionRaster, np.ndarray]] = {}
        for key in sorted(walkers):
            moving[key] = join([(key, self.world.shape(things[key]).mesh)])
            self._bodies[key] = (self._rasterize(moving[key], None), np.eye(4))
        if self._standing is None:
            self._raycast = RaycastWorld(still, moving)
        else:
            self._raycast.rebuild(still, moving)
        unseen = any(not thing.sensed for thing in things.values())
        felt = self.world.geometry(self.time, without=self._walkers) if unseen else still
        if self.world.storeys:
            self._rasters = [self._storey_raster(storey.world) for storey in self.world.storeys]
        else:
            self._rasters = [self._rasterize(felt, self._grounds[0])]
        self._labeler = Labeler(self.world.labels(self.time))

    def _storey_raster(self, storey: World) -> CollisionRaster:
        """Return the collision raster of one storey, whose floor is z = 0; flights of stairs are left free."""
        geometry = replace(storey, flights=()).geometry(self.time)
        raster = CollisionRaster(geometry.vertices, geometry.triangles, RASTER)
        for flight in storey.flights:
            raster.clear(flight.x0, flight.y0, flight.x1, flight.y1)
        return raster

    def _rasterize(self, geometry: Geometry, ground: Terrain | None) -> CollisionRaster:
        vertices = geometry.vertices
        if ground is not None and len(vertices):  # heights become relative to the ground
            vertices = vertices.copy()
            vertices[:, 2] -= ground.nearest(vertices).astype(np.float32)
        return CollisionRaster(vertices, geometry.triangles, RASTER)

    def _camera_rays(self, camera: PinholeCamera, world_from_optical: np.ndarray) -> np.ndarray:
        size = (camera.width, camera.height)
        if size not in self._directions:
            self._directions[size] = np.ascontiguousarray(camera.rays().reshape(-1, 3))
        return rays_from(self._directions[size], world_from_optical)

    def render(
        self, rgb: bool = True, width: int | None = None, height: int | None = None, labels: bool = True
    ) -> CameraFrame:
        """Return the camera's current frame, by default in the configured size.

        labels: False leaves all labels 0 and their table empty.
        """
        config = self.config.sensors
        camera = config.camera.pinhole(width, height)
        rays = self._camera_rays(camera, self.robot.world_from_ground @ config.camera.base_from_optical)
        hits = self._raycast.cast_image(rays, camera.height, camera.width)
        depth_mm = sensors.measure_depth(hits, rays, camera, self._depth_rng)
        told, table = np.zeros((camera.height, camera.width), np.uint16), dict[int, dict[str, str]]()
        if labels:
            told, table = self._labeler.label(hits, self._raycast, camera, self._label_rng)
        return CameraFrame(
            stamp=self.stamp,
            camera=camera,
            depth_mm=depth_mm,
            depth=depth_mm * np.float32(0.001),
            labels=told,
            label_table=table,
            odom_from_camera=self.robot.odom_from_ground @ config.camera.base_from_optical,
            map_from_odom=self.map_from_odom,
            rgb=self._shader.shade(hits, rays, self._raycast, camera) if rgb else None,
        )

    def scan(self) -> ScanFrame:
        """Return the current planar scan in scan_link."""
        config = self.config.sensors.scan
        ranges = sensors.measure_scan(
            self._raycast, self.robot.world_from_ground, self._scan_directions, config, self._scan_rng
        )
        return ScanFrame(self.stamp, ranges, self._scan_first, self._scan_step, config.far, config.near)

    def lidar(self) -> np.ndarray:
        """Return the LiDAR's current points (N, 3) float32 in lidar_link, metres."""
        config = self.config.sensors.lidar
        world_from_lidar = self.robot.world_from_ground @ planar_transform(config.x, 0.0, 0.0, config.z)
        return sensors.measure_lidar(self._raycast, world_from_lidar, self._lidar_directions, self._lidar_rng)

    def render_view(
        self, pose: Pose, width: int | None = None, height: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return RGB (H, W, 3) uint8 and noise-free depth (H, W) uint16, mm, seen from a base pose.

        pose: (x, y, yaw) or a (4, 4) map_from_base. Uses no random generator, so the run is not
        affected.
        """
        hits, rays, camera = self._view(pose, width, height)
        depth = np.where(np.isfinite(hits.distance), hits.distance, 0.0)
        depth_mm = np.minimum(depth * 1000.0 + 0.5, 65535.0).astype(np.uint16)
        rgb = self._shader.shade(hits, rays, self._raycast, camera)
        return rgb, depth_mm.reshape(camera.height, camera.width)

    def view_truth(
        self, width: int | None = None, height: int | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the camera's current view without noise, for reports.

        Object ids (H, W) int32, 0 = structure or nothing; depth (H, W) float32, metres, inf = nothing; and
        world_from_camera (4, 4).
        """
        hits, _, camera = self._view(self.robot.world_from_ground, width, height)
        ids = np.zeros(len(hits.triangle), np.int32)
        hit = hits.triangle != MISS
        ids[hit] = self._raycast.objects[hits.triangle[hit]]
        shape = (camera.height, camera.width)
        world_from_camera = self.robot.world_from_ground @ self.config.sensors.camera.base_from_optical
        return ids.reshape(shape), hits.distance.reshape(shape), world_from_camera

    def object_mask(
        self, pose: Pose, object_ids: Iterable[int], width: int | None = None, height: int | None = None
    ) -> np.ndarray:
        """Return the mask (H, W) bool of objects in `render_view` from a base pose; for reports."""
        hits, _, camera = self._view(pose, width, height)
        mask = np.zeros(len(hits.triangle), bool)
        hit = hits.triangle != MISS
        mask[hit] = np.isin(self._raycast.objects[hits.triangle[hit]], list(object_ids))
        return mask.reshape(camera.height, camera.width)

    def _view(
        self, pose: Pose, width: int | None, height: int | None
    ) -> tuple[Hits, np.ndarray, PinholeCamera]:
        """Return hits, rays and model of the camera at a base pose, (x, y, yaw) or (4, 4)."""
        world_from_base = np.asarray(pose, np.float64)
        if world_from_base.shape != (4, 4):
            world_from_base = planar_transform(*world_from_base)
        config = self.config.sensors.camera
        camera = config.pinhole(width, height)
        rays = self._camera_rays(camera, world_from_base @ config.base_from_optical)
        return self._raycast.cast_image(rays, camera.height, camera.width), rays, camera
