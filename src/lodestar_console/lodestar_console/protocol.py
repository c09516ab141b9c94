"""Messages between the console's server and its pages: their one home.

JSON text on `/ws/state` and `/ws/stop`, each with a ``type``. Lengths in metres in the frame ``map``, angles in
radians, stamps in seconds of the robot's clock since the epoch; a number that is not known is null. Texts from the
world (captions, labels, signs, names, directives) are data: the page shows them as text and never as markup.
`python -m lodestar_console.typescript` writes the page's types from these records.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

VERSION = 1
MAX_DIRECTIVE = 2000  # characters of a directive or a question
MAX_MESSAGE = 32 * 1024  # bytes of one message of a page
MAX_PICTURE = 8 * 2**20  # bytes of a picture of a target

Role: TypeAlias = Literal["look", "stop", "command"]
Point: TypeAlias = tuple[float, float]
Point3: TypeAlias = tuple[float, float, float]
Outline: TypeAlias = list[tuple[float, float]]
DeltaName: TypeAlias = Literal["entities", "decisions", "beliefs", "events", "memories"]


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=False):
    """A record of the protocol; equal by value."""


# --- small parts, always sent whole --------------------------------------------------------------------


class Battery(Record):
    """Charge of the battery. share: [0, 1]; volts: V."""

    share: float | None = None
    volts: float | None = None


class Robot(Record):
    """State of the robot. pose: x, y, z, yaw in map; None = not known.

    speed: m/s; turn_rate: rad/s; held: STOP is latched; stands: it is measured to stand still; footprint: corners of
    its body in the robot's frame; heartbeat_age: s since the goal selector was heard, None = never.
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


class Progress(Record):
    """One sentence of progress."""

    at: float
    text: str


class DirectiveResult(Record):
    """End of a directive; code 0 is success, others are those of follow_directive."""

    success: bool
    code: int
    text: str
    entities: list[int] = []


class RobotQuestion(Record):
    """A question of the robot; choices are counted from 1."""

    id: str
    text: str
    choices: list[str]


class Directive(Record):
    """The directive that runs, or the last one. remaining, travelled: m. by: who sent it; "" = another client."""

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


class Path(Record):
    """The way driven, oldest first, and the way that is planned."""

    driven: Outline = []
    planned: Outline = []


class Frontier(Record):
    """An edge of the known floor. gain: m2 expected to be seen anew; size: m; reason: why it cannot be reached."""

    id: int
    x: float
    y: float
    gain: float
    size: float
    reason: str = ""


class Room(Record):
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


class Zone(Record):
    """An area to keep out of (an outline), or a closed way (two points). expires: stamp, None = until it is opened."""

    id: str
    kind: Literal["keep_out", "closed_way"]
    outline: Outline
    text: str
    expires: float | None = None


class Vocabulary(Record):
    """What the detector can name now. unseen: words that were asked for and that it cannot name. by: the detector."""

    words: list[str] = []
    unseen: list[str] = []
    by: str = ""
    is_open: bool = False
    problem: str = ""


class Finding(Record):
    """One finding of the doctor. do: what helps."""

    level: Literal["ok", "warning", "error"]
    text: str
    do: str = ""


class NodeHealth(Record):
    """One node. pss: bytes; rate: Hz of its slowest input; age: s of its oldest input; status: in its words."""

    name: str
    alive: bool
    level: Literal["ok", "warning", "error"] = "ok"
    status: str = ""
    pss: int | None = None
    rate: float | None = None
    age: float | None = None
    restarts: int = 0


class StackNode(Record):
    """A node that the console waits for, or has heard."""

    name: str
    state: Literal["waiting", "there", "gone"]


class Health(Record):
    """Health of the stack. cpu: share of all cores in use, [0, 1]."""

    findings: list[Finding] = []
    nodes: list[NodeHealth] = []
    stack: list[StackNode] = []
    cpu: float | None = None


