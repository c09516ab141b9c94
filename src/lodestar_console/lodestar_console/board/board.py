"""The board: all data shown on pages. Written by the intake, read by the web server; thread-safe."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import get_args

import msgspec

from lodestar_console import protocol
from lodestar_console.board.camera import CameraView
from lodestar_console.board.items import ItemTable
from lodestar_console.board.moments import Moments
from lodestar_console.board.raster import TiledRaster
from lodestar_console.board.voxels import VoxelCloud

#: Largest number of items of each growing part; the oldest are dropped.
BOUNDS = {"entities": 50_000, "decisions": 2_000, "beliefs": 2_000, "events": 5_000, "memories": 500}


class Board:
    """Data shown on pages.

    It has small parts (sent as a whole), growing parts (tables of items, sent as deltas), cloud, grid, looks
    (floor cells seen by the camera), camera image, past poses and keyframes.

    now(): s of the robot's clock. Listeners are called on the writer's thread after each change; they must
    not block.
    """

    def __init__(self, robot: str = "robot", now: Callable[[], float] = lambda: 0.0) -> None:
        self.robot = robot
        self.now = now
        self.tables = {name: ItemTable(BOUNDS[name]) for name in get_args(protocol.DeltaName)}
        self.cloud = VoxelCloud()
        self.grid, self.looks = TiledRaster(), TiledRaster()
        self.camera = CameraView()
        self.poses: Moments[tuple[float, float, float]] = Moments()  # x, y, yaw of the robot in map
        self.shots: Moments[int] = Moments()  # ids of keyframes
        self._lock = threading.Lock()
        self._revision = 0
        self._parts: dict[str, tuple[int, object, bytes]] = {}
        self._listeners: list[Callable[[], None]] = []

    def listen(self, listener: Callable[[], None]) -> None:
        """Register a callback that runs on the writer's thread after each change and must not block."""
        self._listeners.append(listener)

    def changed(self) -> None:
        """Notify the listeners of a change."""
        for listener in self._listeners:
            listener()

    def set(self, name: str, value: object) -> None:
        """Set the value of a small part of the page (sent as a whole); an equal value has no effect."""
        with self._lock:
            before = self._parts.get(name)
            if before is not None and before[1] == value:
                return
            self._revision += 1
            self._parts[name] = self._revision, value, protocol.part(name, self._revision, value)
        self.changed()

    def get(self, name: str) -> object | None:
        """Return the value of a small part of the page, None if not set yet."""
        found = self._parts.get(name)
        return None if found is None else found[1]

    def parts_since(self, revision: int) -> tuple[int, list[bytes]]:
        """Return the newest revision, and the messages of the small parts that changed after `revision`."""
        with self._lock:
            news = sorted((at, text) for at, _, text in self._parts.values() if at > revision)
            return self._revision, [text for _, text in news]

    def put(self, name: str, *items: msgspec.Struct, removed: tuple[int | str, ...] = ()) -> None:
        """Add or replace items of a growing part (a table sent as deltas) by id; remove the ids `removed`."""
        self.tables[name].change({item.id: item for item in items}, removed)  # type: ignore[attr-defined]
        self.changed()

    def replace(self, name: str, *items: msgspec.Struct) -> None:
        """Replace all items of a growing part (a table sent as deltas)."""
        self.tables[name].replace_all({item.id: item for item in items})  # type: ignore[attr-defined]
        self.changed()

    def delta(self, name: str, since: int) -> tuple[int, bytes] | None:
        """Return a growing part's newest revision and the message of its changes, None = unchanged.

        since: revision after which the changes are returned.
        """
        found = self.tables[name].since(since)
        if found is None:
            return None
        revision, previous, changed, removed = found
        raw = msgspec.Raw(b"[" + b",".join(changed) + b"]")
        delta = protocol.Delta(
            name=name,  # type: ignore[arg-type]
            revision=revision,
            previous=previous,
            changed=raw,
            removed=removed,
        )
        return revision, protocol.encode(delta)
