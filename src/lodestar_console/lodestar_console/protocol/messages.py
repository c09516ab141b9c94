"""Messages of the server, and all messages of the sockets for STOP and views."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from lodestar_console.protocol.parts import Lease, PartName
from lodestar_console.protocol.records import MAX_DIRECTIVE, VERSION, DeltaName, Outline, Record, Role


class Hello(Record, frozen=True, tag_field="type", tag="hello"):
    """First message: the page's session, name and role. server_time: s of the robot's clock."""

    session: str
    name: str
    role: Role
    robot: str
    server_time: float
    lease: Lease | None
    protocol: int = VERSION
    max_directive: int = MAX_DIRECTIVE


class Part(Record, frozen=True, tag_field="type", tag="part"):
    """A part of the page that is sent as a whole. value: of the type that `PartValues` gives for the name."""

    name: PartName
    revision: int
    value: msgspec.Raw


class Delta(Record, frozen=True, tag_field="type", tag="delta"):
    """Changes of a growing part, a table of items. changed: of the type that `DeltaItems` gives for the name.

    previous: revision that the changes apply to; 0 = all items are contained. A page at another revision
    sends `resync`.
    """

    name: DeltaName
    revision: int
    previous: int
    changed: msgspec.Raw
    removed: list[int | str]


class Pong(Record, frozen=True, tag_field="type", tag="pong"):
    """Answer to a ping."""

    id: int
    server_time: float


class Reply(Record, frozen=True, tag_field="type", tag="reply"):
    """Answer to a request. code: short name of a refusal, "" = ok. value: depends on the request, or null."""

    id: int
    ok: bool
    code: str
    text: str
    value: msgspec.Raw = msgspec.Raw(b"null")


ServerMessage: TypeAlias = Hello | Part | Delta | Pong | Reply


# --- /ws/stop ------------------------------------------------------------------------------------------


class StopRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """STOP request, which any session may send; stop = false only tests the connection.

    press: number of the press, repeated in its replies.
    """

    stop: bool
    press: int = 0


class StopReply(Record, frozen=True):
    """Progress of a STOP at time `at`. sent: on its way; refused: no answer, see text; held: latched; stands: standing.

    released: the robot was resumed; ready: answer to a connection test. press: number of the answered press.
    """

    stop: Literal["ready", "sent", "held", "stands", "refused", "released"]
    at: float
    text: str = ""
    press: int = 0


# --- /ws/view, messages of the page and JSON in frames -----------------------------------------------


class Wanted(Record, frozen=True):
    """Streams that a page wants now; a hidden page wants none. hz: largest rate of camera frames.

    memories: the newest memories, which are sent on /ws/state.
    """

    cloud: bool = False
    grid: bool = True
    camera: bool = False
    looks: bool = False
    memories: bool = False
    hz: float = 5.0


class WantRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Message of a page on /ws/view: the streams that it wants."""

    want: Wanted


class DetectedOutline(Record, frozen=True):
    """A detection with its outline in pixels. entity: id of its instance, 0 = none yet."""

    label: str
    score: float
    outline: Outline
    entity: int = 0


class CameraHead(Record, frozen=True):
    """Head of a camera frame; the JPEG has this size in pixels. pose: x, y, yaw of the robot."""

    width: int
    height: int
    stamp: float
    detections: list[DetectedOutline] = []
    pose: tuple[float, float, float] | None = None


#: Kinds of binary frames; see `web/frames.py` for their layout.
CLOUD, GRID, CAMERA, LOOKS = 1, 2, 3, 4
