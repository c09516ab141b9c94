"""The options of a start, and what each may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lodestar_bringup.places import StackError

SLAM = ("none", "slam_toolbox")
ROBOTS = ("sim", "go2_protocol", "isaac_bridge")
BRIDGES = ("lodestar", "isaac_go2_ros2")
DRIVERS = ("go2_base", "webrtc", "external")
PERCEPTION = ("profile", "nanodet", "network")  # those but the first have a profile of their name in config/
NAVIGATORS = ("sim", "nav2", "external")


@dataclass(frozen=True)
class StackOptions:
    """Options of a start that do not depend on the use."""

    world: str = "apartment"  # apartment | office | warehouse | a world file | a real map
    seed: int = 1  # of the world and of sensor noise
    slam: str = "none"  # none: the simulator publishes map->odom; slam_toolbox: SLAM publishes it
    # sim: sim_navigator serves navigate_to_pose; nav2: Nav2 does; external: it is served already; "": that of the use
    navigator: str = ""
    # simulator only. sim: it takes velocities; go2_protocol: it speaks the topics of a Go2, and go2_base drives it;
    # isaac_bridge: it publishes as Isaac Sim does with our script
    robot: str = "sim"
    # isaac only. lodestar: our script in isaac/; isaac_go2_ros2: the public project Zhefan-Xu/isaac-go2-ros2
    bridge: str = "lodestar"
    # go2 only. go2_base: the robot's own topics over Ethernet; webrtc: the community's driver; external: another one
    driver: str = "go2_base"
    # profile: that of the use's profile; nanodet: NanoDet on colour images, from `make detector`; network: the packaged
    # network for the simulator's buildings, on its colour images
    perception: str = "profile"
    robot_topics: str = ""  # namespace of the robot's own topics; "": as a Go2 has them
    namespace: str = ""  # of every node and relative topic
    operator: bool = (
        False  # directives by text and clicks from RViz are taken, and pictures for people are made
    )
    console: bool = False  # the page in the browser, and the door for agents (docs/how-to/console.md)
    signs: bool = False  # signs are read (docs/how-to/signs.md)
    record: bool = False  # inputs and conclusions of the stack are written to a recording
    bag: str = ""  # replay only: the recording that is played; "" = another player runs, with a clock
    rate: float = 1.0  # replay only: times the pace of the recording
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
