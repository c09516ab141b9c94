"""The map as a PNG, for agents, which have no page."""

from __future__ import annotations

import math

import cv2
import numpy as np

from lodestar_console import protocol
from lodestar_console.board.board import Board

LONGEST = 1000  # pixels, longer side of the image
_SHADES = np.array([128, 235, 30], np.uint8)  # grey levels of unknown, free, occupied


def map_picture(board: Board) -> bytes | None:
    """Return a PNG of the grid with the robot and its driven path, +y up; None without a grid."""
    found = board.grid.picture()
    if found is None:
        return None
    cells, resolution, (x0, y0, yaw) = found
    image = cv2.cvtColor(_SHADES[np.minimum(cells, 2)], cv2.COLOR_GRAY2BGR)
    scale = max(1, LONGEST // max(*cells.shape, 1))
    image = np.repeat(np.repeat(image, scale, axis=0), scale, axis=1)

    def pixel(x: float, y: float) -> tuple[int, int]:
        dx, dy = x - x0, y - y0
        u = (math.cos(yaw) * dx + math.sin(yaw) * dy) / resolution
        v = (-math.sin(yaw) * dx + math.cos(yaw) * dy) / resolution
        return int(u * scale), int(v * scale)

    path, robot = board.get("path"), board.get("robot")
    if isinstance(path, protocol.Path) and len(path.driven) > 1:
        points = np.array([pixel(*point) for point in path.driven], np.int32)
        cv2.polylines(image, [points], False, (200, 120, 0), 2)
    if isinstance(robot, protocol.Robot) and robot.pose is not None:
        x, y, _, turn = robot.pose
        tip = pixel(x + 0.5 * math.cos(turn), y + 0.5 * math.sin(turn))
        cv2.arrowedLine(image, pixel(x, y), tip, (0, 0, 220), 3, tipLength=0.4)
    ok, data = cv2.imencode(".png", image[::-1])
    return data.tobytes() if ok else None
