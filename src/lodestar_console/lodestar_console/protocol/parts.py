"""Small parts, which are always sent whole."""

from __future__ import annotations

from typing import Literal, TypeAlias

from lodestar_console.protocol.records import Outline, Record, Role


class Battery(Record, frozen=True):
    """Charge of the battery. share: [0, 1]; volts: V."""

    share: float | None = None
    volts: float | None = None


class Robot(Record, frozen=True):
    """State of the robot. pose: x, y, z, yaw in map; None = not known.

    speed: m/s; turn_rate: rad/s; held: STOP is latched; stands: it is measured to stand still; footprint: corners of
    its body in the robot's frame; heartbeat_age, gate_age: s since the goal selector and the motion gate were heard,
    None = never.
    """

    pose: tuple[float, float, float, float] | None = None
    speed: float | None = None
    turn_rate: float | None = None
    battery: Battery | None = None
    state: str = ""
    held: bool = False
    motion_allowed: bool = False
    epoch: int = 0
    stands: bool = False
    footprint: Outline = []
    stamp: float = 0.0
    heartbeat_age: float | None = None
    gate_age: float | None = None


class Progress(Record, frozen=True):
    """One sentence of progress."""

    at: float
    text: str


class DirectiveResult(Record, frozen=True):
    """End of a directive; code 0 is success, others are those of follow_directive."""

    success: bool
    code: int
    text: str
    entities: list[int] = []


class RobotQuestion(Record, frozen=True):
    """A question of the robot; choices are counted from 1."""

    id: str
    text: str
    choices: list[str]


class Directive(Record, frozen=True):
    """The directive that runs, or the last one. remaining, travelled: m. by: who sent it; "" = another client.

    number: of those that came by this console since it began, 0 = another client's.
    """

    text: str = ""
    understood: str = ""
    unseen: str = ""
    phase: str = ""
    expert: str = ""
    progress: list[Progress] = []
    goal: tuple[float, float, float] | None = None
    remaining: float | None = None
    travelled: float | None = None
    running: bool = False
    result: DirectiveResult | None = None
    question: RobotQuestion | None = None
    by: str = ""
    number: int = 0


class Path(Record, frozen=True):
    """The way driven, oldest first, and the way that is planned."""

    driven: Outline = []
    planned: Outline = []


class Frontier(Record, frozen=True):
    """An edge of the known floor. gain: m2 expected to be seen anew; size: m; reason: why it cannot be reached."""

    id: int
    x: float
    y: float
    gain: float
    size: float
    reason: str = ""


class Room(Record, frozen=True):
    """A room. weight: how sure its name is, [0, 1]; named: by a person; contents: labels of things in it."""

    id: int
    name: str
    outline: Outline
    x: float
    y: float
    weight: float
    named: bool = False
    area: float = 0.0
    contents: list[str] = []
    plates: list[str] = []


class Zone(Record, frozen=True):
    """An area to keep out of (an outline), or a closed way (two points). expires: stamp, None = until it is opened.

    laid: an operator laid it, and can take it away again (`zone`); others come of directives and of the fence.
    """

    id: str
    kind: Literal["keep_out", "closed_way"]
    outline: Outline
    text: str
    expires: float | None = None
    laid: bool = False


class Vocabulary(Record, frozen=True):
    """Words that the detector can name now. unseen: words that it cannot name, though asked for. by: the detector."""

    words: list[str] = []
    unseen: list[str] = []
    by: str = ""
    is_open: bool = False
    problem: str = ""


class Finding(Record, frozen=True):
    """One finding of the doctor. do: what helps."""

    level: Literal["ok", "warning", "error"]
    text: str
    do: str = ""


class NodeHealth(Record, frozen=True):
    """One node. pss: bytes; rate: Hz of its fastest input; age: s since its newest one; status: in its words."""

    name: str
    alive: bool
    level: Literal["ok", "warning", "error"] = "ok"
    status: str = ""
    pss: int | None = None
    rate: float | None = None
    age: float | None = None
    restarts: int = 0


class StackNode(Record, frozen=True):
    """A node that the console waits for, or has heard."""

    name: str
    state: Literal["waiting", "there", "gone"]


class Health(Record, frozen=True):
    """Health of the stack. cpu: share of all cores in use, [0, 1]."""

    findings: list[Finding] = []
    nodes: list[NodeHealth] = []
    stack: list[StackNode] = []
    cpu: float | None = None


class Operator(Record, frozen=True):
    """Somebody whose page is open, or an agent with a token."""

    name: str
    role: Role
    since: float
    agent: bool = False


class Operators(Record, frozen=True):
    """Everybody who is there. agents: names of agents that have a token; offered: those that may take the lease."""

    people: list[Operator] = []
    agents: list[str] = []
    offered: list[str] = []


class Lease(Record, frozen=True):
    """The commanding session, and until when unless it is renewed; any request of the holder renews it."""

    holder: str
    until: float
    agent: bool = False


class LeaseState(Record, frozen=True):
    """The lease, None = nobody commands."""

    lease: Lease | None = None


class Looks(Record, frozen=True):
    """Revision of the raster of looks, which comes on /ws/view."""

    revision: int = 0


class Change(Record, frozen=True):
    """One change, in a sentence with its probability; the place is that of now, or of before where it is gone."""

    kind: Literal["moved", "gone", "new", "renamed"]
    text: str
    x: float | None = None
    y: float | None = None
    entities: list[int] = []


class Changes(Record, frozen=True):
    """Changes against the map that was loaded. against: which that is, "" = none was loaded."""

    against: str = ""
    changes: list[Change] = []


class PartValues(Record, frozen=True):
    """Value of each part by its name."""

    robot: Robot
    directive: Directive
    path: Path
    frontiers: list[Frontier]
    rooms: list[Room]
    zones: list[Zone]
    vocabulary: Vocabulary
    health: Health
    operators: Operators
    lease: LeaseState
    looks: Looks
    changes: Changes


PartName: TypeAlias = Literal[
    "robot", "directive", "path", "frontiers", "rooms", "zones", "vocabulary", "health", "operators", "lease", "looks",
    "changes",
]  # fmt: skip
