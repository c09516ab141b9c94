"""Messages of the server, those of the sockets for STOP and for views."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from lodestar_console.protocol.parts import Lease, PartName
from lodestar_console.protocol.records import MAX_DIRECTIVE, VERSION, DeltaName, Outline, Record, Role


class Hello(Record, frozen=True, tag_field="type", tag="hello"):
    """First message: who one is here. server_time: of the robot's clock."""

    session: str
    name: str
    role: Role
    robot: str
    server_time: float
    lease: Lease | None
    protocol: int = VERSION
    max_directive: int = MAX_DIRECTIVE


class Part(Record, frozen=True, tag_field="type", tag="part"):
    """A small part, whole. value: `PartValues` of the name."""

    name: PartName
    revision: int
    value: msgspec.Raw


class Delta(Record, frozen=True, tag_field="type", tag="delta"):
    """Changes of a part that grows. previous: the revision that they apply to, 0 = all of it follows.

    changed: `DeltaItems` of the name. A page that finds another revision than `previous` sends `resync`.
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
    """Answer to a request. code: short name of a refusal, "" where it is ok. value: by the request, or null."""

    id: int
    ok: bool
    code: str
    text: str
    value: msgspec.Raw = msgspec.Raw(b"null")


ServerMessage: TypeAlias = Hello | Part | Delta | Pong | Reply


# --- /ws/stop ------------------------------------------------------------------------------------------


class StopRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """STOP, which any session may send; false asks only whether this socket still reaches the console.

    press: number of the press, which its replies carry.
    """

    stop: bool
    press: int = 0


class StopReply(Record, frozen=True):
    """sent: it is on its way; refused: nothing answered, see text; held: it is latched; stands: measured at `at`.

    released: somebody has resumed the robot since; ready: answer to a request without STOP. press: that it answers.
    """

    stop: Literal["ready", "sent", "held", "stands", "refused", "released"]
    at: float
    text: str = ""
    press: int = 0


# --- /ws/view, JSON inside binary frames and of the page -----------------------------------------------


class Wanted(Record, frozen=True):
    """Wishes of a page of what to see now; a hidden page wants nothing. hz: camera frames a second at most.

    memories: the table of the newest ones, which comes on /ws/state.
    """

    cloud: bool = False
    grid: bool = True
    camera: bool = False
    looks: bool = False
    memories: bool = False
    hz: float = 5.0


class WantRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Message of a page on /ws/view."""

    want: Wanted


class DetectedOutline(Record, frozen=True):
    """A detection with its outline in pixels. entity: id, 0 = none yet."""

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