class Operator(Record):
    """Somebody whose page is open, or an agent with a token."""

    name: str
    role: Role
    since: float
    agent: bool = False


class Operators(Record):
    """Who is there."""

    people: list[Operator] = []


class Lease(Record):
    """Who commands, and until when unless it is renewed; any request of the holder renews it."""

    holder: str
    until: float
    agent: bool = False


class LeaseState(Record):
    """The lease, None = nobody commands."""

    lease: Lease | None = None


class Looks(Record):
    """Revision of the raster of looks, which comes on /ws/view."""

    revision: int = 0


class Changes(Record):
    """Changes against the map that was loaded, in sentences."""

    against: str = ""
    texts: list[str] = []


class PartValues(Record):
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


# --- parts that grow, sent as deltas -------------------------------------------------------------------


class Entity(Record):
    """A thing of the scene. box: its two corners; confidence: in its presence, [0, 1]; stated: by people."""

    id: int
    label: str
    caption: str
    attributes: list[str]
    mean: Point3
    box: tuple[Point3, Point3]
    confidence: float
    state: Literal["active", "uncertain", "archived"]
    room: int
    first_seen: float
    last_seen: float
    keyframes: list[int] = []
    stated: list[str] = []
    relations: list[str] = []
    moves: bool = False


class Arm(Record):
    """One expert at a decision. value: expected reward; bound: its upper confidence bound; reason: why not, or why."""

    name: str
    admissible: bool
    value: float | None
    bound: float | None
    reason: str
    propensity: float | None = None
    goal: tuple[float, float, float] | None = None


class Check(Record):
    """One belief or expectation of a trace, in words."""

    kind: Literal["believed", "expected", "otherwise", "evidence"]
    text: str


class DecisionTrace(Record):
    """Reasoning of an action in words."""

    text: str
    checks: list[Check]


class Failure(Record):
    """What differed from what was expected, why, and what was done about it."""

    text: str
    diagnosis: str = ""
    recovery: str = ""


class Decision(Record):
    """One decision. why: the account that `lodestar_ros.why` gives, by lines; outcome: "pending" until it is known."""

    id: str
    epoch: int
    at: float
    directive: str
    chosen: str
    explanation: str
    arms: list[Arm]
    reward: float | None
    outcome: str
    entities: list[int] = []
    keyframes: list[int] = []
    trace: DecisionTrace | None = None
    failure: Failure | None = None
    why: list[str] = []


class BeliefChange(Record):
    """One entry of the journal: what is believed since, by whom, and whether it was taken back."""

    id: str
    entry: int
    at: float
    text: str
    by: str
    entities: list[int] = []
    undone: bool = False


class Event(Record):
    """Something on the timeline. pose: of the robot then; decision: id; text: for a person, untrusted."""

    id: str
    at: float
    kind: str
    text: str
    pose: tuple[float, float, float] | None = None
    keyframe: int = 0
    entities: list[int] = []
    decision: str = ""


class MemoryItem(Record):
    """One remembered thing; text is untrusted."""

    id: str
    at: float
    text: str
    x: float | None = None
    y: float | None = None
    pinned: bool = False
    keyframes: list[int] = []
    entities: list[int] = []


class DeltaItems(Record):
    """Items of each delta by its name."""

    entities: Entity
    decisions: Decision
    beliefs: BeliefChange
    events: Event
    memories: MemoryItem


# --- server to page ------------------------------------------------------------------------------------


class Hello(Record, tag_field="type", tag="hello"):
    """First message: who one is here. server_time: of the robot's clock."""

    session: str
    name: str
    role: Role
    robot: str
    server_time: float
    lease: Lease | None
    protocol: int = VERSION
    max_directive: int = MAX_DIRECTIVE


class Part(Record, tag_field="type", tag="part"):
    """A small part, whole. value: `PartValues` of the name."""

    name: PartName
    revision: int
    value: msgspec.Raw


