"""The board: everything that pages show. Written by the intake, read by the web server; safe for threads."""

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

#: Items of each growing part that are kept; the oldest go.
BOUNDS = {"entities": 50_000, "decisions": 2_000, "beliefs": 2_000, "events": 5_000, "memories": 500}


class Board:
    """Small parts by name, growing parts, cloud, grid, looks and camera; poses and keyframes of the past.

    now(): s of the robot's clock. Listeners are called on the writer's thread after each change, and only note it.
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
        """Register a listener; see the class."""
        self._listeners.append(listener)

    def changed(self) -> None:
        """Tell the listeners that something has changed."""
        for listener in self._listeners:
            listener()

    def set(self, name: str, value: object) -> None:
        """Show a small part; an equal one changes nothing."""
        with self._lock:
            before = self._parts.get(name)
            if before is not None and before[1] == value:
                return
            self._revision += 1
            self._parts[name] = self._revision, value, protocol.part(name, self._revision, value)
        self.changed()

    def get(self, name: str) -> object | None:
        """Return what a small part shows, None where it shows nothing yet."""
        found = self._parts.get(name)
        return None if found is None else found[1]

    def parts_since(self, revision: int) -> tuple[int, list[bytes]]:
        """Return the newest revision, and the messages of the small parts that changed after another one."""
        with self._lock:
            news = sorted((at, text) for at, _, text in self._parts.values() if at > revision)
            return self._revision, [text for _, text in news]

    def put(self, name: str, *items: msgspec.Struct, removed: tuple[int | str, ...] = ()) -> None:
        """Put items into a growing part by their id, and remove others."""
        self.tables[name].change({item.id: item for item in items}, removed)  # type: ignore[attr-defined]
        self.changed()

    def replace(self, name: str, *items: msgspec.Struct) -> None:
        """Make these the items of a growing part, and no others."""
        self.tables[name].replace_all({item.id: item for item in items})  # type: ignore[attr-defined]
        self.changed()

    def delta(self, name: str, since: int) -> tuple[int, bytes] | None:
        """Return revision and message of what changed in a growing part after a revision; None = nothing."""
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
