"""How a run begins: the world, the robot's place in it and the rates of what it publishes."""

from __future__ import annotations

from dataclasses import dataclass, field

from lodestar_sim.simulator import SimConfig, Simulator
from lodestar_sim.worlds import World, WorldError, world_from_spec

TASKS = ("default", "none")


@dataclass(frozen=True)
class SimNodeConfig:
    """What differs from one start of the simulator to the next."""

    world: str = "apartment"  # apartment | office | warehouse | a world file | a real map
    seed: int = 1
    task: str = "default"  # default: start where the world's default task does; none: at the world's start
    start: tuple[float, float, float] = (0.0, 0.0, 0.0)  # x, y, yaw in the world, where `use_start` is set
    use_start: bool = False
    real_time_factor: float = 1.0  # aimed at; 0 = as fast as possible
    publish_map_to_odom: bool = True  # false under SLAM
    cmd_vel_stamped: bool = False  # listen to TwistStamped
    silence_timeout: float = 0.5  # s of real time without a command, after which the robot is told to stand
    camera_rate: float = 10.0  # Hz
    camera_width: int = 0  # pixels, 0 = the camera's own
    camera_height: int = 0
    lidar_rate: float = 10.0  # Hz, of points and scan
    simulator: SimConfig = field(default_factory=SimConfig)

    def make_simulator(self) -> Simulator:
        """The simulator at its start. Raises ValueError (WorldError for the world) for what does not fit."""
        world = world_from_spec(self.world, self.seed)
        start = self.start if self.use_start else start_pose(world, self.seed, self.task)
        simulator = Simulator(world, self.simulator, self.seed, start)
        simulator.warm_up()
        return simulator


def start_pose(world: World, seed: int, task: str) -> tuple[float, float, float]:
    """(x, y, yaw): where the world's default task starts, or the world's own start where it has none.

    Raises ValueError for a task that is neither "default" nor "none".
    """
    if task not in TASKS:
        raise ValueError(f"task is {task!r}; it is one of {', '.join(TASKS)}")
    if task == "none":
        return world.start
    from lodestar_sim.tasks import default_task  # searches the whole world: only where it is asked for

    try:
        return default_task(world, seed).start
    except WorldError:
        return world.start