class Delta(Record, tag_field="type", tag="delta"):
    """Changes of a part that grows. previous: the revision that they apply to, 0 = all of it follows.

    changed: `DeltaItems` of the name. A page that finds another revision than `previous` sends `resync`.
    """

    name: DeltaName
    revision: int
    previous: int
    changed: msgspec.Raw
    removed: list[int | str]


class Pong(Record, tag_field="type", tag="pong"):
    """Answer to a ping."""

    id: int
    server_time: float


class Place(Record):
    """A place that an answer points to, in map."""

    x: float
    y: float
    z: float
    text: str = ""


class Proof(Record):
    """What an answer rests on. text is untrusted. session: of a keyframe, for its address."""

    kind: Literal["memory", "keyframe", "entity", "room"]
    id: str
    text: str
    at: float
    keyframe: int = 0
    session: str = ""
    score: float = 0.0


class AnswerValue(Record):
    """Answer to a question: value of the reply to `ask`. directive: what would find out, "" = nothing would."""

    text: str
    confidence: float
    places: list[Place]
    proofs: list[Proof]
    entities: list[int]
    coverage: float | None
    directive: str
    last_verified: float


class MeaningValue(Record):
    """What a directive means: value of the reply to a dry run. problem: why it could not be begun."""

    understood: str
    steps: list[str]
    constraints: list[str]
    problem: str = ""


class PointedValue(Record):
    """What was pointed at: value of the reply to `point_out`."""

    entity: int
    question: str
    choice: int
    correction: str


class FoundValue(Record):
    """Memories that fit: value of the reply to `memory_search`. count: of what `memory_forget` would forget."""

    memories: list[MemoryItem]
    count: int = 0


class DetailsValue(Record):
    """What is known of a thing, a decision or a room, in sentences: value of the reply to `details`."""

    title: str
    lines: list[str]
    keyframes: list[int]


class AtValue(Record):
    """What was known at a time: value of the reply to `at`."""

    at: float
    decision: Decision | None
    events: list[Event]
    pose: tuple[float, float, float] | None
    keyframe: int
    grid_revision: int = 0


class Reply(Record, tag_field="type", tag="reply"):
    """Answer to a request. code: short name of a refusal, "" where it is ok. value: by the request, or null."""

    id: int
    ok: bool
    code: str
    text: str
    value: msgspec.Raw = msgspec.Raw(b"null")


ServerMessage: TypeAlias = Hello | Part | Delta | Pong | Reply


# --- page to server ------------------------------------------------------------------------------------


