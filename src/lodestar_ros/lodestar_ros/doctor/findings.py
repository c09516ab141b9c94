"""Records of the doctor: what was observed of graph and machine, and what is wrong with it."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from enum import IntEnum

from lodestar.perception.lookout import VocabularyReport


class Level(IntEnum):
    """Weight of a finding."""

    NOTE = 0  # worth knowing
    WARNING = 1  # it works worse than it could
    FAULT = 2  # something does not work


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong. check: its name; what: one sentence; do: what to do about it."""

    level: Level
    check: str
    what: str
    do: str


@dataclass(frozen=True)
class Endpoint:
    """A publisher or a subscription. node: full name."""

    node: str
    type: str
    reliable: bool = True
    latched: bool = False
    layout: str = ""  # hash of the type's definition, "" = not known


@dataclass(frozen=True)
class Picture:
    """Facts of an image or a camera info. Texts are empty where nothing is wrong."""

    encoding: str = ""  # or format
    size: tuple[int, int] = (0, 0)  # width, height of an image
    unreadable: str = ""  # why it cannot be read
    assumed: str = ""  # of its encoding
    unfit: str = ""  # why it cannot be an image of its camera
    undistorted: str = ""  # why the distortion of the camera info is not removed


@dataclass(frozen=True)
class Stream:
    """A topic that was listened to. age: seconds from the newest stamp to our clock, NaN = it has no stamps."""

    rate: float = 0.0  # Hz by the stamps, so that a slow simulator is not taken for a slow sensor; 0 = silent
    age: float = math.nan
    frame: str = ""
    size: tuple[int, int] = (0, 0)  # width, height of an image
    scan_problem: str = ""  # why the newest scan cannot be read
    picture: Picture = field(default_factory=Picture)  # of an image or a camera info


@dataclass(frozen=True)
class FrameEdge:
    """A transform parent -> child. lag: seconds from its newest stamp to our clock; 0 for a static one."""

    parent: str
    child: str
    static: bool = False
    lag: float = 0.0
    rate: float = 0.0
    rotation: tuple[float, float, float, float] | None = None  # x, y, z, w; parent <- child


@dataclass(frozen=True)
class LocalProcess:
    """A process of ours on this computer, and the middleware that it was started with."""

    pid: int
    name: str
    domain: str = "0"
    rmw: str = ""
    confined: str = ""  # the setting that keeps it on this computer, as NAME=VALUE; "" = none does


@dataclass(frozen=True)
class Machine:
    """This computer. shm_free, disk_free: MiB, NaN = unknown; cuda: None = torch is not installed or not asked."""

    shm_free: float = math.nan
    disk_free: float = math.nan
    disk_path: str = ""
    jetson: bool = False
    cuda: bool | None = None
    multicast: bool = True  # on the loopback interface
    reads_text: bool = True  # the reader of signs is installed
    domain: str = "0"
    rmw: str = ""
    interfaces: tuple[str, ...] = ()  # that this computer has
    wanted_interfaces: tuple[str, ...] = ()  # that CYCLONEDDS_URI names
    processes: tuple[LocalProcess, ...] = ()


#: Level (0 to 2), text and values of a node's diagnostics.
Status = tuple[int, str, dict[str, str]]


@dataclass(frozen=True)
class NodeChange:
    """A node that ended or was started again while it was observed. Seconds; NaN where it is the other.

    silent: since it said anything. restarted: since its new process began.
    """

    silent: float = math.nan
    restarted: float = math.nan


@dataclass(frozen=True)
class Observation:
    """State of graph and machine that the checks look at. Names of topics and nodes are full.

    parameters: by node and name, as far as they were asked for. diagnostics: by node that runs.
    changes: by node. vocabulary: perception's newest answer to wanted words.
    lifecycle: state of Nav2's nodes. weights: node -> (path, first bytes of the file; None = there is none).
    """

    seconds: float
    namespace: str = ""
    nodes: Counter[str] = field(default_factory=Counter)
    publishers: dict[str, tuple[Endpoint, ...]] = field(default_factory=dict)
    subscriptions: dict[str, tuple[Endpoint, ...]] = field(default_factory=dict)
    streams: dict[str, Stream] = field(default_factory=dict)
    frames: tuple[FrameEdge, ...] = ()
    doubled: tuple[tuple[str, str], ...] = ()  # transforms (parent, child) that two publishers send
    diagnostics: dict[str, Status] = field(default_factory=dict)
    changes: dict[str, NodeChange] = field(default_factory=dict)
    parameters: dict[str, dict[str, object]] = field(default_factory=dict)
    lifecycle: dict[str, str] = field(default_factory=dict)
    weights: dict[str, tuple[str, bytes | None]] = field(default_factory=dict)
    navigators: int = 0  # servers of navigate_to_pose
    machine: Machine = field(default_factory=Machine)
    vocabulary: VocabularyReport | None = None

    def full(self, name: str) -> str:
        """Return a relative name in the namespace of the stack."""
        return f"{self.namespace}/{name}".replace("//", "/") if not name.startswith("/") else name

    def runs(self, name: str) -> bool:
        """Return whether a node of this relative name is in the graph."""
        return self.nodes[self.full(name)] > 0
