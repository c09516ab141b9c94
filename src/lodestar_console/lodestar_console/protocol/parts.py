"""Small parts of the page, such as robot and battery, which are always sent as a whole."""

from __future__ import annotations

from typing import Literal, TypeAlias

from lodestar_console.protocol.records import Outline, Record, Role


class Battery(Record, frozen=True):
    """Charge of the battery. share: [0, 1]; volts: V."""

    share: float | None = None
    volts: float | None = None


class Hold(Record, frozen=True):
    """A hold or pause of the robot in force. number: id used by `Resume`; since: s of the wall clock."""

    number: int
    kind: Literal["hold", "pause"]
    who: str
    why: str = ""
    since: float = 0.0


class Robot(Record, frozen=True):
    """State of the robot. pose: x, y, z, yaw in map; None = unknown.

    speed: m/s; turn_rate: rad/s; held: STOP is latched; holds: those in the newest message of motion_gate;
    stands: measured to stand still; footprint: corners of its body in its own frame; heartbeat_age,
    gate_age: s since the last message of goal selector and motion gate, None = never.
    """

    pose: tuple[float, float, float, float] | None = None
    speed: float | None = None
    turn_rate: float | None = None
    battery: Battery | None = None
    state: str = ""
    held: bool = False
    holds: list[Hold] = []
    motion_allowed: bool = False
    epoch: int = 0
    stands: bool = False
    footprint: Outline = []
    stamp: float = 0.0
    heartbeat_age: float | None = None
    gate_age: float | None = None


class Progress(Record, frozen=True):
    """One sentence on the progress of a directive."""

    at: float
    text: str


class DirectiveResult(Record, frozen=True):
    """End of a directive; code: error code of follow_directive, 0 = success."""

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
    """The running or last directive. remaining, travelled: m. by: name of the sender; "" = another client.

    number: counts the directives sent by this console since its start, 0 = another client's.
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
    """The driven path, oldest point first, and the planned path."""

    driven: Outline = []
    planned: Outline = []


class Frontier(Record, frozen=True):
    """A frontier of the known floor. gain: expected new area, m2; size: m; reason: of being unreachable."""

    id: int
    x: float
    y: float
    gain: float
    size: float
    reason: str = ""


class Room(Record, frozen=True):
    """A room. weight: confidence in its name, [0, 1]; named: by a person; contents: labels of its objects."""

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
    """An area to keep out of (an outline), or a closed way (two points). expires: stamp, None = until opened.

    laid: whether an operator drew it and can remove it (request `zone`); others come from directives and
    from the fence, the polygon that the robot must not leave.
    """

    id: str
    kind: Literal["keep_out", "closed_way"]
    outline: Outline
    text: str
    expires: float | None = None
    laid: bool = False


class Vocabulary(Record, frozen=True):
    """The detector's current vocabulary. unseen: requested words that it does not know. by: name of the detector."""

    words: list[str] = []
    unseen: list[str] = []
    by: str = ""
    is_open: bool = False
    problem: str = ""


class Finding(Record, frozen=True):
    """One finding on the stack's health. do: remedy."""

    level: Literal["ok", "warning", "error"]
    text: str
    do: str = ""


class NodeHealth(Record, frozen=True):
    """One node. pss: bytes; rate: Hz of its fastest input; age: s since its newest input; status: its message."""

    name: str
    alive: bool
    level: Literal["ok", "warning", "error"] = "ok"
    status: str = ""
    pss: int | None = None
    rate: float | None = None
    age: float | None = None
    restarts: int = 0


class StackNode(Record, frozen=True):
    """A node that is expected to run, or has published a status."""

    name: str
    state: Literal["waiting", "there", "gone"]


class Health(Record, frozen=True):
    """Health of the stack. cpu: share of all cores in use, [0, 1]."""

    findings: list[Finding] = []
    nodes: list[NodeHealth] = []
    stack: list[StackNode] = []
    cpu: float | None = None


class Operator(Record, frozen=True):
    """A connected operator or agent. since: start of the session, s of the wall clock."""

    name: str
    role: Role
    since: float
    agent: bool = False


class Operators(Record, frozen=True):
    """Connected people and agents. agents: names of agents with a token; offered: agents allowed to take the lease."""

    people: list[Operator] = []
    agents: list[str] = []
    offered: list[str] = []


class Lease(Record, frozen=True):
    """The lease: name of its holder, and stamp of its expiry; commands of the holder renew it."""

    holder: str
    until: float
    agent: bool = False


class LeaseState(Record, frozen=True):
    """The current lease, None = no holder."""

    lease: Lease | None = None


class Looks(Record, frozen=True):
    """Revision of the raster of looks (floor cells seen by the camera), which is sent on /ws/view."""

    revision: int = 0


class Change(Record, frozen=True):
    """One change, as a sentence with its probability. x, y: current place, or the previous one if it is gone."""

    kind: Literal["moved", "gone", "new", "renamed"]
    text: str
    x: float | None = None
    y: float | None = None
    entities: list[int] = []


class Changes(Record, frozen=True):
    """Changes against the loaded map. against: name of that map, "" = none loaded."""

    against: str = ""
    changes: list[Change] = []


class PartValues(Record, frozen=True):
    """Type of the value of each small part, by the part's name."""

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
