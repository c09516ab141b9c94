"""Start of a run: world, start pose of the robot and publishing rates."""

from __future__ import annotations

from dataclasses import dataclass, field

from lodestar_sim.simulator import SimConfig, Simulator
from lodestar_sim.worlds import World, WorldError, world_from_spec

TASKS = ("default", "none")


@dataclass(frozen=True)
class SimNodeConfig:
    """Parameters of the simulator's node: world, task, start pose, real-time factor and rates."""

    world: str = "apartment"  # apartment | office | warehouse | a world file | a real map
    seed: int = 1  # of a generated world, and of the noise of the sensors
    task: str = "default"  # default: start of the world's default task; none: the world's start
    start: tuple[float, float, float] = (
        0.0,
        0.0,
        0.0,
    )  # x, y, yaw in the world (m, m, rad), if `use_start` is set
    use_start: bool = False  # whether `start` replaces the start of the task or world
    real_time_factor: float = 1.0  # target; 0 = as fast as possible
    # true: stamps are those of the node's clock, nothing publishes /clock, and a slow computer loses images, not time
    real_time: bool = False
    publish_map_to_odom: bool = True  # false under SLAM
    # false: a driver says where the robot and its range sensors are, as on a real one (odom -> base_link -> lidar_link)
    publish_robot_frames: bool = True
    # true: labels, depth and frames as Isaac Sim's bridge gives them (isaac/contract.yaml), and no scan
    isaac_bridge: bool = False
    cmd_vel_stamped: bool = False  # listen to TwistStamped
    camera_width: int = 0  # pixels, 0 = the camera's own
    camera_height: int = 0  # pixels, 0 = the camera's own
    simulator: SimConfig = field(default_factory=SimConfig)

    def make_simulator(self) -> Simulator:
        """Return the simulator at its start. Raises ValueError for invalid parameters (WorldError for the world)."""
        world = world_from_spec(self.world, self.seed)
        start = self.start if self.use_start else start_pose(world, self.seed, self.task)
        simulator = Simulator(world, self.simulator, self.seed, start)
        simulator.warm_up()
        return simulator


def start_pose(world: World, seed: int, task: str) -> tuple[float, float, float]:
    """Return (x, y, yaw) of the start of the world's default task, or the world's own start if it has none.

    Raises ValueError for a task that is neither "default" nor "none".
    """
    if task not in TASKS:
        raise ValueError(f"task is {task!r}; it is one of {', '.join(TASKS)}")
    if task == "none":
        return world.start
    from lodestar_sim.tasks import default_task  # slow import, needed for task "default" only

    try:
        return default_task(world, seed).start
    except WorldError:
        return world.start
