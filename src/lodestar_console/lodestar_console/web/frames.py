"""Binary frames of `/ws/view`. All numbers are little-endian.

| bytes | header of each frame |
|---|---|
| 0 | u8 kind: 1 cloud, 2 grid, 3 camera, 4 looks (floor cells seen by the camera) |
| 1 | u8 flags: bit 0 = whole, replaces all earlier data |
| 2 | u16 reserved, 0 |
| 4 | u32 revision |
| 8 | u32 previous revision, which the change applies to; 0 = whole |
| 12 | u32 count: records of a cloud; uncompressed bytes of a grid's cells; 1 for a camera |
| 16 | f64 stamp, s |

Cloud: f32 pitch in m; then per record i16 x, y, z in voxels, u8 r, g, b, u8 flags (bit 0 = removed), u32 instance.
Grid and looks: f32 resolution, origin x, y, yaw; u16 x0, y0, w, h of the rectangle; u16 W, H of the whole; then the
cells of the rectangle, row 0 at the lowest y, compressed by zlib. Camera: u16 length of the JSON of `CameraHead`, the
JSON, then a JPEG.
"""

from __future__ import annotations

import struct
import zlib
from collections import OrderedDict
from collections.abc import Callable

import numpy as np

from lodestar_console import protocol
from lodestar_console.board.camera import CameraShot
from lodestar_console.board.raster import RasterChange
from lodestar_console.board.voxels import CloudChange

HEADER = struct.Struct("<BBHIIId")
RASTER = struct.Struct("<4f6H")
RECORD = np.dtype([("cell", "<i2", 3), ("color", "u1", 3), ("flags", "u1"), ("instance", "<u4")])  # 14 bytes


class FrameCache:
    """Cache of the newest frames, shared by clients at the same revision. Used on the web server's loop only."""

    def __init__(self, most: int = 4) -> None:
        self._most = most
        self._frames: OrderedDict[tuple[int, int, int], bytes] = OrderedDict()

    def get(self, kind: int, since: int, revision: int, make: Callable[[], bytes]) -> bytes:
        """Return the frame of a kind from revision `since` to `revision`; create it with `make()` if not cached."""
        key = kind, since, revision
        if key not in self._frames:
            self._frames[key] = make()
            while len(self._frames) > self._most:
                self._frames.popitem(last=False)
        return self._frames[key]


def cloud_frame(change: CloudChange) -> bytes:
    """Return the binary frame of a change of the point cloud."""
    new = len(change.cells)
    records = np.zeros(new + len(change.removed), RECORD)
    records["cell"][:new], records["cell"][new:] = change.cells, change.removed
    records["color"][:new] = change.colors
    records["instance"][:new] = change.instances
    records["flags"][new:] = 1
    head = _header(protocol.CLOUD, change.revision, change.previous, len(records), change.stamp)
    return head + struct.pack("<f", change.pitch) + records.tobytes()


def raster_frame(kind: int, change: RasterChange) -> bytes:
    """Return the binary frame of a change of the raster `kind`: GRID, or LOOKS (cells seen by the camera)."""
    height, width = change.cells.shape
    place = RASTER.pack(change.resolution, *change.origin, change.x0, change.y0, width, height, *change.size)
    head = _header(kind, change.revision, change.previous, change.cells.size, change.stamp)
    return head + place + zlib.compress(np.ascontiguousarray(change.cells).tobytes(), 1)


def camera_frame(shot: CameraShot) -> bytes:
    """Return the binary frame of a camera image."""
    head = protocol.encode(shot.head)
    header = _header(protocol.CAMERA, shot.revision, 0, 1, shot.head.stamp)
    return header + struct.pack("<H", len(head)) + head + shot.jpeg


def _header(kind: int, revision: int, previous: int, count: int, stamp: float) -> bytes:
    return HEADER.pack(kind, int(previous == 0), 0, revision, previous, count, stamp)
