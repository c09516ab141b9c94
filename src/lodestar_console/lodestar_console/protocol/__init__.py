"""Messages between the console's server and its pages.

JSON text on `/ws/state` and `/ws/stop`, each with a ``type``. Lengths in metres in the frame ``map``, angles in
radians, stamps in seconds of the robot's clock since the epoch; unknown numbers are null. Texts from the
world (captions, labels, signs, names, directives) are data: the page shows them as text and never as markup.
`python -m lodestar_console.typescript` writes the page's types from these records.
"""

from __future__ import annotations

import msgspec

from lodestar_console.protocol.items import (
    Arm,
    BeliefChange,
    Check,
    Decision,
    DecisionTrace,
    DeltaItems,
    Entity,
    Event,
    Failure,
    MemoryItem,
)
from lodestar_console.protocol.messages import (
    CAMERA,
    CLOUD,
    GRID,
    LOOKS,
    CameraHead,
    Delta,
    DetectedOutline,
    Hello,
    Part,
    Pong,
    Reply,
    ServerMessage,
    StopReply,
    StopRequest,
    Wanted,
    WantRequest,
)
from lodestar_console.protocol.parts import (
    Battery,
    Change,
    Changes,
    Directive,
    DirectiveResult,
    Finding,
    Frontier,
    Health,
    Hold,
    Lease,
    LeaseState,
    Looks,
    NodeHealth,
    Operator,
    Operators,
    PartName,
    PartValues,
    Path,
    Progress,
    Robot,
    RobotQuestion,
    Room,
    StackNode,
    Vocabulary,
    Zone,
)
from lodestar_console.protocol.records import (
    MAX_DIRECTIVE,
    MAX_MESSAGE,
    MAX_PICTURE,
    VERSION,
    DeltaName,
    Outline,
    Point,
    Point3,
    Record,
    Role,
)
from lodestar_console.protocol.requests import (
    AnswerRobot,
    AskMemory,
    At,
    Cancel,
    ChangeLease,
    CloseWay,
    Correct,
    CorrectMemory,
    Details,
    ForgetMemory,
    LayZone,
    NameRoom,
    OfferLease,
    PageMessage,
    Ping,
    PinMemory,
    PointOut,
    Request,
    Resume,
    Resync,
    SearchMemory,
    SendDirective,
    Undo,
)
from lodestar_console.protocol.values import (
    AnswerValue,
    AtValue,
    DetailsValue,
    FoundValue,
    MeaningValue,
    Place,
    PointedValue,
    Proof,
)

_decode_page = msgspec.json.Decoder(PageMessage).decode
_decode_stop = msgspec.json.Decoder(StopRequest).decode
_decode_want = msgspec.json.Decoder(WantRequest).decode
encode = msgspec.json.Encoder().encode


def page_message(data: bytes | str) -> PageMessage:
    """Decode a page's message. Raises msgspec.ValidationError or msgspec.DecodeError, which name the fault."""
    return _decode_page(data)


def stop_request(data: bytes | str) -> StopRequest:
    """Decode a request on /ws/stop. Raises as `page_message`."""
    return _decode_stop(data)


def want_request(data: bytes | str) -> WantRequest:
    """Decode a request on /ws/view. Raises as `page_message`."""
    return _decode_want(data)


def part(name: str, revision: int, value: object) -> bytes:
    """Return the encoded message of a small part of the page, which is sent as a whole."""
    return encode(Part(name=name, revision=revision, value=msgspec.Raw(encode(value))))  # type: ignore[arg-type]


__all__ = [
    "CAMERA",
    "CLOUD",
    "GRID",
    "LOOKS",
    "MAX_DIRECTIVE",
    "MAX_MESSAGE",
    "MAX_PICTURE",
    "VERSION",
    "AnswerRobot",
    "AnswerValue",
    "Arm",
    "AskMemory",
    "At",
    "AtValue",
    "Battery",
    "BeliefChange",
    "CameraHead",
    "Cancel",
    "Change",
    "ChangeLease",
    "Changes",
    "Check",
    "CloseWay",
    "Correct",
    "CorrectMemory",
    "Decision",
    "DecisionTrace",
    "Delta",
    "DeltaItems",
    "DeltaName",
    "Details",
    "DetailsValue",
    "DetectedOutline",
    "Directive",
    "DirectiveResult",
    "Entity",
    "Event",
    "Failure",
    "Finding",
    "ForgetMemory",
    "FoundValue",
    "Frontier",
    "Health",
    "Hello",
    "Hold",
    "LayZone",
    "Lease",
    "LeaseState",
    "Looks",
    "MeaningValue",
    "MemoryItem",
    "NameRoom",
    "NodeHealth",
    "OfferLease",
    "Operator",
    "Operators",
    "Outline",
    "PageMessage",
    "Part",
    "PartName",
    "PartValues",
    "Path",
    "PinMemory",
    "Ping",
    "Place",
    "Point",
    "Point3",
    "PointOut",
    "PointedValue",
    "Pong",
    "Progress",
    "Proof",
    "Record",
    "Reply",
    "Request",
    "Resume",
    "Resync",
    "Robot",
    "RobotQuestion",
    "Role",
    "Room",
    "SearchMemory",
    "SendDirective",
    "ServerMessage",
    "StackNode",
    "StopReply",
    "StopRequest",
    "Undo",
    "Vocabulary",
    "WantRequest",
    "Wanted",
    "Zone",
    "encode",
    "page_message",
    "part",
    "stop_request",
    "want_request",
]