class Request(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type"):
    """A request; its reply names the same id."""

    id: int


class Ping(Request, tag="ping"):
    """Ask for a pong."""


class Resync(Request, tag="resync"):
    """Ask for the whole of a part that grows, after a gap."""

    name: DeltaName


class SendDirective(Request, tag="directive"):
    """Send a directive. picture: id of an uploaded picture of the target. dry_run: only say what is understood."""

    text: str
    picture: str | None = None
    dry_run: bool = False


class AnswerRobot(Request, tag="answer"):
    """Answer a question of the robot; choice is counted from 1."""

    question: str
    choice: int


class Cancel(Request, tag="cancel"):
    """Cancel the directive that runs."""


class Resume(Request, tag="resume"):
    """Release the latched STOP."""


class ChangeLease(Request, tag="lease"):
    """Take the lease (from an agent too), renew it or give it back."""

    action: Literal["take", "release"]


class AskMemory(Request, tag="ask"):
    """Ask the memory; it never moves the robot. picture: what "this" is."""

    text: str
    picture: str | None = None


class NameRoom(Request, tag="name_room"):
    """Call a room by a name; "" takes the name back. room 0: the one at x, y."""

    room: int
    name: str
    x: float = 0.0
    y: float = 0.0


class PointOut(Request, tag="point_out"):
    """Point at a place on the map."""

    x: float
    y: float
    z: float = 0.0


class CloseWay(Request, tag="close_way"):
    """Close the way between two points, or open it again. minutes: how long, 0 = until it is opened."""

    start: Point
    end: Point
    minutes: float = 0.0
    open: bool = False


class Correct(Request, tag="correct"):
    """Mend a belief in plain words ("it is gone", "that is a stool") about a thing; 0 = the one that is faced."""

    text: str
    entity: int = 0


class Undo(Request, tag="undo"):
    """Take an entry of the journal back."""

    entry: int


class SearchMemory(Request, tag="memory_search"):
    """Search the memory by words."""

    text: str


class PinMemory(Request, tag="memory_pin"):
    """Keep a memory for good, or no longer."""

    memory: str
    pinned: bool = True


class CorrectMemory(Request, tag="memory_correct"):
    """Replace a memory by other words; the old ones stay as history."""

    memory: str
    text: str


class ForgetMemory(Request, tag="memory_forget"):
    """Forget memories for good. expected: how many that are; 0 = say how many and forget nothing."""

    memories: list[str] = []
    text: str = ""
    expected: int = 0


class Details(Request, tag="details"):
    """Ask what is known of a thing."""

    kind: Literal["entity", "decision", "room", "memory"]
    of: str


class At(Request, tag="at"):
    """Ask what was known at a time."""

    time: float


PageMessage: TypeAlias = (
    Ping | Resync | SendDirective | AnswerRobot | Cancel | Resume | ChangeLease | AskMemory | NameRoom | PointOut
    | CloseWay | Correct | Undo | SearchMemory | PinMemory | CorrectMemory | ForgetMemory | Details | At
)  # fmt: skip


# --- /ws/stop ------------------------------------------------------------------------------------------


class StopRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """STOP. Any session may send it."""

    stop: Literal[True]


class StopReply(Record):
    """sent: it is on its way; refused: nothing answered, see text; held: it is latched; stands: measured at `at`."""

    stop: Literal["sent", "held", "stands", "refused"]
    at: float
    text: str = ""


# --- /ws/view, JSON inside binary frames and of the page -----------------------------------------------


class Wanted(Record):
    """What a page wants to see now; a hidden page wants nothing. hz: camera frames a second at most."""

    cloud: bool = False
    grid: bool = True
    camera: bool = False
    looks: bool = False
    hz: float = 5.0


class WantRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Message of a page on /ws/view."""

    want: Wanted


class DetectedOutline(Record):
    """A detection with its outline in pixels. entity: id, 0 = none yet."""

    label: str
    score: float
    outline: Outline
    entity: int = 0


class CameraHead(Record):
    """Head of a camera frame; the JPEG has this size in pixels. pose: x, y, yaw of the robot."""

    width: int
    height: int
    stamp: float
    detections: list[DetectedOutline] = []
    pose: tuple[float, float, float] | None = None


#: Kinds of binary frames; see `web/frames.py` for their layout.
CLOUD, GRID, CAMERA, LOOKS = 1, 2, 3, 4

_decode_page = msgspec.json.Decoder(PageMessage).decode
_decode_stop = msgspec.json.Decoder(StopRequest).decode
_decode_want = msgspec.json.Decoder(WantRequest).decode
encode = msgspec.json.Encoder().encode


def page_message(data: bytes | str) -> PageMessage:
    """Return a page's message. Raises msgspec.ValidationError or msgspec.DecodeError, whose text says what is wrong."""
    return _decode_page(data)


def stop_request(data: bytes | str) -> StopRequest:
    """Return a request on /ws/stop. Raises as `page_message`."""
    return _decode_stop(data)


def want_request(data: bytes | str) -> WantRequest:
    """Return a request on /ws/view. Raises as `page_message`."""
    return _decode_want(data)


def part(name: str, revision: int, value: object) -> bytes:
    """Return the text of a part's message."""
    return encode(Part(name=name, revision=revision, value=msgspec.Raw(encode(value))))  # type: ignore[arg-type]
