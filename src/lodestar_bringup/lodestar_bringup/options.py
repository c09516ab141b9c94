"""The options of a start, and their allowed values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lodestar_bringup.places import StackError

SLAM = ("none", "slam_toolbox")
ROBOTS = ("sim", "go2_protocol", "isaac_bridge")
BRIDGES = ("lodestar", "isaac_go2_ros2")
DRIVERS = ("go2_base", "webrtc", "external")
PERCEPTION = (
    "profile",
    "nanodet",
    "network",
    "measured",
)  # all but "profile" have a profile of their name in config/
NAVIGATORS = ("sim", "nav2", "external")


@dataclass(frozen=True)
class StackOptions:
    """Options of a start of the stack, such as world, SLAM, navigator and namespace; some apply to one use
    only.
    """

    world: str = "apartment"  # apartment | office | warehouse | a world file | a real map
    seed: int = 1  # seed of the world and of sensor noise
    slam: str = "none"  # none: the simulator publishes map->odom; slam_toolbox: SLAM publishes it
    # sim: sim_navigator serves navigate_to_pose; nav2: Nav2 does; external: another server does; "": the use's
    # default
    navigator: str = ""
    # simulator only. sim: it accepts velocities; go2_protocol: it has the topics of a Go2, and go2_base drives it;
    # isaac_bridge: it publishes as Isaac Sim does with our script
    robot: str = "sim"
    # isaac only. lodestar: our script in isaac/; isaac_go2_ros2: the public project Zhefan-Xu/isaac-go2-ros2
    bridge: str = "lodestar"
    # go2 only. go2_base: the robot's own topics over Ethernet; webrtc: the community's driver; external: another
    # driver
    driver: str = "go2_base"
    # profile: the detector of the use's profile; nanodet: NanoDet on colour images, from `make detector`; network:
    # the packaged network for the simulator's buildings, on its colour images; measured: the simulator's labels with
    # the errors that the networks of `make detector` were measured to make
    perception: str = "profile"
    robot_topics: str = ""  # namespace of the robot's own topics; "" = none, as on a Go2
    namespace: str = ""  # namespace of every node and relative topic
    # start the operator node (directives by text and clicks from RViz), and publish annotated images
    operator: bool = False
    console: bool = False  # start the web console with its interface for agents (docs/how-to/console.md)
    signs: bool = False  # start the sign reader (docs/how-to/buildings.md)
    record: bool = False  # record the stack's inputs and conclusions
    bag: str = ""  # replay only: the recording to play; "" = another player runs and publishes /clock
    rate: float = 1.0  # replay only: multiple of the recording's pace
    profiles: tuple[Path, ...] = ()  # parameter files read after those of the use; they override them
    # node -> parameter -> value; overrides all files
    parameters: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        choices = (
            ("slam", self.slam, SLAM),
            ("navigator", self.navigator, NAVIGATORS),
            ("robot", self.robot, ROBOTS),
            ("driver", self.driver, DRIVERS),
            ("bridge", self.bridge, BRIDGES),
            ("perception", self.perception, PERCEPTION),
        )
        for name, value, known in choices:
            if value not in known and not (name == "navigator" and not value):
                raise StackError(f"{name} is {value!r}; it is one of {', '.join(known)}")
        if not 0.0 < self.rate < float("inf"):
            raise StackError(f"rate is {self.rate:g}; it is a number above 0")
        if self.bag and not Path(self.bag).expanduser().exists():
            raise StackError(f"the recording {self.bag} does not exist")
