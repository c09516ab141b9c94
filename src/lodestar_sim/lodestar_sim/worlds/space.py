"""Free floor of one room during furnishing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from lodestar_sim.worlds.plan import CELL, Door, Plan

FINE = 0.05  # metres, cell size for placement
WALK = 0.40  # metres, half the width of a walkway in which the robot can turn (circumscribed radius 0.385)
REACH = 0.70  # metres, largest distance of the robot's centre from an object's box
DOOR_DEPTH = 0.9  # metres kept clear in front of a door
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class WallSide:
    """A straight wall segment of a room from `start` to `end` on axis `along`; `yaw` points into the room."""

    along: str
    line: float
    start: float
    end: float
    yaw: float


class RoomSpace:
    """Free cells of a room, with a check that its doors stay connected.

    Arrays have cells of FINE metres from `origin`; they extend beyond the room by one cell of the floor plan.
    """

    def __init__(self, plan: Plan, room: int) -> None:
        self._plan = plan
        mask = plan.rooms == room
        rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        r0, r1, c0, c1 = rows[0] - 1, rows[-1] + 2, columns[0] - 1, columns[-1] + 2
        padded = np.pad(mask, 1)[r0 + 1 : r1 + 1, c0 + 1 : c1 + 1]
        self.room, self.label = room, plan.labels[room]
        self.origin = (plan.origin[0] + c0 * CELL, plan.origin[1] + r0 * CELL)
        self._scale = round(CELL / FINE)
        self.inside = np.kron(padded, np.ones((self._scale, self._scale), bool))
        free = np.pad(plan.free, 1)[r0 + 1 : r1 + 1, c0 + 1 : c1 + 1]
        self._solid = np.kron(~free, np.ones((self._scale, self._scale), bool))
        self.clear = np.zeros_like(self.inside)  # cells that must stay free of furniture
        self.blocked = np.zeros_like(self.inside)
        self.gates: list[tuple[float, float]] = []  # points in front of the doors that must stay connected
        for door in plan.doors:
            if room in door.rooms:
                self._keep_door_clear(door)
        self.walls = self._wall_sides()
        self.area = float(mask.sum()) * CELL**2

    @property
    def rect(self) -> Box:
        """Return the bounding box of the room, metres."""
        (x, y), (rows, columns) = self.origin, self.inside.shape
        return x + CELL, y + CELL, x + columns * FINE - CELL, y + rows * FINE - CELL

    def is_outer(self, side: WallSide, at: float) -> bool:
        """Return whether a wall is an outer wall at coordinate `at`: no room lies within 1 m behind it."""
        steps = np.arange(0.25, 1.0, CELL)
        if side.along == "x":
            points = [(at, side.line - s * math.sin(side.yaw)) for s in steps]
        else:
            points = [(side.line - s * math.cos(side.yaw), at) for s in steps]
        return not any(self._plan.is_free(x, y) for x, y in points)

    def _keep_door_clear(self, door: Door) -> None:
        x0, y0, x1, y1 = door.rect
        depth, side = DOOR_DEPTH, 0.1
        reach = (x0 - side, y0 - depth, x1 + side, y1 + depth)
        if door.along == "y":
            reach = (x0 - depth, y0 - side, x1 + depth, y1 + side)
        r0, r1, c0, c1 = self._span(reach)
        self.clear[r0:r1, c0:c1] |= self.inside[r0:r1, c0:c1]
        if door.locked:
            return
        rows, columns = np.nonzero(self.inside[r0:r1, c0:c1])
        if len(rows):
            x = self.origin[0] + (columns + c0 + 0.5) * FINE
            y = self.origin[1] + (rows + r0 + 0.5) * FINE
            away = np.hypot(x - door.center[0], y - door.center[1])
            best = int(np.argmin(np.abs(away - 0.6)))
            if door.along == "x":
                best = int(np.argmin(np.abs(away - 0.6) + np.abs(x - door.center[0])))
            else:
                best = int(np.argmin(np.abs(away - 0.6) + np.abs(y - door.center[1])))
            self.gates.append((float(x[best]), float(y[best])))

    def _span(self, box: Box) -> tuple[int, int, int, int]:
        """Return the rows r0:r1 and columns c0:c1 of all cells that a box touches, clipped."""
        c0 = max(math.floor((box[0] - self.origin[0]) / FINE + 1e-6), 0)
        r0 = max(math.floor((box[1] - self.origin[1]) / FINE + 1e-6), 0)
        c1 = min(math.ceil((box[2] - self.origin[0]) / FINE - 1e-6), self.inside.shape[1])
        r1 = min(math.ceil((box[3] - self.origin[1]) / FINE - 1e-6), self.inside.shape[0])
        return r0, r1, c0, c1

    def fits(self, box: Box) -> bool:
        """Return whether a box lies entirely on free floor of the room and outside areas kept clear."""
        r0, r1, c0, c1 = self._span(box)
        if r1 <= r0 or c1 <= c0 or box[0] < self.origin[0] or box[1] < self.origin[1]:
            return False
        area = (slice(r0, r1), slice(c0, c1))
        return bool(self.inside[area].all() and not self.blocked[area].any() and not self.clear[area].any())

    def on_floor(self, box: Box) -> bool:
        """Return whether a box lies entirely within the room, occupied or not."""
        r0, r1, c0, c1 = self._span(box)
        return bool(r1 > r0 and c1 > c0 and self.inside[r0:r1, c0:c1].all())

    def keep_clear(self, box: Box) -> None:
        """Forbid furniture within a box (metres)."""
        r0, r1, c0, c1 = self._span(box)
        self.clear[r0:r1, c0:c1] |= self.inside[r0:r1, c0:c1]

    def block(self, box: Box) -> None:
        """Mark the cells of a box as occupied."""
        r0, r1, c0, c1 = self._span(box)
        self.blocked[r0:r1, c0:c1] = True

    def unblock(self, box: Box) -> None:
        """Mark the cells of a box as free again, which is valid only if no other object occupies them."""
        r0, r1, c0, c1 = self._span(box)
        self.blocked[r0:r1, c0:c1] = False

    def walkable(self) -> np.ndarray:
        """Return (rows, columns) bool: cells where the robot can turn and from which all doors are reachable.

        All cells are False if the doors are not connected.
        """
        obstacles = self.blocked | self._solid
        distance = cv2.distanceTransform((~obstacles).astype(np.uint8), cv2.DIST_L2, 5) * FINE
        wide = (distance >= WALK) & self.inside
        _, labels = cv2.connectedComponents(wide.astype(np.uint8), connectivity=4)
        if not self.gates:
            return wide
        wanted = 0
        for x, y in self.gates:
            r = int((y - self.origin[1]) / FINE)
            c = int((x - self.origin[0]) / FINE)
            around = labels[max(r - 6, 0) : r + 7, max(c - 6, 0) : c + 7]
            found = around[around > 0]
            if not len(found):
                return np.zeros_like(wide)
            label = int(np.bincount(found).argmax())
            if wanted and label != wanted:
                return np.zeros_like(wide)
            wanted = label
        return labels == wanted

    def reachable(self, boxes: list[Box], walkable: np.ndarray) -> bool:
        """Return whether each box has walkable floor within REACH."""
        if not walkable.any():
            return False
        distance = cv2.distanceTransform((~walkable).astype(np.uint8), cv2.DIST_L2, 5) * FINE
        for box in boxes:
            r0, r1, c0, c1 = self._span(box)
            if distance[r0:r1, c0:c1].min() > REACH:
                return False
        return True

    def _wall_sides(self) -> list[WallSide]:
        """Return straight wall segments of at least half a metre that border the room."""
        sides: list[WallSide] = []
        padded = np.pad(self._solid, 1, constant_values=True)
        room = np.pad(self.inside, 1)
        for (dr, dc), yaw in (
            ((-1, 0), math.pi / 2),
            ((1, 0), -math.pi / 2),
            ((0, -1), 0.0),
            ((0, 1), math.pi),
        ):
            border = room & np.roll(padded, (-dr, -dc), axis=(0, 1))
            border = border[1:-1, 1:-1]
            lines = border if dr else border.T
            for index in range(lines.shape[0]):
                edges = np.flatnonzero(np.diff(np.concatenate([[0], lines[index].astype(np.int8), [0]])))
                for a, b in zip(edges[::2], edges[1::2]):
                    if (b - a) * FINE < 0.5:
                        continue
                    side = index + (1 if dr + dc > 0 else 0)
                    x, y = self.origin
                    if dr:
                        sides.append(WallSide("x", y + side * FINE, x + a * FINE, x + b * FINE, yaw))
                    else:
                        sides.append(WallSide("y", x + side * FINE, y + a * FINE, y + b * FINE, yaw))
        return sides
