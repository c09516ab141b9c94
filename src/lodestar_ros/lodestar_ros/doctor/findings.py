"""Records of the doctor: observations of graph and machine, and findings."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from enum import IntEnum

from lodestar.perception.lookout import VocabularyReport


class Level(IntEnum):
    """Severity of a finding."""

    NOTE = 0  # for information
    WARNING = 1  # degraded operation
    FAULT = 2  # something does not work


@dataclass(frozen=True)
class Finding:
    """A problem. check: name of the check that found it; what: the problem in one sentence; do: its remedy."""

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
    layout: str = ""  # hash of the message type's definition, "" = unknown


@dataclass(frozen=True)
class Picture:
    """Facts and problems of an image or a camera info. Problem texts are empty if there is none."""

    encoding: str = ""  # encoding of a raw image, format of a compressed one
    size: tuple[int, int] = (0, 0)  # width, height of an image
    unreadable: str = ""  # why it cannot be read
    assumed: str = ""  # assumption about its encoding
    unfit: str = ""  # why its size does not match its camera info
    undistorted: str = ""  # why the distortion of the camera info is not removed


@dataclass(frozen=True)
class Stream:
    """Statistics of an observed topic. age: seconds from a stamp to the doctor's clock, the least of
    all messages, because a busy computer delays some; NaN = it has no stamps.
    """

    rate: float = 0.0  # Hz by the stamps, so that a slow simulator is not taken for a slow sensor; 0 = silent
    age: float = math.nan
    frame: str = ""
    size: tuple[int, int] = (0, 0)  # width, height of an image
    scan_problem: str = ""  # why the newest scan cannot be read
    picture: Picture = field(default_factory=Picture)  # facts of an image or a camera info


@dataclass(frozen=True)
class FrameEdge:
    """A transform parent -> child. lag: seconds from a stamp to the doctor's clock, the least of all
    messages; 0 for a static one.
    """

    parent: str
    child: str
    static: bool = False
    lag: float = 0.0
    rate: float = 0.0
    rotation: tuple[float, float, float, float] | None = None  # quaternion x, y, z, w; parent <- child


@dataclass(frozen=True)
class LocalProcess:
    """A Lodestar process on this computer, and the middleware that it was started with."""

    pid: int
    name: str
    domain: str = "0"
    rmw: str = ""
    confined: str = ""  # the setting that confines it to this computer, as NAME=VALUE; "" = none


@dataclass(frozen=True)
class Machine:
    """This computer. shm_free, disk_free: MiB, NaN = unknown; cuda: None = torch is not installed or was not asked."""

    shm_free: float = math.nan
    disk_free: float = math.nan
    disk_path: str = ""
    jetson: bool = False
    cuda: bool | None = None
    multicast: bool = True  # multicast is enabled on the loopback interface
    reads_text: bool = True  # the text reader for signs is installed
    domain: str = "0"
    rmw: str = ""
    interfaces: tuple[str, ...] = ()  # names of this computer's network interfaces
    wanted_interfaces: tuple[str, ...] = ()  # interfaces named in CYCLONEDDS_URI
    processes: tuple[LocalProcess, ...] = ()


#: Level (0 to 2), text and values of a node's diagnostics.
Status = tuple[int, str, dict[str, str]]


@dataclass(frozen=True)
class NodeChange:
    """A node that ended or was restarted during the observation.

    Times in seconds; the one that does not apply is NaN. silent: since its last message. restarted: since its
    new process began.
    """

    silent: float = math.nan
    restarted: float = math.nan


@dataclass(frozen=True)
class Observation:
    """State of graph and machine that the checks examine. Names of topics and nodes are full.

    parameters: by node and name, for the nodes that were asked. diagnostics: newest ones by running node.
    before: values of the diagnostics before those.
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
    before: dict[str, dict[str, str]] = field(default_factory=dict)
    changes: dict[str, NodeChange] = field(default_factory=dict)
    parameters: dict[str, dict[str, object]] = field(default_factory=dict)
    lifecycle: dict[str, str] = field(default_factory=dict)
    weights: dict[str, tuple[str, bytes | None]] = field(default_factory=dict)
    navigators: int = 0  # number of servers of navigate_to_pose
    machine: Machine = field(default_factory=Machine)
    vocabulary: VocabularyReport | None = None

    def full(self, name: str) -> str:
        """Return a relative name with the stack's namespace in front."""
        return f"{self.namespace}/{name}".replace("//", "/") if not name.startswith("/") else name

    def runs(self, name: str) -> bool:
        """Return whether a node of this relative name is in the graph."""
        return self.nodes[self.full(name)] > 0
